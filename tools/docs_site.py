"""Hooks of the documentation site (mkdocs.yml): navigation from docs/README.md, and links that leave the folder docs.

Pages are written to be read in the repository. So links may lead to sources, which the site does not have: there their
text stays and the link goes. Pages that lie elsewhere in the repository are taken into the site. The replays that the
examples of the map of the paper write are there too, and where the map names one it links to it.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.append(str(Path(__file__).parent))  # the tools are scripts beside each other, not a package

from gallery import made

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages that lie outside the folder docs, and where the site has them.
ELSEWHERE = {
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "overview.md",
    "specs/apsl_specs/learners/README.md": "learners.md",
    "tests/README.md": "where-tests-go.md",
}
REPLAYED = "paper.md"
_REPLAY = re.compile(r"`(figure\w+\.html)`")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
_FENCE = re.compile(r"(^```.*?^```$)", flags=re.DOTALL | re.MULTILINE)
_GROUP = re.compile(r"^## (.+)$", flags=re.MULTILINE)
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+)\)", flags=re.MULTILINE)


def navigation(index: str) -> list[dict[str, Any]]:
    """Return the navigation that an index page tells: a group for each heading, a page for each row of its table."""
    groups = _GROUP.split(index)[1:]
    return [{"Home": "README.md"}] + [
        {title: [{name: site_path(link, DOCS)} for name, link in _ROW.findall(text)]}
        for title, text in zip(groups[::2], groups[1::2], strict=True)
    ]


def site_path(link: str, folder: Path) -> str | None:
    """Return where the site has the file that a page in a folder links to, or None where it has it not."""
    path = Path(os.path.normpath(folder / link))
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return ELSEWHERE.get(path.relative_to(ROOT).as_posix()) if path.is_relative_to(ROOT) else None


def relinked(text: str, here: str, folder: Path) -> str:
    """Return the text of a page with links of the site, where it is at ``here``; the repository has it in a folder."""
    return "".join(_relinked_pieces(text, here, folder))


def _relinked_pieces(text: str, here: str, folder: Path) -> Iterator[str]:
    def replaced(found: re.Match[str]) -> str:
        picture, words, link = found.groups()
        path, hash_sign, heading = link.partition("#")
        if not path or ":" in path:
            return found.group()
        target = site_path(path, folder)
        if target is None:
            return words
        return f"{picture}[{words}]({posixpath.relpath(target, posixpath.dirname(here) or '.')}{hash_sign}{heading})"

    for number, piece in enumerate(_FENCE.split(text)):
        yield piece if number % 2 else _LINK.sub(replaced, piece)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the navigation from the index page."""
    config.nav = navigation((DOCS / "README.md").read_text("utf-8"))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside the folder docs, and the replays."""
    for source, target in ELSEWHERE.items():
        files.append(File.generated(config, target, abs_src_path=str(ROOT / source)))
    with TemporaryDirectory() as folder:
        made(DOCS / REPLAYED, Path(folder))
        for path in sorted(Path(folder).glob("*.html")):
            files.append(File.generated(config, path.name, content=path.read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Turn links between files of the repository into links of the site."""
    sources = {target: (ROOT / source).parent for source, target in ELSEWHERE.items()}
    here = page.file.src_uri
    if here == REPLAYED:
        markdown = _REPLAY.sub(r"[`\1`](\1)", markdown)
    return relinked(markdown, here, sources.get(here, (DOCS / here).parent))
