"""A table with numbers: categories as codes, numbers as they are."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import ColumnKind
from apsl_rules.data.table import Table
from apsl_rules.names import Node, count_of
from apsl_rules.notebook_view import NotebookView

Floats: TypeAlias = npt.NDArray[np.float64]


@attrs.frozen(eq=False, slots=False, repr=False)
class MixedTable(NotebookView):
    """A table of which at least one column is a number.

    ``names`` are all columns in the order of the source. ``categories`` is a table of those that are categories, which
    may be none. ``numbers[i, r]`` is the value of the number ``number_names[i]`` in row r, NaN where it is missing.
    ``columns`` tell the kind of each column of the source, also of those that were set aside, and ``notes`` what was
    assumed when the table was read. A table never changes, so what is worked out about it can be kept with it.

    Attributes
    ----------
    names
        All columns that are used, in the order of the source.
    numbers
        The values of the numbers, one row of the array for each.
    number_names
        The names of the numbers, in the order of ``numbers``.
    """

    names: tuple[Node, ...]
    categories: Table
    numbers: Floats
    number_names: tuple[Node, ...]
    columns: tuple[ColumnKind, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        categories = count_of(len(self.categories.names), "category", "categories")
        numbers = count_of(len(self.number_names), "number")
        return f"<MixedTable of {count_of(self.rows, 'row')}, {categories} and {numbers}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.numbers.shape[1])

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def is_number(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it is a number."""
        numbers = set(self.number_names)
        return np.array([name in numbers for name in self.names], np.bool_)

    @cached_property
    def incomplete(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether it has missing values."""
        gone = dict(zip(self.categories.names, self.categories.incomplete.tolist(), strict=True))
        gone |= {name: bool(np.isnan(row).any()) for name, row in zip(self.number_names, self.numbers, strict=True)}
        return np.array([gone[name] for name in self.names], np.bool_)

    @cached_property
    def answers(self) -> dict[Hashable, Any]:
        """Return what was worked out on this table so far, for later runs; nothing here may refer to the table."""
        return {}
