"""The protocol of a score around a target, and which arrows a search may draw."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from apsl_backends.kernels.border import ScoreHandle
from apsl_backends.scores.missing_values import JointRows
from apsl_backends.search.rounds import CLOSED, OPEN, REQUIRED, Marks, Open
from apsl_rules.names import Node
from apsl_rules.rules import Knowledge

if TYPE_CHECKING:
    from apsl_backends.search.rounds import Found


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

    def settle(self, search: Callable[[ScoreHandle], Found]) -> None:
        """Settle how to score the joined nodes before they are searched; a quick search may tell."""

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""

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
