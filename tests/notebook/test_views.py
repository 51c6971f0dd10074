"""What a notebook shows of each result: HTML without scripts, in which names are text, and a repr of one line."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import (
    Part,
    blanket,
    causes,
    compare,
    effect,
    learn,
    learn_graph,
    learn_many,
    network,
    stability,
    table,
)
from apsl_rules.graphs import cpdag
from apsl_rules.graphs.networks import sample
from apsl_rules.names import shown
from apsl_rules.rules import Proof
from apsl_rules.views.pieces import MOST_ROWS
from support.contradictory import Contradictory
from support.drawn import HOSTILE, hostile_dag, large_part
from support.graphs import random_dag

_VOID = {"br", "hr", "path", "rect", "circle", "polygon", "img", "input"}


class Page(HTMLParser):
    """The tags, attributes and words of a piece of HTML, and whether every tag is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that opens."""
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag that opens and closes."""
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        """Note that the last open tag is closed."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note some words."""
        self.words += data


def hostile_frame() -> pd.DataFrame:
    """Return a table whose columns and levels have hostile names, in which the second follows from the first."""
    draw = np.random.default_rng(1)
    first = draw.integers(0, 2, 400)
    second = np.where(draw.random(400) < 0.9, first, 1 - first)
    third = np.where(draw.random(400) < 0.9, second, draw.integers(0, 2, 400))
    levels = np.array(["<b>no</b>", "<img src=x onerror='window.canary = 9'>"])
    columns = [levels[first], levels[second], levels[third], draw.normal(size=400)]
    return pd.DataFrame(dict(zip(HOSTILE[:4], columns, strict=True)))


@cache
def results() -> dict[str, Any]:
    """Return one result of each kind, from small tables and graphs, and such with hostile names."""
    asia = sample(network("asia"), 2000, seed=3)
    part = learn(asia, "dysp", depth=2, hidden="excluded")
    contradictory = learn(Contradictory(), "a", depth="max", hidden="excluded")
    frame = hostile_frame()
    first, second, third, _ = HOSTILE[:4]
    hostile = learn(hostile_dag(), 7, depth="max", hidden="excluded")
    categories = frame[[first, second, third]]
    from_frame = learn(categories, second, depth=2, hidden="excluded")
    return {
        "part": part,
        "proof": part.why("bronc", "dysp"),
        "proof of a conflict": contradictory.why(*contradictory.conflicts[0].pair),
        "conflict": contradictory.conflicts[0],
        "contradictory part": contradictory,
        "stability": stability(asia, "dysp", resamples=3, hidden="excluded"),
        "comparison": compare(asia, "dysp", learners=["auto", "apsl"]),
        "parts": learn_many(asia, ["dysp", "lung"], hidden="excluded"),
        "learned graph": learn_graph(asia, hidden="excluded"),
        "network": network("asia"),
        "known graph": network("asia").dag,
        "equivalence class": cpdag(network("asia").dag),
        "marked graph": part.graph(),
        "table": asia,
        "mixed table": table(frame),
        "blanket": blanket(network("asia"), "either"),
        "effect": effect(network("asia"), "smoke", "dysp", data=asia),
        "grounds": effect(asia, "smoke", "dysp", hidden="excluded").why(),
        "effects": part.effects(asia),
        "answer": causes(network("asia"), "smoke", "dysp"),
        "fitted": part.fit(asia, open_edges="direct"),
        "hidden part": learn(network("asia").hiding("smoke"), "bronc", depth="max", hidden="allowed"),
        "hidden graph": learn_graph(network("asia").hiding("smoke"), hidden="allowed"),
        "hostile part": hostile,
        "hostile proof": hostile.why(*next(iter(hostile.arrows))),
        "hostile parts": learn_many(hostile_dag(), "all", hidden="excluded"),
        "hostile graph": learn_graph(hostile_dag(), hidden="excluded"),
        "hostile known graph": hostile_dag(),
        "hostile blanket": blanket(hostile_dag(), HOSTILE[2]),
        "hostile table": table(categories),
        "hostile stability": stability(categories, second, resamples=3, hidden="excluded"),
        "hostile comparison": compare(categories, second, learners=["auto", "apsl"]),
        "hostile effect": effect(categories, first, second, hidden="excluded"),
        "hostile effects": from_frame.effects(categories),
        "hostile grounds": effect(categories, first, second, hidden="excluded").why(),
        "hostile answer": causes(categories, first, second, hidden="excluded"),
        "hostile fitted": from_frame.fit(categories, open_edges="direct"),
    }


