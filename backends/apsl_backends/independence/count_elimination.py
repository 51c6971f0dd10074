"""HITON's elimination as the kernel ``apsl_eliminate`` carries it out, search by search on counts from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from apsl_backends.independence.column_verdicts import EliminationOutcome
from apsl_backends.independence.sweeps import SweptArrays
from apsl_backends.kernels.border import Integers, SearchOutcome, is_weaker
from apsl_backends.kernels.library import (
    DEPENDENT,
    DOF_MET,
    INDEPENDENT,
    OUTCOME_FIELDS,
    ROWS_MET,
    STATE,
    UNRELIABLE,
)
from apsl_rules.stopping import check


class SearchOracle(Protocol):
    """What elimination asks for."""

    def search(self, places: Sequence[int], fixed: int, most: int) -> SearchOutcome:
        """Search the subsets of a pool for a separator; the places are x, y, the fixed columns and the pool."""

    def prepare_entry(self, x: int, members: Sequence[int], waiting: Sequence[int]) -> None:
        """Count what the entry of the first candidate waiting needs."""


def interleave(tester: SearchOracle, x: int, swept: SweptArrays, ranking: Integers, most: int) -> EliminationOutcome:
    """Add the candidates of a ranking one by one; test each, and then those before it again."""
    ranked: list[int] = swept.columns[ranking].tolist()
    record = _Record(swept, ranking, most)
    members: list[int] = []
    tests = 0
    for newcomer in range(len(ranked)):
        tester.prepare_entry(x, [ranked[one] for one in members], ranked[newcomer:])
        members.append(newcomer)
        for candidate in reversed(tuple(members)):
            check()
            fixed = [] if candidate == newcomer else [ranked[newcomer]]
            free = [ranked[one] for one in members if one not in (candidate, newcomer)]
            largest = min(len(free), most - len(fixed))
            if largest >= 0 and (fixed or free):
                found = tester.search([x, ranked[candidate], *fixed, *free], len(fixed), largest)
                tests += found.tests
                record.note(candidate, found, [*fixed, *(free[at] for at in found.chosen)])
            if record.outcomes[candidate, STATE] == INDEPENDENT:
                members.remove(candidate)
                if candidate == newcomer:
                    break
    eliminated = np.flatnonzero(record.outcomes[:, STATE] == INDEPENDENT).tolist()
    ranks = record.ranks if (record.ranks >= 0).any() else None
    return EliminationOutcome(members, eliminated, record.outcomes, record.given, record.statistics, tests, ranks)


class _Record:
    """The last word on each candidate, first that of the sweep."""

    def __init__(self, swept: SweptArrays, ranking: Integers, most: int) -> None:
        self.outcomes = np.zeros((len(ranking), OUTCOME_FIELDS), np.int64)
        self.outcomes[:, STATE] = swept.decisions[ranking]
        self.outcomes[:, DOF_MET] = swept.dofs[ranking]
        self.outcomes[:, ROWS_MET] = swept.rows[ranking]
        self.statistics = swept.statistics[ranking]
        self.given = np.zeros((len(ranking), most + 1), np.int64)
        self.ranks = np.full(len(ranking), -1, np.int64)

    def note(self, candidate: int, found: SearchOutcome, given: list[int]) -> None:
        """Note a search if it separates the candidate, or met the weakest dependence so far."""
        state, dof = int(self.outcomes[candidate, STATE]), int(self.outcomes[candidate, DOF_MET])
        if found.decision != INDEPENDENT and (
            found.decision != DEPENDENT
            or (
                state != UNRELIABLE
                and not is_weaker(found.statistic, found.dof, float(self.statistics[candidate]), dof)
            )
        ):
            return
        self.outcomes[candidate] = found.decision, found.dof, found.rows, len(given)
        self.statistics[candidate] = found.statistic
        self.ranks[candidate] = found.rank
        self.given[candidate, : len(given)] = given
