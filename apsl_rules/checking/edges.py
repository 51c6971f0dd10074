"""What rows say of each edge of a graph: whether it is needed, and whether its direction can be tested."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum

import attrs

from apsl_rules.checking.claimed import ClaimedGraph
from apsl_rules.checking.claims import Rows, size_of
from apsl_rules.evidence import Verdict, verdict_text
from apsl_rules.graphs import cpdag, mag, pag
from apsl_rules.names import Node, Pair, shown
from apsl_rules.oracles import counted
from apsl_rules.rules import Mark


class Standing(StrEnum):
    """Whether an edge, or its direction, stands against rows."""

    STANDS = "stands"
    WEAK = "weak"
    NOT_SHOWN = "these rows do not show it"
    UNTESTED = "cannot be tested"
    HELD = "held by the others"  #: the other way would close a cycle
    TURN = "turn suggested"


#: The level of the test of an edge by itself.
_ALPHA = 0.01


@attrs.frozen
class CheckedEdge:
    """An edge of a graph, and what rows say of it.

    Attributes
    ----------
    source, target, mark
        Its ends and its mark: "arrow", or "bidirected" for a hidden common cause.
    existence
        "stands", "weak", "these rows do not show it" or "cannot be tested".
    direction
        "stands", "weak", "held by the others", "turn suggested" or "cannot be tested".
    verdict
        The test of its ends given what else the graph holds; None where nothing would separate them without it.
    need, lead
        What the edge, and its direction, add to the score, in nats; None where nothing is scored.
    size
        How strong it is: nats for each row.
    """

    source: Node
    target: Node
    mark: Mark
    existence: Standing
    direction: Standing
    verdict: Verdict | None = None
    need: float | None = None
    lead: float | None = None
    size: float | None = None

    def __str__(self) -> str:
        sign = "<->" if self.mark is Mark.BIDIRECTED else "->"
        test = "" if self.verdict is None else f" [{verdict_text(self.verdict)}]"
        return f"{shown(self.source)} {sign} {shown(self.target)}: {self.existence}; direction: {self.direction}{test}"


def checked_edges(
    rows: Rows, graph: ClaimedGraph, turned: Collection[tuple[Node, Node]], open_pairs: Collection[Pair], lead: float
) -> tuple[CheckedEdge, ...]:
    """Return every edge between measured nodes; ``turned`` are arrows of which a change suggests the other way.

    Where a pair was open in the graph that was given, its direction claims nothing and cannot be tested.
    """
    held = _compelled(graph)
    failing = len(rows.failing(graph))
    if not graph.has_hidden:
        rows.ask([(min(x, y), max(x, y), graph.parents[y] & ~(1 << x)) for x, y in graph.arrows])  # by one call
    found = []
    for x, y in counted("edges checked", graph.arrows):
        names = graph.nodes[x], graph.nodes[y]
        existence, verdict, need = _existence(rows, graph, x, y)
        ahead, direction = _lead(rows, graph, x, y), Standing.UNTESTED
        if names in held and frozenset(names) not in open_pairs:
            direction = _direction(rows, graph, (x, y), ahead, (failing, lead))
        if names in turned:
            direction = Standing.TURN
        size = None if verdict is None else size_of(verdict)
        found.append(CheckedEdge(*names, Mark.ARROW, existence, direction, verdict, need, ahead, size))
    for x, y in graph.hidden_pairs:
        existence, verdict, _ = _existence(rows, graph, x, y)
        size = None if verdict is None else size_of(verdict)
        names = graph.nodes[x], graph.nodes[y]
        found.append(CheckedEdge(*names, Mark.BIDIRECTED, existence, Standing.UNTESTED, verdict, size=size))
    return tuple(found)


def _existence(rows: Rows, graph: ClaimedGraph, x: int, y: int) -> tuple[Standing, Verdict | None, float | None]:
    """Return whether an edge stands, the test of its ends given the other parents, and what it adds to the score."""
    bare = graph.without(x, y)
    given = bare.separator(x, y) if graph.has_hidden else graph.parents[y] & ~(1 << x)
    if given is None:
        return Standing.UNTESTED, None, None
    (verdict,) = rows.ask([(min(x, y), max(x, y), given)])
    need = None
    if rows.have_scores and not graph.has_hidden:
        need = rows.family(y, graph.parents[y]) - rows.family(y, given)
    if verdict.decision == "unreliable":
        return (Standing.NOT_SHOWN if need is not None and need < 0 else Standing.UNTESTED), verdict, need
    is_shown = verdict.dependent if verdict.p is None else verdict.p <= _ALPHA
    if is_shown:
        return (Standing.STANDS if need is None or need >= 0 else Standing.WEAK), verdict, need
    return (Standing.NOT_SHOWN if need is None or need < 0 else Standing.WEAK), verdict, need


def _lead(rows: Rows, graph: ClaimedGraph, x: int, y: int) -> float | None:
    """Return by how many nats an arrow is ahead of its opposite; None where that would close a cycle or no score is."""
    if graph.has_hidden or not rows.have_scores or graph.changed(("turn", x, y)).order is None:
        return None
    ahead, back = graph.parents[y] & ~(1 << x), graph.parents[x] | 1 << y
    one = rows.family(y, ahead | 1 << x) + rows.family(x, graph.parents[x])
    return one - rows.family(y, ahead) - rows.family(x, back)


def _direction(
    rows: Rows, graph: ClaimedGraph, arrow: tuple[int, int], ahead: float | None, bounds: tuple[int, float]
) -> Standing:
    """Return whether a direction that all equivalent graphs share stands."""
    failing, lead = bounds
    turned = graph.changed(("turn", *arrow))
    if turned.order is None:
        return Standing.HELD
    if ahead is None:
        return Standing.STANDS if len(rows.failing(turned)) > failing else Standing.WEAK
    return Standing.STANDS if ahead > lead else Standing.WEAK


def _compelled(graph: ClaimedGraph) -> frozenset[tuple[Node, Node]]:
    """Return the arrows that all graphs with the same independences have."""
    known = graph.dag
    return frozenset(_invariant(graph)) if known.hidden else cpdag(known.dag).arrows


def _invariant(graph: ClaimedGraph) -> Iterator[tuple[Node, Node]]:
    yield from pag(mag(graph.dag)).arrows
