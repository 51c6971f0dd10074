"""What to adjust for: the parents of the cause, the optimal set, or a set of the user's own.

Given its parents, a node has no open path into it from behind, so they are a valid adjustment set in every graph. The
optimal set (Henckel, Perković and Maathuis 2022) has the parents of the nodes on causal paths and gives the narrowest
intervals; it takes a part that has these paths whole. A set of the user's own is checked by the generalised adjustment
criterion (Perković, Textor, Kalisch and Maathuis 2018).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

import attrs

from apsl_rules.effects.orientations import Orientation, OrientedGraph, orient
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.names import Node, in_order, listed, listing, nearest, spelt
from apsl_rules.notes import argument, named
from apsl_rules.parts import Part
from apsl_rules.rules import duplicate

Adjustment: TypeAlias = Literal["parents", "earlier", "optimal"] | Iterable[Node]
STRATEGIES = ("parents", "earlier", "optimal")


@attrs.frozen
class Adjusted:
    """What to adjust for in the graphs with one orientation of the edges at the cause.

    ``no_effect`` says why the cause has no effect in these graphs, where it has none; nothing is estimated then. Where
    graphs were weighed, ``probability`` is theirs.
    """

    orientation: Orientation
    given: tuple[Node, ...] = ()
    no_effect: str | None = None
    probability: float | None = None


def adjust(part: Part, orientations: Sequence[Orientation], target: Node, adjustment: Adjustment) -> list[Adjusted]:
    """Return what to adjust for under each orientation."""
    if isinstance(adjustment, str) and adjustment not in STRATEGIES:
        raise unknown_strategy(adjustment)
    own = None if isinstance(adjustment, str) else own_set(part.nodes, adjustment, orientations[0].cause, target)
    found = []
    for one in orientations:
        reason = _no_effect(one, target)
        if reason is not None:
            found.append(Adjusted(one, no_effect=reason))
        elif own is not None:
            _require_valid(part, one, target, own)
            found.append(Adjusted(one, own))
        elif adjustment == "parents":
            found.append(Adjusted(one, one.parents))
        else:
            found.append(_optimal(part, one, target))
    return found


def unknown_strategy(name: str) -> InvalidArgumentError:
    """Return the refusal of a way to adjust that there is not."""
    hint = nearest(name, STRATEGIES) or "; give 'parents', 'earlier', 'optimal', or a list of columns to adjust for"
    return InvalidArgumentError(f"{named('adjust')} is {name!r}{hint}", argument="adjust")


def own_set(known: Collection[Node], adjustment: object, cause: Node, target: Node) -> tuple[Node, ...]:
    """Take a set of the user's own."""
    nodes = listed("adjust", adjustment, "columns to adjust for, or 'parents', 'earlier' or 'optimal'")
    for node in nodes:
        if node not in known:
            hint = nearest(str(node), map(str, known)) or f"; the nodes are {listing(list(known))}"
            message = f"unknown node {spelt(node)} in adjust{hint}"
            raise InvalidArgumentError(message)
        if node in (cause, target):
            message = f"adjust names {node!r}, which is the {'cause' if node == cause else 'target'}; leave it out"
            raise InvalidArgumentError(message)
    return in_order(set(nodes))


def _no_effect(orientation: Orientation, target: Node) -> str | None:
    """Return why the cause has no effect on the target under an orientation, where its own edges show it."""
    if target in orientation.parents:
        return f"{target} is a cause of {orientation.cause}"
    if not orientation.children:
        return f"no arrow leads away from {orientation.cause}"
    return None


def _optimal(part: Part, orientation: Orientation, target: Node) -> Adjusted:
    """Return the optimal set under one orientation."""
    graph = orient(part, orientation, [target])
    _require_reach(part, graph, target)
    between = graph.on_causal_paths(target)
    if not between:
        return Adjusted(orientation, no_effect=f"no directed path leads from {graph.cause} to {target}")
    around = frozenset[Node]().union(*(graph.parents_of(node) for node in between))
    given = around - between - graph.possible_descendants(between) - {graph.cause}
    return Adjusted(orientation, in_order(given))


def _require_reach(part: Part, graph: OrientedGraph, target: Node) -> None:
    """Refuse a part that ends before the paths from the cause to the target do, or cannot place them."""
    duplicates = {node for fact in part.store.facts(duplicate) for node in fact.nodes}
    unplaced = duplicates & {graph.cause, target, *graph.possible_descendants([graph.cause])}
    if unplaced:
        message = (
            f"no data can tell which edges are at {listing(in_order(unplaced))}, duplicates of other columns, so the "
            f"paths from {graph.cause!r} to {target!r} are not known; leave the duplicates out, or adjust for 'parents'"
        )
        raise InvalidArgumentError(message)
    open_ends = graph.possible_descendants([graph.cause], beyond=target) - graph.complete - {target}
    if open_ends:
        message = (
            f"the paths from {graph.cause!r} to {target!r} may leave the part around {part.target!r} (depth "
            f"{part.depth}), which does not have all edges of {listing(open_ends)}; learn it with "
            f"{argument('depth', 'max')}, or "
            f"adjust for 'parents'"
        )
        raise InvalidArgumentError(message)


