"""The edges around a cause that are open, and each way to direct them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from functools import cached_property

import attrs

from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.evidence import GIVEN, SHAPES, Evidence
from apsl_rules.graphs import Dag, extension
from apsl_rules.names import Node, Pair, in_order, listing
from apsl_rules.notes import argument
from apsl_rules.parts import Part
from apsl_rules.rules import KNOWING, Finding, Mark, adjacent, arrow, chain, ledger, settled, shortest_proofs

#: The least probability of a direction for effects to rest on it; an arrow with less is taken for an open line.
SURE_DIRECTION = 0.85
#: The most orientations that are looked at.
MOST_ORIENTATIONS = 1 << 12


@attrs.frozen
class Orientation:
    """One way in which the edges at a cause can point: its parents and its children, by name.

    ``assumed`` are the parents, and ``turned`` the children, whose edges the part leaves open.

    Attributes
    ----------
    cause
        The node.
    parents, children
        The nodes that point at it, and those that it points at, by name.
    """

    cause: Node
    parents: tuple[Node, ...]
    children: tuple[Node, ...]
    assumed: tuple[Node, ...] = ()
    turned: tuple[Node, ...] = ()

    @property
    def arrows(self) -> tuple[tuple[Node, Node], ...]:
        """Return the directions that the orientation gives to lines of the part."""
        into = ((node, self.cause) for node in self.assumed)
        return (*into, *((self.cause, node) for node in self.turned))

    def __str__(self) -> str:
        return ", ".join(f"{tail} -> {head}" for tail, head in self.arrows) or "no line is open"


@attrs.frozen(eq=False)
class Neighbourhood:
    """The marks at a cause and between its neighbours, as a part has them."""

    part: Part
    cause: Node
    parents: tuple[Node, ...]
    siblings: tuple[Node, ...]
    children: tuple[Node, ...]

    def orientations(self) -> tuple[Orientation, ...]:
        """Return every possible orientation of the lines at the cause, fewest assumed parents first."""
        found = [self._oriented(chosen) for chosen in self._possible()]
        if not found:
            message = (
                f"the arrows at {self.cause!r} contradict each other, so no graph has all of them; "
                f"part.why says what each rests on"
            )
            raise GraphError(message)
        return tuple(sorted(found, key=lambda one: (len(one.assumed), [str(node) for node in one.assumed])))

    def _oriented(self, chosen: frozenset[Node]) -> Orientation:
        turned = tuple(node for node in self.siblings if node not in chosen)
        return Orientation(
            self.cause,
            in_order({*self.parents, *chosen}),
            in_order({*self.children, *turned}),
            in_order(chosen),
            in_order(turned),
        )

    def _possible(self) -> Iterator[frozenset[Node]]:
        """Yield the sets of siblings that can all be parents while the others are children.

        Sets grow by one sibling at a time, and none grows that has a new V-structure already.
        """
        level: list[tuple[Node, ...]] = [()]
        met = 0
        while level:
            met += len(level)
            if met > MOST_ORIENTATIONS:
                message = (
                    f"{self.cause!r} has {len(self.siblings)} lines, which can point in more than "
                    f"{MOST_ORIENTATIONS:,} ways; orient some of them with background knowledge, such as tiers"
                )
                raise InvalidArgumentError(message)
            yield from (frozenset(one) for one in level if self._is_acyclic(frozenset(one)))
            level = [
                (*one, node)
                for one in level
                for node in self.siblings[self.siblings.index(one[-1]) + 1 if one else 0 :]
                if all(self._may_share(node, other) for other in (*one, *self.parents))
            ]

    def _may_share(self, one: Node, other: Node) -> bool:
        """Return whether two nodes can both be parents: they are adjacent, or a V-structure of the part.

        What is not known of two nodes excludes nothing.
        """
        arrows = self.part.store.arrows
        is_known = (one, self.cause) in arrows and (other, self.cause) in arrows
        return is_known or self.part.mark(one, other) is not Mark.GAP

    def _is_acyclic(self, chosen: frozenset[Node]) -> bool:
        """Return whether no child points at a parent, which would close a directed triangle."""
        parents = chosen.union(self.parents)
        children = set(self.children).union(self.siblings).difference(chosen)
        return not any((child, parent) in self.part.all_arrows for child in children for parent in parents)


def with_sure_arrows(part: Part, least: float = SURE_DIRECTION) -> Part:
    """Return a part in which directions that are less probable than some bound are open.

    One wrong arrow at a cause takes the true effect away, so that more is asked of it than of an arrow in a drawing.
    Where hidden causes are possible, effects rest on what is given and on V-structures, not on other shapes.
    Parts without probabilities, of known graphs or of tests alone, stay as they are.
    """
    if part.settings.get("hidden") == "possible":
        book = part.ledger
        told = [
            [one for one in findings if one.evidence.source != SHAPES or one.evidence.verdicts]
            for findings in book.told
        ]
        return attrs.evolve(part, ledger=ledger(book.rulebook, book.policy, told))
    drawn = part.settings.get("min_direction")
    if drawn is None or drawn >= least:
        return part
    return attrs.evolve(part, settings={**part.settings, "min_direction": float(least)})


def neighbourhood_of(part: Part, cause: Node) -> Neighbourhood:
    """Read the edges at a cause. Every mark that effects cannot be had from is refused here, and only here."""
    if not part.is_inner(cause):
        message = (
            f"the part around {part.target!r} (depth {part.depth}) does not have all edges of {cause!r}; "
            f"learn it with a larger depth, or give the table, from which the edges of {cause!r} are learned"
        )
        raise InvalidArgumentError(message)
    if part.incomplete and settled.fact(cause) not in part.store:
        message = f"the part is incomplete and the edges of {cause!r} are not settled: {part.incomplete}"
        raise InvalidArgumentError(message)
    shared = part.hidden_causes_at(cause)
    if shared:
        message = (
            f"{cause!r} may share a hidden common cause with {listing(shared)}, and then no column of the table can be "
            f"adjusted for it; {_why(cause, shared[0])} says what is known of their edge"
        )
        raise GraphError(message)
    sides: dict[str, list[Node]] = {"parents": [], "siblings": [], "children": []}
    for other in part.neighbours_of(cause):
        match part.mark(cause, other):
            case Mark.ARROW:
                sides["parents" if (other, cause) in part.all_arrows else "children"].append(other)
            case Mark.LINE | Mark.SUGGESTED:
                sides["siblings"].append(other)
            case mark:
                message = (
                    f"the edge between {cause!r} and {other!r} is a {mark}, so it is not known what to adjust for; "
                    f"a hidden common cause often shows in this way; {_why(cause, other)} has both sides"
                )
                raise GraphError(message)
    return Neighbourhood(part, cause, *(in_order(nodes) for nodes in sides.values()))


@attrs.frozen(eq=False, slots=False)
class OrientedGraph:
    """Arrows and lines among the nodes of a part, closed under Meek's rules.

    ``complete`` are the nodes all of whose edges are known, ``suggested`` directions of lines that are not sure enough.
    """

    cause: Node
    nodes: tuple[Node, ...]
    arrows: frozenset[tuple[Node, Node]]
    lines: frozenset[Pair]
    complete: frozenset[Node]
    suggested: frozenset[tuple[Node, Node]] = frozenset()

    def parents_of(self, node: Node) -> frozenset[Node]:
        """Return the nodes with an arrow to a node."""
        return frozenset(tail for tail, head in self.arrows if head == node)

    def possible_descendants(self, nodes: Iterable[Node], *, beyond: Node | None = None) -> frozenset[Node]:
        """Return some nodes and all that a path without an arrow against it leads to, not on through one node."""
        return _reached(nodes, lambda node: () if node == beyond else self._onward[node])

    def on_causal_paths(self, target: Node) -> frozenset[Node]:
        """Return the nodes after the cause on paths to the target that may be directed."""
        without = {node: [one for one in after if one != self.cause] for node, after in self._onward.items()}
        back: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for node, after in without.items():
            for one in after:
                back[one].append(node)
        leading = _reached([target], lambda node: back[node])
        first = [one for one in self._onward[self.cause] if one in leading]
        return _reached(first, lambda node: [one for one in without[node] if one in leading])

    @cached_property
    def _onward(self) -> dict[Node, list[Node]]:
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for tail, head in self.arrows:
            found[tail].append(head)
        for x, y in self.lines:
            found[x].append(y)
            found[y].append(x)
        return {node: list(in_order(after)) for node, after in found.items()}

    def some_dags(self) -> list[Dag]:
        """Return graphs that are left open: one, and where directions are suggested also one that has them.

        Without suggested directions, all open graphs have the same V-structures and one stands for all. There may be
        none, where directions that are suggested contradict those that were given to the lines at the cause.
        """
        hinted = {pair for pair in self.suggested if frozenset(pair) in self.lines}
        left = self.lines - set(map(frozenset, hinted))
        found = []
        for arrows, lines in ((self.arrows, self.lines), (self.arrows | hinted, left)):
            with suppress(GraphError):
                found.append(extension(self.nodes, arrows, lines))
        return found


def orient(part: Part, orientation: Orientation, further: Iterable[Node]) -> OrientedGraph:
    """Orient the lines at the cause and take all that follows by Meek's rules; ``further`` nodes join in any case.

    What a whole part does not have is not connected with it.
    """
    arrows = part.all_arrows.union(orientation.arrows)
    edges = {frozenset(pair) for pair in (*arrows, *part.all_lines)}
    nodes = in_order({part.target, orientation.cause, *further}.union(*edges))
    told = [adjacent.fact(*in_order(pair)) for pair in edges]
    told += [arrow.fact(*pair) for pair in arrows]
    told += [chain.fact(x, node, y) for x, node, y in _chains(part, nodes, edges, arrows)]
    store = shortest_proofs(KNOWING, [Finding(fact, Evidence(GIVEN)) for fact in told])
    lines = frozenset(pair for pair in edges if not store.arrows.intersection(_both(pair)))
    complete = frozenset(node for node in nodes if not part.incomplete and (part.depth == "max" or part.is_inner(node)))
    return OrientedGraph(orientation.cause, nodes, store.arrows, lines, complete, frozenset(part.all_suggested))


def _chains(
    part: Part, nodes: Iterable[Node], edges: Collection[Pair], arrows: Collection[tuple[Node, Node]]
) -> Iterable[tuple[Node, Node, Node]]:
    """Return the triples x, node, y without an edge between x and y and without a V-structure at the node.

    A V-structure that the part found counts as one even where its arrows are open here.
    """
    known = {*arrows, *part.store.arrows}
    around: dict[Node, list[Node]] = {node: [] for node in nodes}
    for pair in edges:
        x, y = pair
        around[x].append(y)
        around[y].append(x)
    for node, near in around.items():
        ordered = in_order(near)
        for at, x in enumerate(ordered):
            for y in ordered[at + 1 :]:
                is_collider = (x, node) in known and (y, node) in known
                if part.mark(x, y) is Mark.GAP and not is_collider:
                    yield x, node, y


def _both(pair: Pair) -> list[tuple[Node, Node]]:
    x, y = pair
    return [(x, y), (y, x)]


def _reached(start: Iterable[Node], after: Callable[[Node], Iterable[Node]]) -> frozenset[Node]:
    """Return some nodes and all that steps lead to from them."""
    found = set(start)
    waiting = list(found)
    while waiting:
        new = set(after(waiting.pop())).difference(found)
        found |= new
        waiting += new
    return frozenset(found)


def _why(x: Node, y: Node) -> str:
    """Return the call that says what is known of an edge."""
    return argument("part.why", [x, y], python=f"part.why({x!r}, {y!r})")
