"""Errors that hold: HC3 and CR3 beside statsmodels, limits of Wilson, weights and groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, effect
from apsl_rules.effects.least_squares import FROM_SUMS
from apsl_rules.effects.samples import How, sample_of
from apsl_rules.effects.standardisation import standardise
from apsl_rules.errors import ApslError

GRAPH = Dag({"c": [], "x": ["c"], "t": ["c", "x"]})


def numbers(rows: int = 300, seed: int = 1) -> pd.DataFrame:
    """Draw numbers with an unequal spread, rows in groups, and weights with fractions."""
    random = np.random.default_rng(seed)
    c = random.normal(size=rows)
    x = c + random.normal(size=rows)
    t = 0.5 * x + c + random.normal(size=rows) * (np.abs(x) + 0.2)
    groups = np.char.add("g", (np.arange(rows) // 10).astype(str))
    return pd.DataFrame({"c": c, "x": x, "t": t, "g": groups, "w": random.uniform(0.5, 3.0, rows)})


@pytest.mark.release
def test_robust_errors_are_those_of_statsmodels() -> None:
    """HC3 with t, the usual ones, and HC3 with weights, digit for digit."""
    import statsmodels.api as sm

    frame = numbers()
    design = sm.add_constant(frame[["x", "c"]])
    plain = frame.drop(columns=["g", "w"])
    for variance, cov in (("robust", "HC3"), ("equal", "nonrobust")):
        found = effect(GRAPH, "x", "t", data=plain, variance=variance).bounds  # type: ignore[arg-type]
        fitted = sm.OLS(frame["t"], design).fit(cov_type=cov, use_t=True)
        assert found == pytest.approx(tuple(fitted.conf_int().loc["x"]), rel=1e-9)
    weighted = effect(GRAPH, "x", "t", data=frame.drop(columns="g"), weights="w").interval
    fitted = sm.WLS(frame["t"], design, weights=frame["w"]).fit(cov_type="HC3", use_t=True)
    assert weighted is not None
    assert (weighted.estimate, weighted.error) == pytest.approx((fitted.params["x"], fitted.bse["x"]), rel=1e-9)


def test_errors_of_groups_leave_out_one_after_the_other() -> None:
    """CR3 is the jackknife over groups, for numbers and for categories, with t of the groups but one."""
    frame = numbers().drop(columns="w")
    found = effect(GRAPH, "x", "t", data=frame, groups="g").interval
    plain = frame.drop(columns="g")
    left_out = [effect(GRAPH, "x", "t", data=plain[frame["g"] != one]).interval for one in frame["g"].unique()]
    assert found is not None
    moved = [one.estimate - found.estimate for one in left_out if one is not None]

    assert found.error == pytest.approx(np.sqrt(29 / 30 * np.sum(np.square(moved))), rel=1e-9)
    assert found.freedom == 29
    cut = frame.assign(**{one: np.where(frame[one] > 0, "high", "low") for one in "cxt"})
    counted = effect(GRAPH, "x", "t", data=cut, groups="g").interval
    left_out = [
        effect(GRAPH, "x", "t", data=cut[frame["g"] != one].drop(columns="g")).interval for one in frame["g"].unique()
    ]
    assert counted is not None
    moved = [one.estimate - counted.estimate for one in left_out if one is not None]
    assert counted.error == pytest.approx(np.sqrt(29 / 30 * np.sum(np.square(moved))), rel=1e-9)


def test_groups_and_weights_take_no_part_in_what_is_learned() -> None:
    """From a table, the column of groups and that of weights with fractions are no columns of the graph."""
    frame = numbers()
    found = effect(frame, "x", "t", groups="g", weights="w")

    assert {"g", "w"}.isdisjoint(found.part.nodes)
    with pytest.raises(ApslError, match="'w' cannot be weights, because it has negative values"):
        effect(frame.assign(w=-frame["w"]), "x", "t", weights="w")
    with pytest.raises(ApslError, match="unknown column in groups 'gg'"):
        effect(GRAPH, "x", "t", data=frame, groups="gg")


def test_limits_of_rates_are_those_of_wilson_joined() -> None:
    """Newcombe's published example: 56 of 70 against 48 of 80 differ by 0.2, from 0.0524 to 0.3339."""
    cause = np.repeat([1, 1, 0, 0], [56, 14, 48, 32])
    target = np.repeat([1, 0, 1, 0], [56, 14, 48, 32])
    sample = sample_of(("x", "t"), (cause, target), (("a", "b"), ("no", "yes")), np.ones(len(cause)))
    found = standardise(sample, How())
    (interval,) = (one for change, one in found.changes.items() if change.outcome == "yes")  # type: ignore[union-attr]

    assert interval.estimate == pytest.approx(0.2)
    assert (interval.low, interval.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_without_rows_the_errors_are_the_usual_ones_and_that_is_said(tmp_path: object) -> None:
    """From sums alone the intervals are those for equal spread."""
    frame = numbers().drop(columns=["g", "w"])
    path = f"{tmp_path}/rows.parquet"
    frame.to_parquet(path)
    found = effect(GRAPH, "x", "t", data=path, counts="duckdb")
    equal = effect(GRAPH, "x", "t", data=frame, variance="equal")

    assert any("worked out from sums without the rows" in note for note in found.notes)
    assert found.bounds == pytest.approx(equal.bounds, rel=1e-9)
    with pytest.raises(ApslError, match="needs the rows, which stay elsewhere"):
        effect(GRAPH, "x", "t", data=path, counts="duckdb", by="c")


@pytest.mark.parametrize(("cause", "target"), [("b", "y"), ("a", "y"), ("s", "y"), ("a", "s")])
def test_bounds_from_sums_say_so_where_a_column_is_a_sum(tmp_path: Path, cause: str, target: str) -> None:
    """Bounds elsewhere rest on sums and differ from those of rows, which a note says though a graph has no estimate."""
    random = np.random.default_rng(3)
    a = random.normal(size=500).round(2)
    b = (a + random.normal(size=500)).round(2)
    y = (0.7 * b + random.normal(size=500)).round(3)
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"a": a, "b": b, "s": (a + b).round(2), "y": y}).to_parquet(path, index=False)
    here, there = effect(path, cause, target), effect(path, cause, target, counts="duckdb")
    equal = effect(path, cause, target, variance="equal")
    assert there.bounds == pytest.approx(equal.bounds, abs=1e-9)
    assert FROM_SUMS in there.notes
    assert FROM_SUMS not in here.notes
