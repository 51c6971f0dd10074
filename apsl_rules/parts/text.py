"""A part drawn as text: a tree that grows from the target, layer by layer."""

from __future__ import annotations

from apsl_rules.names import Node, order_key, shown
from apsl_rules.parts.part import Part
from apsl_rules.rules import End, Mark

_LEGEND = "──▶ points outwards   ◀── points inwards   ─── direction open   ─x─ conflict   ↺ drawn above"
_SUGGESTED = "─?▶ ◀?─ direction open, this one suggested"
_HIDDEN = """\
──▶ is a cause of   ◀─▶ shares a hidden common cause with   o─▶ is a cause of, or shares a hidden cause with
o─o open   ─x─ conflict   ↺ drawn above"""
_LEFT = {End.ARROW: "◀", End.TAIL: "─", End.CIRCLE: "o"}
_RIGHT = {End.ARROW: "▶", End.TAIL: "─", End.CIRCLE: "o"}


def draw(part: Part) -> str:
    """Draw every edge of a part once; a node met again is marked and not followed a second time."""
    tree = _Tree(part)
    tree.branch(part.target, "")
    legend = [_LEGEND, _SUGGESTED] if part.suggested else [_HIDDEN if part.allows_hidden else _LEGEND]
    return "\n".join([shown(part.target), *tree.lines, "", *legend])


class _Tree:
    """The lines of a drawing while it grows."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._drawn: set[frozenset[Node]] = set()
        self._met: set[Node] = {part.target}
        self.lines: list[str] = []

    def _distance(self, node: Node) -> int:
        return self._part.distances[node]

    def branch(self, node: Node, margin: str) -> None:
        """Draw the edges from a node that are not drawn yet, nearest nodes first."""
        ahead = [other for other in self._part.neighbours_of(node) if frozenset((node, other)) not in self._drawn]
        ahead.sort(key=lambda other: (self._distance(other), order_key(other)))
        mine = [other for other in ahead if self._belongs(node, other)]
        self._drawn.update(frozenset((node, other)) for other in mine)
        first_met = [other not in self._met for other in mine]
        self._met.update(mine)
        for other, new in zip(mine, first_met, strict=True):
            last = other == mine[-1]
            again = "" if new else " ↺"
            self.lines.append(f"{margin}{'└' if last else '├'}{self._edge(node, other)} {shown(other)}{again}")
            if new:
                self.branch(other, margin + ("     " if last else "│    "))

    def _belongs(self, node: Node, other: Node) -> bool:
        """Leave an edge between two nodes of one layer to whichever is drawn first, others to the nearer node."""
        return self._distance(node) <= self._distance(other)

    def _edge(self, node: Node, other: Node) -> str:
        if self._part.mark(node, other) is Mark.CONFLICT:
            return "─x─"
        if self._part.allows_hidden:
            return f"{_LEFT[self._part.end(node, other)]}─{_RIGHT[self._part.end(other, node)]}"
        if (node, other) in self._part.suggested:
            return "─?▶"
        if (other, node) in self._part.suggested:
            return "◀?─"
        if (node, other) in self._part.arrows:
            return "──▶"
        return "◀──" if (other, node) in self._part.arrows else "───"
