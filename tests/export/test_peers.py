"""The tools themselves read what is written for them, and what they write is read."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import networkx as nx
import pydot
import pytest
from causallearn.graph.Edge import Edge
from causallearn.graph.Endpoint import Endpoint
from causallearn.graph.GeneralGraph import GeneralGraph
from causallearn.graph.GraphNode import GraphNode
from causallearn.utils.GraphUtils import GraphUtils
from causallearn.utils.TXT2GeneralGraph import txt2generalgraph
from hypothesis import given, settings
from pgmpy.base import DAG, PDAG
from pgmpy.readwrite import BIFReader

from apsl_rules import Dag, export, learn, network
from apsl_rules.errors import GraphFormatError, InvalidArgumentError
from apsl_rules.export.spelling import escape_signs, spell_label
from apsl_rules.parts.marked_graph import MarkedGraph
from apsl_rules.rules.engine import Mark
from support.strategies import marked_graphs, without_conflicts

#: pgmpy and pydot call their parser by old names, which it says in a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")

PLAIN = MarkedGraph(["b", "a", "c d", "é", "alone"], arrows=["ab"], lines=[("b", "c d")], conflicts=[("a", "é")])


def test_networkx_has_marks_on_arcs() -> None:
    """An arrow is one arc, a line and a conflict are two, and each says what it is."""
    made = export.to_networkx(PLAIN)

    assert isinstance(made, nx.DiGraph)
    assert list(made.nodes) == ["b", "a", "c d", "é", "alone"]
    assert made.edges["a", "b"]["mark"] == "arrow"
    assert not made.has_edge("b", "a")
    assert made.edges["b", "c d"]["mark"] == made.edges["c d", "b"]["mark"] == "line"
    assert made.edges["é", "a"]["mark"] == made.edges["a", "é"]["mark"] == "conflict"


def test_graphs_of_networkx_without_marks_are_read() -> None:
    """A pair of opposite arcs is a line, any other arc an arrow, an undirected edge a line."""
    directed = nx.DiGraph([("a", "b"), ("b", "c"), ("c", "b")])

    assert export.from_networkx(directed) == MarkedGraph("abc", arrows=["ab"], lines=["bc"])
    assert export.from_networkx(nx.Graph([("a", "b")])) == MarkedGraph("ab", lines=["ab"])
    assert export.from_networkx(nx.MultiDiGraph([("a", "b"), ("a", "b")])) == MarkedGraph("ab", arrows=["ab"])


@given(marked_graphs())
def test_networkx_reads_the_graphml(graph: MarkedGraph) -> None:
    """What networkx reads from the GraphML is what it would be given, with the names as they are spelled there."""
    text = export.to_graphml(graph)
    read = nx.read_graphml(io.BytesIO(text.encode("utf-8")))
    name = {node: escape_signs(spell_label(node)) for node in graph.nodes}

    assert list(read.nodes) == [name[node] for node in graph.nodes]
    arrows = {(x, y) for x, y, mark in read.edges(data="mark") if mark == "arrow"}
    assert arrows == {(name[x], name[y]) for x, y in graph.arrows}
    assert read.number_of_edges() == len(graph.arrows) + 2 * len(graph.lines) + 2 * len(graph.conflicts)


def test_graphml_of_networkx_is_read() -> None:
    """GraphML that networkx wrote is read, directed or not."""
    for made, expected in (
        (nx.DiGraph([("a b", "c")]), MarkedGraph(["a b", "c"], arrows=[("a b", "c")])),
        (nx.Graph([("a b", "c")]), MarkedGraph(["a b", "c"], lines=[("a b", "c")])),
        (export.to_networkx(PLAIN), PLAIN),
    ):
        assert export.from_graphml("\n".join(nx.generate_graphml(made))) == expected


@settings(max_examples=10)
@given(marked_graphs(max_nodes=4))
def test_pydot_reads_the_dot(graph: MarkedGraph) -> None:
    """A parser of the DOT language finds as many nodes and edges, with the direction that each has."""
    graphs = pydot.graph_from_dot_data(export.to_dot(graph))
    assert graphs is not None
    (read,) = graphs
    directions = sorted(edge.get("dir") or "forward" for edge in read.get_edges())
    words = {Mark.ARROW: "forward", Mark.LINE: "none", Mark.CONFLICT: "both"}

    assert len(read.get_nodes()) == len(graph.nodes)
    assert directions == sorted(words[edge.mark] for edge in graph.edges)


def test_dot_of_pydot_is_read() -> None:
    """DOT that pydot wrote, with defaults, attributes and a subgraph, is read."""
    made: Any = pydot.Dot(graph_type="digraph", rankdir="LR")
    made.add_node(pydot.Node('"a b"', shape="box"))
    inner = pydot.Subgraph("cluster_1")
    inner.add_node(pydot.Node("c"))
    made.add_subgraph(inner)
    made.add_edge(pydot.Edge('"a b"', "c", label="x -> y"))
    made.add_edge(pydot.Edge("c", "d", dir="none"))

    assert export.from_dot(made.to_string()) == MarkedGraph(["a b", "c", "d"], [("a b", "c")], [("c", "d")])


def test_causallearn_has_endpoints() -> None:
    """Tails and heads are where they belong, and the graph comes back."""
    made = export.to_causallearn(PLAIN)
    node = {one.get_name(): one for one in made.get_nodes()}

    assert isinstance(made, GeneralGraph)
    assert made.is_directed_from_to(node["a"], node["b"])
    assert made.is_undirected_from_to(node["b"], node["c d"])
    assert made.get_edge(node["a"], node["é"]).get_endpoint1() == Endpoint.ARROW
    assert made.get_edge(node["a"], node["é"]).get_endpoint2() == Endpoint.ARROW
    assert export.from_causallearn(made) == PLAIN


@given(marked_graphs())
def test_causallearn_graphs_come_back(graph: MarkedGraph) -> None:
    """Every label and mark survives causal-learn."""
    assert export.from_causallearn(export.to_causallearn(graph)) == graph


def test_circles_of_causallearn_are_those_of_a_graph_with_hidden_causes() -> None:
    """An edge with a circle means something else, so it is not read as a line of another graph."""
    made = export.to_causallearn(MarkedGraph("ab", lines=["ab"]))
    made.graph[made.graph == -1] = Endpoint.CIRCLE.value

    assert export.from_causallearn(made) == MarkedGraph("ab", lines=["ab"], hidden=True)
    with pytest.raises(GraphFormatError, match="the edge a o-o b has a circle"):
        export.from_causallearn(made, hidden=False)


@given(marked_graphs(hidden=True))
def test_pags_come_back_from_causallearn(graph: MarkedGraph) -> None:
    """All ends survive; a conflict has circles there."""
    again = export.from_causallearn(export.to_causallearn(graph), hidden=True)

    assert again == without_conflicts(graph)


def test_a_pag_that_causallearn_found_is_read() -> None:
    """Marks that its search gave, as Tetrad's text gives them too."""
    nodes = [GraphNode(name) for name in "abc"]
    made = GeneralGraph(nodes)
    made.add_edge(Edge(nodes[0], nodes[1], Endpoint.CIRCLE, Endpoint.ARROW))
    made.add_edge(Edge(nodes[1], nodes[2], Endpoint.ARROW, Endpoint.ARROW))
    read = export.from_causallearn(made)

    assert read == MarkedGraph("abc", partial=["ab"], bidirected=["bc"])
    assert export.from_tetrad(str(made)) == read


