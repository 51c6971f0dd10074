"""The matrix that is kept: one pass over the rows, and the same figures as asked one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.moments import MemoryMoments
from apsl_backends.engines.opener import moments_of
from apsl_backends.kernels.library import Floats
from apsl_rules.data import MixedTable, table
from apsl_rules.data.moments import KeptMoments
from apsl_rules.memory import DatasetMemory


def _table(*, gaps: bool = False) -> MixedTable:
    random = np.random.default_rng(3)
    frame = pd.DataFrame({name: random.normal(size=200) for name in "abcd"})
    frame["k"] = random.choice(list("xyz"), 200)
    frame.loc[::7, "c"] = np.nan if gaps else 0.5
    read = table(frame)
    assert isinstance(read, MixedTable)
    return read


class _Watched(MemoryMoments):
    """Moments that note what is asked of them."""

    asked: list[tuple[int, ...]]

    def covariance(self, places: Sequence[int]) -> Floats:
        self.asked.append(tuple(places))
        return super().covariance(places)


@pytest.mark.parametrize("gaps", [False, True])
def test_covariances_are_cut_from_one_matrix(*, gaps: bool) -> None:
    """Complete columns are passed over once for all; columns with missing values are estimated with those asked for."""
    read = _table(gaps=gaps)
    source = _Watched(read)
    source.asked = []
    kept = KeptMoments(source, DatasetMemory(), "key")
    alone = MemoryMoments(read)
    for places in ([0, 1], [4, 0, 2], [1, 3, 4], [2]):
        assert kept.covariance(places).tobytes() == alone.covariance(places).tobytes()
    assert source.asked == ([(0, 1, 3, 4), (4, 0, 2), (2,)] if gaps else [(0, 1, 2, 3, 4)])


def test_objects_on_one_table_share_the_matrix() -> None:
    """The oracle and the score of a run do not pass over the rows twice."""
    read = _table()
    first = moments_of(read).covariance(range(5))
    assert moments_of(read).covariance(range(5)) is first


def test_a_wide_table_has_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the limit each question is answered by itself."""
    monkeypatch.setattr("apsl_rules.data.moments.MOST_WIDTH", 3)
    kept = moments_of(_table())
    assert not kept.has_matrix
    assert kept.covariance([0]).shape == (3, 3)
