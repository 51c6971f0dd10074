"""Implied independences against rows: what fails, what holds, and what cannot be tested."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from math import exp, log, sqrt

import attrs

from apsl_rules.checking.claimed import Bits, Claim, ClaimedGraph, places
from apsl_rules.evidence import Verdict, log_p_of, verdict_text
from apsl_rules.learning import Source
from apsl_rules.names import Node, in_order, shown
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import Plugins

#: The share of the level for claims that are tested once more because a score casts doubt on them.
_OF_FEW = 0.2


class State(StrEnum):
    """What rows say of an implied independence."""

    FAILS = "fails"
    HOLDS = "holds"
    SMALL = "small"  #: it fails, by less than counts
    UNTESTED = "cannot be tested"


@attrs.frozen
class ImpliedIndependence:
    """An independence that a graph implies, and what the rows say of it.

    Attributes
    ----------
    x, y, given
        x and y are independent given the others, says the graph.
    state
        "fails", "holds", "small" or "cannot be tested".
    verdict
        The test.
    size
        By how much it fails: nats for each row, None where nothing was measured.
    """

    x: Node
    y: Node
    given: tuple[Node, ...]
    state: State
    verdict: Verdict
    size: float | None = None

    @property
    def correlation(self) -> float | None:
        """Return the partial correlation that is as strong as the failure."""
        return None if self.size is None else sqrt(-min(0.0, exp(-2 * self.size) - 1))

    @property
    def statement(self) -> str:
        """Return the independence itself, such as "a ⊥ b | c"."""
        given = f" | {', '.join(map(shown, self.given))}" if self.given else ""
        return f"{shown(self.x)} ⊥ {shown(self.y)}{given}"

    def __str__(self) -> str:
        size = "" if not self.size else f"; as strong as a correlation of {self.correlation:.2f}"
        fails = "fails by little" if self.state is State.SMALL else self.state
        return f"{self.statement} {fails} [{verdict_text(self.verdict)}{size}]"


def size_of(verdict: Verdict) -> float | None:
    """Return by how much two nodes depend on each other, in nats for each row, less what chance gives."""
    if verdict.statistic is None or not verdict.n:
        return None
    return max(0.0, (verdict.statistic - (verdict.dof or 0)) / 2 / verdict.n)


class Rows:
    """What the rows of one opened source say: tests and scores, each asked for once.

    All that is asked of rows is asked here. A table of several groups or environments would have one of these for each.
    """

    def __init__(self, source: Source, plugins: Plugins, nodes: Sequence[Node], alpha: float, least: float) -> None:
        self.oracle: Oracle = source.oracle(0.01)
        self.nodes = tuple(nodes)
        self.alpha, self.least = alpha, least
        self.count = source.row_count
        self._verdicts: dict[Claim, Verdict] = {}
        self._families: dict[tuple[int, int], float] = {}
        self._failing: dict[tuple[Bits, ...], tuple[Claim, ...]] = {}
        data = source.data
        able = frozenset() if data is None else data.can
        offer = next((one for one in plugins.scores.values() if one.needs and one.needs <= able), None)
        self._score = None if offer is None or data is None or not data.rows else offer.make(data)
        self.renamed = None if offer is None else offer.renamed
        by_name = in_order(self.nodes)
        self._rank = [by_name.index(node) for node in self.nodes]

    @property
    def have_scores(self) -> bool:
        """Return whether graphs can be scored; answers of a known graph, or of an oracle, have no scores."""
        return self._score is not None

    def ask(self, claims: Sequence[Claim]) -> list[Verdict]:
        """Return the tests of some independences."""
        new = [one for one in dict.fromkeys(claims) if one not in self._verdicts]
        names = self.nodes
        queries = [(names[x], names[y], in_order(names[one] for one in places(given))) for x, y, given in new]
        self._verdicts.update(zip(new, self.oracle.verdicts(queries), strict=True))
        return [self._verdicts[one] for one in claims]

    def states(self, claims: Sequence[Claim]) -> list[State]:
        """Return what becomes of each claim, by Holm's bounds over all that can be tested."""
        verdicts = self.ask(claims)
        found = [State.UNTESTED if one.decision == "unreliable" else State.HOLDS for one in verdicts]
        for at in self._rejected(verdicts, self.alpha):
            size = size_of(verdicts[at])
            found[at] = State.SMALL if size is not None and size < self.least else State.FAILS
        return found

    def _rejected(self, verdicts: Sequence[Verdict], alpha: float) -> Iterator[int]:
        """Give the places of the tests that reject independence by Holm's bounds, the surest first."""
        tested = [at for at, one in enumerate(verdicts) if one.decision != "unreliable"]
        ranked = sorted(tested, key=lambda at: (*_rank(verdicts[at]), at))
        for done, at in enumerate(ranked):
            one = verdicts[at]
            if not (one.dependent if one.p is None else log_p_of(one) <= log(alpha / (len(ranked) - done))):
                return
            yield at

    def suspicious(self, graph: ClaimedGraph) -> tuple[Claim, ...]:
        """Return the claims of a graph that would fail by themselves, if something else cast doubt on each alone."""
        return tuple(one for one in graph.claims if self.failing_of([one]))

    def failing_of(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """Return the claims that fail among a few that something else casts doubt on, whatever their size."""
        few = tuple(dict.fromkeys(claims))
        return tuple(few[at] for at in self._rejected(self.ask(few), self.alpha * _OF_FEW))

    def failing(self, graph: ClaimedGraph) -> tuple[Claim, ...]:
        """Return the claims of a graph that fail, the surest failure first."""
        known = self._failing.get(graph.parents)
        if known is None:
            claims = graph.claims
            failed = [one for one, state in zip(claims, self.states(claims), strict=True) if state is State.FAILS]
            known = tuple(sorted(failed, key=lambda one: (*_rank(self._verdicts[one]), one)))
            self._failing[graph.parents] = known
        return known

    def all_of(self, graph: ClaimedGraph, doubted: Collection[Claim] = ()) -> tuple[ImpliedIndependence, ...]:
        """Return every claim of a graph: those that fail first, ``doubted`` ones among them, the surest first."""
        claims = graph.claims
        rows = list(zip(claims, self.states(claims), self.ask(claims), strict=True))
        rows = [(one, State.FAILS if one in doubted else state, verdict) for one, state, verdict in rows]
        order = [State.FAILS, State.SMALL, State.UNTESTED, State.HOLDS]
        rows.sort(key=lambda row: (order.index(row[1]), *_rank(row[2]), row[0]))
        return tuple(ImpliedIndependence(one.x, one.y, one.given, state, one, size_of(one)) for _, state, one in rows)

    # --- scores ------------------------------------------------------------------------------------------------------

    def family(self, node: int, parents: int) -> float:
        """Return the score of a node given its parents, as bits, in nats; no score where there are none to be had."""
        if self._score is None:
            return 0.0
        known = self._families.get((node, parents))
        if known is None:
            known = self._families[node, parents] = self._score(self.nodes[node], self._named(parents))
        return known

    def _named(self, parents: Bits) -> tuple[Node, ...]:
        return tuple(self.nodes[one] for one in sorted(places(parents), key=self._rank.__getitem__))

    def nats(self, parents: Collection[int]) -> float:
        """Return by how many nats a graph, as the parents of each node, is ahead of one without edges."""
        return sum(self.family(node, before) - self.family(node, 0) for node, before in enumerate(parents))

    def as_good(self, parents: Sequence[Bits], names: list[list[int]]) -> int:
        """Count the renamings of a graph, each a place for every place, that score at least as high as it."""
        if self.renamed is not None:
            graph = [(self.nodes[node], self._named(before)) for node, before in enumerate(parents)]
            return self.renamed(self._score, graph, names)
        own, found = self.nats(parents) - 1e-9, 0
        for after in names:
            moved = [sum(1 << after[one] for one in places(before)) for before in parents]
            found += self.nats([moved[after.index(node)] for node in range(len(parents))]) >= own
        return found


def _rank(verdict: Verdict) -> tuple[float, float]:
    """Order verdicts by how surely they are dependent."""
    if verdict.p is None:
        return (-1.0 if verdict.dependent else 1.0), 0.0
    return log_p_of(verdict), -(verdict.statistic or 0.0)
