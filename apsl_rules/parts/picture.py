"""A part as a tree of text, with the probability at each edge and arrow."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from apsl_rules.names import Node, Pair, order_key, shown
from apsl_rules.parts.part import Part
from apsl_rules.parts.statements import basis_of, instead_of
from apsl_rules.rules import End, Mark
from apsl_rules.showing import WIDTH, cut, wide

_LEGEND = {
    "──▶": "──▶ points outwards",
    "◀──": "◀── points inwards",
    "───": "─── direction open",
    "suggested": "─?▶ ◀?─ direction open, this one suggested",
    "─x─": "─x─ conflict",
    "↺": "↺ drawn above",
    "↧": "↧ drawn below",
}
_LEGEND_WITH_HIDDEN = {
    "tail": "──▶ is a cause of",
    "◀─▶": "◀─▶ shares a hidden common cause with",
    "half": "o─▶ is a cause of, or shares a hidden cause with",
    "o─o": "o─o open",
    "─x─": "─x─ conflict",
    "↺": "↺ drawn above",
    "↧": "↧ drawn below",
}
_DOUBTFUL = "┄┄┄ edge doubtful"
_EARLIER = "[t-1] one step before"
_LEFT = {End.ARROW: "◀", End.TAIL: "─", End.CIRCLE: "o"}
_RIGHT = {End.ARROW: "▶", End.TAIL: "─", End.CIRCLE: "o"}
_BY_NAME = {"──▶": "tail", "◀──": "tail", "o─▶": "half", "◀─o": "half", "─?▶": "suggested", "◀?─": "suggested"}
#: What stands in the place of a figure where a direction was known beforehand.
_KNOWN = {"edge": "given", "given": "given", "name": "by name"}
_STEPS = (5, 3)  # how far a tree is indented, and one that would grow too wide
_ROOM = 24  # what a name always has


def draw(part: Part, width: int = WIDTH) -> str:
    """Draw every edge of a part once; a node met again is marked and not followed a second time.

    No line is wider than ``width``. The probability of each edge stands beside it, and that of its arrow, where scores
    were asked.
    """
    figures = _Figures.of(part)
    tree = _Tree(part, width - figures.width)
    tree.grow()
    lines = list(figures.beside([(cut(shown(part.target), width - figures.width), None), *tree.lines]))
    doubts = [_DOUBTFUL] if any("┄" in sign for sign in tree.signs) else []
    words = [*_legend(part, tree.signs), *doubts, *([_EARLIER] if part.earlier.keys() & set(part.members) else [])]
    legend = list(_wrapped(words, width))
    return "\n".join([*lines, *([""] if legend else []), *legend])


def _legend(part: Part, signs: set[str]) -> list[str]:
    """Return what explains the signs that occur."""
    if part.allows_hidden:
        met = {_BY_NAME.get(sign, sign) for sign in signs}
        return [words for sign, words in _LEGEND_WITH_HIDDEN.items() if sign in met]
    met = {"suggested" if "?" in sign else sign.replace("┄", "─") for sign in signs}
    return [words for sign, words in _LEGEND.items() if sign in met]


def _wrapped(words: Sequence[str], width: int) -> Iterator[str]:
    line = ""
    for one in words:
        if line and wide(line) + 3 + wide(one) > width:
            yield line
            line = ""
        line = f"{line}   {one}" if line else one
    if line:
        yield line


@attrs.frozen
class _Figures:
    """The columns beside a tree: how sure each edge is, and its arrow."""

    edges: Mapping[Pair, tuple[str, str]]
    heads: tuple[str, str]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, part: Part) -> _Figures:
        rows = [row for row in part.rows() if row["probability"] is not None]
        edges = {frozenset((row["source"], row["target"])): _figures_of(part, row) for row in rows}
        heads = ("edge", "arrow" if any(figures[1] for figures in edges.values()) else "")
        sizes = [max(map(len, column)) for column in zip(heads, *edges.values(), strict=True)]
        return cls(edges, heads, (sizes[0], sizes[1]))

    @property
    def width(self) -> int:
        """Return the width of both columns, with the space before them."""
        return sum(size + 2 for size in self.sizes if size) if self.edges else 0

    def beside(self, lines: Sequence[tuple[str, Pair | None]]) -> Iterator[str]:
        """Return the lines of a tree with the figures of their edges."""
        if not self.edges:
            yield from (text for text, _ in lines)
            return
        longest = max(wide(text) for text, _ in lines)
        for number, (text, pair) in enumerate(lines):
            told = self.heads if number == 0 else self.edges.get(pair, ("", "")) if pair is not None else ("", "")
            cells = [cell.rjust(size) for cell, size in zip(told, self.sizes, strict=True) if size]
            yield "  ".join([text + " " * (longest - wide(text)), *cells]).rstrip()


def _figures_of(part: Part, row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the probability of an edge, and of its arrow, the edge included, or how its direction was known."""
    edge, direction = row["probability"], row["direction"]
    known = _KNOWN.get(basis_of(part, row["source"], row["target"])) if row["mark"] == Mark.ARROW else None
    arrow = known or ("" if direction is None else _percent(edge * direction))
    return _percent(edge), arrow


