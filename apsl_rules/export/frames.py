"""Graphs as pandas frames: the edge table, the adjacency frame with named marks, and the paper's matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from apsl_rules.errors import GraphError, GraphFormatError
from apsl_rules.names import Node
from apsl_rules.notes import argument
from apsl_rules.parts import ENDS, MARKS_WITH_HIDDEN, MarkedGraph, edge_with_ends, graph_of, mark_named
from apsl_rules.rules import End, Mark

if TYPE_CHECKING:
    import pandas as pd

#: What a cell of the adjacency frame says of its row and its column, and what the cell across says then.
_ACROSS = {
    "arrow to": "arrow from",
    "arrow from": "arrow to",
    "partial to": "partial from",
    "partial from": "partial to",
    "bidirected": "bidirected",
    "line": "line",
    "conflict": "conflict",
    "none": "none",
}
_DIRECTED = {Mark.ARROW: "arrow to", Mark.PARTIAL: "partial to"}
_TO = {cell: mark for mark, cell in _DIRECTED.items()}
#: The marks at an end in the matrices of the R package pcalg.
_PCALG = {End.CIRCLE: 1, End.ARROW: 2, End.TAIL: 3}


def to_pandas(source: object) -> pd.DataFrame:
    """Return one row for each edge: source, target, mark. Nodes without an edge have no row."""
    return graph_of(source).to_frame()


def from_pandas(frame: pd.DataFrame, *, nodes: Iterable[Node] = (), hidden: bool = False) -> MarkedGraph:
    """Read an edge table with the columns source, target and mark; ``nodes`` are those that may have no edge.

    It is a graph with ``hidden`` causes if that is said, or if an edge is partial or bidirected.
    """
    for column in ("source", "target", "mark"):
        if column not in frame.columns:
            message = f"the edge table has no column {column!r}; it needs 'source', 'target' and 'mark'"
            raise GraphFormatError(message)
    rows = zip(frame["source"].tolist(), frame["target"].tolist(), frame["mark"].tolist(), strict=True)
    return MarkedGraph.of_edges(nodes, [(x, y, mark_named(mark, x, y)) for x, y, mark in rows], hidden=hidden)


def to_adjacency(source: object) -> pd.DataFrame:
    """Return a square frame that reads from row to column.

    A cell is "arrow to", "arrow from", "line", "conflict" or "none"; the last says that the graph has no such edge.
    With hidden causes it can be "partial to", "partial from" or "bidirected", too.
    """
    graph = graph_of(source)
    place = {node: number for number, node in enumerate(graph.nodes)}
    cells = [["none"] * len(place) for _ in place]
    for edge in graph.edges:
        x, y = place[edge.source], place[edge.target]
        cells[x][y] = _DIRECTED.get(edge.mark, str(edge.mark))
        cells[y][x] = _ACROSS[cells[x][y]]
    return _square(cells, graph.nodes)


def from_adjacency(frame: pd.DataFrame, *, hidden: bool = False) -> MarkedGraph:
    """Read an adjacency frame with named marks, of a graph with ``hidden`` causes if that is said or shown."""
    nodes = _nodes(frame)
    cells = frame.to_numpy().tolist()
    edges = []
    for i, x in enumerate(nodes):
        for j, y in enumerate(nodes):
            if cells[i][j] not in _ACROSS:
                message = f"the cell of {x!r} and {y!r} is {cells[i][j]!r}; cells are {', '.join(_ACROSS)}"
                raise GraphFormatError(message)
            if cells[j][i] != _ACROSS[cells[i][j]]:
                message = (
                    f"the cell of {x!r} and {y!r} is {cells[i][j]!r}, so the one across must be "
                    f"{_ACROSS[cells[i][j]]!r}, not {cells[j][i]!r}"
                )
                raise GraphFormatError(message)
            if cells[i][j] in _TO:
                edges.append((x, y, _TO[cells[i][j]]))
            elif i <= j and cells[i][j] in MARKS_WITH_HIDDEN:
                edges.append((x, y, Mark(cells[i][j])))
    return MarkedGraph.of_edges(nodes, edges, hidden=hidden)


def to_pcalg(source: object) -> pd.DataFrame:
    """Return the matrix of a PAG as the R package pcalg has it.

    Row a, column b has the mark at b on the edge of a and b: 1 a circle, 2 an arrowhead, 3 a tail; 0 is no edge. Graphs
    without hidden causes have no such matrix.
    """
    graph = graph_of(source)
    if not graph.hidden:
        message = (
            f"this graph has no marks at both ends, as a PAG of pcalg has; learn with {argument('hidden', 'allowed')}"
        )
        raise GraphError(message)
    place = {node: number for number, node in enumerate(graph.nodes)}
    cells = [[0] * len(place) for _ in place]
    for edge in graph.edges:
        x, y = place[edge.source], place[edge.target]
        cells[y][x], cells[x][y] = (_PCALG[end] for end in ENDS[edge.mark])
    return _square(cells, graph.nodes).astype("int8")


def from_pcalg(frame: pd.DataFrame) -> MarkedGraph:
    """Read the matrix of a PAG of pcalg: 0 no edge, 1 a circle, 2 an arrowhead, 3 a tail at the column's node."""
    ends = {number: end for end, number in _PCALG.items()}
    nodes = _nodes(frame)
    cells = frame.to_numpy().tolist()
    edges = []
    for i, x in enumerate(nodes):
        for j, y in enumerate(nodes[: i + 1]):
            values = cells[j][i], cells[i][j]
            if values == (0, 0):
                continue
            if i == j or not set(values) <= ends.keys():
                found = f"{x!r} and {y!r} have {values[0]!r} and {values[1]!r}"
                message = f"{found}; ends are 1, 2 or 3, and 0 both ways is no edge"
                raise GraphFormatError(message)
            edges.append(edge_with_ends(x, y, ends[values[0]], ends[values[1]]))
    return MarkedGraph.of_edges(nodes, edges, hidden=True)