NAMES = (
    "part",
    "proof",
    "proof of a conflict",
    "conflict",
    "contradictory part",
    "stability",
    "comparison",
    "parts",
    "learned graph",
    "network",
    "known graph",
    "equivalence class",
    "marked graph",
    "table",
    "mixed table",
    "blanket",
    "effect",
    "grounds",
    "effects",
    "answer",
    "fitted",
    "hidden part",
    "hidden graph",
    "hostile part",
    "hostile proof",
    "hostile parts",
    "hostile graph",
    "hostile known graph",
    "hostile blanket",
    "hostile table",
    "hostile stability",
    "hostile comparison",
    "hostile effect",
    "hostile effects",
    "hostile grounds",
    "hostile answer",
    "hostile fitted",
)


def view(name: str) -> Page:
    """Return what a notebook shows of a result."""
    return Page(results()[name]._repr_html_())


@pytest.mark.parametrize("name", NAMES)
def test_a_view_is_closed_and_has_no_script(name: str) -> None:
    """Every tag is closed, none is a script or loads anything, and no attribute listens."""
    page = view(name)

    assert not {"script", "img", "iframe", "link", "style"} & set(page.tags)
    assert not {one for one in page.attributes if one.startswith("on") or one in {"src", "href"}}
    assert page.words.strip()


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_one_line(name: str) -> None:
    """The repr says in one line what it is; only a small known graph spells itself out."""
    text = repr(results()[name])

    assert "\n" not in text
    assert len(text) < 250 or "graph" in name or "hostile" in name


def test_every_kind_is_looked_at() -> None:
    """The list of names is that of the results."""
    assert tuple(results()) == NAMES


def test_hostile_names_are_shown_as_they_are() -> None:
    """A name that is markup is there as words, in drawings and in tables."""
    for name in ("hostile part", "hostile graph", "hostile known graph", "hostile parts"):
        words = view(name).words
        assert all(shown(one)[:150] in words for one in HOSTILE)


def test_a_proof_is_a_tree_that_folds() -> None:
    """Each step with premises is a fold, each finding a line with its evidence."""
    proof: Proof = results()["proof"]
    page = view("proof")

    assert page.tags.count("details") == sum(bool(step.premises) for step in proof.steps)
    assert all(step.text in page.words for step in proof.steps)
    assert "are right" in page.words


def test_a_part_has_its_drawing_and_a_row_for_each_edge() -> None:
    """The drawing is that of ``part.svg()``, and the table tells both probabilities apart."""
    part: Part = results()["part"]
    html = part._repr_html_()

    assert part.svg() in html
    assert html.count("<tr>") == 1 + len(part.edges)
    assert "P(edge)" in html
    assert "P(direction)" in html


def test_edges_with_hidden_causes_have_their_signs() -> None:
    """A part that allows hidden causes is shown, too."""
    assert "↔" in view("hidden part").words or "o→" in view("hidden part").words


def test_a_comparison_shows_each_edge_for_each_learner() -> None:
    """There is a row for each learner, and one for each pair that any learner joins."""
    comparison = results()["comparison"]
    pairs = {pair for part in comparison.parts.values() for pair in part.edges}

    assert view("comparison").tags.count("tr") == 2 + len(comparison.parts) + len(pairs)


def test_a_long_table_says_what_is_left_out() -> None:
    """Of many edges the first are shown, and a line says how many are not."""
    part = large_part(random_dag(1, 120, 3.0), "v000")
    page = Page(part._repr_html_())

    assert len(part.edges) > MOST_ROWS
    assert f"and {len(part.edges) - MOST_ROWS} more edges" in page.words


def test_of_many_parts_the_first_are_read() -> None:
    """Parts may lie in a file: only those that are shown are read from it, and a line says how many are not."""
    few = results()["parts"]
    read: list[int] = []

    class Lying(dict[Any, Any]):
        def __getitem__(self, target: Any) -> Any:
            read.append(target)
            return few["dysp"]

    many = attrs.evolve(few, parts=Lying(dict.fromkeys(range(500))))
    assert "and 440 more parts" in Page(many._repr_html_()).words
    assert read == list(range(MOST_ROWS))


def test_a_long_proof_says_what_is_left_out() -> None:
    """A proof with very many steps below each other is cut, and says how many steps are not shown."""
    step = results()["proof"].steps[-1]
    steps = [attrs.evolve(step, premises=(number - 1,) if number else ()) for number in range(400)]
    words = Page(Proof(tuple(steps))._repr_html_()).words

    assert re.search(r"3\d\d further steps left out here", words)


def test_a_wide_table_is_cut() -> None:
    """Of very many columns the first are described, and a line says how many are not."""
    wide = table(pd.DataFrame(np.random.default_rng(1).integers(0, 3, (50, 200))).add_prefix("c"))
    words = Page(wide._repr_html_()).words

    assert "and 140 more columns" in words
    assert "table of 50 rows and 200 columns" in words


def test_views_are_loaded_only_when_asked_for() -> None:
    """The rules stay free of numpy, and importing the package loads no view."""
    program = (
        "import sys, apsl_rules.rules\n"
        "assert 'apsl_rules.views' not in sys.modules and 'numpy' not in sys.modules, sorted(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
