"""Kernels of scores: families by rows or by covariances, and the store of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import addressof, c_int64
from itertools import accumulate
from math import isfinite, log
from threading import Lock
from typing import Any, NamedTuple, TypeAlias
from weakref import finalize, ref

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import library as checks
from apsl_backends.kernels.bindings.moments import TOLERANCE, covariances
from apsl_backends.kernels.library import Codes, Floats, Integers

#: How many scores a store keeps, and of how many columns: the known scores of one take up to 8 MiB.
_MOST_KEPT, _MOST_COLUMNS_KEPT = 4, 128


class ScoreStore:
    """Scores that handles leave behind for later ones with the same rows and settings, which need not count again.

    A score comes back when its handle is collected, so no call uses it any more. Few are kept, and no large ones.
    """

    def __init__(self) -> None:
        self._free: list[tuple[int, dict[int, int]]] = []
        finalize(self, _close_all, self._free).atexit = False

    def take(self) -> tuple[int, dict[int, int]] | None:
        """Return the address of a score and the columns of its nodes, or None."""
        try:
            return self._free.pop()
        except IndexError:  # another thread may have taken the last one
            return None

    def put(self, pointer: int, columns: dict[int, int]) -> None:
        """Take a score back."""
        if len(self._free) < _MOST_KEPT and len(columns) <= _MOST_COLUMNS_KEPT:
            self._free.append((pointer, columns))
        else:
            checks.kernels().apsl_score_close(pointer)


def _close_all(free: list[tuple[int, dict[int, int]]]) -> None:
    for pointer, _ in free:
        checks.kernels().apsl_score_close(pointer)


def give_back(store: ref[ScoreStore], pointer: int, columns: dict[int, int]) -> None:
    """Take a score back into a store, or close it if the store is gone."""
    found = store()
    if found is None:
        checks.kernels().apsl_score_close(pointer)
    else:
        found.put(pointer, columns)


Weights: TypeAlias = npt.NDArray[np.int32]
LogPriors: TypeAlias = npt.NDArray[np.int32]

#: The largest penalty of a parent in units; those of all parents of a node have a sum of 64 bits.
MOST_PENALTY = 1 << 56
#: The most rows that a score counts, the most nodes that it numbers, and the most nodes whose subsets it scores.
MOST_ROWS, MOST_NUMBERS, MOST_EXACT = 2**31 - 1, (1 << 18) - 1, 30
#: The equivalent sample sizes that a score takes; beyond them floating-point numbers are too coarse.
LEAST_ESS, MOST_ESS = 1e-100, 1e15
_MOST_LOG_PRIOR = 30_000
#: A decomposition of some ten columns takes about as long as counting so many rows.
_ROWS_LIKE_MOMENTS = 1_000
#: The largest figure of a set of nodes by moments, in units; sums of some have 64 bits.
_MOST_FIGURE = 2.0**60
#: As many log priors have a sum of 32 bits.
_MOST_GIVEN = 1 << 16


class Turn:
    """One call at a time, and the failure of a figure that the library asked for during the call."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.failure: BaseException | None = None

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        failure, self.failure = self.failure, None
        self._lock.release()
        if failure is not None:
            raise failure