def to_paper_matrix(source: object) -> pd.DataFrame:
    """Return the paper's matrix G as a frame: G[a, b] = -1 for a -> b, G[a, b] = G[b, a] = 1 for a line, 0 elsewhere.

    The matrix has no sign for conflicts; they become lines, as in the paper. Graphs with hidden causes are refused.
    """
    graph = graph_of(source)
    if graph.hidden:
        message = "the paper's matrix has no marks at both ends; to_pcalg() gives a matrix that has"
        raise GraphError(message)
    place = {node: number for number, node in enumerate(graph.nodes)}
    cells = [[0] * len(place) for _ in place]
    for edge in graph.edges:
        x, y = place[edge.source], place[edge.target]
        if edge.mark is Mark.ARROW:
            cells[x][y] = -1
        else:
            cells[x][y] = cells[y][x] = 1
    return _square(cells, graph.nodes).astype("int8")


def from_paper_matrix(frame: pd.DataFrame) -> MarkedGraph:
    """Read the paper's matrix."""
    nodes = _nodes(frame)
    cells = frame.to_numpy().tolist()
    edges = []
    for i, x in enumerate(nodes):
        for j, y in enumerate(nodes[: i + 1]):
            values = cells[i][j], cells[j][i]
            meant = {(1, 1): (y, x, Mark.LINE), (-1, 0): (x, y, Mark.ARROW), (0, -1): (y, x, Mark.ARROW)}
            if values != (0, 0) and (values not in meant or i == j):
                message = (
                    f"{x!r} and {y!r} have {values[0]!r} and {values[1]!r}; a pair has 0 and 0, 1 and 1, or -1 and 0"
                )
                raise GraphFormatError(message)
            edges += [meant[values]] if values in meant else []
    return MarkedGraph.of_edges(nodes, edges)


def _square(cells: list[list[Any]], nodes: tuple[Node, ...]) -> pd.DataFrame:
    import pandas as pd

    labels = pd.Index(list(nodes), tupleize_cols=False, dtype=object)
    return pd.DataFrame(cells, index=labels, columns=labels)


def _nodes(frame: pd.DataFrame) -> list[Node]:
    rows: list[Node] = list(frame.index)
    columns: list[Node] = list(frame.columns)
    if rows != columns:
        message = "the rows and the columns of the frame are not the same nodes in the same order"
        raise GraphFormatError(message)
    return columns
