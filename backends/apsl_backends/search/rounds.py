"""The best class of graphs over some nodes that alternating equivalence searches and tabu climbs find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.stopping import heeding

if TYPE_CHECKING:
    from apsl_backends.search.families import Families

Marks = npt.NDArray[np.uint8]
#: Whether each arrow is allowed: CLOSED, OPEN or REQUIRED.
Open = npt.NDArray[np.uint8]
CLOSED, OPEN, REQUIRED = 0, 1, 2

#: The most parents of a node in these searches.
MOST_PARENTS = 6
#: The most moves that one search compares; then it ends with the class found so far. Hundreds of nodes that are all
#: adjacent to one, or nearly duplicate columns, would otherwise take hours.
MOST_TRIES = 300_000_000


@attrs.frozen(eq=False)
class Found:
    """A class of graphs over some numbered nodes: its pattern, one of its graphs, and its gain over the empty graph.

    A search that reached its limit of moves is not ``finished``: there may be a better class one move away.
    """

    members: tuple[int, ...]
    marks: Marks
    dag: Marks
    gain: int
    finished: bool = True


@attrs.frozen
class Effort:
    """The effort of a search: the most parents, rounds of both searches, recent graphs and idle steps of the climb."""

    max_parents: int = MOST_PARENTS
    rounds: int = 8
    tabu: int = 100
    patience: int = 100


def search_rounds(
    families: Families, members: Sequence[int], opened: Open, effort: Effort, start: Found | None = None
) -> Found:
    """Search greedily between classes, then climb, and repeat while the climb finds a better graph.

    The search starts from the empty graph, or from a class that was found over some of the members.
    """
    from apsl_backends.search.families import with_capacity
    from apsl_backends.search.greedy import search, table_for
    from apsl_backends.search.patterns import extend, pattern, pattern_space_for
    from apsl_backends.search.tabu import climb_for, climb_from

    numbers = np.array(members, np.int64)
    width = len(numbers)
    marks, dag = np.zeros((width, width), np.uint8), np.zeros((width, width), np.uint8)
    table, climb, pattern_space = table_for(width), climb_for(width, effort.tabu), pattern_space_for(width)
    total, most, patience = 0, effort.max_parents, effort.patience
    if start is not None:
        kept = np.searchsorted(numbers, np.array(start.members, np.int64))
        marks[np.ix_(kept, kept)] = start.marks
        total = start.gain
    families = with_capacity(families, width)
    families.tried[0] = 0
    for _ in range(max(effort.rounds, 1)):
        total += _run(families, lambda told: search(told, numbers, marks, opened, most, table))
        extend(marks, dag, pattern_space)
        if not effort.rounds:
            break
        further = _run(families, lambda told: climb_from(told, numbers, dag, opened, most, patience, climb))
        total += further
        if not further:
            break
        pattern(dag, marks, pattern_space)
    return Found(tuple(members), marks, dag, total, finished=bool(families.tried[0] < families.tried[1]))


def climb_rounds(
    families: Families, members: Sequence[int], dag: Marks, *, gain: int, allowed: Open, effort: Effort
) -> Found:
    """Climb from a graph, among the graphs with only allowed and all required arrows.

    ``gain`` is the gain of the graph over the empty graph.
    """
    from apsl_backends.search.families import with_capacity
    from apsl_backends.search.patterns import pattern, pattern_space_for
    from apsl_backends.search.tabu import climb_for, climb_from

    numbers, width = np.array(members, np.int64), len(members)
    families = with_capacity(families, width)
    families.tried[0] = 0
    climb, dag = climb_for(width, effort.tabu), dag.copy()
    most, patience = effort.max_parents, effort.patience
    further = _run(families, lambda told: climb_from(told, numbers, dag, allowed, most, patience, climb))
    marks = np.zeros((width, width), np.uint8)
    pattern(dag, marks, pattern_space_for(width))
    return Found(tuple(members), marks, dag, gain + further, finished=bool(families.tried[0] < families.tried[1]))


def _run(families: Families, search: Callable[[Families], Any]) -> int:
    """Run a search that limits and interrupts can stop; return its gain."""
    return heeding(lambda stop: int(search(families._replace(stop=stop))))
