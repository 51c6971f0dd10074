"""The score around a target: its protocol, the arrows that a search may draw, and BDe over the columns nearby.

Columns join as a search meets them, so the cost depends on the part and not on the table. The search counts in a block
of rows: those of the table, or the distinct rows of the joined columns with their weights. Counts and scores are the
same in both cases. Where values were filled in, each row counts as a share of one: all of them together as many as the
rows in which two columns are both there, on average.

Columns are numbered by content (see ``ContentOrder``), since a search breaks ties by number.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.scores import (
    MOST_NUMBERS,
    MOST_ROWS,
    LogPriors,
    ScoreHandle,
    ScoreStore,
    score_bytes,
)
from apsl_backends.scores.bde import Penalty, check_memory, log_priors_of, nats_for, unit_for
from apsl_backends.scores.columns import ContentOrder, JointRows, impute
from apsl_backends.search.rounds import CLOSED, OPEN, REQUIRED, Marks, Open
from apsl_rules.data import Codes, CountedDataset
from apsl_rules.data.counts import Joint
from apsl_rules.errors import DataError, TooManyCombinationsError
from apsl_rules.knowledge import Knowledge
from apsl_rules.memory import Kind
from apsl_rules.names import Node
from apsl_rules.notes import argument


class LocalScore(Protocol):
    """What the search of a ball needs of a score; joined nodes have numbers."""

    @property
    def name(self) -> str:
        """Return the name of the score, as shown in proofs."""

    @property
    def rows(self) -> float:
        """Return the number of rows that scores rest on."""

    @property
    def together(self) -> JointRows:
        """Return in how many rows columns are seen together."""

    @property
    def nodes(self) -> Mapping[int, Node]:
        """Return the joined nodes by number."""

    @property
    def handle(self) -> ScoreHandle:
        """Return the score that searches use; joining nodes may replace it."""

    @property
    def is_changed(self) -> bool:
        """Return whether families of nodes that joined before may now score otherwise."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the part should know of the score."""

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""

    def rows_for_edge(self, x: int, y: int, behind: int) -> float | None:
        """Return how many rows would pay for an edge that is so many units behind, if any number would."""

    def nats(self, units: int) -> float:
        """Convert units to nats."""


def arrows_allowed(nodes: Sequence[Node], knowledge: Knowledge) -> Open:
    """Return for each arrow between two places whether it is closed, open or required."""
    allowed: Open = np.full((len(nodes), len(nodes)), OPEN, np.uint8)
    if not knowledge:
        return allowed
    for x, y in permutations(range(len(nodes)), 2):
        if knowledge.why_apart(nodes[x], nodes[y]) is not None or knowledge.why_barred(nodes[x], nodes[y]) is not None:
            allowed[x, y] = CLOSED
    place = {node: at for at, node in enumerate(nodes)}
    for tail, head in knowledge.required:
        if tail in place and head in place:
            allowed[place[tail], place[head]] = REQUIRED
            allowed[place[head], place[tail]] = CLOSED
    return allowed


def pairs_allowed(allowed: Open) -> Open:
    """Return the pairs that may be adjacent in some direction."""
    joined: Open = ((allowed != CLOSED) | (allowed != CLOSED).T).astype(np.uint8)
    return joined


def orient(marks: Marks, allowed: Open) -> Marks | None:
    """Return a pattern with all arrows that the knowledge implies, or None if no graph of the class fits.

    Meek's rules R1 to R4 find all such arrows (Meek 1995).
    """
    found = marks.copy()
    required = allowed == REQUIRED
    if (required & (found == 0)).any():
        return None
    lines = (found > 0) & (found.T > 0)
    against = lines & ((allowed == CLOSED) | required.T)
    found[against] = 0
    while (turned := _find_turn(found)) is not None:
        found[turned] = 0
    is_torn = ((marks > 0) | (marks.T > 0)) & (found == 0) & (found.T == 0)
    if is_torn.any() or ((found > 0) & (allowed == CLOSED) & (found.T == 0)).any():
        return None
    return found


def _find_turn(marks: Marks) -> tuple[int, int] | None:
    """Return the direction (from, to) of a line that one of Meek's rules excludes."""
    arrows = (marks > 0) & (marks.T == 0)
    lines = (marks > 0) & (marks.T > 0)
    joined = (marks > 0) | (marks.T > 0)
    for x, y in np.argwhere(lines).tolist():
        before = arrows[:, x] & ~joined[:, y]
        before[y] = False
        if before.any() or (arrows[x] & arrows[:, y]).any() or _has_fork(lines, arrows, joined, x, y):
            return y, x
    return None


