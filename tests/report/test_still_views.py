"""The views that do not move: SVG and plot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import attrs
import matplotlib as mpl
import pytest
from hypothesis import given
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from apsl_rules import Dag, Part, learn, network
from apsl_rules.names import Node, shown
from apsl_rules.views.labels import weights_of
from support.contradictory import Contradictory
from support.drawn import SVG, hostile_dag, part_reading, svg_reading
from support.strategies import dags

mpl.use("agg")

PARTS = {
    "alarm": learn(network("alarm"), "VENTLUNG", depth=2),
    "lines": learn(network("alarm"), "CATECHOL", depth=2),
    "contradictory": learn(Contradictory(), "a", depth="max"),
    "hostile": learn(hostile_dag(), 7, depth="max"),
    "alone": learn(Dag({"only": []}), "only"),
}


@pytest.fixture(params=PARTS.values(), ids=list(PARTS))
def part(request: pytest.FixtureRequest) -> Part:
    """Return parts with arrows, lines, conflicts and odd names."""
    found: Part = request.param
    return found


@pytest.fixture(autouse=True)
def no_figure_stays_open() -> Iterator[None]:
    """Close all figures after a test."""
    yield
    plt.close("all")


def test_the_svg_lists_the_edges_of_the_part(part: Part) -> None:
    """The SVG is well-formed and has exactly the arrows, lines and conflicts of the part."""
    assert svg_reading(part.svg()) == part_reading(part)


def test_the_svg_names_every_node_once(part: Part) -> None:
    """Each node is drawn once and carries its full name, however long or odd."""
    names = [group.attrib["data-node"] for group in groups(part.svg()) if "data-node" in group.attrib]

    assert sorted(names) == sorted(shown(node) for node in part.members)


@given(dags(min_nodes=1, max_nodes=6))
def test_any_labels_make_a_well_formed_svg(dag: Dag) -> None:
    """Whatever the names, the text is XML and lists the edges."""
    part = learn(dag, dag.nodes[0], depth="max")

    assert len(svg_reading(part.svg())) <= len(part.edges)
    assert sum("data-mark" in group.attrib for group in groups(part.svg())) == len(part.edges)


def test_what_lies_beyond_is_drawn_when_asked() -> None:
    """With outside=True the SVG also has the edges beyond the asked depth, dotted."""
    part = PARTS["lines"]
    arrows, lines = part.outside

    assert len(svg_reading(part.svg(outside=True))) == len(part.edges) + len(arrows) + len(lines)
    assert "beyond the asked depth" in part.svg(outside=True)
    assert "beyond the asked depth" not in part.svg()


def test_marks_differ_in_shape() -> None:
    """Arrows have heads, lines dashes and conflicts a cross: none is told apart by colour alone."""
    shapes = {}
    for name in ("alarm", "lines", "contradictory"):
        for group in groups(PARTS[name].svg()):
            if "data-mark" in group.attrib:
                paths = group.findall(f"{SVG}path")
                shapes[group.attrib["data-mark"]] = (
                    any(path.get("fill", "none") != "none" for path in paths),
                    any("stroke-dasharray" in path.attrib for path in paths),
                    group.find(f"{SVG}circle") is not None,
                )

    assert shapes == {"arrow": (True, False, False), "line": (False, True, False), "conflict": (False, False, True)}


def groups(text: str) -> list[ET.Element]:
    """Return all groups of an SVG."""
    return list(ET.fromstring(text).iter(f"{SVG}g"))  # noqa: S314 - our own text


def test_the_plot_draws_the_same_edges(part: Part, tmp_path: Path) -> None:
    """The plot has one stroke for each edge, with its mark and ends, and can be saved without a warning."""
    ax = part.plot()
    strokes = {patch.get_gid() for patch in ax.patches if patch.get_gid() not in {None, "node"}}
    arrows = {f"arrow {x!r} {y!r}" for x, y in part.arrows}

    assert len(strokes) == len(part.edges)
    assert arrows == {gid for gid in strokes if gid is not None and gid.startswith("arrow ")}
    assert sum(patch.get_gid() == "node" for patch in ax.patches) == len(part.members)
    if part is not PARTS["hostile"]:  # the fonts of matplotlib have no letters for some of these names
        assert isinstance(ax.figure, Figure)
        ax.figure.savefig(tmp_path / "part.png")


def test_the_plot_goes_into_given_axes() -> None:
    """Given axes are used and given back."""
    _, ax = plt.subplots(figsize=(3, 2))

    assert PARTS["alarm"].plot(ax) is ax


@pytest.mark.slow
def test_the_plot_says_what_to_install() -> None:
    """Without matplotlib the plot is refused with a sentence that names the extra."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from apsl_rules import learn, network\n"
        "try:\n    learn(network('asia'), 'lung').plot()\nexcept ValueError as error:\n    print(error)"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert printed == "plotting needs matplotlib; install it with: pip install 'apsl_rules[plot]', or use part.svg()\n"


def test_support_is_width_and_number() -> None:
    """Where rows have a support, edges have it as a number and as their width."""
    shares: dict[frozenset[Node], float] = {
        frozenset(("Pollution", "Cancer")): 0.25,
        frozenset(("Smoker", "Cancer")): 1.0,
    }
    part = attrs.evolve(learn(network("cancer"), "Cancer"), support=shares)
    strokes = [group for group in groups(part.svg()) if "data-mark" in group.attrib]
    figures = [group for group in groups(part.svg()) if group.get("class") == "figure"]
    widths = {group.attrib["data-source"]: float(group.attrib["stroke-width"]) for group in strokes}

    assert {text.text for group in figures for text in group.findall(f"{SVG}text")} == {".25", "1"}
    assert widths["Smoker"] > widths["Pollution"]
    assert {text.get_text() for text in part.plot().texts} >= {".25", "1"}


def test_support_goes_before_strength() -> None:
    """An edge has the weight of its support; its probability stands in where there is none."""
    rows: list[dict[str, Any]] = [
        {"source": "a", "target": "b", "support": 0.5, "probability": 0.9},
        {"source": "a", "target": "c", "support": None, "probability": 0.9},
        {"source": "a", "target": "d", "support": None},
    ]

    assert weights_of(rows) == {frozenset("ab"): 0.5, frozenset("ac"): 0.9}