class ScoreHandle:
    """The score of graphs over the numbered nodes of a table: BDeu, BDe with an empirical prior, or a Gaussian score.

    With rows, a node takes part once it has a column of them, and ``ess`` is the equivalent sample size. With moments,
    each node has a block of columns of a covariance matrix. ``scale`` is the number of units in a nat, ``penalty`` that
    of each parent in units. Threads may share a handle; their calls follow one another. With a ``store`` it goes on
    with a score from there, whose ``columns`` are those that its nodes had.
    """

    def __init__(
        self,
        nodes: int,
        *,
        scale: float,
        penalty: int,
        ess: float = 1.0,
        empirical: bool = False,
        store: ScoreStore | None = None,
    ) -> None:
        checks.require(0 < nodes <= MOST_NUMBERS, "nodes", nodes)
        checks.require(LEAST_ESS <= ess <= MOST_ESS, "ess", ess)
        checks.require(isfinite(scale) and scale > 0, "scale", scale)
        checks.require(abs(penalty) <= MOST_PENALTY, "penalty", penalty)
        self.nodes, self.scale, self.penalty, self.empirical = nodes, scale, penalty, empirical
        self.in_use = Turn()  # a call that was given up may still run for a moment
        self._rows: tuple[Codes, Weights | None] | None = None
        self._total = 0
        self._moments: tuple[Floats, Integers] | None = None
        self._is_kept = store is not None
        self.columns: dict[int, int] = {}
        kept = None if store is None else store.take()
        if kept is None:
            self._pointer = checks.opened(checks.kernels().apsl_score_open(nodes, ess, scale, penalty, empirical))
        else:
            self._pointer, self.columns = kept
        if store is None:
            checks.close_with(self, checks.kernels().apsl_score_close, self._pointer)
        else:
            finalize(self, give_back, ref(store), self._pointer, self.columns).atexit = False

    @property
    def rows(self) -> int:
        """Return how many rows are counted."""
        return 0 if self._rows is None else self._rows[0].shape[1]

    @property
    def rows_per_family(self) -> int:
        """Return how many rows are counted for a family; moments take about as long as so many rows."""
        return self.rows if self._moments is None else _ROWS_LIKE_MOMENTS

    @property
    def rows_of_table(self) -> int:
        """Return how many rows would be counted for a family if equal ones were not counted together."""
        return self._total if self._moments is None else _ROWS_LIKE_MOMENTS

    def set_rows(self, codes: Codes, weights: Weights | None = None) -> None:
        """Take the rows of a table, one column after another; all nodes lose their columns.

        ``weights`` is the number of rows that each row of codes represents. Known scores of families stay.
        """
        columns, rows = codes.shape
        checks.require(0 < rows <= MOST_ROWS, "the number of rows", rows)
        checks.require(
            codes.dtype in {np.dtype(one) for one in (np.uint8, np.uint16, np.uint32)}, "the codes", codes.dtype
        )
        total, weighted = rows, 0
        if weights is not None:
            weighted = checks.address(weights, np.int32, (rows,), "weights")
            total = int(weights.sum(dtype=np.int64))
            checks.require(int(weights.min()) >= 0 and total <= MOST_ROWS, "the sum of the weights", total)
        address = checks.address(codes, codes.dtype.type, codes.shape, "codes")
        size = codes.dtype.itemsize
        with self.in_use:
            self._rows, self._total, self._moments = (codes, weights), total, None
            status = checks.kernels().apsl_score_set_rows(
                self._pointer, address, size, columns, rows, weighted or None, total
            )
        checks.require_status(status)

    def set_share(self, share: float) -> None:
        """Count each row as a share of one from now on; known scores of families are forgotten if it is another."""
        checks.require(not self._is_kept and 0 < share <= 1, "share", share)
        with self.in_use:
            checks.kernels().apsl_score_set_share(self._pointer, share)

    def add_node(self, node: int, place: int, card: int, log_priors: LogPriors | None = None) -> None:
        """Give a node a column of the rows with so many levels; for an empirical prior also their log priors."""
        checks.require(0 <= node < self.nodes, "node", node)
        checks.require(0 <= place < MOST_ROWS and 0 < card <= MOST_ROWS, "place and card", (place, card))
        checks.require((log_priors is not None) == self.empirical, "log_priors", log_priors)
        address = None
        if log_priors is not None:
            address = checks.address(log_priors, np.int32, (card,), "log_priors")
            in_range = int(log_priors.min(initial=0)) >= 0 and int(log_priors.max(initial=0)) <= _MOST_LOG_PRIOR
            checks.require(in_range, "log_priors", log_priors)
        with self.in_use:
            status = checks.kernels().apsl_score_add_node(self._pointer, node, place, card, address)
        checks.require_status(status)

    def set_moments(
        self,
        matrix: Floats,
        starts: Integers,
        rows: float,
        *,
        penalty_factor: float = 1.0,
        tolerance: float = TOLERANCE,
        widest: int | None = None,
        bent: npt.NDArray[np.bool_] | None = None,
        per_bent: float = 0.0,
    ) -> None:
        """Take a covariance matrix instead of rows: each node is a block of its columns, in the order of the numbers.

        ``starts`` are the first columns of the blocks, with the end of the last, and ``rows`` is the number of rows
        that the matrix was made from. A parameter costs ``penalty_factor`` times half of ln n, besides the penalty of
        a parent. What is left of a column given others counts as nothing up to the share ``tolerance`` of its variance.
        No family has more columns than the ``widest``. An edge with an end that is ``bent`` costs ``per_bent`` nats
        more. The matrix is not copied and must not be changed. Known scores of families are forgotten.
        """
        at_matrix, at_starts = covariances(matrix, starts := starts.copy(), rows, tolerance)
        checks.require(not self._is_kept, "a score that is kept for others", "one by moments")
        checks.require(len(starts) == self.nodes + 1, "the number of blocks", len(starts) - 1)
        checks.require(isfinite(penalty_factor) and penalty_factor >= 0, "penalty_factor", penalty_factor)
        checks.require(isfinite(per_bent) and 0 <= per_bent <= rows, "per_bent", per_bent)
        checks.require(self.scale <= largest_scale(len(matrix), rows, penalty_factor, per_bent), "scale", self.scale)
        flags = np.zeros(self.nodes, np.bool_) if bent is None else bent
        at_flags = checks.address(flags, np.bool_, (self.nodes,), "bent")
        most = len(matrix) if widest is None else widest
        checks.require(most >= 0, "widest", most)
        self.columns.clear()
        with self.in_use:
            self._rows, self._moments = None, (matrix, starts)
            status = checks.kernels().apsl_score_set_moments(
                *(self._pointer, at_matrix, at_starts, rows, penalty_factor, tolerance, most, at_flags, per_bent)
            )
        checks.require_status(status)

    def add_level(
        self, matrix: Floats, starts: Integers, rows: float, *, tolerance: float = TOLERANCE, widest: int | None = None
    ) -> None:
        """Add the scores of the means of groups to those of the rows inside them, whose moments were taken before."""
        checks.require(self._moments is not None, "a level", "without moments")
        at_matrix, at_starts = covariances(matrix, starts := starts.copy(), rows, tolerance)
        checks.require(len(starts) == self.nodes + 1, "the number of blocks", len(starts) - 1)
        most = len(matrix) if widest is None else widest
        with self.in_use:
            self._level = matrix, starts
            status = checks.kernels().apsl_score_add_level(
                self._pointer, at_matrix, at_starts, rows, 1.0, tolerance, most
            )
        checks.require_status(status)

    def ask(self, figure: Callable[[tuple[int, ...]], int]) -> None:
        """Ask for the figure of each set of numbers, in units, instead of finding it by the moments taken before.

        What ``figure`` raises ends the call, and a set counts as nothing until then.
        """

        def asked(numbers: Any, count: int) -> int:
            try:
                return figure(tuple(numbers[:count]))
            except BaseException as error:  # noqa: BLE001 - raised at the end of the call
                self.in_use.failure = self.in_use.failure or error
                return 0

        self._asked = checks.FIGURE(asked)
        with self.in_use:
            status = checks.kernels().apsl_score_ask(self._pointer, self._asked)
        checks.require_status(status)

    def forget(self) -> None:
        """Forget all known scores of families, since the rows are others than before."""
        self.columns.clear()
        with self.in_use:
            checks.kernels().apsl_score_forget(self._pointer)

    def local(self, node: int, parents: Integers) -> int:
        """Score a node given its parents, in units, without a penalty."""
        out, count = c_int64(), len(parents)
        checks.require(0 <= node < self.nodes and count <= _MOST_GIVEN, "node and number of parents", (node, count))
        given = checks.address(parents, np.int64, (count,), "parents")
        with self.in_use:
            status = checks.kernels().apsl_score_local(self._pointer, node, given, count, addressof(out))
        checks.require_status(status)
        return out.value

    def renamed(self, parents: Sequence[Sequence[int]], names: Integers, room: Integers, least: int) -> int:
        """Return in how many renamings a graph gains at least so much over one without edges, with the penalties.

        ``names`` has a row for each, with the node that takes each place, ``parents`` the parents of the places, and
        ``room`` what parents can add to the score of each node at most.
        """
        starts = np.array([0, *accumulate(map(len, parents))], np.int64)
        listed = np.array([one for before in parents for one in before], np.int64)
        out, width = c_int64(), len(parents)
        are_apart = all(len({at, *before}) == 1 + len(before) for at, before in enumerate(parents))
        are_places = 0 < width <= self.nodes and all(0 <= one < width for one in listed)
        checks.require(are_apart and are_places, "the parents", parents)
        ordered = np.sort(names, axis=1)
        checks.require(bool((ordered == ordered[:1]).all() and (np.diff(ordered) > 0).all()), "names", names)
        lists = [checks.address(one, np.int64, one.shape, "places") for one in (starts, listed)]
        at_room = checks.address(room, np.int64, (self.nodes,), "room")
        at_names = checks.address(names, np.int64, (len(names), width), "names")
        with self.in_use:
            status = checks.kernels().apsl_score_renamed(
                self._pointer, *lists, width, at_room, least, at_names, len(names), addressof(out)
            )
        checks.require_status(status)
        return out.value

    def gains(self, node: int, parents: Integers, others: Integers) -> Integers:
        """Return the gain of adding each other node to the parents, or of removing it if it is one of them."""
        checks.require(0 <= node < self.nodes and len(parents) <= _MOST_GIVEN, "node and parents", (node, parents))
        given, further = (checks.address(one, np.int64, one.shape[:1], "nodes") for one in (parents, others))
        out = np.empty(len(others), np.int64)
        found = checks.address(out, np.int64, others.shape, "out")
        with self.in_use:
            status = checks.kernels().apsl_score_gains(
                self._pointer, node, given, len(parents), further, len(others), found
            )
        checks.require_status(status)
        return out

    def score_counts(self, counts: Integers, configurations: float) -> int:
        """Score one joint column whose counts are known, with a uniform prior."""
        checks.require(self._moments is None, "a score by moments", "counted")
        checks.require(
            not self.empirical and isfinite(configurations) and configurations >= 1, "the prior", configurations
        )
        checks.require(not len(counts) or int(counts.min()) >= 0, "counts", counts)
        address = checks.address(counts, np.int64, (len(counts),), "counts")
        with self.in_use:
            return int(checks.kernels().apsl_score_counts(self._pointer, address, len(counts), configurations))

    def joints(self, members: Integers, stop: Integers) -> Integers:
        """Score every subset of some nodes as one joint column; bit i of an index is the i-th member."""
        width = len(members)
        checks.require(width <= MOST_EXACT, "the number of nodes", width)
        chosen, flag = checks.address(members, np.int64, (width,), "members"), checks.flag(stop)
        scores = np.empty(1 << width, np.int64)
        found = checks.address(scores, np.int64, scores.shape, "scores")
        with self.in_use:
            status = checks.kernels().apsl_score_joints(self._pointer, chosen, width, found, flag)
        checks.require_status(status)
        return scores

    @property
    def counted(self) -> int:
        """Return how many families were counted in searches."""
        with self.in_use:
            return int(checks.kernels().apsl_score_counted(self._pointer))

    @property
    def tried(self) -> int:
        """Return how many moves searches compared since ``allow``, including the checks for cycles."""
        with self.in_use:
            return int(checks.kernels().apsl_score_tried(self._pointer))

    def allow(self, most_tries: int) -> None:
        """Set the limit of moves that searches compare, and begin to count them anew."""
        checks.require(0 <= most_tries < 1 << 62, "most_tries", most_tries)
        with self.in_use:
            checks.kernels().apsl_score_allow(self._pointer, most_tries)

    @property
    def pointer(self) -> int:
        """Return the address of the score, for a search."""
        return self._pointer