def test_causallearn_and_tetrad_text_agree(tmp_path: Path) -> None:
    """causal-learn reads the Tetrad text, and the Tetrad text that it writes is read."""
    graph = MarkedGraph(["b", "a", "c d", "alone"], arrows=["ab"], lines=[("b", "c d")])
    file = tmp_path / "graph.txt"
    file.write_text(export.to_tetrad(graph), "utf-8")
    read = txt2generalgraph(str(file))

    assert sorted(map(str, read.get_graph_edges())) == ["a --> b", "b --- c%20d"]
    plain = MarkedGraph("abcd", arrows=["ab", "cb"], lines=["ad"], conflicts=["cd"])
    assert export.from_tetrad(GraphUtils().graph_string(export.to_causallearn(plain))) == plain


def test_pgmpy_gets_a_dag_or_a_pdag() -> None:
    """Arrows alone make a DAG; with lines it is a PDAG whose undirected edges are the lines and conflicts."""
    dag = export.to_pgmpy(network("asia"))
    pdag = export.to_pgmpy(PLAIN)

    assert isinstance(dag, DAG)
    assert set(dag.edges) == set(network("asia").dag.edges)
    assert isinstance(pdag, PDAG)
    assert pdag.directed_edges == {("a", "b")}
    assert {frozenset(pair) for pair in pdag.undirected_edges} == PLAIN.lines | PLAIN.conflicts
    assert "alone" in pdag.nodes


