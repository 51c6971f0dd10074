"""The edges at a cause, and every way in which those without a direction can point.

The total effect of a node depends on a graph only through the parents that the node has there. A line at the cause
leaves open whether its other end is a parent. An orientation of all lines at the cause is possible if it neither makes
a new V-structure at the cause nor closes a directed triangle through it; then some graph that the part leaves open has
exactly these parents (Maathuis, Kalisch and Bühlmann 2009; with background knowledge Perković, Kalisch and Maathuis
2017, Fang and He 2020).
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.names import Node, in_order, listing
from apsl_rules.parts import Part
from apsl_rules.rules import Mark, settled

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
    Parts without probabilities, of known graphs or of tests alone, stay as they are.
    """
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
            f"adjusted for it; part.why({cause!r}, {shared[0]!r}) says what is known of their edge"
        )
        raise GraphError(message)
    sides: dict[str, list[Node]] = {"parents": [], "siblings": [], "children": []}
    for other in part.neighbours_of(cause):
        match part.mark(cause, other):
            case Mark.ARROW:
                sides["parents" if (other, cause) in part.all_arrows else "children"].append(other)
            case Mark.LINE:
                sides["siblings"].append(other)
            case mark:
                message = (
                    f"the edge between {cause!r} and {other!r} is a {mark}, so it is not known what to adjust for; "
                    f"a hidden common cause often shows in this way; part.why({cause!r}, {other!r}) has both sides"
                )
                raise GraphError(message)
    return Neighbourhood(part, cause, *(in_order(nodes) for nodes in sides.values()))