def largest_scale(columns: int, rows: float, penalty_factor: float = 1.0, per_bent: float = 0.0) -> float:
    """Return the most units in a nat with which figures of so many columns and rows by moments cannot overflow.

    A column explains at most 12·ln 10 for half of the rows, since no tolerance is smaller than 1e-12.
    """
    nats = columns * (6 * log(10) * rows + columns * (penalty_factor * log(rows) / 4 + per_bent / 2)) + 1
    return _MOST_FIGURE / nats


def score_bytes(rows: int, *, empirical: bool) -> int:
    """Estimate the working space of a score."""
    return int(checks.kernels().apsl_score_bytes(rows, empirical))


def joints_bytes(rows: int, width: int, *, empirical: bool) -> int:
    """Estimate the memory for scoring every subset of some nodes."""
    checks.require(0 <= width <= MOST_EXACT, "the number of nodes", width)
    return int(checks.kernels().apsl_joints_bytes(rows, width, empirical))


_MOST_KNOTS = 1 << 30


class ValueCounts(NamedTuple):
    """How many values equal each knot, and how many lie below the first, between two, and above the last one."""

    equal: Integers
    between: Integers


class ScoreCurve(NamedTuple):
    """The scores at knots, just above each, and what a unit beyond it adds.

    The first and the last knots, as many as ``tails`` says, may lie far from the others; they are slower to find.
    """

    knots: Floats
    at: Floats
    above: Floats
    slope: Floats
    tails: tuple[int, int] = (0, 0)