def _has_fork(lines: np.ndarray, arrows: np.ndarray, joined: np.ndarray, x: int, y: int) -> bool:
    """Return whether R3 or R4 directs the line between x and y from x to y."""
    forks = np.flatnonzero(lines[x] & arrows[:, y])
    if any(not joined[one, other] for one, other in permutations(forks.tolist(), 2)):
        return True
    for middle in np.flatnonzero(joined[x] & arrows[:, y]).tolist():
        above = lines[x] & arrows[:, middle] & ~joined[:, y]
        above[y] = False
        if above.any():
            return True
    return False


def find_fitting_graph(marks: Marks, allowed: Open) -> Marks | None:
    """Return a graph of the class that fits the knowledge, or None if there is none."""
    found = orient(marks, allowed)
    while found is not None:
        lines = np.argwhere((found > 0) & (found.T > 0))
        if not len(lines):
            return found if _is_acyclic(found) and _same_colliders(found, marks) else None
        x, y = lines[0]
        found[y, x] = 0
        found = orient(found, allowed)
    return None


def repair_graph(dag: Marks, allowed: Open, most: int) -> Marks:
    """Return a graph that fits the knowledge and keeps the edges of another, reversed or left out if necessary.

    No node gets more than so many parents unless more are required.
    """
    found: Marks = (allowed == REQUIRED).astype(np.uint8)
    for x, y in np.argwhere(dag).tolist():
        for tail, head in ((x, y), (y, x)):
            if found[tail, head] or found[head, tail]:
                break
            has_space = np.count_nonzero(found[:, head]) < most
            if allowed[tail, head] != CLOSED and has_space and not _has_path(found, head, tail):
                found[tail, head] = 1
                break
    return found


def _has_path(dag: Marks, start: int, end: int) -> bool:
    seen, ahead = {start}, [start]
    while ahead:
        node = ahead.pop()
        if node == end:
            return True
        further = set(np.flatnonzero(dag[node]).tolist()) - seen
        seen |= further
        ahead += further
    return False


def _is_acyclic(dag: Marks) -> bool:
    left = np.ones(len(dag), np.bool_)
    while left.any():
        roots = left & ~(dag[left] > 0).any(axis=0)
        if not roots.any():
            return False
        left &= ~roots
    return True


def _same_colliders(dag: Marks, marks: Marks) -> bool:
    return _colliders(dag) == _colliders(marks)


def _colliders(marks: Marks) -> set[tuple[int, int, int]]:
    arrows = (marks > 0) & (marks.T == 0)
    joined = (marks > 0) | (marks.T > 0)
    return {
        (x, middle, y)
        for middle in range(len(marks))
        for x in np.flatnonzero(arrows[:, middle]).tolist()
        for y in np.flatnonzero(arrows[:, middle]).tolist()
        if x < y and not joined[x, y]
    }


Integers: TypeAlias = npt.NDArray[np.int64]

#: The working space for more rows than this is not kept for later runs; only such tables are counted by distinct rows.
_MANY_KEPT_ROWS = 1 << 17
_SCORES: Kind[ScoreStore] = Kind("scores of graphs")


