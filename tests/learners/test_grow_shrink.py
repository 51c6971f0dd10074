"""Grow-Shrink: blankets, the whole structure from them, cycles, and the variants that options give."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.finders.by_tests import Growing
from apsl_backends.independence.d_separation import DSeparation
from apsl_published.grow_shrink import GrowShrink, arrows_to_turn, cycles
from apsl_rules import learn, network
from apsl_rules.errors import SpecError
from apsl_rules.evidence.evidence import Decision, Verdict
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.names import Node, in_order
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.parts.file import load_part
from apsl_rules.parts.part import Part
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import FinderSettings
from support.grading import contradicts, is_exact
from support.graphs import MICRO, MICRO_CPDAG, all_dags, arrows_of, dag_of, random_dag
from support.strategies import sparse_dags

MEEK = ("gs", "gs-authors")

#: A graph in which x -> z is known only by the way over y.
PATHWAY = dag_of("c->y x->y y->z d->z x->z x->d")


class Scripted(Oracle):
    """An oracle that answers "dependent" unless told otherwise for a question such as "ab|cd", and keeps a record."""

    name = "script"

    def __init__(self, nodes: str, answers: dict[str, Decision]) -> None:
        self.nodes = tuple(nodes)
        self.answers = answers
        self.asked: list[str] = []

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Look up the answer."""
        key = f"{''.join(sorted((str(x), str(y))))}|{''.join(sorted(map(str, given)))}"
        self.asked.append(key)
        return Verdict(x, y, tuple(given), self.answers.get(key, "dependent"), self.name)


def everything(part: Part) -> Cpdag:
    """Return all that was learned, in the asked part and beyond it."""
    return Cpdag(part.nodes, part.store.arrows, part.store.lines)


def true_blanket(dag: Dag, node: Node) -> set[Node]:
    """Return parents, children and the other parents of children."""
    children = dag.children_of(node)
    return {*dag.parents_of(node), *children, *(other for child in children for other in dag.parents_of(child))} - {
        node
    }


# --- blankets ------------------------------------------------------------------------------------------------------


def test_the_blanket_of_t_on_n3() -> None:
    """The false descendant X of T is not in it: A is the child, and B shares it."""
    finder = installed().blankets["gs"].make(DSeparation(MICRO["N3"]), FinderSettings())
    blanket = finder.blanket("T")

    assert blanket.members == ("A", "B")
    assert blanket.neighbours == ("A",)
    assert blanket.spouses == {"A": ("B",)}


@pytest.mark.parametrize("grow", ["strongest", "order"])
@pytest.mark.parametrize("shrink", ["one by one", "together"])
def test_blankets_are_exact(grow: str, shrink: str) -> None:
    """On ALARM and on random graphs, in any order of growth and shrinking, as one set and split."""
    for dag in (network("alarm").dag, *(random_dag(seed, 8, 2.8) for seed in range(10))):
        finder = GrowShrink(DSeparation(dag), FinderSettings(options={"grow": grow, "shrink": shrink}))

        for node in dag.nodes:
            blanket = finder.blanket(node)
            assert set(finder.grown(node)) == set(blanket.members) == true_blanket(dag, node)
            assert set(blanket.neighbours) == dag.neighbours_of(node)


def test_growth_goes_by_the_order_of_nodes_until_nobody_enters() -> None:
    """Members are given as soon as they enter; a sweep that adds nobody is the last one."""
    oracle = Scripted("tabc", {"at|": "independent", "ct|b": "independent", "at|b": "independent"})

    blanket = Growing(oracle, oracle.nodes, strongest=False).blanket("t")

    assert blanket == ("b",)
    assert oracle.asked == ["at|", "bt|", "ct|b", "at|b", "ct|b", "bt|"]


def test_growth_can_begin_with_the_strongest() -> None:
    """In the order of nodes the descendant C enters and leaves again; by association T is first and C stays out."""
    oracle = DSeparation(MICRO["N7"])
    nodes = ("C", "P", "Q", "T")

    assert Growing(oracle, nodes, strongest=False).blanket("P") == ("Q", "T")
    assert Growing(oracle, nodes, strongest=True).blanket("P") == ("T", "Q")


