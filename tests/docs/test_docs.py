"""The pages in docs: every example runs, and what it shows is what the code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.pages import ROOT, blocks, run_page

PAGES = sorted((ROOT / "docs").rglob("*.md"))
EXAMPLES = [page for page in PAGES if page.parent.name != "gallery"]  # test_gallery.py runs those


@pytest.mark.slow
@pytest.mark.parametrize("page", EXAMPLES, ids=[str(page.relative_to(ROOT)) for page in EXAMPLES])
def test_the_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """Each Python block of a page runs and prints what the page shows, and each `apsl` command succeeds."""
    ran = run_page(page, tmp_path)

    assert ran.python == sum(language == "python" for language, _ in blocks(page))


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    """Every link to a file of this repository, with its heading, leads to one that is there."""
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if not link.startswith("http"):
            path, _, heading = link.partition("#")
            target = page.parent / path if path else page
            assert target.exists(), f"{page.name} links to {link}"
            assert not heading or heading in anchors(target), f"{page.name} links to {link}"


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_index() -> None:
    """A page that the index does not name would not be found; the site has its order from there."""
    folder = ROOT / "docs"
    index = folder / "README.md"
    links = set(re.findall(r"\]\(([^)\s]+)\)", index.read_text("utf-8")))

    assert {page.relative_to(folder).as_posix() for page in PAGES if page != index} - links == set()


def test_an_example_that_prints_something_else_is_found(tmp_path: Path) -> None:
    """A page whose example prints other than shown fails, and so does a command that fails."""
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n3\n```\n", "utf-8")
    with pytest.raises(AssertionError, match="prints something else"):
        run_page(page, tmp_path)

    page.write_text("```\napsl show missing.json\n```\n", "utf-8")
    with pytest.raises(AssertionError, match=r"apsl show missing\.json"):
        run_page(page, tmp_path)
