"""Critical-difference diagrams: everything is at its place, names are escaped, and the text says the same."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking import DifferenceDiagram, Ranking, published_ranks, rank, table3_columns

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import shown
from support.pages import ROOT

DISTANCE = DifferenceDiagram(rank(table3_columns("ar_distance"), better="lower"), title="Ar_Distance")
SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """What an SVG shows: its texts, the paths from the scale to the names, the bars and the ruler."""

    def __init__(self, text: str) -> None:
        root = ET.fromstring(text)  # noqa: S314 - our own text
        self.width, self.height = float(root.attrib["width"]), float(root.attrib["height"])
        self.texts = [str(one.text) for one in root.iter(f"{SVG}text")]
        self.spots = [(float(one.attrib["x"]), float(one.attrib["y"])) for one in root.iter(f"{SVG}text")]
        paths = [(one.attrib.get("class", ""), one.attrib["d"]) for one in root.iter(f"{SVG}path")]
        self.bars = [_numbers(path) for kind, path in paths if kind == "bar"]
        drawn = [path for kind, path in paths if not kind]
        self.ruler = _numbers(drawn[0])
        self.ticks = [_numbers(path)[0] for path in drawn if " v-7" in path]
        self.names = [_numbers(path) for path in drawn if " V" in path]

    def rank_at(self, x: float) -> float:
        """Return the rank at a place of the scale."""
        return 1 + (x - self.ticks[0]) / (self.ticks[1] - self.ticks[0])


def _numbers(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", path)]


def test_the_diagram_of_figure_8() -> None:
    """Names stand at their ranks, two bars join the groups, and the ruler is as long as the critical difference."""
    picture = Picture(DISTANCE.svg())

    assert picture.texts[0] == "Ar_Distance"
    assert picture.texts[1] == "critical difference 1.35 (alpha 0.05)"
    assert picture.texts[-4:] == ["PCD-by-PCD 1.54", "CMB 2.17", "3.25 APSL-FS", "3.04 APSL"]
    assert [picture.rank_at(line[0]) for line in picture.names] == pytest.approx([1.542, 2.167, 3.25, 3.042], abs=2e-3)
    reach = [(picture.rank_at(bar[0] + 4), picture.rank_at(bar[2] - 4)) for bar in picture.bars]
    assert reach == [pytest.approx((2.167, 3.25), abs=2e-3), pytest.approx((1.542, 2.167), abs=2e-3)]
    assert picture.bars[0][1] != picture.bars[1][1]
    assert picture.rank_at(picture.ruler[5]) - 1 == pytest.approx(1.354, abs=2e-3)
    assert len(picture.ticks) == 4


@pytest.mark.parametrize(
    ("measure", "name", "title"),
    [("ar_distance", "distance", "Ar_Distance at depth 1"), ("runtime_s", "runtime", "Runtime at depth 1")],
)
def test_the_pictures_in_the_docs_are_these(measure: Any, name: str, title: str) -> None:
    """The pictures that the page on scores shows are what the code draws."""
    drawn = DifferenceDiagram(rank(table3_columns(measure), better="lower"), title=title).svg()

    assert (ROOT / "docs" / "pictures" / f"figure8-{name}.svg").read_text("utf-8") == drawn


def test_the_text_has_ranks_and_bars() -> None:
    """One line for each method, best first; a bar runs beside those that do not differ."""
    assert str(DISTANCE).splitlines()[1:] == [
        "APSL-FS     3.250  │",
        "APSL        3.042  │",
        "CMB         2.167  │ │",
        "PCD-by-PCD  1.542    │",
    ]


def test_published_ranks_make_a_diagram_too() -> None:
    """Figure 12 needs nothing but the mean ranks and the number of tasks."""
    diagram = DifferenceDiagram(Ranking(published_ranks("ar_distance", 3), tasks=12))

    assert str(diagram).splitlines()[0] == (
        "Mean ranks over 12 tasks, highest best; critical difference 1.354 at alpha 0.05"
    )
    assert len(Picture(diagram.svg()).bars) == 1  # GS is apart from all others


def test_the_better_end_is_named() -> None:
    """The arrow points to the higher or the lower ranks."""
    ranks = {"a": 1.0, "b": 2.0}

    assert "better →" in Picture(DifferenceDiagram(Ranking(ranks, tasks=3)).svg()).texts
    assert "← better" in Picture(DifferenceDiagram(Ranking(ranks, tasks=3, best="low")).svg()).texts


def test_colours_fit_light_and_dark_screens() -> None:
    """Nothing is painted behind, and what is drawn takes a colour that follows the reader's choice."""
    text = DISTANCE.svg()

    assert "prefers-color-scheme: dark" in text
    assert "currentColor" in text
    assert "<rect" not in text


@given(
    st.dictionaries(st.text(max_size=12), st.floats(1, 5), min_size=2, max_size=40),
    st.integers(1, 50),
    st.text(max_size=80),
)
def test_any_names_make_a_well_formed_picture(ranks: dict[str, float], tasks: int, title: str) -> None:
    """Every name and the title can be read back, all spots are inside, and no two bars of one height touch."""
    ranking = Ranking({name: min(one, len(ranks)) for name, one in ranks.items()}, tasks=tasks)
    picture = Picture(DifferenceDiagram(ranking, title=title).svg())
    labels, half = picture.texts[-len(ranks) :], (len(ranks) + 1) // 2

    assert {*(one[:-5] for one in labels[:half]), *(one[5:] for one in labels[half:])} == set(map(shown, ranks))
    if title:
        assert picture.texts[0] == shown(title)
    assert all(0 <= x <= picture.width and 0 <= y <= picture.height for x, y in picture.spots)
    assert picture.ruler[5] <= picture.width
    for one in picture.bars:
        for other in picture.bars:
            assert one is other or one[1] != other[1] or one[2] < other[0] or other[2] < one[0]


def test_a_picture_is_saved_whole(tmp_path: Path) -> None:
    """The file holds the text of the picture; a folder that is not there is one sentence."""
    DISTANCE.save(tmp_path / "figure8.svg")

    assert (tmp_path / "figure8.svg").read_text("utf-8") == DISTANCE.svg()
    with pytest.raises(InvalidArgumentError, match="cannot write"):
        DISTANCE.save(tmp_path / "nowhere" / "figure8.svg")
