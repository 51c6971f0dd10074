"""The d-separation oracle against networkx and brute force."""

from __future__ import annotations

import pickle
from itertools import combinations
from random import Random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence import d_separation as dseparation
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules.errors import ApslError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Node, in_order
from apsl_rules.oracles.protocol import Oracle, subsets
from support.graphs import MICRO, dag_of, random_dag
from support.strategies import dags


def peer(dag: Dag) -> nx.DiGraph:
    """Return the same graph to networkx."""
    graph = nx.DiGraph(list(dag.edges))
    graph.add_nodes_from(dag.nodes)
    return graph


def split(dag: Dag, data: st.DataObject) -> tuple[Node, Node, list[Node]]:
    """Draw x, y and the other nodes in any order."""
    x, y, *others = data.draw(st.permutations(dag.nodes))
    return x, y, others


def test_it_is_a_perfect_oracle() -> None:
    """It has the shape of an oracle and says that its answers are certain."""
    oracle = DSeparation(MICRO["N1"])

    assert isinstance(oracle, Oracle)
    assert oracle.nodes == MICRO["N1"].nodes
    assert oracle.name == "dsep"
    assert oracle.perfect


def test_verdicts_carry_the_nearness() -> None:
    """A dependence counts 1 over the length of the shortest active trail; nothing else is claimed."""
    oracle = DSeparation(dag_of("A->B B->C C->D E->D D->F"))

    dependent = oracle.verdict("A", "D")
    opened = oracle.verdict("A", "E", ["F"])
    independent = oracle.verdict("A", "D", ["B"])

    assert (dependent.decision, dependent.statistic, dependent.test) == ("dependent", 1 / 3, "dsep")
    assert (opened.decision, opened.statistic, opened.given) == ("dependent", 1 / 4, ("F",))
    assert (independent.decision, independent.statistic) == ("independent", None)
    assert (dependent.p, dependent.dof, dependent.n) == (None, None, None)


@given(dags(min_nodes=2), st.data())
def test_verdicts_agree_with_networkx(dag: Dag, data: st.DataObject) -> None:
    """Every conditioning set gives the answer of networkx, in both directions."""
    x, y, others = split(dag, data)
    given_nodes = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    oracle = DSeparation(dag)

    verdict = oracle.verdict(x, y, given_nodes)

    assert verdict.independent == nx.is_d_separator(peer(dag), {x}, {y}, set(given_nodes))
    assert verdict.statistic == oracle.verdict(y, x, given_nodes).statistic
    assert (verdict.x, verdict.y, verdict.given) == (x, y, tuple(given_nodes))


@given(dags(min_nodes=2, max_nodes=6), st.data())
def test_the_statistic_is_the_shortest_active_trail(dag: Dag, data: st.DataObject) -> None:
    """Brute force over all trails finds the same length."""
    x, y, others = split(dag, data)
    given_nodes = set(data.draw(st.lists(st.sampled_from(others)))) if others else set()
    graph = peer(dag)
    opened = given_nodes.union(*(nx.ancestors(graph, node) for node in given_nodes))

    def active(trail: list[Node]) -> bool:
        return all(
            b in opened if graph.has_edge(a, b) and graph.has_edge(c, b) else b not in given_nodes
            for a, b, c in zip(trail, trail[1:], trail[2:], strict=False)
        )

    lengths = [len(trail) - 1 for trail in nx.all_simple_paths(graph.to_undirected(), x, y) if active(trail)]
    statistic = DSeparation(dag).verdict(x, y, list(given_nodes)).statistic

    assert statistic == (1 / min(lengths) if lengths else None)


@given(dags(min_nodes=2), st.data())
def test_associations_agree_with_single_verdicts(dag: Dag, data: st.DataObject) -> None:
    """One pass gives what one question for each other node gives, in the order of the nodes."""
    x = data.draw(st.sampled_from(dag.nodes))
    oracle = DSeparation(dag)

    sweep = oracle.associations(x)

    assert sweep.x == x
    assert list(sweep) == [oracle.verdict(x, y) for y in dag.nodes if y != x]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(dags(min_nodes=2, max_nodes=7), st.data())
def test_separators_agree_with_trying_all_subsets(dag: Dag, data: st.DataObject) -> None:
    """A separator is found exactly if one exists, it holds what it must, and no part of it would do."""
    x, y, others = split(dag, data)
    pool = data.draw(st.lists(st.sampled_from(others), unique=True)) if others else []
    must_include = data.draw(st.lists(st.sampled_from(others), unique=True, max_size=2)) if others else []
    max_size = data.draw(st.none() | st.integers(0, 4))
    oracle = DSeparation(dag)
    graph = peer(dag)
    separating = [
        set(chosen)
        for chosen in subsets(pool, must_include, max_size)
        if nx.is_d_separator(graph, {x}, {y}, set(chosen))
    ]

    found = oracle.separator(x, y, pool, must_include=must_include, max_size=max_size)

    assert found.found == bool(separating)
    if found.given is not None:
        assert set(found.given) in separating
        assert found.given == in_order(found.given)
        assert not any(other < set(found.given) for other in separating)
        assert found.verdict == oracle.verdict(x, y, found.given)
        assert found.verdict.independent
    elif max_size is not None and max_size < len(must_include):
        assert found.verdict is None
    else:
        assert found.verdict == oracle.verdict(x, y, in_order(must_include))
        assert found.verdict.dependent