@given(marked_graphs())
def test_pgmpy_graphs_come_back(graph: MarkedGraph) -> None:
    """Every label and mark survives pgmpy; the label None, which it cannot have, is refused."""
    if None in graph.nodes:
        with pytest.raises(InvalidArgumentError, match="networkx has no node None"):
            export.to_pgmpy(graph)
        return
    assert export.from_pgmpy(export.to_pgmpy(graph)) == graph


def test_graphs_of_pgmpy_are_read() -> None:
    """A PDAG and a DAG that pgmpy made are read, and other things are refused."""
    made = PDAG(directed_ebunch=[("a", "c")], undirected_ebunch=[("c", "b")])

    assert export.from_pgmpy(made) == MarkedGraph("abc", arrows=["ac"], lines=["bc"])
    assert export.from_pgmpy(DAG([(1, 2)])) == MarkedGraph([1, 2], arrows=[(1, 2)])
    with pytest.raises(GraphFormatError, match="str is no DAG or PDAG of pgmpy"):
        export.from_pgmpy("dag")


def test_pgmpy_reads_the_dagitty_text() -> None:
    """Pgmpy's reader of dagitty finds the same arrows, quoted names included, and its own text is read."""
    dag = Dag({"smoking": [], "lung cancer": ["smoking"], "x.1": ["lung cancer", "smoking"]})
    read = DAG.from_dagitty(export.to_dagitty(dag))

    assert set(read.edges) == set(dag.edges)
    plain = DAG([("X", "Y"), ("Z", "Y")])
    assert export.from_dagitty(plain.to_dagitty()) == MarkedGraph("XYZ", arrows=["XY", "ZY"])


@pytest.mark.slow
def test_pgmpy_reads_the_bif_text() -> None:
    """Pgmpy reads the structure from the BIF text."""
    known = network("cancer")
    read = BIFReader(string=export.to_bif(known, levels=known.levels)).get_model()

    assert set(read.edges) == known.dag.edges


def test_a_part_has_a_method_for_each_tool() -> None:
    """The methods of a part give what the functions give."""
    part = learn(network("asia"), "either")

    assert set(part.to_networkx().edges) == part.arrows
    assert len(part.arrows) == 4
    for name in ("dot", "graphml", "mermaid", "dagitty", "tetrad", "bnlearn", "bif", "graph-json", "adjacency"):
        made, expected = part.to(name), getattr(export, f"to_{name.replace('-', '_')}")(part)
        assert made.equals(expected) if name == "adjacency" else made == expected
    assert part.to("paper-matrix").equals(export.to_paper_matrix(part))
    assert export.from_pgmpy(part.to("pgmpy")) == export.from_causallearn(part.to("causallearn")) == part.graph()