def _percent(share: float) -> str:
    return f"{min(99, max(1, round(100 * share)))} %"


class _Tree:
    """The lines of a drawing while it grows, each with the edge that it draws."""

    def __init__(self, part: Part, width: int) -> None:
        self._part = part
        self._width = width
        levels = max((part.distances[node] for node in part.members), default=0)
        self._step = _STEPS[0] if levels * _STEPS[0] + _ROOM <= width else _STEPS[1]
        self._levels = max(1, (width - _ROOM) // self._step)
        self._drawn: set[Pair] = set()
        self._met: set[Node] = {part.target}
        self._below: deque[Node] = deque()
        self.signs: set[str] = set()
        self.lines: list[tuple[str, Pair | None]] = []

    def grow(self) -> None:
        """Draw all: the tree of the target, then those of nodes that stood too far to the right."""
        self._branch(self._part.target, "", 0)
        while self._below:
            node = self._below.popleft()
            if self._ahead(node):
                self.lines.append((cut(shown(node), self._width), None))
                self._branch(node, "", 0)

    def _distance(self, node: Node) -> int:
        return self._part.distances[node]

    def _ahead(self, node: Node) -> list[Node]:
        """Return the ends of the edges that are to be drawn from a node, nearest first."""
        ahead = [other for other in self._part.neighbours_of(node) if frozenset((node, other)) not in self._drawn]
        ahead.sort(key=lambda other: (self._distance(other), order_key(other)))
        return [other for other in ahead if self._distance(node) <= self._distance(other)]

    def _branch(self, node: Node, margin: str, level: int) -> None:
        """Draw the edges from a node that are not drawn yet; one within a layer belongs to the end drawn first."""
        mine = self._ahead(node)
        self._drawn.update(frozenset((node, other)) for other in mine)
        first_met = [other not in self._met for other in mine]
        self._met.update(mine)
        for other, new in zip(mine, first_met, strict=True):
            last = other == mine[-1]
            begin = f"{margin}{'└' if last else '├'}{self._edge(node, other)} "
            is_far = new and level + 1 >= self._levels and bool(self._ahead(other))
            sign = "" if new and not is_far else " ↧" if new else " ↺"
            self.signs |= {sign.strip()} - {""}
            tie = instead_of(self._part, node, other)
            words = cut(shown(other), self._width - wide(begin) - len(sign))
            if tie and wide(begin) + wide(f"{words} ({tie})") + len(sign) <= self._width:
                words = f"{words} ({tie})"
            self.lines.append((f"{begin}{words}{sign}", frozenset((node, other))))
            if is_far:
                self._below.append(other)
            elif new:
                self._branch(other, margin + (" " if last else "│") + " " * (self._step - 1), level + 1)

    def _edge(self, node: Node, other: Node) -> str:
        sign = self._sign(node, other)
        if frozenset((node, other)) in self._part.doubtful:
            sign = sign.replace("─", "┄")
        self.signs.add(sign)
        return sign

    def _sign(self, node: Node, other: Node) -> str:
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
