"""`apsl report` and the formats of `apsl show`."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules import learn, network
from apsl_rules.views.page import report_html
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Save a part."""
    path = tmp_path / "part.json"
    learn(network("asia"), "lung", depth=2).save(path)
    return path


def test_report_writes_the_page(saved: Path) -> None:
    """`apsl report` writes the page where it is told, or beside the part, and says where."""
    told = apsl_here("report", str(saved), "-o", "lung.html", folder=saved.parent)
    beside = apsl_here("report", str(saved))
    page = report_html(learn(network("asia"), "lung", depth=2))

    about = "the report of the part around lung"
    assert (told.code, told.out, told.err) == (0, "", f"wrote lung.html: {about}\n")
    assert (beside.out, beside.err) == ("", f"wrote {saved.with_suffix('.html')}: {about}\n")
    assert (saved.parent / "lung.html").read_text("utf-8") == saved.with_suffix(".html").read_text("utf-8") == page


def test_show_prints_drawing_and_page(saved: Path) -> None:
    """`apsl show --format` prints what the exporters write."""
    part = learn(network("asia"), "lung", depth=2)

    assert apsl_here("show", str(saved), "--format", "svg").out == part.svg()
    assert apsl_here("show", str(saved), "--format", "html").out == report_html(part)
    assert apsl_here("show", str(saved), "--format", "csv").out.startswith("source,target,mark,")


def test_mistakes_end_in_a_sentence(saved: Path) -> None:
    """An unknown format, a file that is no part and a folder that is not there are refused without a traceback."""
    for words, sentence in [
        (("show", str(saved), "--format", "svgg"), "did you mean 'svg'?"),
        (("report", str(saved.parent / "no.json")), "cannot read the part file"),
        (("report", str(saved), "-o", "nowhere/part.html"), "give a path in a folder that exists"),
    ]:
        done = apsl_here(*words, folder=saved.parent)
        assert (done.code, done.out) == (1, "")
        assert sentence in done.err
        assert "Traceback" not in done.err
