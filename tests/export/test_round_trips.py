"""Graphs through every format and back: odd names and all marks survive, or a sentence says why not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given

from apsl_rules import Dag, export
from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.export.spelling import escape_signs, read_label, spell_label, unescape_signs
from apsl_rules.names import Node
from apsl_rules.parts.marked_graph import MarkedGraph
from apsl_rules.rules.engine import Mark
from support.strategies import ODD_LABELS, marked_graphs, without_conflicts

#: The formats that keep every mark: how to write and how to read each.
WHOLE: dict[str, tuple[Callable[[object], Any], Callable[[Any], MarkedGraph]]] = {
    "networkx": (export.to_networkx, export.from_networkx),
    "adjacency": (export.to_adjacency, export.from_adjacency),
    "dot": (export.to_dot, export.from_dot),
    "graphml": (export.to_graphml, export.from_graphml),
    "mermaid": (export.to_mermaid, export.from_mermaid),
    "dagitty": (export.to_dagitty, export.from_dagitty),
    "tetrad": (export.to_tetrad, export.from_tetrad),
    "json": (export.to_graph_json, export.from_graph_json),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
@given(marked_graphs())
def test_a_graph_comes_back_as_it_was(name: str, graph: MarkedGraph) -> None:
    """Writing and reading gives the same nodes, in the same order, with the same marks and labels of the same kind."""
    write, read = WHOLE[name]
    if name == "networkx" and None in graph.nodes:
        with pytest.raises(InvalidArgumentError, match="networkx has no node None"):
            write(graph)
        return
    again = read(write(graph))

    assert again == graph
    assert [*map(repr, again.nodes)] == [*map(repr, graph.nodes)]
    assert again.edges == graph.edges


#: Those that say whether causes may be hidden, and those that must be told.
SAYING = ("networkx", "graphml", "mermaid", "dagitty", "json")
TOLD: dict[str, tuple[Callable[[object], Any], Callable[..., MarkedGraph]]] = {
    "adjacency": (export.to_adjacency, export.from_adjacency),
    "tetrad": (export.to_tetrad, export.from_tetrad),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAYING)
@given(marked_graphs(hidden=True))
def test_a_graph_with_hidden_causes_comes_back(name: str, graph: MarkedGraph) -> None:
    """All ends of all edges survive; dagitty has no sign for conflicts, which get circles."""
    write, read = WHOLE[name]
    if name == "networkx" and None in graph.nodes:
        return
    again = read(write(graph))

    assert again == (without_conflicts(graph) if name == "dagitty" else graph)


@pytest.mark.parametrize("name", TOLD)
@given(marked_graphs(hidden=True))
def test_a_graph_with_hidden_causes_comes_back_if_told(name: str, graph: MarkedGraph) -> None:
    """These formats do not say what kind of graph it is; Tetrad has no sign for conflicts."""
    write, read = TOLD[name]

    assert read(write(graph), hidden=True) == (without_conflicts(graph) if name == "tetrad" else graph)


@given(marked_graphs(hidden=True))
def test_dot_and_pcalg_keep_all_ends(graph: MarkedGraph) -> None:
    """A DOT text with an edge says what it is; a matrix of pcalg is always that of a PAG."""
    again = export.from_dot(export.to_dot(graph))

    assert again == (graph if graph.edges else MarkedGraph(graph.nodes))
    assert export.from_pcalg(export.to_pcalg(graph)) == without_conflicts(graph)
    assert export.from_pandas(export.to_pandas(graph), nodes=graph.nodes, hidden=True) == graph


def test_formats_without_two_ends_refuse_hidden_causes() -> None:
    """Each with a sentence that says what to do."""
    graph = MarkedGraph("ab", bidirected=["ab"])
    for write in (export.to_bif, export.to_bnlearn, export.to_pgmpy):
        with pytest.raises(GraphError, match="this graph allows hidden causes"):
            write(graph)
    with pytest.raises(GraphError, match=r"to_pcalg\(\) gives a matrix that has"):
        export.to_paper_matrix(graph)
    with pytest.raises(GraphError, match="learn with hidden='allowed'"):
        export.to_pcalg(MarkedGraph("ab", lines=["ab"]))
    with pytest.raises(GraphError, match="give hidden=True"):
        MarkedGraph("ab", bidirected=["ab"], hidden=False)


def test_pcalg_has_the_mark_at_the_column() -> None:
    """2 at (a, b) is an arrowhead at b, as in pcalg's manual (amat.pag)."""
    cells = export.to_pcalg(MarkedGraph("abc", arrows=["ab"], partial=["cb"]))

    assert (cells.loc["a", "b"], cells.loc["b", "a"]) == (2, 3)
    assert (cells.loc["c", "b"], cells.loc["b", "c"]) == (2, 1)


