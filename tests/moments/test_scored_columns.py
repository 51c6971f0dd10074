"""The columns that are scored: numbers as they are where they are nearly normal, with the squares of their scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apsl_backends.engines import moments as gathered
from apsl_backends.engines.dask import ScatteredEngine
from apsl_backends.engines.duckdb import DuckEngine
from apsl_backends.engines.moments import MemoryMoments, Moments
from apsl_backends.engines.normal_scores import normal_scores
from apsl_backends.engines.opening import moments, moments_of_table
from apsl_rules.data import MixedTable, table
from apsl_rules.data.moments import Embedding, KeptMoments, is_nearly_normal
from apsl_rules.memory import DatasetMemory

Open = Callable[[Path], Moments | MemoryMoments]


def _written(folder: Path, missing: float) -> Path:
    """Write a normal number, a skewed one that follows it, and a category."""
    random = np.random.default_rng(5)
    normal = random.normal(size=900)
    skewed = np.exp(normal + 0.5 * random.normal(size=900))
    kind = np.where(random.random(900) < 0.4, "a", "b")
    gone = random.random(900) < missing
    made = pa.table({"x": pa.array(normal, mask=gone), "y": skewed, "k": kind})
    pq.write_table(made, folder / "rows.parquet", row_group_size=400)
    return folder / "rows.parquet"


def _read(path: Path) -> MixedTable:
    read = table(path)
    assert isinstance(read, MixedTable)
    return read


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("engine", [DuckEngine.of_arrow, ScatteredEngine])
@pytest.mark.parametrize("has_memory", [True, False])
def test_engines_agree_on_scored_columns(
    engine: Any, missing: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_memory: bool
) -> None:
    """The likeness of numbers to their scores and the covariance of scored columns are those of memory."""
    path = _written(tmp_path, missing)
    memory = MemoryMoments(_read(path))
    if not has_memory:
        monkeypatch.setattr(gathered, "available_memory", lambda: 0)
    for other in (moments(DuckEngine.of_file(str(path))), moments_of_table(engine, _read(path))):
        assert np.allclose(other.likeness(range(3)), memory.likeness(range(3)), atol=1e-9, equal_nan=True)
        for plain in ([], [0]):
            expected = memory.covariance_for_scores([2, 0, 1], plain)
            assert np.allclose(other.covariance_for_scores([2, 0, 1], plain), expected, atol=1e-9)


def test_likeness_tells_normal_numbers_from_skewed_ones(tmp_path: Path) -> None:
    """A normal number is nearly its normal scores, a skewed one is not, and a category has none."""
    memory = MemoryMoments(_read(_written(tmp_path, 0.1)))
    near = is_nearly_normal(memory.likeness(range(3)), np.full(3, 800))
    assert near.tolist() == [True, False, False]
    assert np.isnan(MemoryMoments(_read(_written(tmp_path, 0.1)), Embedding("values", 1)).likeness([0])).all()


def test_values_stand_beside_the_squares_of_scores(tmp_path: Path) -> None:
    """A plain number has its standardised values, and the squares are those of its normal scores."""
    read = _read(_written(tmp_path, 0.0))
    kept = KeptMoments(MemoryMoments(read), DatasetMemory(), Embedding())
    values, scores = read.values("y"), normal_scores(read.values("y")).values
    columns = np.array([(values - values.mean()) / values.std(), scores**2 - 1])
    assert np.allclose(kept.covariance_for_scores([1], frozenset({1})), np.cov(columns, bias=True))
    columns[0] = scores
    assert np.allclose(kept.covariance_for_scores([1]), np.cov(columns, bias=True))