def test_shrinking_together_drops_two_that_stand_in_for_each_other() -> None:
    """Given all others both a and b are independent of t; one by one b stays when a has gone."""
    answers: dict[str, Decision] = {"at|bc": "independent", "bt|ac": "independent"}
    oracle = Scripted("tabc", answers)

    assert Growing(oracle, oracle.nodes, strongest=False).blanket("t") == ("b", "c")
    assert Growing(oracle, oracle.nodes, strongest=False, together=True).blanket("t") == ("c",)


def test_too_few_rows_let_nobody_in_and_put_nobody_out() -> None:
    """A test that cannot be trusted ends the growth and keeps a member."""
    oracle = Scripted("tab", {"bt|a": "unreliable", "at|": "dependent"})
    growing = Growing(oracle, oracle.nodes, strongest=False)

    assert growing.blanket("t") == ("a",)
    assert growing.blanket("b") == ("t", "a")


def test_a_wrong_option_of_the_blanket_finder_is_refused() -> None:
    """The sentence names the finder, the option and what is allowed."""
    with pytest.raises(SpecError, match="blanket finder 'gs', shrink is 'togther'; did you mean"):
        GrowShrink(DSeparation(MICRO["N3"]), FinderSettings(options={"shrink": "togther", "threshold": 1}))


# --- structures ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("learner", MEEK)
def test_all_graphs_on_four_nodes_are_learned_exactly(learner: str) -> None:
    """All 543 graphs as a whole: no difference from the CPDAG."""
    differences = 0
    for dag in all_dags(4):
        learned = everything(learn(DSeparation(dag), 0, learner=learner))
        differences += learned != cpdag(dag)

    assert differences == 0


@settings(max_examples=60)
@given(sparse_dags(min_nodes=2, max_nodes=9), st.sampled_from(MEEK))
def test_random_graphs_are_learned_exactly(dag: Dag, learner: str) -> None:
    """The whole graph is the CPDAG, whatever the target."""
    part = learn(dag, dag.nodes[0], depth=2, learner=learner)

    assert everything(part) == cpdag(dag)
    assert is_exact(part, cpdag(dag))
    assert part.visited == (in_order(dag.nodes) if learner == "gs" else dag.nodes)


@pytest.mark.parametrize("name", MICRO)
def test_micro_networks_are_learned_exactly(name: str) -> None:
    """N1 to N8, with N2's t - z and N8's A - B and A - C left open."""
    for learner in MEEK:
        assert everything(learn(MICRO[name], MICRO[name].nodes[0], learner=learner)) == MICRO_CPDAG[name]


def test_alarm_is_learned_exactly_with_proofs() -> None:
    """All 46 edges; a proof goes down to a collider, a chain and their verdicts."""
    part = learn(network("alarm"), "HR", depth="max", learner="gs")
    proof = str(part.why("CATECHOL", "HR"))

    assert everything(part) == cpdag(network("alarm").dag)
    assert "CATECHOL -> HR   [Meek-R1]" in proof
    assert "CATECHOL is no collider between" in proof


@pytest.mark.slow
def test_as_published_it_is_sound_but_not_complete() -> None:
    """All graphs on four nodes: no arrow is wrong; without Meek's rules 72 graphs keep lines that could have arrows."""
    wrong = short = 0
    for dag in all_dags(4):
        part = learn(DSeparation(dag), 0, learner="gs-paper")
        wrong += contradicts(part, cpdag(dag))
        short += everything(part) != cpdag(dag)

    assert (wrong, short) == (0, 72)
    assert learn(MICRO["N7"], "T", learner="gs-paper").arrows == arrows_of("P->T Q->T")


def test_a_line_follows_a_directed_path() -> None:
    """No collider tells of x - z, but arrows lead from x over y to z, and the proof says so."""
    part = learn(PATHWAY, "x", depth="max", learner="gs-paper")

    assert everything(part) == cpdag(PATHWAY)
    assert str(part.why("x", "z")).startswith("x -> z   [Path-line]\n  arrows lead from x to z   [Path-on]\n")


def test_a_part_with_paths_can_be_saved(tmp_path: Path) -> None:
    """The relation of the rulebook is written with the part."""
    part = learn(PATHWAY, "x", depth="max", learner="gs-paper")
    part.save(tmp_path / "part.json")

    assert str(load_part(tmp_path / "part.json").why("x", "z")) == str(part.why("x", "z"))


