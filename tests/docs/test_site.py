"""The documentation as a site: it builds without a warning, its links lead somewhere, and it needs no network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import apsl_rules

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package

from docs_site import DOCS, navigation, relinked  # noqa: E402 - needs the path above


class Page(HTMLParser):
    """What a page of the site has: its anchors, its links, and what a browser loads for it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the attributes of a tag name."""
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loaded.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does, with every warning an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    settings = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=settings)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Return the pages of the site, read."""
    found = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}
    assert len(found) > 40
    return found


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(pages: dict[Path, Page]) -> None:
    """Pages, pictures and anchors: each link within the site leads to one that is there."""
    dead = []
    for path, page in pages.items():
        for link in [*page.links, *page.loaded]:
            address, _, anchor = unquote(link).partition("#")
            target = Path(os.path.normpath(path.parent / address)) if address else path
            if re.match(r"\w+:", address):
                continue
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].anchors):
                dead.append(f"{path.name}: {link}")

    assert dead == []


@pytest.mark.slow
def test_the_site_needs_no_network(site: Path, pages: dict[Path, Page]) -> None:
    """Scripts, styles, fonts and pictures come from the site itself."""
    loaded = [link for page in pages.values() for link in page.loaded if re.match(r"(\w+:)?//", link)]
    imported = [
        address
        for style in site.rglob("*.css")
        for address in re.findall(r"""(?:@import|url\()\s*["']?((?:https?:)?//[^"')]+)""", style.read_text("utf-8"))
    ]

    assert loaded == []
    assert imported == []


@pytest.mark.slow
def test_the_reference_has_every_public_name(pages: dict[Path, Page]) -> None:
    """Each name that the package offers is described in the reference, from its docstring."""
    anchors = {
        anchor.rpartition(".")[2]
        for path, page in pages.items()
        if path.parent.name == "reference"
        for anchor in page.anchors
    }

    assert set(apsl_rules.__all__) - anchors == set()


def test_the_navigation_is_the_index() -> None:
    """Each heading of the index is a group, each row of its table a page."""
    groups = navigation((DOCS / "README.md").read_text("utf-8"))

    assert [next(iter(group)) for group in groups] == [
        "Home", "Start", "Guides", "Gallery", "Concepts", "Reference", "Evidence", "Contributing"
    ]  # fmt: skip
    assert {"Quick start": "quick-start.md"} in groups[1]["Start"]
    assert {"How to contribute": "contributing.md"} in groups[-1]["Contributing"]


def test_links_that_leave_the_docs() -> None:
    """Sources stay as words, pages that the site takes in are linked there, and code is left as it is."""
    text = (
        "[a](../CONTRIBUTING.md#b) [`c`](../apsl_rules/names.py) [d](https://e.org) ![f](g.svg)\n```\n[h](../i)\n```\n"
    )

    assert relinked(text, "gallery/page.md", DOCS) == (
        "[a](../contributing.md#b) `c` [d](https://e.org) ![f](../g.svg)\n```\n[h](../i)\n```\n"
    )
