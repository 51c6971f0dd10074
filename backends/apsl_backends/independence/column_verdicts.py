"""Verdicts from the figures of tests, each made when it is first looked at.

What is made here refers to names and arrays, never to a table or an oracle: a table can keep it for later runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from apsl_backends.independence._on_demand import LazyMapping
from apsl_backends.independence.sweeps import ArraySweep, SweptArrays
from apsl_backends.kernels.border import Floats, Integers, tail, tails
from apsl_backends.kernels.library import DOF_MET, UNRELIABLE
from apsl_rules.evidence import Decision, Verdict
from apsl_rules.names import Node
from apsl_rules.oracles import Elimination, Separation

_DECISIONS: tuple[Decision, ...] = ("independent", "dependent", "unreliable")


class Outcome(NamedTuple):
    """The outcome of a test: decision, statistic, degrees of freedom, and rows (-1 if they were not counted).

    ``rank`` is that of the given columns, for tests on moments (-1 for others).
    """

    decision: int
    statistic: float
    dof: int
    rows: int
    rank: int = -1


class EliminationOutcome(NamedTuple):
    """The outcome of HITON's elimination: candidates left and eliminated, by number, and the last test of each.

    ``outcomes`` has a row for each candidate: decision, degrees of freedom, rows, and how many of the columns in
    its row of ``given`` were given. ``ranks`` are those of the given columns, for tests on moments.
    """

    members: list[int]
    eliminated: list[int]
    outcomes: Integers
    given: Integers
    statistics: Floats
    tests: int
    ranks: Integers | None = None


class ColumnVerdicts:
    """Makes the verdicts of one kind of test; ``rows_used`` counts the rows in which no column is missing."""

    def __init__(
        self,
        nodes: tuple[Node, ...],
        place: Mapping[Node, int],
        symbol: str,
        rows_used: Callable[[Sequence[int]], int],
        *,
        has_ranks: bool = False,
    ) -> None:
        self._nodes = nodes
        self._place = place
        self._symbol = symbol
        self._rows_used = rows_used
        self._sweep_rank = 0 if has_ranks else -1

    def verdict(
        self,
        x: Node,
        y: Node,
        given: tuple[Node, ...],
        outcome: Outcome,
        found: tuple[float, float] | None = None,
    ) -> Verdict:
        """Make a verdict; ``found`` are p and its logarithm where they are known."""
        decision, statistic, dof, rows, rank = outcome
        n = rows if rows >= 0 else self._rows_used([self._place[node] for node in (x, y, *given)])
        if decision == UNRELIABLE:
            return Verdict(x, y, given, "unreliable", self._symbol, n=n)
        p, log_p = found or tail(statistic, dof)
        known_rank = None if rank < 0 else rank
        return Verdict(x, y, given, _DECISIONS[decision], self._symbol, statistic, p, dof, n, log_p, known_rank)

    def sweep(self, x: Node, swept: SweptArrays, name_ranks: Integers) -> ArraySweep:
        """Return a sweep with its verdicts."""
        columns, statistics, dofs, rows, decisions = swept

        def verdict_at(at: int) -> Verdict:
            outcome = Outcome(decisions.item(at), statistics.item(at), dofs.item(at), rows.item(at), self._sweep_rank)
            return self.verdict(x, self._nodes[columns.item(at)], (), outcome)

        def log_p() -> Floats:
            return tails(statistics, dofs.copy()).log_p

        place_of = self._place.__getitem__
        return ArraySweep(x, swept, place_of=place_of, name_ranks=name_ranks, verdict_at=verdict_at, log_p=log_p)

    def elimination(self, x: Node, ranked: Sequence[Node], done: EliminationOutcome) -> Elimination:
        """Return an elimination with the separator of each node that left, and the weakest dependence of each other."""
        number = {node: at for at, node in enumerate(ranked)}
        nodes, outcomes, statistics = self._nodes, done.outcomes.tolist(), done.statistics.tolist()
        ranks = [-1] * len(ranked) if done.ranks is None else done.ranks.tolist()
        p, log_p = (part.tolist() for part in tails(done.statistics, done.outcomes[:, DOF_MET].copy()))

        def last_verdict(y: Node) -> Verdict:
            at = number[y]
            decision, dof, rows, size = outcomes[at]
            given = tuple(nodes[column] for column in done.given[at, :size].tolist())
            return self.verdict(
                x, y, given, Outcome(decision, statistics[at], dof, rows, ranks[at]), (p[at], log_p[at])
            )

        def separation(y: Node) -> Separation:
            verdict = last_verdict(y)
            return Separation(x, y, verdict.given, verdict)

        members = tuple(ranked[at] for at in done.members)
        eliminated = [ranked[at] for at in done.eliminated]
        return Elimination(members, LazyMapping(eliminated, separation), LazyMapping(members, last_verdict), done.tests)
