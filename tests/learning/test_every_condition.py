"""The default learner under every condition: the same part wherever rows are counted and whatever else is asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Interrupted, Knowledge, Part, compare, hookimpl, learn, learn_graph, learn_many, network
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Depth, Node
from apsl_rules.parts import load_part
from apsl_rules.plugins.manager import Progress, installed
from apsl_rules.rules.engine import Mark
from support.counted import table_counts, thrifty_counts

ALARM = sample(network("alarm"), 1000, seed=4)
#: More columns than are searched at once.
WIDE = sample(network("win95pts"), 1000, seed=4)
FAR = Knowledge(apart=[("CVP", "PCWP")])
TARGETS: tuple[Node, ...] = ("HR", "CO", "VENTLUNG")


def said(part: Part) -> Any:
    """Return all that a part says of the structure, with its proofs and without how it was counted."""
    return part.rows(), part.visits, part.trace, part.conflicts


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "extra",
    [
        pytest.param({"knowledge": FAR}, id="irrelevant knowledge"),
        pytest.param({"max_seconds": 3600.0, "max_tests": 10**9}, id="limits"),
        pytest.param({"threads": 3}, id="threads"),
        pytest.param({"counts": "duckdb"}, id="duckdb"),
        pytest.param({"counts": "dask"}, id="dask", marks=pytest.mark.slow),
        pytest.param({"fdr": 0.999}, id="loose fdr"),
    ],
)
def test_extras_that_change_nothing_change_nothing(target: Node, extra: dict[str, Any]) -> None:
    """Marks, proofs and visits are those of the plain run; knowledge is told where it belongs, beyond the part."""
    plain = learn(ALARM, target, depth=2, hidden="excluded")
    part = learn(ALARM, target, depth=2, **extra, hidden="excluded")

    assert part.learner == "apsl-score"
    same = attrs.evolve(part, knowledge=plain.knowledge)
    assert (same.rows(), same.conflicts) == (plain.rows(), plain.conflicts)
    assert "knowledge" in extra or said(same) == said(plain)


@pytest.mark.parametrize("counts", [table_counts, thrifty_counts])
def test_a_source_of_counts_gives_the_same_part(counts: Callable[[Table], Any]) -> None:
    """A user's own source of counts is as good as the table."""
    assert said(learn(counts(ALARM), "HR", depth=2, hidden="excluded")) == said(
        learn(ALARM, "HR", depth=2, hidden="excluded")
    )


def test_every_front_door_gives_the_part_of_learn() -> None:
    """Alone, among many, in a comparison: the same part with the same extras."""
    known = Knowledge(required=[("LVFAILURE", "HISTORY")], forbidden=[("CO", "HR")])
    alone = learn(ALARM, "HR", knowledge=known, hidden="excluded")

    assert said(learn_many(ALARM, ["HR", "CO"], knowledge=known, hidden="excluded")["HR"]) == said(alone)
    assert said(compare(ALARM, "HR", learners=["auto"], knowledge=known).parts["auto"]) == said(alone)
    assert learn_graph(ALARM, knowledge=known, hidden="excluded").mark("CO", "HR") == learn_graph(
        ALARM, knowledge=known, hidden="excluded"
    ).mark("HR", "CO")


def test_one_missing_cell_changes_no_edge() -> None:
    """Values are filled in for scores and left out of tests; the part says so."""
    codes, incomplete = ALARM.codes.copy(), ALARM.incomplete.copy()
    codes[5, 100], incomplete[5] = ALARM.cards[5], True
    holed = attrs.evolve(ALARM, codes=codes, incomplete=incomplete)
    for target in TARGETS:
        part, plain = learn(holed, target, hidden="excluded"), learn(ALARM, target, hidden="excluded")
        assert part.learner == "apsl-score"
        assert (part.arrows, part.lines) == (plain.arrows, plain.lines)


def test_knowledge_is_part_of_the_search() -> None:
    """Required arrows are drawn, forbidden ones are not, and both are given in proofs."""
    plain = learn(ALARM, "HR", depth=2, hidden="excluded")
    assert ("CATECHOL", "HR") in plain.arrows
    known = Knowledge(required=[("HR", "HRBP")], apart=[("HR", "HREKG")], tiers=[["CATECHOL"], ["HR", "HRBP"]])

    part = learn(ALARM, "HR", depth=2, knowledge=known, conflicts="strongest", hidden="excluded")

    assert ("HR", "HRBP") in part.arrows
    assert ("HR", "CATECHOL") not in part.arrows
    assert frozenset(("HR", "HREKG")) not in part.edges
    assert "[given]" in str(part.why("HR", "HREKG"))


def test_strong_data_against_knowledge_are_a_conflict() -> None:
    """An edge that the rows insist on, between nodes that are said to be apart, keeps both proofs."""
    part = learn(ALARM, "CO", knowledge=Knowledge(apart=[("CO", "STROKEVOLUME")]), hidden="excluded")
    (conflict,) = part.conflicts
    assert set(conflict.pair) == {"CO", "STROKEVOLUME"}
    assert {proof.findings[0].evidence.source for proof in conflict.proofs} == {"given", "BDe"}


