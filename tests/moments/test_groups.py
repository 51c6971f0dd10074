"""Sums by groups: rows, sums and products of each group, within groups and between them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import moments_of, open_dataset
from apsl_backends.kernels.library import Floats
from apsl_rules.data import GroupSums, MixedTable, table
from apsl_rules.data.moments import Embedding, KeptMoments
from apsl_rules.errors import InvalidArgumentError, UnknownNodeError

NAMES = ("x", "y", "k")


def _frame(*, gaps: bool = False) -> pd.DataFrame:
    random = np.random.default_rng(5)
    school, year = random.integers(0, 12, 400), random.integers(0, 2, 400)
    x = random.normal(size=400) + school
    size = random.normal(size=12)[school]
    frame = pd.DataFrame({"x": x, "y": x + random.normal(size=400), "size": size})
    frame["k"] = random.choice(list("pqr"), 400)
    frame["school"] = [f"s{one:02}" for one in school]
    frame["year"] = np.array(["then", "now"])[year]
    if gaps:
        frame.loc[::7, "y"] = np.nan
        frame.loc[::11, "school"] = None
        frame.loc[::5, "size"] = np.nan
    return frame


def _moments(frame: pd.DataFrame) -> KeptMoments:
    read = table(frame)
    assert isinstance(read, MixedTable)
    return moments_of(read, Embedding("values", 2))


def _embedded(frame: pd.DataFrame) -> Floats:
    """Return the embedded columns of NAMES as the definition says."""
    columns = []
    for name in ("x", "y"):
        values = frame[name].to_numpy()
        z = (values - np.nanmean(values)) / np.nanstd(values)
        columns += [z, z**2 - 1]
    usual = frame["k"].value_counts().index[0]
    columns += [(frame["k"] == level).to_numpy(np.float64) for level in "pqr" if level != usual]
    return np.array(columns).T


@pytest.mark.parametrize("gaps", [False, True])
def test_sums_are_those_of_the_rows_of_each_group(*, gaps: bool) -> None:
    """Rows, sums, products, their parts within and between groups, and covariances follow from the definition."""
    frame = _frame(gaps=gaps)
    found = _moments(frame).sums(NAMES, by=["school", "year"], complete=["size"], each=True)
    rows, kept = _embedded(frame), frame[[*NAMES, "school", "year", "size"]].notna().all(axis=1).to_numpy()
    groups = frame[kept].groupby(["school", "year"]).indices
    assert [*found.keys] == sorted(groups, key=repr)
    whole = rows[kept]
    within, between = np.zeros((6, 6)), np.zeros((6, 6))
    for number, key in enumerate(found.keys):
        part = whole[groups[key]]
        about = part - part.mean(axis=0)
        distance = part.mean(axis=0) - whole.mean(axis=0)
        within += about.T @ about
        between += len(part) * np.outer(distance, distance)
        assert found.rows[number] == len(part)
        assert found.first[number] == pytest.approx(part.sum(axis=0))
        assert found.covariance(number) == pytest.approx(np.cov(part.T, bias=True), abs=1e-12)
    assert found.products == pytest.approx(whole.T @ whole)
    assert found.within == pytest.approx(within)
    assert found.between == pytest.approx(between)


def test_a_column_that_is_constant_in_groups_varies_only_between_them() -> None:
    """The size of a school has no products within schools, not even rounding."""
    found = _moments(_frame()).sums(["size", "x"], by=["school"])
    assert found.constant.tolist() == [True, True, False, False]
    assert not found.within[:2].any()
    assert found.between[0, 0] > 1


def test_sections_add_up_in_the_order_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections that do not have all groups add up to the same sums."""
    frame = _frame().sort_values("school")
    whole = _moments(frame).sums(NAMES, by=["school"], each=True)
    monkeypatch.setattr("apsl_backends.engines.groups.SECTION", 37)
    parts = _moments(frame).sums(NAMES, by=["school"], each=True)
    assert parts.keys == whole.keys
    for field in ("rows", "first", "products", "second"):
        assert getattr(parts, field) == pytest.approx(getattr(whole, field)), field


@pytest.mark.parametrize("counts", [None, "duckdb", "dask"])
def test_a_frame_gives_the_same_sums_wherever_its_rows_are(counts: str | None) -> None:
    """Sums of a frame in memory are those of its rows in DuckDB and in a cluster, to the last bit."""
    opened = open_dataset(_frame(gaps=True), {"counts": counts})
    assert isinstance(opened, KeptMoments | MixedTable)
    found, known = (moments_of(one).sums(NAMES, by=["school"], each=True) for one in (opened, table(_frame(gaps=True))))
    assert found.keys == known.keys
    for field in ("rows", "first", "products", "second", "widths"):
        assert getattr(found, field).tobytes() == getattr(known, field).tobytes(), field


def test_what_cannot_be_grouped_is_refused() -> None:
    """Unknown columns, numbers as groups, nothing to add up and products that were not asked for are named."""
    data = _moments(_frame())
    with pytest.raises(UnknownNodeError, match="unknown column 'z'"):
        data.sums(["z"], by=["school"])
    with pytest.raises(InvalidArgumentError, match=r"give kinds=.*'category'"):
        data.sums(["x"], by=["size"])
    with pytest.raises(InvalidArgumentError, match="name both"):
        data.sums(["x"], by=[])
    found: GroupSums = data.sums(["x"], by=["school"])
    assert found.second is None
    with pytest.raises(InvalidArgumentError, match="give each=True"):
        found.covariance(0)
