"""A table of discrete columns as small integer codes: what every count is made from."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import ColumnKind
from apsl_rules.names import Node, count_of
from apsl_rules.notebook_view import NotebookView

Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]


def _read_only(codes: Codes) -> Codes:
    """Return contiguous codes through which nobody can change them."""
    kept: Codes = codes[:] if codes.flags.c_contiguous else codes.copy()
    kept.setflags(write=False)
    return kept


@attrs.frozen(eq=False, slots=False, repr=False)
class Table(NotebookView):
    """Columns as integer codes, one contiguous run of memory for each column.

    ``codes[i, r]`` is the code of column i in row r, from 0 to ``cards[i] - 1``; a missing value (only under the
    policy ``testwise``) has the code ``cards[i]`` and the column is flagged in ``incomplete``.
    ``cards[i]`` is one more than the largest code observed, and ``levels[i]`` names the codes. ``notes`` say what was
    assumed when the table was read, and ``columns`` tell the kind of each column of the source, also of those that
    were set aside. A table never changes, so what is worked out about it can be kept with it.

    Attributes
    ----------
    names
        The columns, in the order of the source.
    codes
        The codes, one row of the array for each column.
    cards
        How many levels each column has.
    levels
        The levels of each column, in the order of their codes.
    """

    names: tuple[Node, ...]
    codes: Codes = attrs.field(converter=_read_only)
    cards: npt.NDArray[np.int64]
    levels: tuple[tuple[Any, ...], ...]
    incomplete: npt.NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnKind, ...] = ()

    def __repr__(self) -> str:
        return f"<Table of {count_of(self.rows, 'row')} and {count_of(len(self.names), 'category', 'categories')}>"

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in attrs.fields(Table)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"codes": _read_only(state["codes"])})

    @cached_property
    def answers(self) -> dict[Hashable, Any]:
        """Return what was counted on this table so far, for later runs.

        Nothing here may refer to the table: it would then not be freed when it is last used.
        """
        return {}
