"""How often each edge came out over resamples, and the journal of the runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import attrs

from apsl_rules._renamed import OldMethods
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, Pair, in_order, order_key, require_known, shown
from apsl_rules.parts.many_parts import TaskLog
from apsl_rules.parts.part import Part
from apsl_rules.rules import Mark, adjacent, gap, settled, untested
from apsl_rules.showing import WIDTH, NotebookView, in_columns

if TYPE_CHECKING:
    import pandas as pd


Shown: TypeAlias = Literal["forward", "backward", "line", "conflict", "gap", "unknown"]

_COLUMNS = ("source", "target", "mark", "support", "edge", "arrow", "reversed", "line", "conflict", "gap")


@attrs.frozen(eq=False)
class Tally:
    """What one part shows: its edges with their marks, edges beyond its depth, gaps, and pairs it could not test.

    Directions are those between the two nodes of a pair by name: "forward" points at the later name.
    """

    edges: Mapping[Pair, Shown]
    outside: frozenset[Pair]
    gaps: frozenset[Pair]
    settled: frozenset[Node]
    untested: frozenset[Pair]
    tests: int
    incomplete: str | None

    def of(self, pair: Pair) -> Shown:
        """Return what the part shows of a pair."""
        if pair in self.edges:
            return self.edges[pair]
        apart = pair in self.gaps or (pair not in self.untested and not self.settled.isdisjoint(pair))
        return "gap" if apart and pair not in self.outside else "unknown"


def tally(part: Part) -> Tally:
    """Take from a part what is to be counted; all else can be forgotten."""
    return Tally(
        {pair: _mark_shown(part, pair) for pair in part.edges},
        frozenset(frozenset(fact.nodes) for fact in part.store.facts(adjacent)) - part.edges,
        frozenset(frozenset(fact.nodes) for fact in part.store.facts(gap)),
        frozenset(fact.nodes[0] for fact in part.store.facts(settled)),
        frozenset(frozenset(fact.nodes) for fact in part.store.facts(untested)),
        part.counts.distinct,
        part.incomplete,
    )


def _mark_shown(part: Part, pair: Pair) -> Shown:
    x, y = in_order(pair)
    if (x, y) in part.arrows:
        return "forward"
    if (y, x) in part.arrows:
        return "backward"
    return "line" if part.mark(x, y).drawn is Mark.LINE else "conflict"


@attrs.frozen
class Support:
    """The shares of resamples that show each mark on a pair.

    ``arrow`` points from source to target, ``reversed`` from target to source; ``gap`` is known to be no edge. The
    shares add up to less than 1 where the part of some resamples did not reach the pair.

    Attributes
    ----------
    source, target
        The two ends of the pair.
    line, conflict
        The shares that show an edge without a direction, and a contradiction.
    """

    source: Node
    target: Node
    arrow: float
    reversed: float
    line: float
    conflict: float
    gap: float

    @property
    def edge(self) -> float:
        """Return the share that shows an edge, whatever its mark."""
        return round(self.arrow + self.reversed + self.line + self.conflict, 12)

    def swap(self) -> Support:
        """Return the same as seen from the other node."""
        return attrs.evolve(self, source=self.target, target=self.source, arrow=self.reversed, reversed=self.arrow)


@attrs.frozen(slots=False, repr=False)
class Stability(OldMethods, NotebookView):
    """How often each mark came back: ``part`` is learned from all rows, ``supports`` has every edge of any run.

    ``counted`` resamples of the ``resamples`` asked for are behind the shares; ``incomplete`` says why not all.

    Attributes
    ----------
    seed
        The seed that the resamples were drawn with.
    subsample
        The share of rows that each resample has; None for the bootstrap.
    """

    part: Part
    supports: tuple[Support, ...]
    resamples: int
    counted: int
    seed: int
    subsample: float | None = None
    incomplete: str | None = None

    @cached_property
    def _by_pair(self) -> dict[Pair, Support]:
        return {frozenset((one.source, one.target)): one for one in self.supports}

    def of(self, x: Node, y: Node) -> Support:
        """Return the support of the marks between two nodes, arrows counted from the first to the second."""
        for node in (x, y):
            require_known(node, self.part.nodes, "node")
        one = self._by_pair.get(frozenset((x, y)))
        if one is None:
            message = f"no run shows an edge between {x!r} and {y!r}; ask about a pair in .rows()"
            raise InvalidArgumentError(message)
        return one if one.source == x else one.swap()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each edge of any run, the best supported first.

        ``mark`` is what the part from all rows shows ("outside" for an edge beyond its depth), ``support`` the share of
        resamples that show the same; the other figures are the shares of each mark, ``arrow`` from source to target.
        """
        return [
            {
                "source": one.source,
                "target": one.target,
                "mark": self._mark(one.source, one.target),
                "support": self.part.support.get(frozenset((one.source, one.target))),
                "edge": one.edge,
                "arrow": one.arrow,
                "reversed": one.reversed,
                "line": one.line,
                "conflict": one.conflict,
                "gap": one.gap,
            }
            for one in self.supports
        ]

    def _mark(self, x: Node, y: Node) -> str:
        mark = self.part.mark(x, y)
        beyond = mark.is_edge and frozenset((x, y)) not in self.part.edges
        return "outside" if beyond else str(mark.drawn)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(_COLUMNS))

    def __repr__(self) -> str:
        state = f", incomplete={self.incomplete!r}" if self.incomplete else ""
        return (
            f"Stability(target={self.part.target!r}, depth={self.part.depth!r}, edges={len(self.supports)}, "
            f"resamples={self.counted}{state})"
        )

    def __str__(self) -> str:
        cells = [list(_COLUMNS), *([_cell(value) for value in row.values()] for row in self.rows())]
        return in_columns(cells, right=range(3, len(_COLUMNS)), width=WIDTH)


def count_support(part: Part, tallies: Sequence[Tally]) -> tuple[tuple[Support, ...], dict[Pair, float]]:
    """Return the shares of each mark on every pair that any part joins, and the support of each mark of one part."""
    if not tallies:
        return (), {}
    pairs = {*part.edges, *(pair for one in tallies for pair in one.edges)}
    supports = {pair: _support(part, pair, tallies) for pair in pairs}
    shown = {pair: _of_mark(part, pair, supports[pair]) for pair in part.edges}
    ordered = sorted(
        supports.values(), key=lambda one: (-one.edge, *map(order_key, in_order((one.source, one.target))))
    )
    return tuple(ordered), shown


def _support(part: Part, pair: Pair, tallies: Sequence[Tally]) -> Support:
    """Count the marks of one pair, seen along the arrow that the part has there."""
    times = Counter(one.of(pair) for one in tallies)
    x, y = in_order(pair)
    shares = {kind: times[kind] / len(tallies) for kind in ("line", "conflict", "gap")}
    one = Support(x, y, arrow=times["forward"] / len(tallies), reversed=times["backward"] / len(tallies), **shares)
    return one.swap() if (y, x) in part.arrows else one


def _of_mark(part: Part, pair: Pair, support: Support) -> float:
    match _mark_shown(part, pair):
        case "line":
            return support.line
        case "conflict":
            return support.conflict
        case _:
            return support.arrow


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else shown(value)


FORMAT = "apsl_rules resamples"


class TallyJournal:
    """A file of tallies by the number of their resample; open it with ``with``, by one process at a time.

    ``task`` says what they are learned from and how; a file with another task is refused.
    """

    def __init__(self, path: Path, task: Mapping[str, str], nodes: Sequence[Node]) -> None:
        self._log = TaskLog(path, FORMAT, task)
        self._nodes = tuple(nodes)
        self._numbers = {node: number for number, node in enumerate(nodes)}

    def __enter__(self) -> Self:
        self._log.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._log.__exit__(kind, error, at)

    def __contains__(self, resample: int) -> bool:
        return str(resample) in self._log

    def add(self, resample: int, tally: Tally) -> None:
        """Append what a resample showed, unless that is there."""
        if resample in self:
            return
        edges = sorted((*self._pair(pair), shown) for pair, shown in tally.edges.items())
        self._log.add(
            {
                "key": str(resample),
                "edges": edges,
                "outside": self._pairs(tally.outside),
                "gaps": self._pairs(tally.gaps),
                "settled": sorted(self._numbers[node] for node in tally.settled),
                "untested": self._pairs(tally.untested),
                "tests": tally.tests,
            }
        )

    def tally(self, resample: int) -> Tally:
        """Return what a resample showed."""
        data = self._log[str(resample)]
        return Tally(
            {self._read(pair): shown for *pair, shown in data["edges"]},
            frozenset(map(self._read, data["outside"])),
            frozenset(map(self._read, data["gaps"])),
            frozenset(self._nodes[number] for number in data["settled"]),
            frozenset(map(self._read, data["untested"])),
            data["tests"],
            None,
        )

    def _pair(self, pair: Pair) -> list[int]:
        return sorted(self._numbers[node] for node in pair)

    def _pairs(self, pairs: Iterable[Pair]) -> list[list[int]]:
        return sorted(map(self._pair, pairs))

    def _read(self, pair: Any) -> Pair:
        return frozenset(self._nodes[number] for number in pair)
