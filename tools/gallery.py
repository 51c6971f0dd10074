"""Run the pages of the gallery, and write what their examples print and draw: python tools/gallery.py [PAGE ...].

Without a page it takes all of docs/gallery, the README and the map of the paper. An example that prints is followed
by a block with what it prints, and that block is written again. An SVG file that an example writes is kept where the
page shows a picture of that name. --check writes nothing and says which pages are out of date. Any other page of the
docs can be named too.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs
from recorded import ROOT, run

PAGES = (*sorted((ROOT / "docs" / "gallery").glob("*.md")), ROOT / "README.md", ROOT / "docs" / "paper.md")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\]]*\]\(([^)\s]+\.svg)\)")


class PageError(Exception):
    """An example of a page fails."""


@attrs.frozen
class Made:
    """A page as its examples make it: its text, and the pictures that it shows and its examples draw."""

    text: str
    pictures: dict[Path, str]

    def outdated(self, page: Path) -> Iterator[Path]:
        """Yield the page and the pictures that are not what was made."""
        for path, text in ((page, self.text), *self.pictures.items()):
            if not path.exists() or path.read_text("utf-8") != text:
                yield path


def made(page: Path, folder: Path) -> Made:
    """Run the examples of a page in a folder; return the page with what they print, and their pictures."""
    with contextlib.chdir(folder):
        text = _with_output(page)
    shown = [page.parent / link for link in _PICTURE.findall(text)]
    drawn = {path: (folder / path.name).read_text("utf-8") for path in shown if (folder / path.name).exists()}
    return Made(text, drawn)


def _with_output(page: Path) -> str:
    text = page.read_text("utf-8")
    scope: dict[str, object] = {"__name__": "__page__"}
    pieces, end, printed = [], 0, ""
    for fence in _FENCE.finditer(text):
        language, body = fence.groups()
        pieces.append(text[end : fence.start()])
        pieces.append(f"```\n{printed}\n```" if printed and not language else fence.group())
        if printed and language:
            message = f"{page.name}: an example prints, and no block for that follows:\n{printed}"
            raise PageError(message)
        end = fence.end()
        was_output, printed = bool(printed), ""
        if language == "python":
            printed = _printed(body, page, scope)
        elif not language and not was_output:
            _run_commands(body, page)
    return "".join([*pieces, text[end:]])


def _printed(code: str, page: Path, scope: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, page.name, "exec"), scope)  # noqa: S102 - the page's own examples
    return out.getvalue().strip("\n")


def _run_commands(block: str, page: Path) -> None:
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("apsl "):
            done = run(line)
            said = [one for one in done.err.splitlines() if not one.startswith("wrote ")]
            if done.code or said:
                message = f"{page.name}: {line}\n{done.err}"
                raise PageError(message)


def main(words: list[str]) -> int:
    """Write the pages that are named, or all, or with ``--check`` say which are out of date; return the exit code."""
    code = 0
    for page in [Path(word).resolve() for word in words if word != "--check"] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            result = made(page, Path(folder))
        for path in result.outdated(page):
            shown = os.path.relpath(path, ROOT)
            if "--check" in words:
                print(f"{shown} is out of date; run python tools/gallery.py {os.path.relpath(page, ROOT)}")
                code = 1
            else:
                path.write_text(result.text if path == page else result.pictures[path], "utf-8")
                print(f"written: {shown}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
