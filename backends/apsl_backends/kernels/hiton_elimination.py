"""HITON's elimination in one call: candidates enter by association, and each entry tests the members again.

The kernel does for one node what the finder ``hiton`` does step by step with searches; a test compares them.
"""

# ruff: noqa: C901, PLR0917 - kernels are long, and take their arguments by position

from __future__ import annotations

from typing import Any

from apsl_backends.kernels.arrays import DEPENDENT, INDEPENDENT, NO_SPACE, STOPPED, UNRELIABLE, Long, long
from apsl_backends.kernels.chi_square_tail import log_tail
from apsl_backends.kernels.compiled import entry, inlined
from apsl_backends.kernels.decision import is_weaker
from apsl_backends.kernels.separator_search import run_search
from apsl_backends.kernels.stopped import is_stopped
from apsl_backends.kernels.workspace import search_state_in

STATE, DOF_MET, ROWS_MET, SIZE = range(4)
FIELDS = 4


@entry
def run_interleaved(
    codes: Any,
    workspace: Any,
    x: Long,
    ranked: Any,
    most: Long,
    outcomes: Any,
    given: Any,
    statistics: Any,
    work: Any,
    stop: Any,
) -> Any:
    """Eliminate candidates; return the numbers of remaining members and of tests.

    The number of members is -1 if the workspace is too small. Once ``stop`` is set, the kernel ends early and its
    result is meaningless.

    ``ranked`` are the candidates' columns, strongest first. On entry ``outcomes`` and ``statistics`` hold the results
    of the sweep; on return, those of the test that eliminated a candidate, or of its weakest dependence. ``given`` gets
    the separator of each eliminated candidate. ``work`` has a row for the members (places in ``ranked``, in the order
    of their entry) and a row for the columns of a search.
    """
    members, places = work[0], work[1]
    places[0] = x
    count, tests = long(0), long(0)
    for newcomer in range(len(ranked)):
        members[count] = newcomer
        count += 1
        turn = count - 1  # the newcomer first, then the members before it, the latest first
        while turn >= 0:
            candidate = members[turn]
            fixed = long(candidate != newcomer)
            places[1], places[2] = ranked[candidate], ranked[newcomer]
            free = long(0)
            for i in range(count):
                if i != turn and members[i] != newcomer:
                    places[2 + fixed + free] = ranked[members[i]]
                    free += 1
            largest = min(free, most - fixed)
            if largest >= 0 and fixed + free > 0:
                found = run_search(codes, workspace, places[: 2 + fixed + free], fixed, largest, stop)
                if found[0] == NO_SPACE:
                    return long(-1), tests
                tests += found[4]
                if found[0] == STOPPED or is_stopped(stop, tests):
                    return long(0), tests
                _note(found, candidate, places, fixed, search_state_in(workspace).chosen, outcomes, given, statistics)
            if outcomes[candidate, STATE] == INDEPENDENT:
                count -= 1
                for i in range(turn, count):
                    members[i] = members[i + 1]
                if candidate == newcomer:
                    break
            turn -= 1
    return count, tests


@inlined
def _note(
    found: Any, candidate: Long, places: Any, fixed: Long, chosen: Any, outcomes: Any, given: Any, statistics: Any
) -> None:
    """Record the outcome of a search if it separates the candidate or is its weakest dependence so far."""
    decision, value, dof, rows, _, size = found
    met, dof_met = statistics[candidate], outcomes[candidate, DOF_MET]
    if decision == INDEPENDENT or (
        decision == DEPENDENT
        and (outcomes[candidate, STATE] == UNRELIABLE or is_weaker(value, dof, met, dof_met, log_tail(met, dof_met)))
    ):
        outcomes[candidate, STATE] = decision
        outcomes[candidate, DOF_MET] = dof
        outcomes[candidate, ROWS_MET] = rows
        outcomes[candidate, SIZE] = size + fixed
        statistics[candidate] = value
        for i in range(fixed):
            given[candidate, i] = places[2 + i]
        for i in range(size):
            given[candidate, fixed + i] = places[2 + fixed + chosen[i]]