@given(dags(min_nodes=3), st.data(), st.randoms())
def test_the_order_of_the_nodes_does_not_matter(dag: Dag, data: st.DataObject, random: Random) -> None:
    """Another order of nodes, parents and pool gives the same separator, with and without a limit."""
    x, y, pool = split(dag, data)
    max_size = data.draw(st.none() | st.integers(0, 3))
    nodes = random.sample(dag.nodes, len(dag.nodes))
    parents = {node: random.sample(dag.parents_of(node), len(dag.parents_of(node))) for node in nodes}

    one = DSeparation(dag).separator(x, y, pool, max_size=max_size)
    other = DSeparation(Dag(parents)).separator(x, y, pool[::-1], max_size=max_size)

    assert one == other


def test_a_small_separator_is_found_where_the_first_is_too_large() -> None:
    """Met first from X are P, Q and R; under a limit of one the bottleneck M behind them is found."""
    oracle = DSeparation(dag_of("P->X Q->X R->X M->P M->Q M->R Y->M"))

    assert oracle.separator("X", "Y", ["P", "Q", "R"]).given == ("P", "Q", "R")
    assert oracle.separator("X", "Y", ["P", "Q", "R"], max_size=2).given is None
    assert oracle.separator("X", "Y", ["P", "Q", "R", "M"], max_size=1).given == ("M",)


def test_nodes_that_must_be_included_need_not_be_in_the_pool() -> None:
    """They are part of every answer, even where nothing else is needed or where they do harm."""
    oracle = DSeparation(dag_of("A->C B->C C->D"))

    assert oracle.separator("A", "D", [], must_include=["C"]).given == ("C",)
    assert oracle.separator("A", "B", ["D"], must_include=["C"]).given is None


@pytest.mark.parametrize(
    ("x", "y", "others", "kind", "sentence"),
    [
        ("a", "a", [], InvalidArgumentError, "x and y are both 'a'; ask about two different nodes"),
        ("a", "T", [], UnknownNodeError, "unknown node 'T'; did you mean 't'?"),
        ("q", "t", [], UnknownNodeError, "unknown node 'q'; the nodes are 'a', 'b', 'c', 't'"),
        ("a", "b", ["C"], UnknownNodeError, "unknown conditioning node 'C'; did you mean 'c'?"),
        (
            "a",
            "b",
            ["c", "b"],
            InvalidArgumentError,
            "'b' cannot be tested and conditioned on at once; leave it out of the given nodes",
        ),
    ],
)
def test_questions_that_make_no_sense_are_refused(
    x: str, y: str, others: list[str], kind: type[ApslError], sentence: str
) -> None:
    """The same sentence comes from a single question and from a search."""
    oracle = DSeparation(MICRO["N1"])

    with pytest.raises(kind) as from_verdict:
        oracle.verdict(x, y, others)
    with pytest.raises(kind) as from_separator:
        oracle.separator(x, y, others)

    assert str(from_verdict.value) == str(from_separator.value) == sentence


def test_an_unknown_node_has_no_associations() -> None:
    """The nearest node is suggested."""
    with pytest.raises(UnknownNodeError, match="unknown node 'T'; did you mean 't'"):
        DSeparation(MICRO["N1"]).associations("T")


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers stay right when the memory for passes is full."""
    monkeypatch.setattr(dseparation, "_REMEMBERED", 3)
    dag = random_dag(5, 12, 3)
    oracle, fresh = DSeparation(dag), peer(dag)

    for x, y, z in combinations(dag.nodes, 3):
        assert oracle.verdict(x, y, [z]).independent == nx.is_d_separator(fresh, {x}, {y}, {z})


def test_an_oracle_survives_pickling() -> None:
    """Workers in other processes can be given the oracle."""
    oracle = DSeparation(MICRO["N4"])
    verdict = oracle.verdict("X", "Y", ["W", "B"])

    assert pickle.loads(pickle.dumps(oracle)).verdict("X", "Y", ["W", "B"]) == verdict  # noqa: S301 - our own bytes


def test_a_hub_among_a_thousand_nodes_is_quick() -> None:
    """A search for each of a thousand candidates in a pool of sixty ends, since a pool is not tried set by set."""
    parents: dict[Node, list[Node]] = {node: list(found) for node, found in _by_node(random_dag(1, 1000, 3)).items()}
    parents |= {("hub", number): ["v000"] for number in range(60)}
    oracle = DSeparation(Dag(parents))
    pool: list[Node] = [("hub", number) for number in range(60)]

    found = [oracle.separator("v000", node, pool).found for node in oracle.nodes[1:1000]]

    assert not all(found)
    assert any(found)


def _by_node(dag: Dag) -> dict[Node, tuple[Node, ...]]:
    return {node: dag.parents_of(node) for node in dag.nodes}
