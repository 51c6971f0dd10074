"""Figures for papers: four kinds of files, three themes, legends of what occurs, labels that nothing crosses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Part, learn, network
from apsl_rules.errors import ApslError
from apsl_rules.views.labels import place_labels
from apsl_rules.views.layout import drawing_of, final_edges
from apsl_rules.views.themes import THEMES, Theme
from support.drawn import SVG, large_part, part_reading, svg_reading
from support.graphs import random_dag
from support.terminal import apsl_here


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return a table in which two columns raise a cost, one with a name that LaTeX would misread."""
    random = np.random.default_rng(3)
    n = 900
    age, smoker = random.integers(18, 80, n), np.where(random.random(n) < 0.3, "yes", "no")
    cost = 20 * age + 900 * (smoker == "yes") + random.normal(0, 300, n)
    return pd.DataFrame({"age": age, "smoker_%": smoker, "cost": cost})


@pytest.fixture(scope="module")
def part(rows: pd.DataFrame) -> Part:
    """Return the part around the cost."""
    return learn(rows, "cost")


def words_of(svg: str) -> list[str]:
    """Return all texts of an SVG."""
    return [text.text or "" for text in ET.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - our own text


@pytest.mark.parametrize("ending", ["pdf", "png", "svg", "tex"])
def test_the_ending_says_what_is_written(part: Part, ending: str, tmp_path: Path) -> None:
    """Each kind of file begins as it should, and the same part gives the same bytes."""
    begins = {"pdf": b"%PDF", "png": b"\x89PNG", "svg": b"<svg", "tex": b"% The part around cost"}
    first, second = tmp_path / f"one.{ending}", tmp_path / f"two.{ending.upper()}"
    part.figure(first)
    part.figure(second)

    assert first.read_bytes().startswith(begins[ending])
    assert first.read_bytes() == second.read_bytes()


def test_another_ending_or_theme_is_refused(part: Part, tmp_path: Path) -> None:
    """The sentence names the endings and the themes; nothing is written."""
    with pytest.raises(ApslError, match=r"does not end as a figure does; end it in \.pdf, \.png, \.svg or \.tex"):
        part.figure(tmp_path / "figure.gif")
    with pytest.raises(ApslError, match="give 'light' or 'dark' or 'print'"):
        part.figure(tmp_path / "figure.svg", theme="pink")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_without_matplotlib_the_extra_is_named(tmp_path: Path) -> None:
    """A PDF cannot be drawn then, an SVG can."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from apsl_rules import learn, network\n"
        "part = learn(network('asia'), 'lung')\n"
        "part.figure('a.svg')\n"
        "try:\n    part.figure('a.pdf')\nexcept ValueError as error:\n    print(error)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.svg"]
    assert "pip install 'apsl_rules[plot]', or write an .svg or a .tex file" in done.stdout


def test_a_legend_has_what_occurs_and_says_what_the_numbers_are(part: Part, rows: pd.DataFrame, tmp_path: Path) -> None:
    """Signs that do not occur are left out; numbers are probabilities, or effects where a table is given."""
    part.figure(tmp_path / "a.svg")
    part.figure(tmp_path / "b.svg", data=rows)
    plain, told = (words_of((tmp_path / name).read_text("utf-8")) for name in ("a.svg", "b.svg"))

    assert {"arrow", "number: probability of the edge, of an arrow with its direction"} <= set(plain)
    assert not {"conflict", "line: direction open", "open"} & set(plain)
    assert "number: effect along the edge" in told
    known = learn(network("asia"), "lung").svg()
    assert "line: direction open" in words_of(known)
    assert not any(one.startswith("number:") for one in words_of(known))


def test_a_figure_has_the_edges_of_the_part(part: Part, tmp_path: Path) -> None:
    """The compact drawing has the same edges; that of three layers fits into a column of text at eight points."""
    part.figure(tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text("utf-8")

    assert svg_reading(text) == part_reading(part)
    drawn = (drawing_of(learn(network("alarm"), "HR"), outside=False, compact=one).width for one in (True, False))
    assert next(drawn) * 8 / 13 < 250 < next(drawn) * 8 / 13  # points


@pytest.mark.parametrize("theme", THEMES.values(), ids=list(THEMES))
def test_every_colour_can_be_read(theme: Theme) -> None:
    """Strokes have a contrast of 3 to 1 with their ground, words one of 4.5 to 1 (WCAG 2.2)."""
    assert all(contrast(stroke, theme.background) >= 3 for stroke in theme.strokes.values())
    assert contrast(theme.text, theme.box) >= 4.5
    assert contrast(theme.soft, theme.stripe) >= 4.5
    assert contrast(theme.on_target, theme.target) >= 4.5


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG has it."""

    def light(colour: str) -> float:
        shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    pair = sorted((light(one), light(other)))
    return (pair[1] + 0.05) / (pair[0] + 0.05)


def test_labels_hide_what_runs_below(part: Part) -> None:
    """A label lies on an opaque ground, above all edges."""
    groups = list(ET.fromstring(part.svg()).iter(f"{SVG}g"))  # noqa: S314 - our own text
    grounds = [group.find(f"{SVG}rect") for group in groups if group.get("class") == "figure"]

    assert len(grounds) == len(part.edges)
    assert all(one is not None and "fill-opacity" not in one.attrib for one in grounds)


@pytest.mark.parametrize("seed", range(1, 9))
def test_labels_of_twenty_nodes_are_crossed_by_no_edge(seed: int) -> None:
    """In random parts of twenty nodes every label finds a place, and no edge of another pair runs there."""
    part = large_part(random_dag(seed, 20, 2.0), "v000")
    drawing = drawing_of(part, outside=False, compact=True)
    edges = final_edges(drawing)
    routes = [drawn.route for drawn in edges]
    places = place_labels([".97"] * len(edges), routes, drawing.boxes)
    crossed = [
        at
        for at, place in enumerate(places)
        if place is not None
        and any(place.has(point) for other, route in enumerate(routes) if other != at for point in route.points())
    ]

    assert None not in places
    assert not crossed


def test_latex_prints_names_as_they_are(part: Part, tmp_path: Path) -> None:
    """Special letters are escaped, environments are closed, and braces are balanced."""
    part.figure(tmp_path / "a.tex")
    text = (tmp_path / "a.tex").read_text("utf-8")

    assert r"smoker\_\%" in text
    assert text.count("\\begin{tikzpicture}") == text.count("\\end{tikzpicture}") == 1
    plain = text.replace("\\{", "").replace("\\}", "")
    assert plain.count("{") == plain.count("}")


def test_tables_have_three_digits(part: Part, rows: pd.DataFrame) -> None:
    """Each format has a row for each edge, with probabilities, and with a table effects and intervals."""
    written = {style: part.to(style, data=rows) for style in ("markdown", "latex", "csv-table", "html-table")}
    plain = part.to("markdown")

    assert plain.splitlines()[0].startswith("| from |  | to | P(edge) |")
    assert len(plain.splitlines()) == 2 + len(part.edges)
    assert all("95" in text.partition("\n\n")[0] and "interval" in text for text in written.values())
    assert r"smoker\_\%" in written["latex"]
    assert len(written["csv-table"].splitlines()) == 1 + len(part.edges)
    share = max(row["probability"] for row in part.rows())
    assert f"{share:.3g}" in plain
    assert "<td>smoker_%</td>" in written["html-table"]


def test_commands_write_figures_and_tables(rows: pd.DataFrame, part: Part, tmp_path: Path) -> None:
    """--out takes the format from the ending; --format latex --data has the effects."""
    rows.to_csv(tmp_path / "rows.csv", index=False)
    part.save(tmp_path / "part.json")
    learned = apsl_here("learn", "rows.csv", "-t", "cost", "--out", "a.svg", folder=tmp_path)
    shown = apsl_here("show", "part.json", "--out", "b.png", "--theme", "dark", folder=tmp_path)
    table = apsl_here("show", "part.json", "--format", "latex", "--data", "rows.csv", folder=tmp_path)
    refused = apsl_here("show", "part.json", "--data", "rows.csv", folder=tmp_path)

    assert [one.code for one in (learned, shown, table, refused)] == [0, 0, 0, 1]
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
    assert table.out.strip() == part.to("latex", data=rows).strip()
    assert "add --format markdown or latex" in refused.err
    assert json.loads(apsl_here("show", "part.json", "--json", folder=tmp_path).out)["learner"] == part.learner
