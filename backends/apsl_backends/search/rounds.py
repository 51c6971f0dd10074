"""The best class of graphs over some nodes, as far as searches go: equivalence search and tabu climb in turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.stopping import heeding

if TYPE_CHECKING:
    from apsl_backends.search.families import Book

Marks = npt.NDArray[np.uint8]
#: For each arrow whether it may be drawn: CLOSED, OPEN or REQUIRED.
Open = npt.NDArray[np.uint8]
CLOSED, OPEN, REQUIRED = 0, 1, 2

#: The most parents that a family may have in these searches.
MOST_PARENTS = 6
#: The most moves that one search compares; beyond, what is found so far is what counts. Hundreds of nodes that are all
#: joined to one, or that all say nearly the same, would keep a search for hours.
MOST_TRIES = 300_000_000


@attrs.frozen(eq=False)
class Found:
    """A class of graphs over some numbered nodes: its pattern, one graph of it, and its gain over no edge at all.

    A search that compared as many moves as it may is not ``finished``: there may be a better class one move away.
    """

    members: tuple[int, ...]
    marks: Marks
    dag: Marks
    gain: int
    finished: bool = True


@attrs.frozen
class Effort:
    """How hard to search: the most parents, rounds of both searches, graphs remembered and idle steps of the climb."""

    max_parents: int = MOST_PARENTS
    rounds: int = 8
    tabu: int = 100
    patience: int = 100


def search_rounds(
    book: Book, members: Sequence[int], opened: Open, effort: Effort, start: Found | None = None
) -> Found:
    """Search greedily between classes, then by a climb, and again while that finds better.

    The search begins at no edge at all, or at a class that was found over some of the members.
    """
    from apsl_backends.search.families import with_room
    from apsl_backends.search.greedy import search, table_for
    from apsl_backends.search.patterns import extend, paper_for, pattern
    from apsl_backends.search.tabu import climb_for, climb_from

    numbers = np.array(members, np.int64)
    width = len(numbers)
    marks, dag = np.zeros((width, width), np.uint8), np.zeros((width, width), np.uint8)
    table, climb, paper = table_for(width), climb_for(width, effort.tabu), paper_for(width)
    total, most, patience = 0, effort.max_parents, effort.patience
    if start is not None:
        kept = np.searchsorted(numbers, np.array(start.members, np.int64))
        marks[np.ix_(kept, kept)] = start.marks
        total = start.gain
    book = with_room(book, width)
    book.tried[0] = 0
    for _ in range(max(effort.rounds, 1)):
        total += _heeded(book, lambda told: search(told, numbers, marks, opened, most, table))
        extend(marks, dag, paper)
        if not effort.rounds:
            break
        further = _heeded(book, lambda told: climb_from(told, numbers, dag, opened, most, patience, climb))
        total += further
        if not further:
            break
        pattern(dag, marks, paper)
    return Found(tuple(members), marks, dag, total, finished=bool(book.tried[0] < book.tried[1]))


def climb_rounds(book: Book, members: Sequence[int], dag: Marks, *, gain: int, allowed: Open, effort: Effort) -> Found:
    """Climb from a graph among those whose arrows are all allowed, and none that is required missing.

    ``gain`` is what the graph scores more than none.
    """
    from apsl_backends.search.families import with_room
    from apsl_backends.search.patterns import paper_for, pattern
    from apsl_backends.search.tabu import climb_for, climb_from

    numbers, width = np.array(members, np.int64), len(members)
    book = with_room(book, width)
    book.tried[0] = 0
    climb, dag = climb_for(width, effort.tabu), dag.copy()
    most, patience = effort.max_parents, effort.patience
    further = _heeded(book, lambda told: climb_from(told, numbers, dag, allowed, most, patience, climb))
    marks = np.zeros((width, width), np.uint8)
    pattern(dag, marks, paper_for(width))
    return Found(tuple(members), marks, dag, gain + further, finished=bool(book.tried[0] < book.tried[1]))


def _heeded(book: Book, search: Callable[[Book], Any]) -> int:
    """Search in such a way that limits and interrupts are heeded meanwhile; return what is gained."""
    return heeding(lambda stop: int(search(book._replace(stop=stop))))
