"""The front door: sources, mistakes in arguments, limits, and what a part can be asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, learn, network
from apsl_rules.errors import ApslError, GraphError, InvalidArgumentError, SpecError, UnknownNameError, UnknownNodeError
from apsl_rules.names import count_of
from apsl_rules.parts.part import Part
from apsl_rules.plugins.offers import Spec
from apsl_rules.rules.engine import Mark
from support.contradictory import Contradictory
from support.graphs import MICRO

ALARM = network("alarm")


def learn_alarm(**settings: Any) -> Part:
    """Learn around HREKG with some settings."""
    return learn(ALARM, settings.pop("target", "HREKG"), **settings)


@pytest.mark.parametrize(
    "source",
    [
        ALARM,
        ALARM.dag,
        DSeparation(ALARM.dag),
        nx.DiGraph(sorted(ALARM.dag.edges)),
    ],
    ids=["network", "graph", "oracle", "networkx"],
)
def test_all_sources_of_one_graph_give_the_same_part(source: object) -> None:
    """A network, a known graph, a networkx graph and an oracle made of it."""
    part = learn(source, "HREKG", depth=2)

    assert part.arrows == learn_alarm(depth=2).arrows
    assert part.oracle == "dsep"


@pytest.mark.parametrize(
    ("settings", "error", "sentence"),
    [
        ({"target": "HRECG"}, UnknownNodeError, "unknown target 'HRECG'; did you mean 'HREKG'?"),
        ({"target": 7}, UnknownNodeError, "unknown target 7; the nodes are 'HISTORY', 'CVP'"),
        ({"depth": 0}, InvalidArgumentError, "depth is 0; give a whole number from 1 on, or 'max'"),
        ({"depth": -1}, InvalidArgumentError, "depth is -1; give a whole number"),
        ({"depth": True}, InvalidArgumentError, "depth is True; give a whole number"),
        ({"depth": "deep"}, InvalidArgumentError, "depth is 'deep'; give a whole number"),
        ({"depth": 1.5}, InvalidArgumentError, "depth is 1.5; give a whole number"),
        ({"learner": "aspl"}, UnknownNameError, "unknown learner 'aspl'; did you mean 'apsl'?"),
        ({"learner": Spec("mine", "", "globl")}, UnknownNameError, "unknown kind 'globl' in spec 'mine'"),
        ({"learner": "no/such.toml"}, InvalidArgumentError, "the spec file 'no/such.toml' cannot be read"),
        ({"oracle": "dsap"}, UnknownNameError, "unknown oracle 'dsap'; did you mean 'dsep'?"),
        ({"finder": "hitn"}, UnknownNameError, "unknown finder 'hitn'; did you mean 'hiton'?"),
        ({"conflicts": "lst"}, InvalidArgumentError, "unknown conflict policy 'lst'; did you mean 'last'?"),
        ({"alpha": 0}, InvalidArgumentError, "alpha is 0; give a number between 0 and 1"),
        ({"max_conditioning": -1}, InvalidArgumentError, "max_conditioning is -1; give 0 or more, or 'none'"),
        ({"max_tests": 0}, InvalidArgumentError, "max_tests is 0; give at least 1"),
        ({"threads": 0}, InvalidArgumentError, "threads is 0; give at least 1"),
        ({"learner": "apsl-paper", "conflicts": "quarantine"}, ApslError, "rulebook 'paper' has guards"),
    ],
)
def test_a_mistake_in_an_argument_gets_one_sentence(
    settings: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    """What was wrong, the value, what is allowed."""
    with pytest.raises(error) as caught:
        learn_alarm(**settings)

    assert isinstance(caught.value, ApslError)
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Dag({}), GraphError, "the graph has no nodes"),
        (lambda: Dag({"a": ["b"], "b": ["a"]}), GraphError, "the graph has a directed cycle a -> b -> a"),
        (lambda: nx.DiGraph([("a", "b"), ("b", "a")]), GraphError, "the graph has a directed cycle a -> b -> a"),
        (nx.DiGraph, GraphError, "the graph has no nodes"),
        (lambda: nx.Graph([("a", "b")]), GraphError, "the networkx graph is undirected"),
        (lambda: 3, InvalidArgumentError, "cannot learn from int; give a known graph"),
        (lambda: None, InvalidArgumentError, "cannot learn from NoneType; give a known graph"),
    ],
)
def test_a_source_that_is_none_is_refused(make: Callable[[], object], error: type[Exception], sentence: str) -> None:
    """Empty graphs, cycles, undirected graphs and things that are no source at all."""
    with pytest.raises(error) as caught:
        learn(make(), "a")

    assert sentence in str(caught.value)


def test_a_spec_file_is_read(tmp_path: Path) -> None:
    """The path of a TOML file stands for the learner in it; a mistake in it names the file."""
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nsummary = ""\n[neighbours]\nfinder = "mmpc"\n', "utf-8")

    assert learn_alarm(learner=path).learner == "mine"
    assert learn_alarm(learner=str(path)).arrows == learn_alarm().arrows

    path.write_text('name = "mine"\nsummary = ""\nfinder = "mmpc"\n', "utf-8")
    with pytest.raises(SpecError, match=r"spec file '.*mine\.toml' has the unknown setting 'finder'"):
        learn_alarm(learner=path)


@pytest.mark.parametrize("most", [1, 50, 120])
def test_a_limit_on_tests_gives_a_part_that_says_so(most: int) -> None:
    """The part so far is returned, incomplete by its own word, and what it has is not wrong."""
    part = learn_alarm(depth=3, max_tests=most)
    whole = learn_alarm(depth=3)

    assert part.incomplete is not None
    tests, visits = count_of(most, "test"), count_of(len(part.visited), "visit")
    assert part.incomplete.startswith(f"stopped at {tests} after {visits}")
    assert "stopped at" in repr(part)
    assert part.visited == whole.visited[: len(part.visited)]
    assert part.store.arrows <= whole.store.arrows
    assert whole.incomplete is None


def test_no_time_gives_an_empty_part() -> None:
    """A run without time visits nobody and says so."""
    part = learn_alarm(max_seconds=0)

    assert part.visited == ()
    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at the time allowed after 0 visits")
    assert part.members == ("HREKG",)


def test_a_limit_on_conditioning_sets_is_off_for_a_perfect_oracle() -> None:
    """Exactness needs all separators; a caller who wants the limit can have it."""
    assert learn_alarm().settings["max_conditioning"] is None
    assert learn_alarm(max_conditioning=2).settings["max_conditioning"] == 2
    assert learn_alarm(max_conditioning="none").settings["max_conditioning"] is None


def test_a_part_can_be_asked_about_its_structure() -> None:
    """Arrows, lines, gaps, marks, neighbours and members tell the same story."""
    part = learn(MICRO["N8"], "D", depth=1)

    assert part.arrows == {("B", "D"), ("C", "D"), ("D", "E")}
    assert part.lines == frozenset()
    assert part.members == ("B", "C", "D", "E")
    assert part.edges == {frozenset("BD"), frozenset("CD"), frozenset("DE")}
    assert part.parents_of("D") == ("B", "C")
    assert part.children_of("D") == ("E",)
    assert part.neighbours_of("D") == ("B", "C", "E")
    assert part.neighbours_of("A") == ()
    assert part.mark("B", "D") is Mark.ARROW
    assert part.mark("B", "C") is Mark.GAP
    assert part.mark("A", "D") is Mark.GAP
    assert frozenset("BC") in part.gaps
    assert repr(part) == (
        f"Part(target='D', depth=1, nodes=4, arrows=3, undirected=0, conflicts=0, tests={part.counts.asked})"
    )


def test_a_line_that_no_data_can_orient_stays() -> None:
    """N8 keeps A - B and A - C open, and says so in its marks and rows."""
    part = learn(MICRO["N8"], "A", depth="max")

    assert part.lines == {frozenset("AB"), frozenset("AC")}
    assert part.mark("A", "B") is Mark.LINE
    assert [(row["source"], row["target"], row["mark"], row["rule"]) for row in part.rows()] == [
        ("A", "B", "line", "found"),
        ("A", "C", "line", "found"),
        ("B", "D", "arrow", "V-from-middle"),
        ("C", "D", "arrow", "V-from-middle"),
        ("D", "E", "arrow", "Meek-R1"),
    ]


def test_an_edge_table_has_named_marks() -> None:
    """The data frame has a row for each edge of the part."""
    frame = learn(MICRO["N7"], "T").to_frame()

    edges, figures = ["source", "target", "mark"], ["probability", "direction", "p", "rule", "distance", "support"]
    assert list(frame.columns) == [*edges, *figures, "suggested"]
    assert frame["mark"].tolist() == ["arrow"] * 3
    assert frame["source"].tolist() == ["T", "P", "Q"]
    assert frame["target"].tolist() == ["C", "T", "T"]


def test_asking_about_strangers_is_refused() -> None:
    """Unknown nodes get the nearest name, known ones of which nothing is known a sentence."""
    part = learn_alarm()

    with pytest.raises(UnknownNodeError, match=r"unknown node 'HREKB'; did you mean 'HREKG'\?"):
        part.mark("HREKB", "HR")
    with pytest.raises(UnknownNodeError, match="unknown node 'nobody'"):
        part.parents_of("nobody")
    with pytest.raises(InvalidArgumentError, match="nothing is known of 'PAP' and 'FIO2': neither was visited"):
        part.why("PAP", "FIO2")
    with pytest.raises(InvalidArgumentError, match="'HR' is named twice; name two different nodes"):
        part.why("HR", "HR")


def test_a_gap_is_proved_too() -> None:
    """By its separator, or by the visit that settled one of its ends."""
    part = learn(MICRO["N8"], "D", depth=1)

    assert str(part.why("B", "C")) == "B and C are not adjacent   [dsep: B ⊥ C | A]"
    assert part.why("A", "D").findings[0].evidence.separator == ("B", "C")


def test_a_conflict_is_reported_with_both_proofs() -> None:
    """Contradictory answers give no arrow on the pair, a conflict in the part, and a proof with two sides."""
    part = learn(Contradictory(), "a", depth="max")
    (one,) = part.conflicts
    proof = part.why("a", "b")

    assert (one.pair, one.kind) == (("a", "b"), "opposed")
    assert part.mark("a", "b") is Mark.CONFLICT
    assert part.arrows == {("c", "b"), ("d", "a")}
    assert part.edges == {frozenset("ab"), frozenset("bc"), frozenset("ad")}
    assert proof.sides == one.proofs
    assert {str(side).splitlines()[0].partition("   ")[0] for side in proof.sides} == {"a -> b", "b -> a"}


@pytest.mark.parametrize("policy", ["first", "last"])
def test_overwriting_policies_say_that_order_mattered(policy: Any) -> None:
    """One of the two arrows is drawn, the conflict is kept, and the part is marked order-dependent."""
    part = learn(Contradictory(), "a", depth="max", conflicts=policy)

    assert part.ledger.order_dependent
    assert part.conflicts
    assert len(part.arrows) == 3
