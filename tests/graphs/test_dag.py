"""Known graphs: what they tell and what they refuse."""

from __future__ import annotations

import pickle
import subprocess
import sys

import networkx as nx
import pytest
from hypothesis import given

from apsl_rules.errors import GraphError
from apsl_rules.graphs.dag import Dag
from support.graphs import MICRO, all_dags, dag_of, random_dag
from support.strategies import dags


def test_a_mapping_gives_parents_children_and_edges() -> None:
    """Parents keep the order given, children follow the nodes."""
    dag = Dag({"B": ["C", "A"], "A": [], "D": ["A"], "C": ["A"]})

    assert dag.nodes == ("B", "A", "D", "C")
    assert dag.parents_of("B") == ("C", "A")
    assert dag.children_of("A") == ("B", "D", "C")
    assert dag.neighbours_of("C") == {"A", "B"}
    assert dag.edges == {("C", "B"), ("A", "B"), ("A", "D"), ("A", "C")}


def test_a_set_of_parents_is_put_in_order() -> None:
    """Parents given as a set are sorted by name, so that hash order cannot show."""
    assert Dag({"A": [], 2: [], 10: [], "B": {"A", 10, 2}}).parents_of("B") == (2, 10, "A")


def test_a_graph_of_a_graph_is_equal() -> None:
    """A known graph needs no second check."""
    assert Dag(MICRO["N1"]) == MICRO["N1"]


@given(dags())
def test_a_networkx_graph_gives_the_same_graph(dag: Dag) -> None:
    """A DiGraph with the same nodes and arrows gives the same nodes and arrows."""
    graph = nx.DiGraph()
    graph.add_nodes_from(dag.nodes)
    graph.add_edges_from(dag.edges)

    read = Dag(graph)

    assert read.nodes == dag.nodes
    assert read.edges == dag.edges


@given(dags())
def test_topological_order_puts_parents_first(dag: Dag) -> None:
    """Every parent comes before its children, and every node is there once."""
    rank = {node: place for place, node in enumerate(dag.topological_order)}

    assert rank.keys() == set(dag.nodes)
    assert all(rank[x] < rank[y] for x, y in dag.edges)


@given(dags())
def test_graphs_are_values(dag: Dag) -> None:
    """Graphs with the same content are equal, hash alike and survive pickling."""
    same = Dag({node: dag.parents_of(node) for node in dag.nodes})

    assert same == dag
    assert hash(same) == hash(dag)
    assert pickle.loads(pickle.dumps(dag)) == dag  # noqa: S301 - our own bytes


def test_a_small_graph_shows_itself_and_a_large_one_its_size() -> None:
    """The repr of a small graph can be typed back in; that of a large one fits a line."""
    assert repr(dag_of("A->B")) == "Dag({'A': [], 'B': ['A']})"
    assert repr(random_dag(1, 100, 2)) == "<Dag of 100 nodes and 100 arrows>"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ({}, "the graph has no nodes; give at least one"),
        ({"A": ["B"], "B": ["A"]}, "the graph has a directed cycle A -> B -> A; remove or turn one of these arrows"),
        (
            {"R": [], "D": ["C"], "C": ["B", "R"], "B": ["D"], "Z": ["B"]},
            "the graph has a directed cycle B -> C -> D -> B; remove or turn one of these arrows",
        ),
        ({"A": ["A"]}, "the node 'A' is its own parent; remove that arrow"),
        (
            {"Smoker": [], "Lung": ["Smoke"]},
            "the parent 'Smoke' of 'Lung' is not a node of the graph; did you mean 'Smoker'?",
        ),
        (
            {"A": ["X"], "B": []},
            "the parent 'X' of 'A' is not a node of the graph; give it an entry with its own parents, such as 'X': []",
        ),
        ({"A": [], "B": ["A", "A"]}, "the node 'B' has the parent 'A' twice; name each parent once"),
        (
            {"A": [], "B": "A"},
            "the parents of 'B' are given as 'A'; give a list of nodes, such as [] or ['A']",
        ),
        ({"A": None}, "the parents of 'A' are given as None; give a list of nodes, such as [] or [None]"),
        (
            {"A": [["B"]]},
            "the parent ['B'] of 'A' cannot be a node; name nodes by text, numbers or tuples",
        ),
        (
            [("A", "B")],
            (
                "a known graph cannot be made from list; give a mapping of each node to a list of its parents, "
                "such as {'A': [], 'B': ['A']}, a networkx DiGraph, or an imported graph"
            ),
        ),
        (nx.Graph([("A", "B")]), "the networkx graph is undirected; give a DiGraph"),
    ],
)
def test_what_is_no_acyclic_graph_is_refused(source: object, sentence: str) -> None:
    """Each fault gets one sentence that names it."""
    with pytest.raises(GraphError) as caught:
        Dag(source)

    assert str(caught.value) == sentence


def test_repeated_nodes_are_refused() -> None:
    """A graph made by hand may not name a node twice nor leave parents out."""
    with pytest.raises(GraphError, match="the node 'A' is given twice"):
        Dag(("A", "A"), ((), ()))
    with pytest.raises(GraphError, match="2 nodes but 1 list of parents"):
        Dag(("A", "B"), ((),))


@given(dags(min_nodes=2))
def test_any_reversed_path_closes_a_cycle_that_is_named(dag: Dag) -> None:
    """Adding the arrow from a descendant back to its ancestor is refused, naming a cycle of the graph."""
    graph = nx.DiGraph(list(dag.edges))
    for x, y in sorted(dag.edges, key=repr)[:3]:
        parents = {node: [*dag.parents_of(node), *([y] if node == x else [])] for node in dag.nodes}

        with pytest.raises(GraphError, match="directed cycle"):
            Dag(parents)

        graph.add_edge(y, x)
        assert not nx.is_directed_acyclic_graph(graph)
        graph.remove_edge(y, x)


def test_known_graphs_do_not_load_networkx() -> None:
    """Neither a mapping nor a refused object makes networkx load."""
    script = "import sys, apsl_rules; apsl_rules.Dag({'A': []}); assert 'networkx' not in sys.modules"

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_all_graphs_are_counted() -> None:
    """There are 1, 3, 25 and 543 labelled graphs on one to four nodes."""
    assert [sum(1 for _ in all_dags(n)) for n in (1, 2, 3, 4)] == [1, 3, 25, 543]
