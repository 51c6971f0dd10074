"""What a check says, in words and as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from apsl_rules._documents import label
from apsl_rules.checking.changes import SuggestedChange
from apsl_rules.checking.claims import ImpliedIndependence, State
from apsl_rules.checking.edges import CheckedEdge, Standing
from apsl_rules.checking.standing import GraphStanding
from apsl_rules.evidence import verdict_data
from apsl_rules.names import Pair, count_of
from apsl_rules.parts import MarkedGraph
from apsl_rules.rules import Mark
from apsl_rules.showing import NotebookView

#: The most lines of one kind in a text.
_MOST_LINES = 12
NO_SMALL_CHANGE = "no small change reconciles this graph and the rows; a common cause may be missing"


@attrs.frozen(slots=False, repr=False)
class Check(NotebookView):
    """What rows say of a graph that somebody brought; ``print`` says it in words, the most telling first.

    Attributes
    ----------
    graph
        The graph as it was checked: arrows, and two arrowheads where a hidden cause joins two nodes alone.
    rows
        How many rows there are; None where the answers are perfect.
    standing
        How much of the table the graph explains; None where that cannot be scored.
    claims
        The independences that the graph implies, those that fail first.
    edges
        What the rows say of each edge.
    changes
        The least changes that would reconcile graph and rows.
    is_reconciled
        Whether nothing fails after them.
    fixed
        The graph after the changes.
    notes
        What a reader should know of the table and the graph.
    """

    graph: MarkedGraph
    rows: int | None
    standing: GraphStanding | None
    claims: tuple[ImpliedIndependence, ...]
    edges: tuple[CheckedEdge, ...]
    changes: tuple[SuggestedChange, ...]
    is_reconciled: bool
    fixed: MarkedGraph
    notes: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> dict[State, int]:
        """Return how many implied independences fail, hold, are small and cannot be tested."""
        found = Counter(one.state for one in self.claims)
        return {state: found[state] for state in State}

    @property
    def failing(self) -> tuple[ImpliedIndependence, ...]:
        """Return the implied independences that fail, the surest failure first."""
        return tuple(one for one in self.claims if one.state is State.FAILS)

    @property
    def is_contradicted(self) -> bool:
        """Return whether the rows contradict the graph: a claim fails, and some change would repair it.

        With perfect answers every failure counts.
        """
        return bool(self.failing) and (bool(self.changes) or self.rows is None)

    @property
    def verdict(self) -> str:
        """Return "contradicted" or "not contradicted"; rows never show that a graph is right."""
        return "contradicted" if self.is_contradicted else "not contradicted"

    def __repr__(self) -> str:
        return f"<Check of {count_of(len(self.graph.nodes), 'node')}: {self.verdict}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self, *, nats: bool = False) -> Iterator[str]:
        """Give the check in words line by line, with the figures behind the shares if ``nats``."""
        against = "perfect answers" if self.rows is None else count_of(self.rows, "row")
        size = f"{count_of(len(self.graph.nodes), 'node')} and {count_of(len(self.edges), 'edge')}"
        yield f"{self.verdict}: a graph of {size}, against {against}"
        if self.standing is not None:
            yield f"it {self.standing}"
            if nats:
                yield self.standing.in_nats
        counts = self.counts
        told = ", ".join(f"{number} {(_SINGULAR if number == 1 else _PLURAL)[one]}" for one, number in counts.items())
        yield f"of {count_of(len(self.claims), 'independence')} that the graph implies {told}"
        yield from _some([f"  {one}" for one in self.claims if one.state in (State.FAILS, State.SMALL)])
        yield from self._of_edges()
        yield from self._of_changes()
        yield from (f"note: {one}" for one in self.notes)

    def _of_edges(self) -> Iterator[str]:
        """Say how many edges stand, and name those that do not."""
        if not self.edges:
            return
        existence = Counter(one.existence for one in self.edges)
        direction = Counter(one.direction for one in self.edges)
        for what, found in (("edges", existence), ("directions", direction)):
            yield f"{what}: " + ", ".join(f"{found[one]} {_OF_MANY[one]}" for one in Standing if found[one])
        doubtful = [one for one in self.edges if one.existence is not Standing.STANDS or one.direction is Standing.TURN]
        yield from _some([f"  {one}" for one in doubtful])

    def _of_changes(self) -> Iterator[str]:
        if self.changes:
            few = count_of(len(self.changes), "change")
            yield f"{few} would reconcile them:" if self.is_reconciled else f"{few} would help:"
            yield from (f"  {number}. {one}" for number, one in enumerate(self.changes, start=1))
        if not self.is_reconciled and self.failing:
            yield NO_SMALL_CHANGE

    # --- pictures ----------------------------------------------------------------------------------------------------

    @property
    def colours(self) -> dict[Pair, str]:
        """Return what each pair is drawn as: "stands", "doubtful" or "contradicted"."""
        found = {}
        for one in self.edges:
            is_plain = one.existence in (Standing.STANDS, Standing.UNTESTED) and one.direction is not Standing.TURN
            found[frozenset((one.source, one.target))] = "stands" if is_plain else "doubtful"
        return found | {frozenset((one.x, one.y)): "contradicted" for one in self.failing}

    @property
    def picture(self) -> MarkedGraph:
        """Return the graph with a line for each pair that it should join and does not."""
        joined = {frozenset((edge.source, edge.target)) for edge in self.graph.edges}
        missing = [(one.x, one.y, Mark.LINE) for one in self.failing if frozenset((one.x, one.y)) not in joined]
        kept = [(edge.source, edge.target, edge.mark) for edge in self.graph.edges]
        return MarkedGraph.of_edges(self.graph.nodes, [*kept, *missing], hidden=self.graph.hidden)

    def svg(self) -> str:
        """Draw the graph in three colours: what stands, what is doubtful, and pairs whose independence fails."""
        from apsl_rules.views.checked import check_svg

        return check_svg(self)

    def report(self, path: str | Path) -> None:
        """Write the check as one HTML file, or its drawing alone where the name ends in .svg."""
        from apsl_rules.views.checked import write_check

        write_check(self, path)

    # --- data --------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        standing = self.standing
        return {
            "verdict": self.verdict,
            "rows": self.rows,
            "standing": None if standing is None else {**attrs.asdict(standing), "share": standing.share},
            "counts": {str(state): count for state, count in self.counts.items()},
            "claims": [_claim_data(one) for one in self.claims],
            "edges": [_edge_data(one) for one in self.edges],
            "changes": [_change_data(one) for one in self.changes],
            "reconciled": self.is_reconciled,
            "notes": list(self.notes),
        }


_SINGULAR = {one: str(one) for one in State} | {State.SMALL: "fails by little"}
_PLURAL = _SINGULAR | {State.FAILS: "fail", State.HOLDS: "hold", State.SMALL: "fail by little"}
_OF_MANY = {one: str(one) for one in Standing} | {
    Standing.STANDS: "stand",
    Standing.NOT_SHOWN: "not shown by these rows",
    Standing.TURN: "suggested to turn",
}


def _some(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"  and {len(lines) - _MOST_LINES} more"


def _claim_data(one: ImpliedIndependence) -> dict[str, Any]:
    return {
        "x": label(one.x),
        "y": label(one.y),
        "given": [label(node) for node in one.given],
        "state": str(one.state),
        "size": one.size,
        "correlation": one.correlation,
        "verdict": verdict_data(one.verdict),
    }


def _edge_data(one: CheckedEdge) -> dict[str, Any]:
    return {
        "source": label(one.source),
        "target": label(one.target),
        **{name: str(getattr(one, name)) for name in ("mark", "existence", "direction")},
        **{name: getattr(one, name) for name in ("need", "lead", "size")},
        "verdict": None if one.verdict is None else verdict_data(one.verdict),
    }


def _change_data(one: SuggestedChange) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "source": label(one.source),
        "target": label(one.target),
        "gain": one.gain,
        "repairs": [[label(x), label(y)] for x, y in one.repairs],
        "rivals": [_change_data(other) for other in one.rivals],
    }