class LocalBde:
    """The score of graphs over some columns; searches use its ``handle``.

    ``ess`` is the equivalent sample size, ``penalty`` the penalty of a parent, and ``empirical_weight`` the weight of
    the observed shares in the prior, all as for ``BDeu``. Only one thread at a time may use an object.
    """

    def __init__(
        self,
        data: CountedDataset,
        *,
        ess: float,
        penalty: Penalty,
        empirical_weight: float,
        order: Literal["content", "column"] = "content",
    ) -> None:
        self._data = data
        self.heading = data.heading
        if not self.heading.rows or not self.heading.names:
            size = f"{self.heading.rows} rows and {len(self.heading.names)} columns"
            message = f"a table of {size} cannot be scored; give one of each"
            raise DataError(message)
        if self.heading.rows > MOST_ROWS:
            message = (
                f"a search by scores takes at most {MOST_ROWS:,} rows; learn by tests ({argument('learner', 'apsl')})"
            )
            raise DataError(message)
        self.together = JointRows(data)
        self._share = 1.0
        self._order = ContentOrder.of(self.heading) if order == "content" else ContentOrder.by_column(self.heading)
        self._empirical_weight = empirical_weight
        self.name = "BDe" if empirical_weight else "BDeu"
        self.notes: tuple[str, ...] = ()
        width = len(self.heading.names)
        nats = nats_for(penalty, ess, width)
        self.unit: float = unit_for(self.heading.rows, self.heading.cards, ess, nats)
        self.penalty = round(nats / self.unit)
        self.number: dict[Node, int] = {}
        self.nodes: dict[int, Node] = {}
        self._log_priors: dict[int, LogPriors] = {}
        self._holds_table = False
        self.handle = ScoreHandle(
            min(width, MOST_NUMBERS),
            ess=float(ess),
            scale=1 / self.unit,
            penalty=self.penalty,
            empirical=empirical_weight > 0,
            store=self._store((float(ess), self.penalty, float(empirical_weight))),
        )

    def _store(self, settings: tuple[float, ...]) -> ScoreStore | None:
        """Return where scores of the same table and settings are left, if its rows are counted as they are."""
        data = self._data
        if "rows" not in data.can or data.rows > _MANY_KEPT_ROWS or self.heading.incomplete.any():
            return None
        return self._data.memory.once(_SCORES, settings, ScoreStore)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.heading.rows

    @property
    def is_changed(self) -> bool:
        """Return whether a joined column has missing values, which new columns may fill in otherwise."""
        return bool(self.heading.incomplete[[self.heading.place[node] for node in self.number]].any())

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        new = [node for node in nodes if node not in self.number]
        if new:
            self._join(new)
        return tuple(sorted(self.number[node] for node in nodes))

    def _join(self, new: list[Node]) -> None:
        heading = self.heading
        everyone = [*self.number, *new]
        places = sorted(heading.place[node] for node in everyone)
        block = self._block(places)
        codes, weights = block.codes, block.weights
        fresh = self._order.numbers([heading.place[node] for node in new], places, codes, weights)
        for place, number in fresh.items():
            node = heading.names[place]
            self.number[node], self.nodes[number] = number, node
        if self._empirical_weight:
            totals = [heading.totals[place][: heading.cards[place]] for place in fresh]
            self._log_priors.update(zip(fresh, log_priors_of(totals, self._empirical_weight), strict=True))
        check_memory(score_bytes(codes.shape[1], empirical=self._empirical_weight > 0), self.rows)
        if block.is_whole:
            self._add_columns_of_table(codes, list(fresh))
        else:
            self._set_block(places, codes, weights)

    def _add_columns_of_table(self, codes: Codes, places: list[int]) -> None:
        """Give the nodes at some places their columns of the whole table."""
        if not self._holds_table:
            self.handle.set_rows(codes)
            self._holds_table = True
        columns = {self.number[self.heading.names[place]]: place for place in places}
        if any(self.handle.columns.get(number, place) != place for number, place in columns.items()):
            self.handle.forget()  # another run has numbered some of them in another way
            columns = {number: self.heading.place[node] for node, number in self.number.items()}
        self.handle.columns.update(columns)
        for place in places:
            self._add(place, place)

    def _set_block(self, places: list[int], codes: Codes, weights: Integers) -> None:
        """Score the rows of all joined columns, in which missing values are imputed."""
        if self.heading.incomplete[places].any():
            places = sorted(places, key=lambda place: self.number[self.heading.names[place]])
            by_number = np.searchsorted(np.sort(places), places)
            codes, weights = impute(codes[by_number], self.heading.cards[places], weights)
            self.handle.forget()
            self._share = max(self.together.mean(list(self.number)), 1.0) / self.rows
            self.handle.set_share(self._share)
        self._holds_table = False
        self.handle.set_rows(codes.copy(), weights.astype(np.int32))
        for row, place in enumerate(places):
            self._add(place, row)

    def _add(self, place: int, row: int) -> None:
        """Give the node at a place a column of the rows."""
        number, card = self.number[self.heading.names[place]], int(self.heading.cards[place])
        self.handle.add_node(number, row, card, self._log_priors.get(place))

    def _block(self, places: list[int]) -> Joint:
        """Return rows of some columns with weights, or if possible the rows of the whole table without weights."""
        try:
            return self._data.block(places)
        except TooManyCombinationsError as error:
            message = (
                f"the {len(places)} columns near the target have more distinct rows than can be held; choose fewer "
                f"columns, join levels, or learn by tests ({argument('learner', 'apsl')})"
            )
            raise DataError(message) from error

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""
        before = np.array(sorted(parents), np.int64)
        return self.handle.local(node, before) - self.penalty * len(before)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""
        self.handle.set_share(max(rows, 1) / self.rows)
        gained = self.local(node, {*parents, other}) - self.local(node, parents)
        self.handle.set_share(self._share)
        return gained >= 0 and self.together.show(self.nodes[node], self.nodes[other], self.nats(self.penalty))

    def rows_for_edge(self, x: int, y: int, behind: int) -> None:
        """Return nothing: the price of an edge in rows is not worked out for counts."""

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit
