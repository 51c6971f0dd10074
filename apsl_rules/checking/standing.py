"""How a graph stands: its score beside those of the graph learned from the table and of shuffled names."""

from __future__ import annotations

import random

import attrs

from apsl_rules.checking.claimed import ClaimedGraph
from apsl_rules.checking.claims import Rows
from apsl_rules.errors import GraphError
from apsl_rules.learning import Source, learn_graph
from apsl_rules.names import count_of
from apsl_rules.oracles import counted
from apsl_rules.parts import graph_of
from apsl_rules.plugins import Plugins

#: Whose shuffles are the same every time.
_SEED = 38
#: How many of them are scored by one call, which nothing interrupts, and what is told of them.
_AT_ONCE, _WHAT = 100, "hundreds of shuffled graphs scored"


@attrs.frozen
class GraphStanding:
    """How much of the table a graph explains.

    Attributes
    ----------
    nats
        How far the graph is ahead of one without edges.
    learned
        How far the graph is ahead that the default learner finds in the same table; None if none was learned.
    shuffles, as_good
        How many graphs with shuffled names were scored, and how many of them score at least as high.
    reason
        Why no graph was learned, where one was wanted.
    """

    nats: float
    learned: float | None
    shuffles: int
    as_good: int
    reason: str = ""

    @property
    def share(self) -> float | None:
        """Return what share of the nats of the learned graph this one has."""
        return None if self.learned is None or self.learned <= 0 else self.nats / self.learned

    def __str__(self) -> str:
        if self.share is None:
            first = "explains more than a graph without edges" if self.nats > 0 else "explains nothing"
        elif self.nats <= 0:
            first = "explains nothing of what the learned graph explains"
        else:
            first = f"explains {100 * self.share:.0f} % of what the learned graph explains"
        if not self.shuffles:
            return first
        below = self.shuffles - self.as_good
        graphs = f"{count_of(self.shuffles, 'graph')} with shuffled names"
        more = f"more than all of {graphs}" if not self.as_good else f"more than {below} of {graphs}"
        return f"{first}, {more}"

    @property
    def in_nats(self) -> str:
        """Return the figures behind the shares."""
        learned = "" if self.learned is None else f", the learned graph by {self.learned:.1f}"
        return f"it is ahead of a graph without edges by {self.nats:.1f} nats{learned}"


def graph_standing(
    rows: Rows, graph: ClaimedGraph, source: Source, plugins: Plugins, *, shuffles: int, compare: bool
) -> GraphStanding | None:
    """Return how a graph stands; None where nothing can be scored: without rows, or with hidden causes."""
    if not rows.have_scores or graph.has_hidden:
        return None
    learned, reason = _learned(rows, source, plugins) if compare else (None, "")
    own = rows.nats(graph.parents)
    return GraphStanding(own, learned, shuffles, _as_good(rows, graph.parents, shuffles), reason)


def _as_good(rows: Rows, parents: tuple[int, ...], count: int) -> int:
    """Return how many graphs with shuffled names score at least as high."""
    drawn, width = random.Random(_SEED), range(len(parents))  # noqa: S311 - no secret
    names = [sorted(width, key=[drawn.random() for _ in width].__getitem__) for _ in range(count)]
    return sum(rows.as_good(parents, names[at : at + _AT_ONCE]) for at in counted(_WHAT, range(0, count, _AT_ONCE)))


def _learned(rows: Rows, source: Source, plugins: Plugins) -> tuple[float | None, str]:
    """Return the nats of the graph that the default learner finds, or why there is none."""
    try:
        found = graph_of(learn_graph(source, plugins=plugins, hidden="excluded", min_direction=0.0)).directed()
    except GraphError as error:
        return None, f"the graph learned from this table contradicts itself, so it is no measure: {error}"
    place = {node: at for at, node in enumerate(rows.nodes)}
    parents = [sum(1 << place[one] for one in found.parents_of(node) if one in place) for node in rows.nodes]
    return rows.nats(parents), ""
