"""Where causes may be hidden: whether a node has no effect for sure, or which set to adjust for.

The generalised adjustment criterion (Perković, Textor, Kalisch and Maathuis 2018) on a partial ancestral graph. A set
is valid in every graph of the class if each possibly causal path starts with a visible edge, which shows that no hidden
cause acts there, if the set has no node that may follow from such a path, and if it blocks all other paths.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import attrs

from apsl_rules.graphs.ancestral import AncestralGraph
from apsl_rules.names import Node, in_order

#: So many steps along paths are tried; a graph that takes more is taken to decide nothing.
MOST_STEPS = 200_000


@attrs.frozen
class HiddenAdjustment:
    """What a partial ancestral graph says of an effect.

    Attributes
    ----------
    no_effect
        Whether the cause has no effect in every graph of the class.
    given
        A set that is valid in every graph; None where there is none.
    doubtful
        The nodes after the cause on possibly causal paths whose edge with it may hide a common cause.
    """

    no_effect: bool = False
    given: tuple[Node, ...] | None = None
    doubtful: tuple[Node, ...] = ()


def hidden_adjustment(
    graph: AncestralGraph, cause: Node, target: Node, own: Collection[Node] | None = None
) -> HiddenAdjustment:
    """Say what to adjust for in every graph that a partial ancestral graph stands for; ``own`` is a set to check.

    >>> from apsl_rules.graphs import Dag, hide, pag
    >>> graph = pag(hide(Dag({"z": [], "w": [], "x": ["z", "w"], "t": ["x"]}), []))
    >>> hidden_adjustment(graph, "x", "t").given, hidden_adjustment(graph, "t", "x").no_effect
    (('w', 'z'), True)
    """
    walk = _Walk(graph)
    if target not in walk.after([cause]):
        return HiddenAdjustment(no_effect=True)
    leading = walk.leading_to(target, without=cause)
    first = [node for node in walk.onward(cause) if node in leading]
    doubtful = tuple(node for node in first if not is_visible(graph, cause, node))
    if doubtful:
        return HiddenAdjustment(doubtful=in_order(doubtful))
    between = walk.between(first, leading, cause)
    forbidden = walk.after(between) | {cause, target}
    held = frozenset(walk.before([cause, target]) - forbidden if own is None else own)
    if held & forbidden or walk.is_open_otherwise(cause, target, held):
        return HiddenAdjustment()
    return HiddenAdjustment(given=in_order(held))


def is_visible(graph: AncestralGraph, x: Node, y: Node) -> bool:
    """Return whether x -> y can be no effect of a hidden cause that the two share."""
    ends = graph.ends
    if (ends.get((x, y)), ends.get((y, x))) != ("tail", "arrow"):
        return False
    seen, ahead = {x}, [x]
    while ahead:
        node = ahead.pop()
        for other in graph.neighbours_of(node):
            if other == y or ends[node, other] != "arrow":
                continue
            if (other, y) not in ends:
                return True
            is_collider = ends[other, node] == "arrow" and (ends[other, y], ends[y, other]) == ("tail", "arrow")
            if is_collider and other not in seen:
                seen.add(other)
                ahead.append(other)
    return False


class _Walk:
    """Steps along the edges of a partial ancestral graph."""

    def __init__(self, graph: AncestralGraph) -> None:
        self._graph = graph
        self._steps = 0

    def onward(self, node: Node) -> Iterator[Node]:
        """Give the nodes that a node may be a cause of by an edge."""
        return (other for other in self._graph.neighbours_of(node) if self._graph.ends[node, other] != "arrow")

    def backward(self, node: Node) -> Iterator[Node]:
        """Give the nodes that may be causes of a node by an edge."""
        return (other for other in self._graph.neighbours_of(node) if self._graph.ends[other, node] != "arrow")

    def after(self, nodes: Iterable[Node]) -> frozenset[Node]:
        """Return some nodes and all that may follow from them."""
        return self._reached(nodes, forwards=True)

    def before(self, nodes: Iterable[Node]) -> frozenset[Node]:
        """Return some nodes and all that they may follow from."""
        return self._reached(nodes, forwards=False)

    def leading_to(self, target: Node, without: Node) -> frozenset[Node]:
        """Return the nodes from which a possibly causal path leads to the target past one node."""
        return self._reached([target], forwards=False, without=without)

    def between(self, first: Collection[Node], leading: frozenset[Node], cause: Node) -> frozenset[Node]:
        """Return the nodes after the cause on possibly causal paths."""
        return frozenset(one for one in self._reached(first, forwards=True, without=cause) if one in leading)

    def _reached(self, nodes: Iterable[Node], *, forwards: bool, without: Node | None = None) -> frozenset[Node]:
        found = set(nodes)
        ahead = list(found)
        while ahead:
            node = ahead.pop()
            steps = self.onward(node) if forwards else self.backward(node)
            new = {one for one in steps if one != without} - found
            found |= new
            ahead += new
        return frozenset(found)

    def is_open_otherwise(self, cause: Node, target: Node, held: frozenset[Node]) -> bool:
        """Return whether a path that is not causal joins the two given some nodes; on it every node's role is known."""
        ends, adjacent = self._graph.ends, self._graph.neighbours_of
        above = self._sure_causes(held)
        ahead: list[tuple[tuple[Node, ...], bool]] = [
            ((cause, one), ends[cause, one] != "arrow") for one in adjacent(cause)
        ]
        while ahead:
            self._steps += 1
            if self._steps > MOST_STEPS:
                return True
            path, is_causal = ahead.pop()
            before, node = path[-2], path[-1]
            if node == target:
                if not is_causal:
                    return True
                continue
            for other in adjacent(node):
                if other in path:
                    continue
                here, there = ends[node, before], ends[node, other]
                if here == there == "arrow":
                    is_open = node in above
                elif "tail" in (here, there) or (here == there == "circle" and (before, other) not in ends):
                    is_open = node not in held
                else:
                    continue
                if is_open:
                    ahead.append(((*path, other), is_causal and there != "arrow"))
        return False

    def _sure_causes(self, held: frozenset[Node]) -> frozenset[Node]:
        """Return some nodes and all that are causes of them for sure."""
        found, ahead = set(held), list(held)
        while ahead:
            node = ahead.pop()
            ends = self._graph.ends
            near = self._graph.neighbours_of(node)
            new = {one for one in near if ends[one, node] == "tail" and ends[node, one] == "arrow"} - found
            found |= new
            ahead += new
        return frozenset(found)