class InterruptedAt:
    """A plugin that interrupts a run after some steps."""

    def __init__(self, step: int) -> None:
        self.left = step

    @hookimpl
    def apsl_progress(self, progress: Progress) -> None:
        """Interrupt at the last step."""
        assert progress.visited
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def test_an_interrupt_keeps_the_last_whole_state(tmp_path: Path) -> None:
    """The part so far is not empty; the same run goes on from its answers to the same end."""
    whole = learn(WIDE, "Problem1", depth=3, hidden="excluded")
    assert len(whole.visited) > 1
    cache = tmp_path / "answers"
    with pytest.raises(Interrupted) as stop:
        learn(WIDE, "Problem1", depth=3, cache=cache, plugins=[InterruptedAt(3)], hidden="excluded")
    part = stop.value.part
    assert part.incomplete.startswith("stopped at an interrupt after ")
    assert part.edges
    assert set(part.visited) < set(whole.visited)
    assert said(learn(WIDE, "Problem1", depth=3, cache=cache, hidden="excluded")) == said(whole)


def test_a_limit_keeps_the_last_whole_state() -> None:
    """Between no tests and all of them there are limits that give some of the part, and say what is missing."""
    whole = learn(WIDE, "Problem1", depth=3, hidden="excluded")
    sizes = set()
    for share in np.linspace(0.1, 0.9, 9):
        part = learn(WIDE, "Problem1", depth=3, max_tests=int(share * whole.counts.distinct), hidden="excluded")
        sizes.add(len(part.visited))
        if part.visited == whole.visited:  # then the sets that separate nodes may be missing
            assert part.incomplete is None or "all nodes of the asked part are visited" in part.incomplete
        else:
            assert part.incomplete is not None
            assert "still to visit" in part.incomplete
    assert sizes - {0, len(whole.visited)}


def crowd(parents: int) -> pd.DataFrame:
    """Draw a column that depends on ten of twenty others."""
    random = np.random.default_rng(parents)
    columns = {f"p{at}": random.integers(0, 2, 1500) for at in range(20)}
    total = sum(columns[f"p{at}"] for at in range(10))
    return pd.DataFrame({**columns, "t": (total + random.normal(0, 0.8, 1500) > 5).astype(int)})


@pytest.mark.parametrize("parents", [7, 10])
def test_more_required_parents_than_a_search_adds(parents: int) -> None:
    """All of them are drawn, although a search would never add that many."""
    required = [(f"p{at}", "t") for at in range(20 - parents, 20)]
    part = learn(crowd(parents), "t", knowledge=Knowledge(required=required), conflicts="strongest", hidden="excluded")
    assert set(required) <= part.arrows


@pytest.mark.parametrize("depth", [1, 2, "max"])
def test_contradicted_parts_can_be_saved_and_loaded(depth: Depth, tmp_path: Path) -> None:
    """Both ends of a contradicted pair are visited, so that the part is what it says it is."""
    random = np.random.default_rng(3)
    b = random.integers(0, 2, 1500)
    rows = pd.DataFrame({"b": b, "c": b ^ (random.random(1500) < 0.1), "e": random.integers(0, 2, 1500)})
    known = Knowledge(apart=[("b", "c")])
    part = learn(rows, "b", depth=depth, knowledge=known, conflicts="quarantine", hidden="excluded")
    part.save(tmp_path / "part.json")
    assert load_part(tmp_path / "part.json") == part
    assert part.mark("b", "c") is Mark.CONFLICT


def test_a_missing_value_is_no_level_of_a_duplicate() -> None:
    """A column that lacks one level of another is no duplicate of it, wherever rows are counted."""
    random = np.random.default_rng(1)
    code = random.integers(0, 3, 600)
    x = np.array(["p", "q", "r"], object)[code]
    noisy = [(code + (random.random(600) < 0.2)) % 3 for _ in range(2)]
    rows = pd.DataFrame({"x": x, "y": pd.Series(x).where(code < 2), "c": noisy[0], "d": noisy[1]})
    for target in rows.columns:
        assert said(learn(rows, target, counts="duckdb", hidden="excluded")) == said(
            learn(rows, target, hidden="excluded")
        )


@pytest.mark.parametrize("pairs", ["all", "inner", "candidates"])
def test_required_arrows_are_open_to_every_kind_of_search(pairs: str) -> None:
    """A search among some pairs only never closes an arrow that is required."""
    random = np.random.default_rng(2)
    first, second = random.integers(0, 2, (2, 1000))
    both = (first & second) ^ (random.random(1000) < 0.1)
    rows = pd.DataFrame({"s1": first, "s2": second, "v": both.astype(int)})
    plain = installed().learners["apsl-score"].spec
    spec = attrs.evolve(plain, options={**plain.options, "pairs": pairs, "radius": 1})
    part = learn(rows, "v", depth=2, learner=spec, knowledge=Knowledge(required=[("s1", "s2")]), hidden="excluded")
    assert part.mark("s1", "s2") is Mark.ARROW


def test_compare_takes_learners_only() -> None:
    """The one learner of other calls is refused, not ignored."""
    with pytest.raises(InvalidArgumentError, match="compare takes learners, a list; leave learner out"):
        compare(ALARM, "HR", learners=["apsl"], learner="cmb")
