"""Graphs for other packages, and from them: bnlearn, causal-learn, DoWhy, pgmpy, Tetrad."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from apsl_rules.errors import GraphFormatError
from apsl_rules.export.graph_formats import arc_figures, arcs, from_networkx, refuse_none
from apsl_rules.export.spelling import escape_signs, peer, read_label, spell_label, unescape_signs
from apsl_rules.graphs import Dag, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node, in_order, listing, require_known, shown, spelt
from apsl_rules.notes import argument
from apsl_rules.parts import ENDS, Edge, MarkedGraph, OpenEdges, arrows_only, edge_with_ends, graph_of
from apsl_rules.rules import End, Mark

if TYPE_CHECKING:
    import pandas as pd

_UNSAFE_IN_R = r"\[\]|:"
_STRING = re.compile(r"(?:\[[^\[\]|]+(?:\|[^\[\]|]+)?\])+")
_BLOCK = re.compile(r"\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]")


def to_bnlearn(source: object, *, open_edges: OpenEdges = "refuse") -> str:
    """Write a graph as a model string, parents before children as bnlearn writes it.

    >>> to_bnlearn(Dag({"B": ["A"], "A": [], "D": ["A", "C"], "C": []}))
    '[A][C][B|A][D|A:C]'
    """
    dag = arrows_only(graph_of(source), open_edges, "a bnlearn model string")
    blocks = []
    for node in dag.topological_order:
        parents = ":".join(map(_name, dag.parents_of(node)))
        blocks.append(f"[{_name(node)}|{parents}]" if parents else f"[{_name(node)}]")
    return "".join(blocks)


def network_to_bnlearn(network: Network) -> str:
    """Write a network as an R script that makes a ``bn.fit``: the model string, and a table for each node."""
    dag = network.dag
    lines = ["library(bnlearn)", f"structure <- model2network({_quoted(to_bnlearn(dag))})", "tables <- list("]
    entries = []
    for node in dag.nodes:
        axes = (node, *dag.parents_of(node))
        table = network.tables[node]
        values = ", ".join(repr(float(one)) for one in np.moveaxis(table, -1, 0).ravel(order="F"))
        sizes = ", ".join(str(len(network.levels[one])) for one in axes)
        names = ", ".join(f"{_quoted(_name(one))} = c({', '.join(map(_quoted, network.levels[one]))})" for one in axes)
        entries.append(
            f"  {_quoted(_name(node))} = array(c({values}),\n    dim = c({sizes}),\n    dimnames = list({names}))"
        )
    lines += [",\n".join(entries), ")", "fitted <- custom.fit(structure, dist = tables)"]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text as R reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def from_bnlearn(text: str) -> MarkedGraph:
    """Read a model string."""
    stripped = text.strip()
    if not _STRING.fullmatch(stripped):
        message = f"{stripped[:80]!r} is no bnlearn model string; write one like [A][C][B|A][D|A:C]"
        raise GraphFormatError(message)
    blocks = _BLOCK.findall(stripped)
    names = [_node(name) for name, _ in blocks]
    if len(set(names)) < len(names):
        message = f"the bnlearn model string {stripped[:80]!r} names a node twice; give each node one block"
        raise GraphFormatError(message)
    parents = {_node(name): [_node(one) for one in given.split(":")] if given else [] for name, given in blocks}
    return graph_of(Dag(parents))


def _name(node: Node) -> str:
    return escape_signs(spell_label(node), _UNSAFE_IN_R)


def _node(name: str) -> Node:
    return read_label(unescape_signs(name))


_PACKAGE = "causal-learn"


def to_causallearn(source: object) -> Any:
    """Return a GeneralGraph; labels that are not text are named ``json:...``."""
    graph = graph_of(source)
    tail, head, circle = _endpoints()
    edge_of = peer("causallearn.graph.Edge", _PACKAGE).Edge
    node_of = peer("causallearn.graph.GraphNode", _PACKAGE).GraphNode
    nodes = {node: node_of(spell_label(node)) for node in graph.nodes}
    made = peer("causallearn.graph.GeneralGraph", _PACKAGE).GeneralGraph(list(nodes.values()))
    ends = {Mark.ARROW: (tail, head), Mark.LINE: (tail, tail), Mark.CONFLICT: (head, head)}
    if graph.hidden:
        shapes = {End.TAIL: tail, End.ARROW: head, End.CIRCLE: circle}
        ends = {mark: (shapes[one], shapes[other]) for mark, (one, other) in ENDS.items()}
    for edge in graph.edges:
        made.add_edge(edge_of(nodes[edge.source], nodes[edge.target], *ends[edge.mark]))
    return made


def from_causallearn(source: Any, *, hidden: bool | None = None) -> MarkedGraph:
    """Read a GeneralGraph, or the CausalGraph that a search of causal-learn gives.

    ``hidden`` says whether it is a PAG, in which ``<->`` is a hidden common cause and no conflict. Without it, one with
    circles is.
    """
    graph = getattr(source, "G", source)
    if not hasattr(graph, "get_graph_edges"):
        message = f"{type(source).__name__} is no graph of causal-learn; give a GeneralGraph or a CausalGraph"
        raise GraphFormatError(message)
    tail, head, circle = _endpoints()
    drawn = list(graph.get_graph_edges())
    if hidden is None:
        hidden = any(circle in (edge.get_endpoint1(), edge.get_endpoint2()) for edge in drawn)
    shapes = {tail.name: End.TAIL, head.name: End.ARROW, circle.name: End.CIRCLE}
    edges: list[tuple[Node, Node, Mark]] = []
    for edge in drawn:
        x, y = read_label(edge.get_node1().get_name()), read_label(edge.get_node2().get_name())
        ends = edge.get_endpoint1(), edge.get_endpoint2()
        if hidden:
            edges.append(edge_with_ends(x, y, shapes[ends[0].name], shapes[ends[1].name]))
        elif ends == (tail, head):
            edges.append((x, y, Mark.ARROW))
        elif ends == (head, tail):
            edges.append((y, x, Mark.ARROW))
        elif ends in ((tail, tail), (head, head)):
            edges.append((x, y, Mark.LINE if ends[0] == tail else Mark.CONFLICT))
        else:
            message = (
                f"the edge {edge} has a circle, which leaves more open than a line; give "
                f"{argument('hidden', value=True)} to read "
                "a PAG"
            )
            raise GraphFormatError(message)
    return MarkedGraph.of_edges([read_label(node.get_name()) for node in graph.get_nodes()], edges, hidden=hidden)


def _endpoints() -> tuple[Any, Any, Any]:
    endpoint = peer("causallearn.graph.Endpoint", _PACKAGE).Endpoint
    return endpoint.TAIL, endpoint.ARROW, endpoint.CIRCLE


def to_pgmpy(source: object) -> Any:
    """Return a pgmpy DAG or PDAG, with the labels as they are."""
    graph = graph_of(source)
    refuse_none(graph)
    graph.refuse_hidden()
    base = peer("pgmpy.base", "pgmpy")
    if not graph.lines and not graph.conflicts:
        dag = graph.dag()
        made = base.DAG()
        made.add_nodes_from(dag.nodes)
        made.add_edges_from([(edge.source, edge.target) for edge in graph.edges])
        for x, y, _ in arcs(graph):
            made.edges[x, y].update(arc_figures(graph, x, y))
        return made
    undirected = [in_order(pair) for pair in graph.lines | graph.conflicts]
    made = base.PDAG(directed_ebunch=list(graph.arrows), undirected_ebunch=undirected)
    made.add_nodes_from(graph.nodes)
    for x, y, mark in arcs(graph):
        made.edges[x, y].update(mark=str(mark), **arc_figures(graph, x, y))
    return made


def network_to_pgmpy(network: Network) -> Any:
    """Return a discrete network of pgmpy with the probabilities of a network."""
    models, factors = peer("pgmpy.models", "pgmpy"), peer("pgmpy.factors.discrete", "pgmpy")
    dag, levels = network.dag, network.levels
    made = models.DiscreteBayesianNetwork(sorted(dag.edges, key=str))
    made.add_nodes_from(dag.nodes)
    for node in dag.nodes:
        parents = list(dag.parents_of(node))
        table = network.tables[node]
        values = table.reshape(-1, table.shape[-1]).T
        evidence = {"evidence": parents, "evidence_card": list(table.shape[:-1])} if parents else {}
        names = {one: list(levels[one]) for one in (node, *parents)}
        made.add_cpds(factors.TabularCPD(node, table.shape[-1], values.tolist(), state_names=names, **evidence))
    return made


def from_pgmpy(source: Any) -> MarkedGraph:
    """Read a DAG, a PDAG or a network of pgmpy."""
    if not is_networkx(source) or not source.is_directed() or source.is_multigraph():
        message = f"{type(source).__name__} is no DAG or PDAG of pgmpy; give one, or a network of pgmpy"
        raise GraphFormatError(message)
    return from_networkx(source)


_UNSAFE_IN_TETRAD = r"\s,;()\[\]"


def to_dowhy(
    source: object, *, data: Any, treatment: Node, outcome: Node | None = None, open_edges: OpenEdges = "refuse"
) -> Any:
    """Return a CausalModel of DoWhy with the graph and the rows, ready to identify and estimate an effect.

    ``outcome`` is the target of a part unless it is given. An edge with arrowheads at both ends becomes a node
    without a column, which DoWhy takes for an unobserved cause.
    """
    frame = _pandas(data)
    graph = graph_of(source)
    nodes, arrows = _with_hidden_causes(graph) if graph.hidden else _as_arrows(graph, open_edges)
    asked = getattr(source, "target", None) if outcome is None else outcome
    if asked is None:
        _refuse(f"only a part has a target to estimate an effect on; name a column with {argument('outcome')}")
    for node, role in ((treatment, "treatment"), (asked, "outcome")):
        require_known(node, graph.nodes, role)
    if treatment == asked:
        _refuse(f"{argument('treatment')} and {argument('outcome')} are both {shown(asked)}; name two columns")
    lacking = [node for node in graph.nodes if node not in frame.columns]
    if lacking:
        _refuse(
            f"the table has no column {listing(lacking)}, which DoWhy would take for hidden; "
            f"give the table that the graph was learned from with {argument('data')}"
        )
    drawn = peer("networkx", "networkx").DiGraph()
    drawn.add_nodes_from(nodes)
    drawn.add_edges_from(arrows)
    return peer("dowhy", "dowhy").CausalModel(data=frame, treatment=treatment, outcome=asked, graph=drawn)


def _pandas(data: Any) -> pd.DataFrame:
    """Return a table in memory as a pandas frame."""
    import narwhals.stable.v2 as nw

    try:
        frame: pd.DataFrame = nw.from_native(data, eager_only=True).to_pandas()
    except TypeError as error:
        message = f"{argument('data')} is {spelt(data)}; give a table in memory, such as a pandas or polars frame"
        raise GraphFormatError(message) from error
    return frame


def _as_arrows(graph: MarkedGraph, open_edges: OpenEdges) -> tuple[list[Node], list[tuple[Node, Node]]]:
    dag = arrows_only(graph, open_edges, "DoWhy")
    return list(dag.nodes), sorted(dag.edges, key=str)


def _with_hidden_causes(graph: MarkedGraph) -> tuple[list[Node], list[tuple[Node, Node]]]:
    """Return nodes and arrows, with a node for each hidden cause of two that are shown."""
    nodes, arrows = list(graph.nodes), []
    for edge in graph.edges:
        x, y = edge.source, edge.target
        if edge.mark is Mark.ARROW:
            arrows.append((x, y))
        elif edge.mark is Mark.BIDIRECTED:
            cause = f"hidden cause of {shown(x)} and {shown(y)}"
            nodes.append(cause)
            arrows += [(cause, x), (cause, y)]
        else:
            _refuse(
                f"DoWhy knows arrows and hidden causes only, and the edge of {shown(x)} and {shown(y)} may be either; "
                f"ask for the effect with apsl_rules.effect, or learn with {argument('hidden', 'excluded')}"
            )
    return nodes, arrows


_SIGNS = {Mark.ARROW: "-->", Mark.LINE: "---", Mark.CONFLICT: "<->"}
_MARKS = {sign: mark for mark, sign in _SIGNS.items()}
_LEFT = {End.ARROW: "<", End.TAIL: "-", End.CIRCLE: "o"}
_RIGHT = {End.ARROW: ">", End.TAIL: "-", End.CIRCLE: "o"}
_WITH_ENDS = {f"{left}-{right}": (one, other) for one, left in _LEFT.items() for other, right in _RIGHT.items()}
_EDGE = re.compile(r"\d+\.\s*(\S+)\s+(\S+)\s+(\S+)")


def to_tetrad(source: object) -> str:
    """Write a graph as Tetrad's text.

    >>> from apsl_rules.graphs import Dag
    >>> print(to_tetrad(Dag({"a": [], "b c": ["a"]})))
    Graph Nodes:
    a;b%20c
    <BLANKLINE>
    Graph Edges:
    1. a --> b%20c
    <BLANKLINE>
    """
    graph = graph_of(source)
    edges = [
        f"{number}. {_tetrad_name(edge.source)} {_sign(edge, hidden=graph.hidden)} {_tetrad_name(edge.target)}"
        for number, edge in enumerate(graph.edges, start=1)
    ]
    return "\n".join(["Graph Nodes:", ";".join(map(_tetrad_name, graph.nodes)), "", "Graph Edges:", *edges, ""])


def _sign(edge: Edge, *, hidden: bool) -> str:
    if not hidden:
        return _SIGNS[edge.mark]
    at_source, at_target = ENDS[edge.mark]
    return f"{_LEFT[at_source]}-{_RIGHT[at_target]}"


def from_tetrad(text: str, *, hidden: bool | None = None) -> MarkedGraph:
    """Read Tetrad's text; latent variables ``(x)`` count as nodes, and notes behind an edge are skipped.

    ``hidden`` says whether it is a PAG, in which ``<->`` is a hidden common cause and no conflict. Without it, one with
    circles is.
    """
    if hidden is None:
        hidden = any(
            found[2].startswith("o") or found[2].endswith("o") for found in map(_EDGE.match, text.split("\n")) if found
        )
    nodes: list[Node] = []
    edges: list[tuple[Node, Node, Mark]] = []
    section = ""
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if line.endswith(":"):
            section = line
        elif not line:
            section = section if section == "Graph Nodes:" and not nodes else ""
        elif section == "Graph Nodes:":
            nodes += [_node(name.strip("()[]")) for name in re.split("[,;]", line) if name]
        elif section == "Graph Edges:":
            edges.append(_edge(line, number, hidden=hidden))
    if not nodes:
        _refuse("this text has no line after 'Graph Nodes:'; give a graph as Tetrad saves it")
    return MarkedGraph.of_edges(nodes, edges, hidden=hidden)


def _edge(line: str, number: int, *, hidden: bool) -> tuple[Node, Node, Mark]:
    found = _EDGE.match(line)
    if found is None:
        _refuse(f"line {number} of the Tetrad text is no edge such as '1. A --> B': {line!r}")
    x, sign, y = found.groups()
    if hidden and sign in _WITH_ENDS:
        return edge_with_ends(_node(x), _node(y), *_WITH_ENDS[sign])
    if sign == "<--":
        return _node(y), _node(x), Mark.ARROW
    if sign not in _MARKS:
        _refuse(f"line {number} of the Tetrad text has the edge {sign!r}; give one of -->, <--, ---, <->")
    return _node(x), _node(y), _MARKS[sign]


def _tetrad_name(node: Node) -> str:
    return escape_signs(spell_label(node), _UNSAFE_IN_TETRAD)


def _refuse(message: str) -> NoReturn:
    raise GraphFormatError(message)
