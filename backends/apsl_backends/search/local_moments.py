"""Scores around a target beside BDe: that of numbers, with squares where relations are curved, and those of plugins."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import accumulate
from math import floor, log, log2

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.moments import MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.scores import ScoreHandle, largest_scale
from apsl_backends.kernels.bindings.tables import thresholds
from apsl_backends.kernels.library import DEPENDENT, Integers
from apsl_backends.scores.columns import JointRows
from apsl_backends.scores.representation import MOST_AT_ONCE
from apsl_backends.search.scored_columns import FEWEST_CHOICES, ScoredColumns, read_columns
from apsl_rules.data import Level
from apsl_rules.data.moments import SCORED_OF_NUMBER, KeptMoments
from apsl_rules.errors import DataError
from apsl_rules.memory import Kind
from apsl_rules.names import Node, in_order, listing
from apsl_rules.notes import argument

#: The level at which a curved relation makes a candidate.
_STRICT = 0.001


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
        if self._source.has_levels:
            inside = self._source.levels(self._places).inside
            return MomentsHandle(inside.matrix, starts, inside.rows, rules, leading=leading)
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
#: Where values are missing: the rows of a family and for each of its columns.
_ROWS, _ROWS_PER_COLUMN = 10, 5
#: How many times as many rows are thought of to settle a pair, and in which steps.
_MOST_NEEDED, _STEP = 100, 1.05


#: The fewest groups whose means are scored, and for each column of means in a family.
_FEWEST_GROUPS, _GROUPS_PER_COLUMN = 10, 2.5
_WHOLE: Kind[ScoredColumns] = Kind("scored columns of a table")


class LocalMoments:
    """The score of graphs over some columns of a table with numbers; searches use its ``handle``.

    A number stands as it is where it is nearly normal, or else by its normal scores, and with its squares where it is
    an end of a curved relation. Up to ``MOST_AT_ONCE`` columns all of them decide that and have an order by content;
    beyond, or unless ``whole``, those that have joined decide. ``least_effect`` is what an edge at a number with
    squares must gain for each row besides the penalties.
    """

    name = "BIC"

    def __init__(self, source: KeptMoments, *, least_effect: float, squares: bool = True, whole: bool = True) -> None:
        heading = source.heading
        if not heading.rows or not heading.names:
            size = f"{heading.rows} rows and {len(heading.names)} columns"
            message = f"a table of {size} cannot be scored; give one of each"
            raise DataError(message)
        self._source = source
        self.together = JointRows(source)
        self._may_have_squares = squares
        by_name = in_order(heading.names)
        self._is_whole = whole and len(by_name) <= MOST_AT_ONCE
        self._whole: ScoredColumns | None = None
        self._rank = {node: rank for rank, node in enumerate(by_name)}
        if self._is_whole:
            settings = source.embedding, squares
            self._whole = source.memory.once(_WHOLE, settings, lambda: self._read(by_name))
            self._rank = {node: rank for rank, node in enumerate(self._whole.nodes)}
        self._used: Integers = np.zeros(len(by_name), np.int64)
        self._bent: npt.NDArray[np.bool_] = np.zeros(len(by_name), np.bool_)
        self.nodes: dict[int, Node] = {}
        self.is_changed = False
        most = largest_scale(_MOST_COLUMNS, heading.rows, 1.0, least_effect * heading.rows)
        self.unit = 2.0 ** -floor(log2(min(_MOST_UNITS, most)))
        self._least_effect = least_effect
        self.rows: float = heading.rows
        self.penalty = round(log(max(len(self._rank), FEWEST_CHOICES)) / self.unit)
        self.handle = self._open()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return which numbers were scored with their squares, and which as they are."""
        bent = in_order(self.nodes[number] for number in np.flatnonzero(self._bent).tolist())
        notes = () if self._whole is None else self._whole.notes
        if not bent:
            return notes
        squares = "its squares" if len(bent) == 1 else "their squares"
        return (f"relations with {listing(bent)} are curved, so {squares} were scored too", *notes)

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        joined = set(self.nodes.values())
        if not joined.issuperset(nodes):
            self._join(tuple(sorted(joined.union(nodes), key=self._rank.__getitem__)))
        return tuple(sorted(self._rank[node] for node in nodes))

    def _join(self, nodes: tuple[Node, ...]) -> None:
        """Score the families of some nodes, by number, from now on."""
        columns = self._read(nodes) if self._whole is None else self._whole.select(nodes)
        blocks, bent = columns.blocks, columns.bent
        before = {node: bool(self._bent[number]) for number, node in self.nodes.items()}
        self.nodes = {self._rank[node]: node for node in nodes}
        numbers = list(self.nodes)
        self._bent = np.zeros(len(self._rank), np.bool_)
        self._bent[numbers] = bent
        self._used = np.zeros(len(self._rank), np.int64)
        self._used[numbers] = blocks.used(bent)
        is_bent_anew = any(was != self._bent[self._rank[node]] for node, was in before.items())
        self.is_changed = is_bent_anew or self._is_incomplete
        self.rows = max(self.together.mean(nodes) if columns.rows is None else columns.rows, 2.0)
        kept = blocks.columns(bent)
        self.handle = self._open()
        self.handle.set_moments(
            np.ascontiguousarray(blocks.matrix[np.ix_(kept, kept)]),
            np.array([0, *accumulate(self._used.tolist())], np.int64),
            self.rows,
            widest=max(int(self.rows - _ROWS) // _ROWS_PER_COLUMN, 0) if self._is_incomplete else None,
            bent=self._bent,
            per_bent=self._least_effect * self.rows,
        )
        if columns.between is not None:
            self._add_means(columns.between)

    def _add_means(self, level: Level) -> None:
        """Score the means of groups too; those of a category with many levels for the groups are left out."""
        most = int((level.rows - 1) / _GROUPS_PER_COLUMN)
        kept = [at for at, width in enumerate(level.widths.tolist()) if width <= max(most // 3, 1)]
        if level.rows < _FEWEST_GROUPS or not kept:
            return
        used = np.zeros(len(self._rank), np.int64)
        numbers = list(self.nodes)
        used[[numbers[at] for at in kept]] = level.widths[kept]
        matrix = level.select(kept).matrix
        self.handle.add_level(matrix, np.array([0, *accumulate(used.tolist())], np.int64), level.rows, widest=most)

    def _read(self, nodes: tuple[Node, ...]) -> ScoredColumns:
        """Return the scored columns of some nodes; all of a table that is searched at once may be taken as they are."""
        heading = self._source.heading
        places = [heading.place[node] for node in nodes]
        widths = np.where(
            heading.is_number[places], np.minimum(heading.widths[places], SCORED_OF_NUMBER), heading.widths[places]
        )
        if int(widths.sum()) > _MOST_COLUMNS:
            message = (
                f"the {len(nodes)} columns near the target have {int(widths.sum()):,} embedded columns, and a search "
                f"takes at most {_MOST_COLUMNS:,}; choose fewer columns, join levels, or learn by tests "
                f"({argument('learner', 'apsl')})"
            )
            raise DataError(message)
        whole = self._is_whole
        return read_columns(self._source, nodes, self.together, squares=self._may_have_squares, whole=whole)

    def _open(self) -> ScoreHandle:
        return ScoreHandle(len(self._rank), scale=1 / self.unit, penalty=self.penalty)

    @property
    def _is_incomplete(self) -> bool:
        """Return whether a joined column has missing values."""
        return not self.together.is_complete(self.nodes.values())

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""
        before = np.array(sorted(parents), np.int64)
        return self.handle.local(node, before) - self.penalty * len(before)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""
        given = np.array(sorted(parents), np.int64), np.array(sorted({*parents, other}), np.int64)
        without, within = (self.handle.local(node, one) for one in given)
        halves = 0.5 * float(self._used[node] * self._used[other])
        per_row = (self.nats(within - without) + halves * log(self.rows)) / self.rows
        per_row += self._least_effect if self._bent[[node, other]].any() else 0.0
        return rows * per_row >= halves * log(max(rows, 2)) + log(max(len(self._rank), FEWEST_CHOICES))

    def rows_for_edge(self, x: int, y: int, behind: int) -> float | None:
        """Return how many rows would pay for an edge that is so many units behind, if the gain for each row stays."""
        halves = 0.5 * float(self._used[x] * self._used[y])
        gained = halves * log(self.rows) + self.nats(self.penalty) - self.nats(behind)  # besides the least effect
        rows = self.rows
        while gained < halves * log(rows) + self.nats(self.penalty):
            if rows > _MOST_NEEDED * self.rows or gained <= 0:
                return None
            gained, rows = gained * _STEP, rows * _STEP
        return rows * self._source.heading.rows / self.rows

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit
