"""Scores around a target beside BDe: that of numbers, with squares where relations are curved, and those of plugins."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from itertools import accumulate, pairwise
from math import floor, inf, isfinite, log, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from apsl_backends.kernels.bindings.checks import Floats, Integers
from apsl_backends.kernels.bindings.moments import MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.scores import ScoreHandle, largest_scale
from apsl_backends.kernels.bindings.tables import thresholds
from apsl_backends.kernels.library import DEPENDENT
from apsl_backends.scores.missing_values import JointRows
from apsl_rules.data import Dataset
from apsl_rules.data.moments import KeptMoments
from apsl_rules.errors import ApslError, DataError, PluginError
from apsl_rules.names import Node, in_order
from apsl_rules.notes import argument
from apsl_rules.plugins import ScoreOffer

if TYPE_CHECKING:
    from apsl_backends.search.rounds import Found


#: From this mean on, relations count as curved; how much noise a mean over few edges may have, in multiples of 1/n.
CURVED, _NOISE, _SPREAD = 0.005, 1.5, 3.0
#: The level at which a curved relation makes a candidate.
_STRICT = 0.001


def are_curved(matrix: Floats, starts: Integers, edges: Iterable[tuple[int, int]], rows: float) -> bool:
    """Return whether the relations between numbers that edges join are curved.

    ``matrix`` is the covariance of embedded columns; the first two columns of a number, from its start on, are its
    scores and their squares. Edges are pairs of places whose blocks have both.
    """
    falls = [max(_fall(matrix, starts, u, v), _fall(matrix, starts, v, u)) - _NOISE / rows for u, v in edges]
    if not falls:
        return False
    return sum(falls) / len(falls) - _SPREAD / (rows * sqrt(len(falls))) > CURVED


def _fall(matrix: Floats, starts: Integers, u: int, v: int) -> float:
    """Return how much ln of the variance of v given u falls when the square of u is given too."""
    z, h, y = int(starts[u]), int(starts[u]) + 1, int(starts[v])
    slope, shape = matrix[z, y] / matrix[z, z], matrix[z, h] / matrix[z, z]
    left = float(matrix[y, y] - slope * matrix[z, y])
    bend, common = float(matrix[h, h] - shape * matrix[z, h]), float(matrix[h, y] - shape * matrix[z, y])
    if left <= 0 or bend <= 0:
        return 0.0
    rest = left - common * common / bend
    return log(left / rest) if rest > 0 else inf


class CurvedRelations:
    """Finds relations with numbers that rise as much as they fall, which tests of normal scores miss.

    Numbers are tested together with their squares, at a strict level, if their columns are complete and the table is
    not too wide.
    """

    def __init__(self, source: KeptMoments) -> None:
        self._source = source
        heading = source.heading
        self._places: list[int] = np.flatnonzero(heading.missing == 0).tolist() if source.has_matrix else []

    @cached_property
    def _matrix(self) -> MomentsHandle:
        heading = self._source.heading
        widths = heading.widths[self._places]
        leading = np.where(heading.is_number[self._places], np.minimum(widths, 2), widths)
        starts = np.array([0, *accumulate(widths.tolist())], np.int64)
        rules = MomentRules(thresholds(_STRICT), _STRICT, rows_per_column=5.0)
        return MomentsHandle(self._source.covariance(self._places), starts, heading.rows, rules, leading=leading)

    def of(self, node: Node) -> tuple[Node, ...]:
        """Return the columns that depend on a node with nothing given, strongest first."""
        heading = self._source.heading
        place = heading.place[node]
        if place not in self._places:
            return ()
        block = self._places.index(place)
        others = [other for other in range(len(self._places)) if other != block]
        asked = np.array([(block, other) for other in others], np.int64).ravel()
        tested = self._matrix.run_tests(np.arange(0, len(asked) + 1, 2), asked)
        found = np.flatnonzero(tested.decisions == DEPENDENT)
        ranked = found[np.argsort(-tested.statistics[found], kind="stable")]
        return tuple(heading.names[self._places[others[at]]] for at in ranked.tolist())


#: The most embedded columns of one search, and the most units in a nat.
_MOST_COLUMNS, _MOST_UNITS = 1 << 12, 2.0**36
#: The embedded columns of a number that are scored: its scores and their squares.
_OF_NUMBER = 2
#: Where values are missing: the rows of a family and for each of its columns, and the fewest columns to choose from.
_ROWS, _ROWS_PER_COLUMN, _FEWEST_CHOICES = 10, 5, 20


class LocalMoments:
    """The score of graphs over some columns of a table with numbers; searches use its ``handle``."""

    name = "BIC"

    def __init__(self, source: KeptMoments, *, least_effect: float, squares: bool = True) -> None:
        heading = source.heading
        if not heading.rows or not heading.names:
            size = f"{heading.rows} rows and {len(heading.names)} columns"
            message = f"a table of {size} cannot be scored; give one of each"
            raise DataError(message)
        self._source = source
        self.together = JointRows(source)
        self._may_have_squares = squares
        self._has_squares = squares
        self._is_settled = not squares
        self._rank = {node: rank for rank, node in enumerate(in_order(heading.names))}
        self._matrix: Floats = np.zeros((0, 0))
        self._widths: Integers = np.zeros(0, np.int64)
        self._blocks: Integers = np.zeros(0, np.int64)
        self.nodes: dict[int, Node] = {}
        self.is_changed = False
        self.unit = 2.0 ** -floor(log2(min(_MOST_UNITS, largest_scale(_MOST_COLUMNS, heading.rows))))
        self._least_effect = least_effect
        self.rows: float = heading.rows
        self.handle = self._open()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return whether numbers were scored with their squares."""
        if self._has_squares and self._numbers:
            return ("relations between numbers are curved, so they were scored with squares",)
        return ()

    @property
    def _numbers(self) -> list[int]:
        """Return the places of the joined numbers with squares, in the order of their names."""
        heading = self._source.heading
        places = [heading.place[node] for node in self.nodes.values()]
        return [
            at for at, place in enumerate(places) if heading.is_number[place] and heading.widths[place] >= _OF_NUMBER
        ]

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        joined = set(self.nodes.values())
        if not joined.issuperset(nodes):
            self._join(in_order(joined.union(nodes)))
        return tuple(sorted(self._rank[node] for node in nodes))

    def _join(self, nodes: tuple[Node, ...]) -> None:
        """Score the families of some nodes, by name, from now on."""
        heading = self._source.heading
        places = [heading.place[node] for node in nodes]
        width = int(heading.widths[places].sum())
        if width > _MOST_COLUMNS:
            message = (
                f"the {len(nodes)} columns near the target have {width:,} embedded columns, and a search takes at most "
                f"{_MOST_COLUMNS:,}; choose fewer columns, join levels, or learn by tests "
                f"({argument('learner', 'apsl')})"
            )
            raise DataError(message)
        self._matrix = self._source.covariance(places)
        self.rows = max(self.together.mean(nodes), 2.0)
        self._widths = heading.widths[places]
        self.nodes = {self._rank[node]: node for node in nodes}
        self._is_settled = not self._may_have_squares
        self.is_changed = self._is_incomplete
        self._score(squares=self._has_squares)

    def _score(self, *, squares: bool) -> None:
        """Score with squares of numbers, or without."""
        self._has_squares = squares
        heading = self._source.heading
        is_number = heading.is_number[[heading.place[node] for node in self.nodes.values()]]
        used = np.where(is_number, np.minimum(self._widths, _OF_NUMBER if squares else 1), self._widths)
        kept = _first_columns(self._widths, used)
        self._blocks = np.zeros(len(self._rank), np.int64)
        self._blocks[list(self.nodes)] = used
        starts = np.array([0, *accumulate(self._blocks.tolist())], np.int64)
        widest = max(int(self.rows - _ROWS) // _ROWS_PER_COLUMN, 0) if self._is_incomplete else None
        self.handle = self._open()
        matrix = np.ascontiguousarray(self._matrix[np.ix_(kept, kept)])
        self.handle.set_moments(matrix, starts, self.rows, widest=widest)

    def _open(self) -> ScoreHandle:
        return ScoreHandle(len(self._rank), scale=1 / self.unit, penalty=self.penalty)

    @property
    def _is_incomplete(self) -> bool:
        """Return whether a joined column has missing values."""
        return not self.together.is_complete(self.nodes.values())

    @property
    def penalty(self) -> int:
        """Return the penalty of a parent, in units."""
        effect = self._least_effect * self.rows if self._has_squares else 0.0
        fewest = _FEWEST_CHOICES if self._is_incomplete else 2
        return round((log(max(len(self._rank), fewest)) + effect) / self.unit)

    def settle(self, search: Callable[[ScoreHandle], Found]) -> None:
        """Choose whether to score with squares, by the graph that a quick search finds with them."""
        if self._is_settled:
            return
        self._is_settled = True
        before = self._has_squares
        self._score(squares=True)
        found = search(self.handle)
        order = {number: at for at, number in enumerate(self.nodes)}
        numbers = set(self._numbers)
        ends = ([order[found.members[one]] for one in edge] for edge in np.argwhere(found.dag).tolist())
        edges = [(u, v) for u, v in ends if u in numbers and v in numbers]
        starts = np.array([0, *accumulate(self._widths.tolist())], np.int64)
        if not are_curved(self._matrix, starts, edges, self.rows):
            self._score(squares=False)
        self.is_changed = self.is_changed or self._has_squares != before

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""
        before = np.array(sorted(parents), np.int64)
        return self.handle.local(node, before) - self.penalty * len(before)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""
        given = np.array(sorted(parents), np.int64), np.array(sorted({*parents, other}), np.int64)
        without, within = (self.handle.local(node, one) for one in given)
        halves = 0.5 * float(self._blocks[node] * self._blocks[other])
        per_row = (self.nats(within - without) + halves * log(self.rows)) / self.rows
        return rows * per_row >= halves * log(max(rows, 2)) + log(max(len(self._rank), _FEWEST_CHOICES))

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit


def _first_columns(widths: Integers, used: Integers) -> list[int]:
    """Return the embedded columns that are used: so many of each block."""
    ends = np.cumsum(widths)
    return [
        column
        for end, width, size in zip(ends.tolist(), widths.tolist(), used.tolist(), strict=True)
        for column in range(end - width, end - width + size)
    ]


#: The most nodes of one search, and the most units in a nat.
_MOST_ASKED, _MOST_ASKED_UNITS = 1 << 10, 2.0**24
#: Two scores of the same graphs agree up to this share, or up to so many nats.
_SHARE, _NATS = 1e-6, 1e-6


class LocalPlugin:
    """The score of graphs over some columns by a function of a plugin; searches use its ``handle``.

    Searches compare classes of equivalent graphs by figures of sets of nodes. That of a set is the score of its nodes
    one after another, each given those before it, less that of each alone; a family scores the difference of two.
    """

    notes: tuple[str, ...] = ()
    penalty = 0

    def __init__(self, data: Dataset, offer: ScoreOffer) -> None:
        self.name = offer.name
        self.together = JointRows(data)
        self.rows: float = data.rows
        if not data.rows or not data.names:
            message = f"a table of {data.rows} rows and {len(data.names)} columns cannot be scored; give one of each"
            raise DataError(message)
        self._family = offer.make(data)
        self._rank = {node: rank for rank, node in enumerate(in_order(data.names))}
        self._known: dict[tuple[int, ...], int] = {}
        self.nodes: Mapping[int, Node] = {}
        self.is_changed = False
        self.unit = 2.0 ** -floor(log2(min(_MOST_ASKED_UNITS, largest_scale(_MOST_ASKED, max(self.rows, 2.0)))))
        self.handle = self._open()

    def _open(self) -> ScoreHandle:
        return ScoreHandle(len(self._rank), scale=1 / self.unit, penalty=0)

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        joined = set(self.nodes.values())
        if not joined.issuperset(nodes):
            everyone = in_order(joined.union(nodes))
            if len(everyone) > _MOST_ASKED:
                message = f"a score of a plugin takes at most {_MOST_ASKED:,} columns near the target; choose fewer"
                raise DataError(message)
            self._require_equivalence(everyone)
            self.nodes = {self._rank[node]: node for node in everyone}
            widths = np.zeros(len(self._rank), np.int64)
            widths[list(self.nodes)] = 1
            self.handle = self._open()
            self.handle.set_moments(np.eye(len(everyone)), np.array([0, *np.cumsum(widths)]), max(self.rows, 2.0))
            self.handle.ask(self._figure)
        return tuple(sorted(self._rank[node] for node in nodes))

    def _require_equivalence(self, nodes: tuple[Node, ...]) -> None:
        """Refuse a score that tells the two directions of an edge apart, which no data can."""
        for x, y in pairwise(nodes):
            one, other = (self._score(a, (b,)) + self._score(b, ()) for a, b in ((x, y), (y, x)))
            if abs(one - other) > _NATS + _SHARE * abs(one):
                message = (
                    f"the score {self.name!r} gives {x!r} -> {y!r} {other:.6g} nats and {y!r} -> {x!r} {one:.6g}; a "
                    "search needs a score that is the same for graphs with the same independences, such as BIC"
                )
                raise PluginError(message)

    def _score(self, node: Node, parents: tuple[Node, ...]) -> float:
        """Ask the plugin, and name it if it fails."""
        try:
            found = float(self._family(node, parents))
        except ApslError:
            raise
        except Exception as error:
            message = f"the score {self.name!r} raised {type(error).__name__} for {node!r} given {parents!r}: {error}"
            raise PluginError(message) from error
        if not isfinite(found) or abs(found / self.unit) > 2.0**56:
            message = f"the score {self.name!r} of {node!r} given {parents!r} is {found}; give a finite number of nats"
            raise PluginError(message)
        return found

    def _figure(self, numbers: tuple[int, ...]) -> int:
        """Return the figure of a set of ascending numbers, in units."""
        if not numbers:
            return 0
        if numbers not in self._known:
            *before, last = numbers
            node, given = self.nodes[last], tuple(self.nodes[one] for one in before)
            gained = self._score(node, given) - self._score(node, ()) if given else 0.0
            self._known[numbers] = self._figure(tuple(before)) + round(gained / self.unit)
        return self._known[numbers]

    def settle(self, _search: Callable[[ScoreHandle], Found]) -> None:
        """Settle nothing: there is one way to score."""

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, less its score without any."""
        before = tuple(sorted(parents))
        return self._figure(tuple(sorted((*before, node)))) - self._figure(before)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent raises the score, and the rows with both are enough to compare them."""
        return rows > 0 and self.local(node, {*parents, other}) >= self.local(node, parents)

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit
