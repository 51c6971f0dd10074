"""The gallery of real tables: every example runs, and text and pictures are what the examples print and draw."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))  # the tools are scripts beside each other, not a package

from gallery import PAGES, PageError, made, main  # noqa: E402 - needs the path above

TABLES = [page for page in PAGES if page.parent.name == "gallery" and page.name != "README.md"]


@pytest.mark.slow
@pytest.mark.release
@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.stem)
def test_a_page_is_what_its_examples_print_and_draw(page: Path, tmp_path: Path) -> None:
    """If this fails, run `python tools/gallery.py` and look at the difference."""
    result = made(page, tmp_path)

    assert [path.name for path in result.pictures] == [f"{page.stem}.svg"]
    assert list(result.outdated(page)) == []


@pytest.mark.slow
def test_the_figures_of_the_paper_are_drawn_by_our_viewer(tmp_path: Path) -> None:
    """The map of the paper prints and draws what its examples make, and leaves four replays."""
    page = ROOT / "docs" / "paper.md"
    result = made(page, tmp_path)

    drawn = ("1", "2", "3", "4b", "4c", "7a", "7b", "5-r1", "5-r2", "5-r3", "6-a", "6-b", "6-c", "6-d")
    assert [path.name for path in result.pictures] == [f"figure{one}.svg" for one in drawn]
    assert list(result.outdated(page)) == []
    assert sorted(path.name for path in tmp_path.glob("*.html")) == [
        f"figure{one}.html" for one in ("4b", "4c", "7a", "7b")
    ]


def test_there_are_fourteen_tables_and_each_page_says_what_to_believe() -> None:
    """Each has the command, the same in Python, the picture, and what to believe and what not."""
    assert len(TABLES) == 14
    for page in TABLES:
        text = page.read_text("utf-8")
        headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
        assert headings == ["The command", "In Python", "What to believe", "What not to believe"]
        assert re.search(r"^apsl learn .*--target", text, flags=re.MULTILINE)


def test_pictures_are_small() -> None:
    """A picture of a part is a few kilobytes of SVG."""
    assert all(page.with_suffix(".svg").stat().st_size < 30_000 for page in TABLES)


def test_what_is_printed_and_drawn_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An example that prints something else makes the page out of date; writing it mends that."""
    page = tmp_path / "page.md"
    drawing = 'from pathlib import Path\nPath("drawn.svg").write_text("<svg/>", "utf-8")\nprint(1 + 1)'
    page.write_text(f"```python\n{drawing}\n```\n\n```\n3\n```\n\n![a picture](drawn.svg)\n", "utf-8")

    assert main([str(page), "--check"]) == 1
    assert main([str(page)]) == 0
    assert main([str(page), "--check"]) == 0
    assert "\n```\n2\n```\n" in page.read_text("utf-8")
    assert (tmp_path / "drawn.svg").read_text("utf-8") == "<svg/>"
    assert "page.md is out of date" in capsys.readouterr().out


def test_an_example_that_fails_is_told(tmp_path: Path) -> None:
    """A command that fails, and an example that prints where nothing is shown, name the page."""
    page = tmp_path / "page.md"
    page.write_text("```\napsl show missing.json\n```\n", "utf-8")
    with pytest.raises(PageError, match=r"page\.md: apsl show missing\.json"):
        made(page, tmp_path)

    page.write_text("```python\nprint(1)\n```\n\n```python\nprint(2)\n```\n", "utf-8")
    with pytest.raises(PageError, match="no block for that follows"):
        made(page, tmp_path)