@given(marked_graphs())
def test_the_edge_table_comes_back(graph: MarkedGraph) -> None:
    """The edge table keeps all edges; nodes without an edge are given beside it."""
    assert export.from_pandas(export.to_pandas(graph), nodes=graph.nodes) == graph


@given(marked_graphs(marks=[Mark.ARROW, Mark.LINE]))
def test_the_papers_matrix_comes_back(graph: MarkedGraph) -> None:
    """The paper's matrix keeps arrows and lines."""
    assert export.from_paper_matrix(export.to_paper_matrix(graph)) == graph


@pytest.mark.parametrize("name", ["bif", "bnlearn"])
@given(marked_graphs(marks=[Mark.ARROW]))
def test_arrows_come_back_from_formats_that_know_no_others(name: str, graph: MarkedGraph) -> None:
    """BIF files and model strings keep graphs of arrows."""
    write, read = {"bif": (export.to_bif, export.from_bif), "bnlearn": (export.to_bnlearn, export.from_bnlearn)}[name]

    assert read(write(graph)) == graph


@given(ODD_LABELS)
@example("%2541")
@example("json:{")
def test_a_name_comes_back(node: Node) -> None:
    """Spelling and packing can be undone, and a packed name has none of the signs that were to be avoided."""
    name = escape_signs(spell_label(node), r'\s"')

    assert not any(sign.isspace() or sign == '"' for sign in name)
    assert repr(read_label(unescape_signs(name))) == repr(node)
    assert name


@pytest.mark.parametrize("write", [export.to_bif, export.to_bnlearn])
def test_open_edges_are_refused_or_directed(write: Callable[..., str]) -> None:
    """A format of arrows refuses a line with a sentence, and directs it when told to, without a new V-structure."""
    graph = MarkedGraph("abc", arrows=["ab"], lines=["bc"])

    with pytest.raises(GraphError, match=r"knows arrows only, and this graph has 1 undirected edge, such as 'b'"):
        write(graph)
    read = export.from_bif if write is export.to_bif else export.from_bnlearn
    assert read(write(graph, open_edges="direct")).arrows == {("a", "b"), ("b", "c")}
    with pytest.raises(GraphError, match="1 conflict, such as 'a' and 'b'"):
        write(MarkedGraph("ab", conflicts=["ab"]))
    with pytest.raises(InvalidArgumentError, match="open_edges is 'drop'; give 'refuse' or 'direct'"):
        write(graph, open_edges="drop")


def test_bif_takes_levels() -> None:
    """Levels that are given are written; the table of a node that would be huge is refused."""
    dag = Dag({"a": [], "b": ["a"]})
    text = export.to_bif(dag, levels={"a": ["yes", "no"]})

    assert "type discrete [ 2 ] { yes, no };" in text
    assert "(yes) 1.0;" in text
    numbers: list[Node] = list(range(21))
    wide = Dag({**{number: [] for number in numbers}, "t": numbers})
    with pytest.raises(InvalidArgumentError, match="the table of 't' would have 2097152 cells; leave out levels"):
        export.to_bif(wide, levels={number: ["0", "1"] for number in numbers})
    assert len(export.from_bif(export.to_bif(wide)).arrows) == 21


def test_conflicts_become_lines_in_the_papers_matrix() -> None:
    """The paper's matrix has no sign for a conflict; the page on exports says that it becomes a line."""
    graph = MarkedGraph("ab", conflicts=["ab"])

    assert export.from_paper_matrix(export.to_paper_matrix(graph)) == MarkedGraph("ab", lines=["ab"])


def test_a_label_that_text_cannot_carry_is_refused() -> None:
    """A label that is neither text, number nor tuple is refused by every format of text, and kept by networkx."""
    graph = MarkedGraph([frozenset("a"), "b"], arrows=[(frozenset("a"), "b")])

    for name in ("dot", "graphml", "mermaid", "dagitty", "tetrad", "json"):
        with pytest.raises(InvalidArgumentError, match="only text, numbers and tuples of these can be saved"):
            WHOLE[name][0](graph)
    assert export.from_networkx(export.to_networkx(graph)) == graph
