"""Some columns and rows of a source, as a source of their own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Source, numbers
from apsl_rules.data.kinds import infer_kind
from apsl_rules.data.summaries import summarise
from apsl_rules.names import Node

RowNumbers = npt.NDArray[np.intp]


@attrs.frozen(eq=False, slots=False)
class View:
    """The columns at some places, and some rows in any order and number, or all of them."""

    source: Source
    places: tuple[int, ...]
    chosen: RowNumbers | None = None

    @cached_property
    def names(self) -> tuple[Node, ...]:
        """Return the labels of the columns."""
        return tuple(self.source.names[place] for place in self.places)

    @cached_property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.source.rows if self.chosen is None else len(self.chosen)

    @cached_property
    def _is_whole(self) -> bool:
        return self.places == tuple(range(len(self.source.names)))

    def column(self, place: int) -> Column:
        """Return one column."""
        column = self.source.column(self.places[place])
        if self.chosen is None:
            return column
        if isinstance(column, Labels):
            return attrs.evolve(column, codes=column.codes[self.chosen])
        return numbers(column.values[self.chosen], column.missing[self.chosen])

    def reason_in_source(self, place: int) -> str | None:
        """Return why a column would be set aside if each row of the source stood for itself, or None.

        Rows that stand for many hold an identifier several times, but it says no more for that.
        """
        if self.chosen is None:
            return None
        found = infer_kind(summarise(self.source.column(self.places[place]), self.names[place]))
        return found.detail if found.kind == "set aside" else None

    def integers(self, start: int, stop: int) -> npt.NDArray[np.integer[Any]] | None:
        """Return a run of columns as the rows of one integer array, where they are that and stand side by side."""
        first = self.places[start]
        if not self._is_whole and self.places[start:stop] != tuple(range(first, first + stop - start)):
            return None
        block = self.source.integers(first, first + stop - start)
        return block if block is None or self.chosen is None else block[:, self.chosen]

    def codes(self) -> npt.NDArray[np.uint8] | None:
        """Return all columns as they are if they may be codes that nobody can change, which only some sources have."""
        lend = getattr(self.source, "lend_codes", None)
        return lend() if lend is not None and self._is_whole and self.chosen is None else None

    def rows_at(self, chosen: RowNumbers) -> View:
        """Return the same columns with some of these rows."""
        return View(self.source, self.places, chosen if self.chosen is None else self.chosen[chosen])
