"""One covariance matrix for all complete columns of a table that is not too wide, computed once and cut as asked."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from apsl_backends.kernels.border import Floats
from apsl_rules.data.moments import MomentHeading, MomentSource, RowTests

#: The most embedded columns of which one matrix is made.
MOST_WIDTH = 1 << 10


class KeptMoments:
    """A source of moments that passes over the rows of complete columns once.

    ``kept`` is where the matrix stays, for other objects on the same table and embedding.
    """

    def __init__(self, source: MomentSource, kept: MutableMapping[Hashable, Any], key: Hashable) -> None:
        self._source = source
        self._kept = kept
        self._key = (KeptMoments, key)
        heading = source.heading
        complete = np.flatnonzero(heading.missing == 0)
        self._complete: list[int] = complete.tolist()
        self.has_matrix = int(heading.widths[complete].sum()) <= MOST_WIDTH
        ends = np.array([0, *accumulate(heading.widths[complete].tolist())], np.int64)
        self._first = dict(zip(self._complete, ends.tolist(), strict=False))

    @property
    def kind(self) -> str:
        """Return the name of the method, such as "memory"."""
        return self._source.kind

    @cached_property
    def heading(self) -> MomentHeading:
        """Return the columns and the number of rows."""
        return self._source.heading

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance matrix of the embedded columns of some columns, block after block."""
        if not self.has_matrix or any(place not in self._first for place in places):
            return self._source.covariance(places)
        if self._key not in self._kept:
            self._kept[self._key] = self._source.covariance(self._complete)
        matrix: Floats = self._kept[self._key]
        if list(places) == self._complete:
            return matrix
        widths = self.heading.widths
        columns = [self._first[place] + at for place in places for at in range(int(widths[place]))]
        return np.ascontiguousarray(matrix[np.ix_(columns, columns)])

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """Test x against y given others, for each query (x, y, *given), on the rows that are complete there."""
        return self._source.test_rows(queries)
