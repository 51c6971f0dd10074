"""HITON's elimination in one call: candidates enter by association, and each entry re-tries the members.

What the kernel does for one node is what the finder ``hiton`` does step by step with searches; a test compares them.
"""

# ruff: noqa: PLR0917 - kernels take their arguments by position

from __future__ import annotations

from typing import Any

from apsl_backends.counts.arrays import DEPENDENT, INDEPENDENT, NO_ROOM, UNRELIABLE, Long, long
from apsl_backends.counts.compiled import entry, keep_apart, kernel
from apsl_backends.counts.judging import is_weaker
from apsl_backends.counts.room import shelf_in
from apsl_backends.counts.search import run_search
from apsl_backends.counts.tail import log_tail

STATE, DOF_MET, ROWS_MET, SIZE = range(4)
FIELDS = 4


@entry
def run_interleaved(  # noqa: C901 - one function, so that what it calls is compiled once
    codes: Any, room: Any, x: Long, ranked: Any, most: Long, outcomes: Any, given: Any, statistics: Any, work: Any
) -> Any:
    """Eliminate candidates; give how many members are left and the number of tests, or -1 when room is lacking.

    ``ranked`` are the candidates' columns, strongest first; ``outcomes`` and ``statistics`` come with the figures of
    the sweep and leave with those of the test that eliminated a candidate, or of the weakest dependence met; ``given``
    gets the columns that separate it. ``work`` has a row for the members (places in ``ranked``, in the order of their
    entry) and one for the columns of a search.
    """
    members, places = work[0], work[1]
    count, tests = 0, long(0)
    for newcomer in range(len(ranked)):
        if count > 0:
            for i in range(count):
                places[2 + i] = ranked[members[i]]
            asked = _try(codes, room, x, ranked, newcomer, places, 0, count, most, outcomes, given, statistics)
            if asked < 0:
                return -1, tests
            tests += asked
            if outcomes[newcomer, STATE] == INDEPENDENT:
                continue
        members[count] = newcomer
        count += 1
        turn = count - 2
        while turn >= 0:
            old = members[turn]
            places[2] = ranked[newcomer]
            free = 0
            for i in range(count - 1):
                if i != turn:
                    places[3 + free] = ranked[members[i]]
                    free += 1
            asked = _try(codes, room, x, ranked, old, places, 1, free, most, outcomes, given, statistics)
            if asked < 0:
                return -1, tests
            tests += asked
            if outcomes[old, STATE] == INDEPENDENT:
                for i in range(turn, count - 1):
                    members[i] = members[i + 1]
                count -= 1
            turn -= 1
    return count, tests


@kernel
def _try(
    codes: Any,
    room: Any,
    x: Long,
    ranked: Any,
    candidate: Long,
    places: Any,
    fixed: Long,
    free: Long,
    most: Long,
    outcomes: Any,
    given: Any,
    statistics: Any,
) -> Long:
    """Search a separator for a candidate among ``places``; note the outcome and give the number of tests."""
    keep_apart()
    places[0], places[1] = x, ranked[candidate]
    largest = min(free, most - fixed)
    if largest < 0:
        return long(0)
    decision, value, dof, rows, tests, size = run_search(codes, room, places[: 2 + fixed + free], fixed, largest)
    if decision == NO_ROOM:
        return long(-1)
    met, dof_met = statistics[candidate], outcomes[candidate, DOF_MET]
    if decision == INDEPENDENT or (
        decision == DEPENDENT
        and (outcomes[candidate, STATE] == UNRELIABLE or is_weaker(value, dof, met, dof_met, log_tail(met, dof_met)))
    ):
        chosen = shelf_in(room).chosen
        outcomes[candidate, STATE] = decision
        outcomes[candidate, DOF_MET] = dof
        outcomes[candidate, ROWS_MET] = rows
        outcomes[candidate, SIZE] = size + fixed
        statistics[candidate] = value
        for i in range(fixed):
            given[candidate, i] = places[2 + i]
        for i in range(size):
            given[candidate, fixed + i] = places[2 + fixed + chosen[i]]
    return tests
