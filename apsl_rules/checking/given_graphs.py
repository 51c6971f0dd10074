"""The graph that somebody brings, in any form: Python, text of other tools, files; with hidden causes or without."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import attrs

from apsl_rules.errors import GraphError
from apsl_rules.export import (
    from_bnlearn,
    from_causallearn,
    from_dot,
    from_mermaid,
    from_tetrad,
    known_from_dagitty,
    read_graph,
)
from apsl_rules.graphs import Dag, DagWithHidden, Mag, extension
from apsl_rules.graphs.networks import Network, network, network_names
from apsl_rules.names import Node, in_order, nearest, spelt
from apsl_rules.parts import MarkedGraph, graph_of


@attrs.frozen
class GivenGraph:
    """A graph as it is checked: without open edges, whose direction is chosen; ``opened`` are those that were open."""

    known: DagWithHidden
    opened: frozenset[frozenset[Node]] = frozenset()


def read_given(source: Any, hidden: Iterable[Node] = (), *, as_text: bool = False) -> GivenGraph:
    """Return the graph that an object, a text or a file stands for; ``hidden`` are further nodes without a column.

    With ``as_text`` a text is never the name of a file.
    """
    if isinstance(hidden, str) or not isinstance(hidden, Iterable):
        raise GraphError(argument="hidden", value=hidden, advice=f"give a list of nodes, such as [{spelt(hidden)}]")
    given = _of_words(source) if as_text else _read(source)
    unseen = list(dict.fromkeys(hidden))
    for node in unseen:
        if node not in given.known.dag.nodes:
            hint = nearest(str(node), map(str, given.known.dag.nodes)) or "; leave it out"
            _refuse(f"the hidden node {node!r} is not in the graph{hint}")
    further = [node for node in unseen if node not in given.known.hidden]
    return attrs.evolve(given, known=DagWithHidden(given.known.dag, (*given.known.hidden, *further)))


def _read(source: Any) -> GivenGraph:
    if isinstance(source, GivenGraph):
        return source
    if isinstance(source, str | Path):
        return _of_text(source)
    if isinstance(source, Network):
        source = source.dag
    if isinstance(source, DagWithHidden):
        return GivenGraph(source)
    if isinstance(source, Dag | Mapping):
        return GivenGraph(DagWithHidden(Dag(source), ()))
    if isinstance(source, list | tuple | set | frozenset):
        return GivenGraph(DagWithHidden(_of_arrows(source), ()))
    if callable(getattr(getattr(source, "G", source), "get_graph_edges", None)):
        source = from_causallearn(source)
    return _of_marks(graph_of(source))


def _of_arrows(arrows: Collection[Any]) -> Dag:
    """Return the graph of a list of arrows; nodes come in the order met."""
    parents: dict[Node, list[Node]] = {}
    for one in arrows if isinstance(arrows, list | tuple) else sorted(arrows, key=repr):
        if isinstance(one, str) or not isinstance(one, list | tuple) or len(one) != 2:  # noqa: PLR2004 - from, to
            _refuse(f"{spelt(one)} is no arrow; give a list of pairs (from, to), such as [('smoke', 'cancer')]")
        tail, head = one
        parents.setdefault(tail, [])
        if tail not in parents.setdefault(head, []):
            parents[head].append(tail)
    if not parents:
        _refuse("the list of arrows is empty; give a mapping of each node to its parents for a graph without any")
    return Dag(parents)


def _of_marks(graph: MarkedGraph) -> GivenGraph:
    """Give open edges a direction without new V-structures, and each edge with two arrowheads a hidden cause."""
    if graph.conflicts:
        x, y = min(map(in_order, graph.conflicts), key=repr)
        _refuse(f"the direction between {x!r} and {y!r} is contradicted, so the graph claims nothing of it; decide it")
    if not graph.hidden:
        suggested = map(frozenset, graph.suggested)
        return GivenGraph(DagWithHidden(graph.directed(), ()), graph.lines.difference(suggested))
    open_ends = in_order({node for line in graph.lines for node in line})
    among_open = extension(open_ends, (), graph.lines).edges if open_ends else ()
    arrows = [*graph.arrows, *graph.partial, *among_open]
    ends: dict[tuple[Node, Node], Any] = {}
    for tail, head in arrows:
        ends[tail, head], ends[head, tail] = "tail", "arrow"
    for x, y in map(tuple, graph.bidirected):
        ends[x, y] = ends[y, x] = "arrow"
    return GivenGraph(Mag(graph.nodes, ends).canonical(), graph.lines | {frozenset(one) for one in graph.partial})


_FORMATS: tuple[tuple[tuple[str, ...], Callable[[str], Any]], ...] = (
    (("dag", "pdag", "mag", "pag"), known_from_dagitty),
    (("digraph", "graph", "strict"), from_dot),
    (("flowchart",), from_mermaid),
    (("Graph Nodes:",), from_tetrad),
    (("[",), from_bnlearn),
)


def _of_text(source: str | Path) -> GivenGraph:
    """Read a file, the name of a network, or text in the format of another tool."""
    text = str(source)
    if isinstance(source, Path) or ("\n" not in text and "{" not in text and not text.lstrip().startswith("[")):
        if text in network_names():
            return _read(network(text))
        if text.casefold().endswith(".dagitty"):
            return _of_known(known_from_dagitty(_text_of(text)))
        return _of_known(read_graph(text))
    return _of_words(text)


def _of_words(text: str) -> GivenGraph:
    """Read text in the format of another tool."""
    begin = text.lstrip("\ufeff \t\r\n")
    reader = next((read for words, read in _FORMATS if begin.startswith(words)), None)
    if reader is None:
        _refuse(f"{begin[:60]!r} is no graph; give text of dagitty, DOT, Mermaid, Tetrad or bnlearn, or a file")
    return _of_known(reader(text))


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"{path}: the file cannot be read: {why}"
        raise GraphError(message) from error


def _of_known(read: Any) -> GivenGraph:
    return GivenGraph(read) if isinstance(read, DagWithHidden) else _of_marks(graph_of(read))


def drawn(known: DagWithHidden) -> MarkedGraph:
    """Return the edges between measured nodes: arrows, and two arrowheads where two alone share a hidden cause."""
    hidden = frozenset(known.hidden)
    arrows = [(tail, head) for tail, head in known.dag.edges if hidden.isdisjoint((tail, head))]
    joined = {frozenset(one) for one in arrows}
    pairs = {frozenset(children) for one in known.hidden if len(children := known.dag.children_of(one)) == 2}  # noqa: PLR2004
    shared = {pair for pair in pairs if hidden.isdisjoint(pair)} - joined
    return MarkedGraph(known.nodes, arrows, bidirected=shared, hidden=bool(hidden))


def _refuse(message: str) -> NoReturn:
    raise GraphError(message)
