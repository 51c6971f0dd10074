"""The report on the paper: written from stored results alone, with deviations and rows where we are behind named."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import pandas as pd
import pytest
from ranking import table3

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools" / "reproduce"
SCORED = "dag extension"
sys.path.append(str(TOOLS))  # the tools are scripts beside each other, not a package

from charts import Panel, chart  # noqa: E402 - needs the path above
from document import Block, Code, Heading, Picture, Points, Table, Text, as_html, as_markdown  # noqa: E402
from stored import PUBLISHED, Stored, gathered, kept, one  # noqa: E402
from table3 import Beside, beside  # noqa: E402

from report import KEPT, report_blocks  # noqa: E402

CIRCUMSTANCES = {
    "summary": "made up",
    "seed": 1,
    "samples": "none",
    "published": True,
    **dict.fromkeys(("python", "apsl_rules", "numpy", "scipy"), "1"),
}
FIGURES = (
    *("shd", "skeleton_f1", "arrow_precision", "arrow_recall", "f1", "cpu", "visits", "tests"),
    *("distance_sd", "precision_sd", "recall_sd"),
)


def row(experiment: str, learner: str, **values: object) -> dict[str, object]:
    """Make up a row of a summary."""
    place = {"network": "child", "size": 500, "order": "file", "depth": "1", "scoring": "dag extension"}
    found = {"runs": 20, "sets": 1, **dict.fromkeys(FIGURES, 1.0), "distance": 0.5, "precision": 0.5, "recall": 0.5}
    return {"experiment": experiment, "learner": learner, **place, **found, **values}


def as_published(**changed: float) -> list[dict[str, object]]:
    """Make up a run of Table III that gives the published figures, but for one row."""
    rows = []
    for paper in table3():
        figures = {"distance": paper.ar_distance, "precision": paper.ar_precision, "recall": paper.ar_recall}
        if (paper.network, paper.size, paper.algorithm) == ("Alarm", 500, "CMB"):
            figures |= changed
        place = {"network": paper.network.casefold(), "size": paper.size, "cpu": paper.runtime_s}
        rows += [
            row("table3", PUBLISHED[paper.algorithm], **place, **figures, scoring=scoring)
            for scoring in ("dag extension", "cpdag marks")
        ]
    return rows


def stored(rows: list[dict[str, object]]) -> Stored:
    """Return made-up rows as if they were stored."""
    frame = pd.DataFrame(rows)
    return Stored(frame, dict.fromkeys(dict.fromkeys(frame["experiment"]), CIRCUMSTANCES))


def told(rows: list[dict[str, object]]) -> str:
    """Return the report on made-up rows as one long line for each paragraph and each row of a table."""
    paragraphs = as_markdown(report_blocks(stored(rows)), "pictures").split("\n\n")
    return "\n".join(text if text[0] in "|-" else text.replace("\n", " ") for text in paragraphs)


@pytest.mark.slow
def test_the_published_figures_deviate_nowhere_and_have_the_published_ranks() -> None:
    """Fed with Table III itself, the report finds no deviation, and Figure 8 as the paper has it."""
    text = told(as_published())

    assert "None of the 48 rows deviates by more than .08." in text
    assert "APSL-FS 3.25 (paper 3.25), APSL 3.04 (paper 3.04), CMB 2.17 (paper 2.17), PCD-by-PCD 1.54" in text
    assert "Significantly different: APSL-FS from PCD-by-PCD, APSL from PCD-by-PCD." in text


@pytest.mark.slow
def test_a_deviating_row_is_marked_and_explained() -> None:
    """More than .08 is named with the figure and a reason; .08 itself is not."""
    near = stored(as_published(distance=0.73))
    rows = as_published(distance=0.74)
    far = stored(rows)

    assert [pair.name for pair in beside(near) if pair.far] == []
    assert [(pair.name, pair.far) for pair in beside(far) if pair.far] == [("Alarm-500 CMB", ["distance"])]
    text = told(rows)
    assert "1 of 48 rows deviate by more than .08" in text
    assert re.search(r"\| Alarm-500 CMB \| distance \+0\.09 \| \w+", text)


def test_rows_in_which_we_are_not_the_best_are_said_plainly() -> None:
    """The default is compared with each rival in each set."""
    rows = [
        row("permuted", learner, size=size, order="permuted", scoring="cpdag marks", shd=shd, distance=shd)
        for size, learner, shd in (
            (500, "apsl", 1.0),
            (500, "apsl-paper", 1.2),
            (1000, "apsl", 0.9),
            (1000, "apsl-paper", 0.7),
        )
    ]
    text = told(rows)

    assert "| child-500 | **1.00** (**1.00**) | – | – | 1.20 (1.20) | – | – |" in text
    assert "- child-1000: SHD 0.90 against 0.70 of APSL (text); distance 0.90 against 0.70 of APSL (text)" in text
    assert "child-500: SHD" not in text
    assert "the fewest in 1 of 2 sets" in text


def test_sections_without_results_say_so() -> None:
    """A report of one small experiment is still a report."""
    text = told([row("other", "apsl")])

    assert text.count("Not run.") == 4


@pytest.mark.slow
def test_a_summary_is_kept_and_read_back(tmp_path: Path) -> None:
    """The same report follows from the saved files."""
    first = stored(as_published(distance=0.9))
    first.save(tmp_path)

    assert as_markdown(report_blocks(kept(tmp_path)), "p") == as_markdown(report_blocks(first), "p")


def test_newer_experiments_take_the_place_of_kept_ones() -> None:
    """The others stay, each with its circumstances, and the page says which was made with what."""
    first = stored([row("leak", "apsl"), row("permuted", "apsl", order="permuted", shd=1.0)])
    newer = stored([row("permuted", "apsl", order="permuted", shd=2.0)])
    both = first.updated(Stored(newer.summary, {"permuted": {**newer.about["permuted"], "apsl_rules": "9.9"}}))

    assert [*both.about] == ["leak", "permuted"]
    assert list(both.summary["experiment"]) == ["leak", "permuted"]
    assert list(both.summary["shd"])[1] == 2.0
    text = as_markdown(report_blocks(both), "p")
    assert re.search(r"apsl_rules 9\.9[^\n]*: `permuted`\.", text)


def test_both_forms_of_a_document_say_the_same() -> None:
    """Markdown points at pictures beside it, HTML has everything inside and escapes what must be escaped."""
    blocks: list[Block] = [
        Heading("A & B", 2),
        Text("**bold** `a<b` [here](there.md)"),
        Points(("one", "two")),
        Code("a < b", "sh"),
        Table(("x", "y"), (("1", "2"),)),
        Picture("drawn", "<svg/>", "a picture"),
    ]

    assert as_markdown(blocks, "pictures").splitlines()[-1] == "![a picture](pictures/drawn.svg)"
    page = as_html(blocks, "T")
    for part in ("<h2>A &amp; B</h2>", "<strong>bold</strong>", "<code>a&lt;b</code>", '<a href="there.md">', "<svg/>"):
        assert part in page
    assert "<li>two</li>" in page
    assert "<td>2</td>" in page


@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_chart_is_sound_svg_with_a_point_for_each_figure(*, logarithmic: bool) -> None:
    """Figures that are missing are left out, the largest stands highest, and every method is in the legend."""
    panel = Panel("t", ("a", "b", "c"), {"x & y": [0.5, None, 20.0], "z": [1.0, 1.0, 1.0]}, logarithmic)
    root = ET.fromstring(chart([panel, panel]))  # noqa: S314 - our own picture
    dots = [dot for dot in root.iter("{http://www.w3.org/2000/svg}circle") if dot.get("r") == "3"]
    heights = [float(dot.get("cy", "nan")) for dot in dots[:5]]

    assert len(dots) == 10
    assert min(heights) == heights[1]
    assert "x & y" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.slow
def test_the_pages_of_the_repository_are_up_to_date() -> None:
    """docs/reproducing.md is what the kept summary gives."""
    done = subprocess.run(
        [sys.executable, str(TOOLS / "report.py"), "--check"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_kept_was_made_by_this_version() -> None:
    """Every experiment behind the page ran with the version of the package that the page comes with."""
    about = json.loads((KEPT / "about.json").read_text("utf-8"))

    assert {name: one["apsl_rules"] for name, one in about.items()} == dict.fromkeys(about, version("apsl_rules"))
    assert all({"machine", "date", "seed", "sets"} <= set(one) for one in about.values())


def test_no_figure_of_the_page_is_written_by_hand() -> None:
    """What the page is made with has no figure but the bound, so that each is from what is kept or from the paper."""
    texts = [(TOOLS / "reasons.toml").read_text("utf-8")]
    for name in ("table3", "orders", "deeper", "costs", "report"):
        tree = ast.parse((TOOLS / f"{name}.py").read_text("utf-8"))
        found = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        texts += [text for text in found if isinstance(text, str) and not re.fullmatch(r"\+?\.\d[a-z]", text)]

    assert set(re.findall(r"(?<!\w)\d*\.\d+", " ".join(texts))) == {".08"}


def test_the_reasons_for_deviations_hold_for_what_is_kept() -> None:
    """What a reason says of our figures is so."""
    stored = kept(KEPT)
    pairs = {(pair.paper.network, pair.paper.size, pair.paper.algorithm): pair for pair in beside(stored)}
    few, many = (pairs["Insurance", size, "APSL-FS"] for size in (500, 1000))
    for ours, other in ((few, many), (many, few)):
        swapped = Beside(other.paper, ours.measured)
        assert {round(abs(difference), 2) <= 0.08 for difference in swapped.differences.values()} == {True}
    for network, size in product(("Child", "Child10"), (500, 1000)):
        pair = pairs[network, size, "PCD-by-PCD"]
        run = stored.of("table3-short", network=network.casefold(), size=size, scoring=SCORED)
        mended = one(run, learner="pcd-by-pcd")
        assert mended is not None
        assert mended["distance"] < pair.paper.ar_distance < pair.measured["distance"]
    program = one(stored.of("table3-short", network="insurance", size=500, learner="apsl-authors", scoring=SCORED))
    assert program is not None
    assert Beside(pairs["Insurance", 500, "APSL"].paper, program).far == []


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    """The sentence says what to do first."""
    with pytest.raises(ValueError, match="has no results; run an experiment first"):
        gathered(tmp_path)
    with pytest.raises(ValueError, match="has no summary that can be read"):
        kept(tmp_path)