def _require_valid(part: Part, orientation: Orientation, target: Node, own: tuple[Node, ...]) -> None:
    """Refuse a set of the user's own that is not valid in every graph with an orientation."""
    cause = orientation.cause
    under = f" if {orientation}" if orientation.arrows else ""
    graph = orient(part, orientation, [target, *own])
    descendants = graph.possible_descendants([cause])
    if set(orientation.parents) <= set(own) and _is_behind(graph, own, descendants):
        return
    _require_reach(part, graph, target)
    between = graph.on_causal_paths(target)
    forbidden = [node for node in own if node in graph.possible_descendants(between)]
    if forbidden:
        lies, them = ("it lies", "it") if len(forbidden) == 1 else ("they lie", "them")
        message = (
            f"adjusting for {listing(forbidden)} is wrong{under}: {lies} between {cause!r} and {target!r} or follows "
            f"from what does, so part of the effect would be taken away; leave {them} out"
        )
        raise InvalidArgumentError(message)
    unseen = _ancestors(graph, {cause, target, *own}) - graph.complete
    if unseen:
        message = (
            f"whether {listing(own)} is enough to adjust for cannot be told: the part does not have all edges of "
            f"{listing(unseen)}; learn it with {argument('depth', 'max')}, or adjust for 'parents'"
        )
        raise InvalidArgumentError(message)
    dags = graph.some_dags()
    if not dags:
        message = (
            f"whether {listing(own)} is enough to adjust for cannot be told{under}: directions that are only suggested "
            f"contradict it; adjust for 'parents', or give background knowledge"
        )
        raise InvalidArgumentError(message)
    if not all(_blocks(dag, cause, target, own, between) for dag in dags):
        message = (
            f"adjusting for {listing(own)} leaves a path open between {cause!r} and {target!r} that is no "
            f"effect{under}; adjust for 'parents', which are {listing(orientation.parents)}"
        )
        raise InvalidArgumentError(message)


def _is_behind(graph: OrientedGraph, own: tuple[Node, ...], descendants: frozenset[Node]) -> bool:
    """Return whether no node of a set can follow from the cause, and the part can tell."""
    return descendants <= graph.complete and descendants.isdisjoint(own)


def _ancestors(graph: OrientedGraph, nodes: set[Node]) -> frozenset[Node]:
    """Return some nodes and all that may be their ancestors."""
    found, waiting = set(nodes), list(nodes)
    while waiting:
        node = waiting.pop()
        lines = {other for pair in graph.lines if node in pair for other in pair}
        new = (graph.parents_of(node) | lines) - found
        found |= new
        waiting += new
    return frozenset(found)


def _blocks(dag: Dag, cause: Node, target: Node, given: Iterable[Node], between: frozenset[Node]) -> bool:
    """Return whether a set blocks every path between cause and target that is no causal one.

    The first arrows of causal paths are taken away; what then joins the two given the set is no effect.
    """
    edges = {(tail, head) for tail, head in dag.edges if not (tail == cause and head in between)}
    return not _are_joined(edges, cause, target, frozenset(given))


def _are_joined(edges: Iterable[tuple[Node, Node]], x: Node, y: Node, given: frozenset[Node]) -> bool:
    """Return whether some path is open between two nodes given others (d-connection)."""
    into: dict[Node, set[Node]] = {}
    out: dict[Node, set[Node]] = {}
    for tail, head in edges:
        out.setdefault(tail, set()).add(head)
        into.setdefault(head, set()).add(tail)
    above, waiting = set(given), list(given)
    while waiting:
        new = into.get(waiting.pop(), set()) - above
        above |= new
        waiting += new
    seen: set[tuple[Node, bool]] = set()
    steps = [(x, True)]  # True: the path came to the node against an arrow, or starts there
    while steps:
        node, upward = steps.pop()
        if (node, upward) in seen:
            continue
        seen.add((node, upward))
        if node == y:
            return True
        if upward and node not in given:
            steps += [(one, True) for one in into.get(node, ())]
            steps += [(one, False) for one in out.get(node, ())]
        elif not upward:
            if node not in given:
                steps += [(one, False) for one in out.get(node, ())]
            if node in above:
                steps += [(one, True) for one in into.get(node, ())]
    return False
