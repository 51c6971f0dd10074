"""The store: a state of the log, read as marks on pairs of nodes."""

from __future__ import annotations

from enum import StrEnum

import attrs

from apsl_rules.names import Node, Pair
from apsl_rules.rules.log import NOBODY, State
from apsl_rules.rules.vocabulary import Relation, adjacent, arrow, conflict, gap, head, left_open, settled, untested


class Mark(StrEnum):
    """All that a pair of nodes can be: drawings, files and words go by it, and ``docs/reading.md`` lists it."""

    ARROW = "arrow"  #: an edge with this direction
    PARTIAL = "partial"  #: with hidden causes: an arrowhead at one end, nothing known of the other
    BIDIRECTED = "bidirected"  #: with hidden causes: an arrowhead at both ends
    SUGGESTED = "suggested"  #: an edge with too little evidence for its direction; it is drawn as a line
    LINE = "line"  #: an edge of whose direction nothing is known
    CONFLICT = "conflict"  #: findings contradict each other
    GAP = "gap"  #: absent: something shows that there is no edge
    OPEN = "open"  #: no set separates the two, and yet the score does not pay for an edge
    UNKNOWN = "unknown"  #: not looked at, or not testable

    @property
    def is_edge(self) -> bool:
        """Return whether the pair is joined by an edge, whatever its direction."""
        return self not in (Mark.GAP, Mark.OPEN, Mark.UNKNOWN)

    @property
    def is_open(self) -> bool:
        """Return whether it is the mark of an edge with an end of which nothing is known."""
        return self in (Mark.LINE, Mark.SUGGESTED, Mark.PARTIAL)

    @property
    def drawn(self) -> Mark:
        """Return the mark that formats know: a suggested direction is drawn on a line."""
        return Mark.LINE if self is Mark.SUGGESTED else self


class End(StrEnum):
    """What is known of one end of an edge; nothing is proved of a circle."""

    ARROW = "arrow"
    TAIL = "tail"
    CIRCLE = "circle"


@attrs.frozen(repr=False, eq=False)
class MarkStore(State):
    """An immutable set of facts with a reason for each, read as marks on pairs of nodes.

    It is the first ``length`` rows of a ``log``.
    """

    def __repr__(self) -> str:
        return f"MarkStore(arrows={len(self.arrows)}, lines={len(self.lines)}, entries={len(self)})"

    def mark(self, x: Node, y: Node) -> Mark:
        """Return what is known of a pair; ``has_arrow`` tells the direction of an arrow.

        A node whose neighbours are all known is apart from every other node, except from those it could not be tested
        against, and from those that were left open.
        """
        if self.relates(conflict, x, y):
            return Mark.CONFLICT
        if self.relates(arrow, x, y) or self.relates(arrow, y, x):
            return Mark.ARROW
        if heads := self.relates(head, x, y) + self.relates(head, y, x):
            return Mark.PARTIAL if heads == 1 else Mark.BIDIRECTED
        if self.relates(adjacent, x, y):
            return Mark.LINE
        return self._mark_without_edge(x, y)

    def _mark_without_edge(self, x: Node, y: Node) -> Mark:
        if self.relates(gap, x, y):
            return Mark.GAP
        if self.relates(left_open, x, y):
            return Mark.OPEN
        is_settled = self.relates(settled, x) or self.relates(settled, y)
        return Mark.GAP if is_settled and not self.relates(untested, x, y) else Mark.UNKNOWN

    def relates(self, relation: Relation, *nodes: Node) -> bool:
        """Return whether a fact about nodes is held here."""
        if not self.log.held.get(relation.name):
            return False
        number = self.log.names.number
        return self.holds(relation.name, tuple([number.get(node, NOBODY) for node in nodes]))

    def has_arrow(self, x: Node, y: Node) -> bool:
        """Return whether x -> y is held."""
        return self.relates(arrow, x, y)

    def has_mark(self, x: Node, y: Node) -> bool:
        """Return whether something is held of an end of an edge."""
        return any(self.relates(one, *pair) for one in (arrow, head) for pair in ((x, y), (y, x)))

    def end(self, x: Node, y: Node) -> End:
        """Return the mark at x on the edge of x and y."""
        if self.relates(conflict, x, y):
            return End.CIRCLE
        if self.relates(arrow, x, y):
            return End.TAIL
        return End.ARROW if self.relates(head, x, y) or self.relates(arrow, y, x) else End.CIRCLE

    @property
    def arrows(self) -> frozenset[tuple[Node, Node]]:
        """Return every arrow as (from, to), except on pairs in conflict."""
        blocked, labels = self.conflicts, self.log.names.labels
        pairs = [(labels[x], labels[y]) for x, y in self.rows(arrow)]
        return frozenset([pair for pair in pairs if not blocked or frozenset(pair) not in blocked])

    @property
    def lines(self) -> frozenset[Pair]:
        """Return every adjacent pair whose direction is open: nothing is known of either end."""
        return self._pairs(adjacent).difference(self._pairs(arrow), self._pairs(head), self.conflicts)

    @property
    def partial(self) -> frozenset[tuple[Node, Node]]:
        """Return every pair with an arrowhead at the second node and nothing known of the first: (x, y) for x o-> y."""
        ends = [fact.nodes for fact in self.facts(head)]
        return frozenset([(x, y) for y, x in ends if self.mark(x, y) is Mark.PARTIAL])

    @property
    def bidirected(self) -> frozenset[Pair]:
        """Return every pair with arrowheads at both ends."""
        return frozenset([pair for pair in self._pairs(head) if self.mark(*pair) is Mark.BIDIRECTED])

    @property
    def conflicts(self) -> frozenset[Pair]:
        """Return every pair on which findings contradict each other."""
        return self._pairs(conflict)

    def _pairs(self, relation: Relation) -> frozenset[Pair]:
        labels = self.log.names.labels
        return frozenset([frozenset((labels[x], labels[y])) for x, y in self.rows(relation)])

    def neighbours_of(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes known to be adjacent to a node, whatever the direction, by name."""
        labels, number = self.log.names.labels, self.log.names.number.get(node, NOBODY)
        held = [numbers for fact, numbers in self.log.edges.get(number, ()) if self.holds(fact, numbers)]
        return tuple([labels[one] for one in sorted({one for numbers in held for one in numbers} - {number})])
