"""Finders of neighbours and blankets: as published, with symmetry, and only when asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apsl_backends.finders.by_tests import Hiton, Mmpc, PcSimple
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import network
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Node, in_order
from apsl_rules.neighbours.symmetric import Candidates, Finder, Neighbours, SpousesByChild
from apsl_rules.oracles.asker import Asker
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import FinderSettings
from support.graphs import MICRO, random_dag

FINDERS: dict[str, Callable[[Oracle, FinderSettings], Finder]] = {"hiton": Hiton, "mmpc": Mmpc, "pcsimple": PcSimple}
ALARM = network("alarm").dag


def find(name: str, dag: Dag, *, max_conditioning: int | None = None) -> Finder:
    """Make a finder on a known graph."""
    return FINDERS[name](DSeparation(dag), FinderSettings(max_conditioning))


def alarm(*numbers: int) -> tuple[Node, ...]:
    """Return nodes of ALARM by their number in the paper's examples, by name."""
    return in_order(ALARM.nodes[number - 1] for number in numbers)


class Counting:
    """A finder that says nothing but whom it was asked about."""

    def __init__(self, members: dict[Node, tuple[Node, ...]]) -> None:
        self.members = members
        self.asked: list[Node] = []

    def candidates(self, node: Node) -> Candidates:
        """Return the candidates and write down the question."""
        self.asked.append(node)
        return Candidates(node, self.members[node])


@pytest.mark.parametrize("name", FINDERS)
def test_the_published_finders_keep_a_false_descendant(name: str) -> None:
    """On N3 the descendant X of T stays, since what separates it is no neighbour of T."""
    raw = find(name, MICRO["N3"]).candidates("T")

    assert in_order(raw.members) == ("A", "X")
    assert Neighbours(find(name, MICRO["N3"]), symmetric=False).of("T") == raw.members


@pytest.mark.parametrize("name", FINDERS)
def test_symmetry_removes_the_false_descendant(name: str) -> None:
    """T is not among the neighbours of X, and the separator found there is kept."""
    neighbours = Neighbours(find(name, MICRO["N3"]), symmetric=True)

    assert neighbours.of("T") == ("A",)
    assert neighbours.linked("T", "A")
    assert not neighbours.linked("T", "X")
    separation = neighbours.separation("T", "X")
    assert separation is not None
    assert in_order(separation.given or ()) == ("A", "B")


@pytest.mark.parametrize("name", FINDERS)
def test_with_symmetry_neighbours_are_exact(name: str) -> None:
    """On ALARM and on random graphs every node gets exactly its parents and children."""
    for dag in (ALARM, *(random_dag(seed, 9, 3.0) for seed in range(20))):
        neighbours = Neighbours(find(name, dag), symmetric=True)

        assert all(frozenset(neighbours.of(node)) == dag.neighbours_of(node) for node in dag.nodes)


@pytest.mark.parametrize("name", FINDERS)
def test_everyone_who_is_no_candidate_has_a_separator(name: str) -> None:
    """What rejected a node is kept: the empty set from the sweep, or a set found by search."""
    oracle = DSeparation(ALARM)
    candidates = find(name, ALARM).candidates("HR")

    for other in ALARM.nodes:
        separation = candidates.separation(other) if other != "HR" else None
        if other in candidates.members:
            assert separation is None
            assert candidates.weakest[other].dependent
        elif other != "HR":
            assert separation is not None
            assert separation.given is not None
            assert oracle.verdict("HR", other, separation.given).independent


@pytest.mark.parametrize("name", FINDERS)
def test_a_limit_on_conditioning_sets_is_kept(name: str) -> None:
    """Two children of the same two parents are apart only given both: with one node at most they stay candidates."""
    dag = Dag({"a": [], "b": [], "x": ["a", "b"], "y": ["a", "b"]})

    assert "y" in find(name, dag, max_conditioning=1).candidates("x").members
    assert "y" not in find(name, dag, max_conditioning=2).candidates("x").members


@pytest.mark.parametrize("name", FINDERS)
def test_facts_known_of_alarm(name: str) -> None:
    """PC(10), PC(35), MB(26) and the spouses of 17 as the literature has them."""
    oracle = DSeparation(ALARM)
    neighbours = Neighbours(find(name, ALARM), symmetric=True)
    blankets = SpousesByChild(oracle, neighbours)
    kinked = blankets.blanket("KINKEDTUBE")

    assert in_order(neighbours.of("HREKG")) == alarm(11, 35)
    assert in_order(neighbours.of("HR")) == alarm(9, 10, 12, 34, 36)
    assert blankets.blanket("PRESS").members == alarm(17, 25, 30)
    assert blankets.blanket("PRESS") is blankets.blanket("PRESS")
    assert kinked.spouses == {"VENTLUNG": alarm(25, 30), "PRESS": alarm(25, 30)}


@pytest.mark.parametrize("name", ["hiton-mb", "mmmb"])
def test_blankets_as_published_and_with_symmetry(name: str) -> None:
    """On N3 the published blanket of T has X as a child too; with symmetry it is A and its other parent B."""
    oracle: Oracle = DSeparation(MICRO["N3"])
    offer = installed().blankets[name]

    published = offer.make(oracle, FinderSettings()).blanket("T")
    exact = offer.make(oracle, FinderSettings(options={"symmetric": True})).blanket("T")

    assert in_order(published.neighbours) == ("A", "X")
    assert published.members == ("A", "B", "X")
    assert published.spouses == {"A": ("B",), "X": ("B",)}
    assert exact.neighbours == ("A",)
    assert exact.members == ("A", "B")
    assert exact.spouses == {"A": ("B",)}


def test_blankets_are_exact_with_symmetry() -> None:
    """Parents, children and the other parents of children, on random graphs."""
    for seed in range(20):
        dag = random_dag(seed, 9, 3.0)
        oracle = DSeparation(dag)
        blankets = SpousesByChild(oracle, Neighbours(Hiton(oracle, FinderSettings()), symmetric=True))

        for node in dag.nodes:
            others = {parent for child in dag.children_of(node) for parent in dag.parents_of(child)}

            assert set(blankets.blanket(node).members) == {*dag.neighbours_of(node), *others} - {node}


def test_candidates_are_computed_only_when_asked_for() -> None:
    """Symmetry asks the candidates of a node, and not one node more."""
    finder = Counting({"a": ("b", "c"), "b": ("a",), "c": ("d",), "d": ()})
    neighbours = Neighbours(finder, symmetric=True)

    first, again = neighbours.of("a"), neighbours.of("a")

    assert first == again == ("b",)
    assert finder.asked == ["a", "b", "c"]
    assert neighbours.computed == ("a", "b", "c")


def test_without_symmetry_nobody_else_is_asked() -> None:
    """The first finder is believed."""
    finder = Counting({"a": ("b", "c")})

    assert Neighbours(finder, symmetric=False).of("a") == ("b", "c")
    assert finder.asked == ["a"]


@pytest.mark.parametrize("name", FINDERS)
def test_threads_find_the_same(name: str) -> None:
    """Candidates computed in several threads are those of one thread, at the same cost."""
    askers = [Asker(DSeparation(ALARM), origin="test") for _ in range(2)]
    alone, together = (
        Neighbours(FINDERS[name](asker, FinderSettings()), symmetric=True, threads=threads)
        for asker, threads in zip(askers, (1, 4), strict=True)
    )

    for neighbours in (alone, together):
        neighbours.prepare(ALARM.nodes)

    assert [alone.of(node) for node in ALARM.nodes] == [together.of(node) for node in ALARM.nodes]
    assert askers[0].counts == askers[1].counts