def test_a_limit_gives_an_incomplete_part() -> None:
    """A run that ends early returns what it has found by then, without arrows."""
    part = learn(network("alarm"), "HR", learner="gs", max_tests=400)

    assert part.incomplete is not None
    assert part.incomplete.startswith("stopped at 400 tests after ")
    assert not part.store.arrows


def test_a_wrong_option_in_a_spec_is_refused(tmp_path: Path) -> None:
    """The sentence names the spec and the option."""
    spec = tmp_path / "mine.toml"
    spec.write_text('name = "mine"\nsummary = "my own"\nkind = "gs"\n[options]\npol = "union"\n', "utf-8")

    with pytest.raises(SpecError, match="spec 'mine', options has the unknown setting 'pol'; did you mean"):
        learn(MICRO["N3"], "T", learner=spec)


# --- cycles --------------------------------------------------------------------------------------------------------

ARROWS = st.lists(st.permutations("abcdef").map(lambda nodes: (nodes[0], nodes[1])), max_size=14)


@given(ARROWS)
def test_cycles_are_all_simple_cycles(arrows: list[tuple[Node, Node]]) -> None:
    """As networkx finds them, each once."""
    graph = nx.DiGraph(arrows)
    expected = {frozenset(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) for cycle in nx.simple_cycles(graph)}

    found = [frozenset(cycle) for cycle in cycles(set(arrows))]

    assert len(found) == len(set(found))
    assert set(found) == expected


@given(ARROWS)
def test_without_the_arrows_to_turn_no_cycle_is_left(arrows: list[tuple[Node, Node]]) -> None:
    """Only arrows on cycles are taken out, and what is left has none."""
    taken = arrows_to_turn(set(arrows))
    on_cycles = {arrow for cycle in cycles(set(arrows)) for arrow in cycle}

    assert set(taken) <= on_cycles
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(set(arrows) - set(taken))))


def test_the_arrow_on_most_cycles_is_turned() -> None:
    """The arrow a -> b lies on two cycles and all others on one, so it alone is turned, and by name among equals."""
    assert arrows_to_turn([("a", "b"), ("b", "c"), ("c", "a"), ("b", "d"), ("d", "a")]) == (("a", "b"),)
    assert arrows_to_turn([("y", "x"), ("x", "y")]) == (("x", "y"),)


class Mistaken(Oracle):
    """Answers from a known graph, except that every few questions it says the opposite, always of the same ones."""

    name = "mistaken"

    def __init__(self, dag: Dag, every: int) -> None:
        self.true = DSeparation(dag)
        self.nodes = dag.nodes
        self.every = every

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer, wrongly when the letters of the question add up to a multiple."""
        answer = self.true.verdict(x, y, given)
        decision = answer.decision
        if sum(map(ord, "".join(map(str, (x, y, *given))))) % self.every == 0:
            decision = "dependent" if answer.independent else "independent"
        return Verdict(x, y, tuple(given), decision, self.name, statistic=answer.statistic or 0.1)


@pytest.mark.parametrize("learner", ["gs", "gs-paper"])
def test_wrong_answers_leave_no_cycle_but_reports(learner: str) -> None:
    """Contradictory answers about ALARM: the arrows have no cycle, and what was refused or blocked is reported."""
    part = learn(Mistaken(network("alarm").dag, 23), "HR", depth="max", learner=learner)

    assert part.ledger.settled.conflicts
    assert nx.is_directed_acyclic_graph(nx.DiGraph(list(part.store.arrows)))
    for x, y in part.store.arrows:
        assert part.why(x, y).findings


def test_a_turned_arrow_says_so() -> None:
    """Among contradictory answers some arrow is turned, as a finding of its own with the reason in words."""
    part = learn(Mistaken(network("alarm").dag, 23), "HR", depth="max", learner="gs-paper")
    turned = [finding for finding in part.findings if finding.fact.relation == "arrow"]

    assert turned
    assert all(finding.evidence.note.startswith("turned round, since ") for finding in turned)
    assert all((y, x) not in part.store.arrows for x, y in (finding.fact.nodes for finding in turned))