def count_values(values: Floats, knots: Floats) -> ValueCounts:
    """Count values by where they lie among knots, of which there is at least one; NaN is not counted."""
    rows, count = len(values), len(knots)
    at_values = checks.address(values, np.float64, (rows,), "values")
    at_knots = _knots(knots, (0, 0))
    found = ValueCounts(np.empty(count, np.int64), np.empty(count + 1, np.int64))
    status = checks.kernels().apsl_count_values(
        *(at_values, rows, at_knots, count, 0, count - 1),
        checks.target(found.equal, np.int64, (count,), "equal"),
        checks.target(found.between, np.int64, (count + 1,), "between"),
    )
    checks.require_status(status)
    return found


def score_values(values: Floats, curve: ScoreCurve) -> Floats:
    """Return the score of each value by a curve; what lies below the first knot has its score, and NaN stays NaN."""
    rows, count = len(values), len(curve.knots)
    out = np.empty(rows)
    at_values, at_knots = checks.address(values, np.float64, (rows,), "values"), _knots(curve.knots, curve.tails)
    status = checks.kernels().apsl_score_values(
        *(at_values, rows, at_knots, count, curve.tails[0], count - 1 - curve.tails[1]),
        checks.address(curve.at, np.float64, (count,), "at"),
        checks.address(curve.above, np.float64, (count,), "above"),
        checks.address(curve.slope, np.float64, (count,), "slope"),
        checks.target(out, np.float64, (rows,), "out"),
    )
    checks.require_status(status)
    return out


def values_outside(values: Floats, low: float, high: float, most: int) -> Floats | None:
    """Return the values below or above some limits, in their order; None if there are more than so many."""
    rows, out = len(values), np.empty(max(most, 0))
    found = checks.kernels().apsl_values_outside(
        *(checks.address(values, np.float64, (rows,), "values"), rows, low, high),
        *(checks.target(out, np.float64, out.shape, "out"), len(out)),
    )
    return out[:found].copy() if found <= len(out) else None


def _knots(knots: Floats, tails: tuple[int, int]) -> int:
    """Return the address of knots, which must ascend."""
    found = checks.address(knots, np.float64, (len(knots),), "knots")
    checks.require(0 < len(knots) < _MOST_KNOTS, "number of knots", len(knots))
    checks.require(min(tails) >= 0 and sum(tails) < len(knots), "tails", tails)
    checks.require(not np.isnan(knots[0]) and bool((knots[1:] > knots[:-1]).all()), "knots", "not ascending")
    return found
