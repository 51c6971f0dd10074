"""What a comparison of two tables says, in words and as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import attrs

from apsl_rules._documents import label
from apsl_rules.environments import ChangeTest, Explanation, State
from apsl_rules.errors import UnknownNameError
from apsl_rules.evidence import verdict_data, verdict_text
from apsl_rules.names import Node, count_of, nearest, shown
from apsl_rules.parts import MarkedGraph
from apsl_rules.showing import NotebookView

#: The most lines of one kind in a text.
_MOST_LINES = 12


@attrs.frozen
class Difference:
    """How a column differs between two tables, whatever the reason.

    Attributes
    ----------
    means, by, spread
        Of a number its two means, how far apart they are in standard deviations, and the ratio of its spreads.
    level, shares
        Of a category the level whose share differs most, and its two shares.
    """

    means: tuple[float, float] | None = None
    by: float | None = None
    spread: float | None = None
    level: Any = None
    shares: tuple[float, float] | None = None

    def __str__(self) -> str:
        if self.means is not None and self.by is not None:
            wide = "" if self.spread is None else f", spread × {self.spread:.2g}"
            return f"{self.by:+.2f} sd, mean {self.means[0]:.4g} to {self.means[1]:.4g}{wide}"
        if self.shares is not None:
            return f"share of {shown(self.level)} {100 * self.shares[0]:.1f} % to {100 * self.shares[1]:.1f} %"
        return "nothing to compare"


@attrs.frozen
class ColumnMove:
    """What became of a column between two tables, and why.

    Attributes
    ----------
    explanation
        The tests behind it.
    difference
        How the column differs, whatever the reason.
    made
        The test given the neighbours that are not its effects: what is different in how the column is made.
    """

    explanation: Explanation
    difference: Difference
    made: ChangeTest

    @property
    def column(self) -> Node:
        """Return the column."""
        return self.explanation.column

    @property
    def state(self) -> State:
        """Return what became of it."""
        return self.explanation.state

    @property
    def given(self) -> tuple[Node, ...]:
        """Return the columns that explain the difference away, or those given which it is least."""
        return self.explanation.given

    @property
    def proof(self) -> ChangeTest:
        """Return the test that decides."""
        return self.explanation.proof

    @property
    def how(self) -> str:
        """Say what is made differently; nothing of a column that is not."""
        test = self.made
        if self.state not in (State.CHANGED, State.SMALL):
            return ""
        if test.aspect == "spread" and test.spread is not None:
            return f"spread × {test.spread:.2g}"
        if test.aspect == "level" and test.level is not None:
            return f"level {test.level:+.2f} sd"
        if test.aspect == "slopes":
            return f"it follows {', '.join(map(shown, test.verdict.given))} differently"
        return "its shares"

    def __str__(self) -> str:
        verdict = verdict_text(self.proof.verdict)
        name = shown(self.column)
        match self.state:
            case State.CHANGED if self.explanation.cancels:
                alone = verdict_text(self.explanation.alone.verdict)
                return f"{name}: {self.how}; {name} itself hardly differs: {alone}; given its cause it does: {verdict}"
            case State.CHANGED | State.SMALL:
                sets = count_of(self.explanation.sets, "set")
                weakest = f"none of {sets} of neighbours explains it away, the nearest: {verdict}"
                return f"{name}: {self.how}; {weakest}"
            case State.PASSED_ON:
                return f"{name}: {self.difference}; explained by {', '.join(map(shown, self.given))}: {verdict}"
            case State.SAME:
                return f"{name}: {verdict}"
            case _:
                return f"{name}: {self.difference}; {verdict}"


@attrs.frozen(slots=False, repr=False)
class Moved(NotebookView):
    """Why a column differs between two tables; ``print`` says it in words, what changed first.

    Attributes
    ----------
    target
        The column that was asked for.
    names, rows
        What the two tables are called, and how many rows each has.
    moves
        What became of each column, what changed first.
    graph
        The graph of the columns with the arrows that the comparison proves; ``which`` stands for the tables.
    which
        The node that stands for the tables.
    notes
        What a reader should know of the tables.
    """

    target: Node
    names: tuple[str, str]
    rows: tuple[int, int]
    moves: tuple[ColumnMove, ...]
    graph: MarkedGraph
    which: Node
    notes: tuple[str, ...] = ()

    def of_state(self, *states: State) -> tuple[Node, ...]:
        """Return the columns in some states."""
        return tuple(one.column for one in self.moves if one.state in states)

    @property
    def changed(self) -> tuple[Node, ...]:
        """Return the columns that are made differently, the greatest change first."""
        return self.of_state(State.CHANGED)

    @property
    def passed_on(self) -> tuple[Node, ...]:
        """Return the columns that differ, and whose difference others explain away, nearest to what changed first."""
        found = self.of_state(State.PASSED_ON)
        return tuple(sorted(found, key=lambda column: (len(self.way_to(column)), found.index(column))))

    @property
    def unchanged(self) -> tuple[Node, ...]:
        """Return the columns that do not differ."""
        return self.of_state(State.SAME)

    def __getitem__(self, column: Node) -> ColumnMove:
        found = next((one for one in self.moves if one.column == column), None)
        if found is None:
            names = [str(one.column) for one in self.moves]
            message = f"there is no column {column!r} in this comparison{nearest(str(column), names)}"
            raise UnknownNameError(message)
        return found

    def way_to(self, column: Node) -> tuple[Node, ...]:
        """Return a shortest way by which a change came to a column: it begins where something changed."""
        ways: list[tuple[Node, ...]] = [(column,)]
        seen = {column}
        while ways:
            way = ways.pop(0)
            move = self._by_column[way[0]]
            if move.explanation.has_changed:
                return way
            for cause in move.explanation.causes:
                if cause not in seen:
                    seen.add(cause)
                    ways.append((cause, *way))
        return (column,)

    @cached_property
    def _by_column(self) -> dict[Node, ColumnMove]:
        return {one.column: one for one in self.moves}

    def __repr__(self) -> str:
        changed = ", ".join(map(shown, self.changed)) or "nothing"
        return f"<Moved: {shown(self.target)} between {self.names[0]} and {self.names[1]}; changed: {changed}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Give the comparison in words line by line."""
        yield self._headline()
        yield from _block("changed", self._told(State.CHANGED), "no change that is large enough to count was found")
        yield from _block("changed by little", self._told(State.SMALL))
        passed = sorted(self.of_state(State.PASSED_ON), key=self.passed_on.index)
        yield from _block("passed on", [str(self[column]) for column in passed])
        yield from _block("not changed", self._told(State.SAME))
        yield from _block("untested", self._told(State.UNTESTED))
        yield from (f"note: {one}" for one in self.notes)

    def _told(self, state: State) -> list[str]:
        return [str(one) for one in self.moves if one.state is state]

    def _headline(self) -> str:
        """Say how the target moved, and by which way."""
        move = self[self.target]
        tables = f"between {self.names[0]} ({count_of(self.rows[0], 'row')}) and {self.names[1]} ({self.rows[1]:,})"
        moved = f"{shown(self.target)} moved {tables}: {move.difference}"
        match move.state:
            case State.CHANGED:
                return f"{moved}; it is made differently itself"
            case State.SMALL:
                return f"{moved}; it is made a little differently itself"
            case State.PASSED_ON:
                way = self.way_to(self.target)
                by = f": {' -> '.join(map(shown, way))}" if len(way) > 1 else ""
                return f"{moved}; it passed on what happened before it{by}"
            case State.SAME:
                return f"{shown(self.target)} did not move {tables}: {move.difference}"
        return f"{shown(self.target)} could not be tested {tables}: {move.difference}"

    # --- pictures ----------------------------------------------------------------------------------------------------

    def svg(self) -> str:
        """Draw the graph: what changed, what passed it on and what did not change in three colours."""
        from apsl_rules.views.attributed import moved_svg

        return moved_svg(self)

    def report(self, path: str | Path) -> None:
        """Write the comparison as one HTML file, or its drawing alone where the name ends in .svg."""
        from apsl_rules.views.attributed import write_moved

        write_moved(self, path)

    # --- data --------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data."""
        return {
            "target": label(self.target),
            "tables": [{"name": name, "rows": rows} for name, rows in zip(self.names, self.rows, strict=True)],
            "way": [label(node) for node in self.way_to(self.target)],
            "columns": [_move_data(one) for one in self.moves],
            "edges": [
                {"source": label(edge.source), "target": label(edge.target), "mark": str(edge.mark)}
                for edge in self.graph.edges
            ],
            "notes": list(self.notes),
        }


def _block(heading: str, lines: Sequence[str], otherwise: str = "") -> Iterator[str]:
    if not lines:
        if otherwise:
            yield f"{heading}: {otherwise}"
        return
    yield f"{heading}:"
    yield from (f"  {line}" for line in lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        yield f"  and {len(lines) - _MOST_LINES} more"


def _move_data(one: ColumnMove) -> dict[str, Any]:
    difference = attrs.asdict(one.difference)
    return {
        "column": label(one.column),
        "state": str(one.state),
        "given": [label(node) for node in one.given],
        "nats": one.made.nats,
        "aspect": one.made.aspect,
        "how": one.how,
        "sets": one.explanation.sets,
        "difference": {name: value for name, value in difference.items() if value is not None},
        "proof": verdict_data(one.proof.verdict),
        "made": verdict_data(one.made.verdict),
        "alone": verdict_data(one.explanation.alone.verdict),
    }
