"""Estimates: numeric vectors, other packages, the same figures from every source, and refusals in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, effect, learn
from apsl_rules.data import coded_table
from apsl_rules.effects import Effect
from apsl_rules.errors import ApslError
from support.counted import thrifty_counts
from support.telling import told

CONFOUNDED = Dag({"z": [], "x": ["z"], "t": ["x", "z"]})


def draw(rows: int = 2000, seed: int = 1) -> pd.DataFrame:
    """Draw a confounded table of two-valued columns: the true risk difference is 0.3."""
    rng = np.random.default_rng(seed)
    z = rng.random(rows) < 0.5
    x = rng.random(rows) < np.where(z, 0.7, 0.3)
    t = rng.random(rows) < 0.2 + 0.3 * x + 0.3 * z
    return pd.DataFrame({"z": z, "x": x, "t": t}).replace({True: "yes", False: "no"})


def draw_mixed(rows: int = 1000, seed: int = 2) -> pd.DataFrame:
    """Draw a table with numbers: cost rises by 2 for each year, and by 5 for smokers."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, rows)
    smoker = np.where(rng.random(rows) < 1 / (1 + np.exp((age - 50) / 10)), "yes", "no")
    region = rng.choice(["east", "north", "west"], rows)
    cost = 2 * age + 5 * (smoker == "yes") + 3 * (region == "west") + rng.normal(0, 4, rows)
    return pd.DataFrame({"age": age, "smoker": smoker, "region": region, "cost": cost})


MIXED = Dag({"age": [], "smoker": ["age"], "region": [], "cost": ["age", "smoker", "region"]})


def values(found: Effect) -> tuple[float, ...]:
    """Return the possible effects by the main change."""
    return found.values_of(found.main)


def by_hand(frame: pd.DataFrame) -> float:
    """Return the risk difference adjusted for z by plain sums over the strata."""
    total = 0.0
    for _, stratum in frame.groupby("z"):
        rates = (stratum["t"] == "yes").groupby(stratum["x"]).mean()
        total += len(stratum) / len(frame) * (rates["yes"] - rates["no"])
    return total


def test_categories_are_standardised() -> None:
    """The estimate is the sum over strata, the distribution sums to 1, and the interval holds the truth."""
    frame = draw()
    found = effect(CONFOUNDED, "x", "t", data=frame)
    (one,) = found.possible

    assert one.adjustment == ("z",)
    assert values(found) == pytest.approx([by_hand(frame)], abs=1e-12)
    assert one.estimates is not None
    for row in one.estimates.distribution.values():
        assert sum(interval.estimate for interval in row.values()) == pytest.approx(1)
    assert found.bounds is not None
    assert found.bounds[0] < 0.3 < found.bounds[1]


@pytest.mark.slow
def test_the_interval_is_that_of_the_bootstrap() -> None:
    """The standard error by the delta method is that of 400 resamples, within a tenth."""
    frame, rng = draw(600), np.random.default_rng(3)
    found = effect(CONFOUNDED, "x", "t", data=frame)
    drawn = [by_hand(frame.iloc[rng.integers(0, len(frame), len(frame))]) for _ in range(400)]

    assert found.bounds is not None
    assert (found.bounds[1] - found.bounds[0]) / 2 / 1.96 == pytest.approx(np.std(drawn), rel=0.1)


def test_several_levels_are_compared_with_the_first() -> None:
    """Every level of the cause but the first has a contrast on each level of the target."""
    rng = np.random.default_rng(4)
    dose = rng.choice(["a none", "b low", "c high"], 3000)
    rate = pd.Series(dose).map({"a none": 0.2, "b low": 0.4, "c high": 0.7}).to_numpy()
    frame = pd.DataFrame({"dose": dose, "ill": np.where(rng.random(3000) < rate, "yes", "no")})
    found = effect(Dag({"dose": [], "ill": ["dose"]}), "dose", "ill", data=frame)

    assert [(one.level, one.reference, one.outcome) for one in found.changes] == [
        ("b low", "a none", "no"),
        ("b low", "a none", "yes"),
        ("c high", "a none", "no"),
        ("c high", "a none", "yes"),
    ]
    assert found.main.text("dose", "ill") == "P(ill = yes), dose = c high against a none"
    assert values(found) == pytest.approx([0.5], abs=0.05)


@pytest.mark.release
@pytest.mark.parametrize(("cause", "column"), [("age", "age"), ("smoker", "smoker_yes"), ("region", "region_west")])
def test_numbers_are_regressed(cause: str, column: str) -> None:
    """Slopes, contrasts and intervals are those of least squares in statsmodels."""
    import statsmodels.api as sm

    frame = draw_mixed()
    found = effect(MIXED, cause, "cost", data=frame)
    (one,) = found.possible
    design = pd.get_dummies(frame[[cause, *one.adjustment]], drop_first=True, dtype=float)
    fitted = sm.OLS(frame["cost"], sm.add_constant(design)).fit(cov_type="HC3", use_t=True)
    interval = one.interval(found.main)

    assert interval is not None
    assert interval.estimate == pytest.approx(fitted.params[column], rel=1e-9)
    assert [interval.low, interval.high] == pytest.approx(fitted.conf_int().loc[column].tolist(), rel=1e-9)


@pytest.mark.release
def test_a_two_valued_target_has_a_risk_difference() -> None:
    """The slope of a number on a category is that of the linear probability model, for every level."""
    import statsmodels.api as sm

    frame = draw_mixed()
    found = effect(MIXED, "age", "smoker", data=frame)
    fitted = sm.OLS((frame["smoker"] == "yes").astype(float), sm.add_constant(frame[["age"]])).fit()

    assert [one.outcome for one in found.changes] == ["no", "yes"]
    assert values(found) == pytest.approx([fitted.params["age"]], rel=1e-9)


def essence(found: Effect) -> list[Any]:
    """Return the figures of an effect, to set them beside others."""
    return [
        [one.adjustment, *((i.estimate, i.low, i.high) for i in one.estimates.changes.values())]
        if one.estimates
        else [one.no_effect]
        for one in found.possible
    ]


def assert_same(one: Effect, other: Effect) -> None:
    """Compare two effects: the same sets, and figures equal to 1e-9."""
    for mine, its in zip(essence(one), essence(other), strict=True):
        assert mine[0] == its[0]
        assert np.allclose(np.array(mine[1:], float), np.array(its[1:], float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("counts", ["duckdb", pytest.param("dask", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("cause", "target"), [("x", "t"), ("x", "cost"), ("age", "t"), ("age", "cost")])
def test_every_source_gives_the_same(cause: str, target: str, counts: str, tmp_path: Path) -> None:
    """Categories, numbers and both, from memory, DuckDB on a file, and Dask: the same effects."""
    frame = draw(800).join(draw_mixed(800).drop(columns="smoker"))
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    graph = Dag({"z": [], "x": ["z"], "region": [], "age": ["x", "region"], "t": ["x", "age"], "cost": ["age", "z"]})

    elsewhere = effect(graph, cause, target, data=path, counts=counts, variance="equal")

    assert_same(effect(graph, cause, target, data=frame, variance="equal"), elsewhere)


def test_a_source_of_counts_of_ones_own() -> None:
    """A CountSource serves as a table does."""
    frame = draw(500)
    source = thrifty_counts(coded_table(frame))

    assert_same(effect(CONFOUNDED, "x", "t", data=frame), effect(CONFOUNDED, "x", "t", data=source))


def test_a_table_beside_a_table_is_read_alike() -> None:
    """Options of reading hold for the table that the edges are learned from and for that of the estimate."""
    grouped = draw(3000).value_counts().reset_index(name="freq")
    tiers = Knowledge(tiers=[["z"], ["x"], ["t"]])
    apart = effect(grouped, "x", "t", data=grouped.copy(), weights="freq", knowledge=tiers)

    assert_same(apart, effect(grouped, "x", "t", weights="freq", knowledge=tiers))
    assert apart.possible[0].adjustment == ("z",)


def test_missing_values_are_left_out_and_counted() -> None:
    """Rows with a missing value in a column of the question are left out; the rows used are told."""
    frame = draw(1000)
    frame.loc[:99, "x"] = None
    frame.loc[50:149, "z"] = None
    (one,) = effect(CONFOUNDED, "x", "t", data=frame).possible

    assert one.estimates is not None
    assert one.estimates.rows == 850
    assert essence(effect(CONFOUNDED, "x", "t", data=frame)) == essence(
        effect(CONFOUNDED, "x", "t", data=frame.dropna())
    )


def test_missing_numbers_do_not_narrow_the_interval() -> None:
    """Where numbers are missing the interval is no narrower than that of the complete rows."""
    frame = draw_mixed()
    frame.loc[:299, "age"] = np.nan
    found, whole = effect(MIXED, "smoker", "cost", data=frame), effect(MIXED, "smoker", "cost", data=frame.dropna())

    assert found.possible[0].estimates is not None
    assert found.possible[0].estimates.rows == 700
    assert found.bounds is not None
    assert whole.bounds is not None
    assert values(found) == pytest.approx(values(whole), abs=1.5)
    assert found.bounds[1] - found.bounds[0] > 0.8 * (whole.bounds[1] - whole.bounds[0])


def test_an_empty_stratum_is_refused_or_left_out() -> None:
    """Nothing shows the effect where a level does not occur; leaving such strata out says for whom the answer is."""
    frame = draw(500)
    frame = frame[~((frame["z"] == "yes") & (frame["x"] == "no"))]
    found = effect(CONFOUNDED, "x", "t", data=frame, empty="refuse")
    held = effect(CONFOUNDED, "x", "t", data=frame)
    rest = effect(CONFOUNDED, "x", "t", data=frame, empty="leave-out")

    assert found.bounds is None
    assert found.is_refused
    assert "no row has both" in str(found.possible[0].refused)
    assert rest.bounds is not None
    assert "left out" in rest.notes[0]
    assert held.bounds is not None
    assert "held by a linear model without interactions" in held.notes[0]


def test_a_cause_that_follows_from_what_is_held_is_refused() -> None:
    """A number that is a sum of its parents has no effect that data can show."""
    frame = draw_mixed()
    frame["index"] = 3 * frame["age"] + 1
    graph = Dag({"age": [], "index": ["age"], "cost": ["index"]})
    found = effect(graph, "index", "cost", data=frame)

    assert "index follows from 'age'" in str(found.possible[0].refused)


def test_knowledge_narrows_what_is_possible() -> None:
    """Tiers orient the lines at the cause, and one effect is left."""
    frame = draw(3000)
    tiers = Knowledge(tiers=[["z"], ["x"], ["t"]])

    assert effect(frame, "x", "t").is_open
    assert not effect(frame, "x", "t", knowledge=tiers).is_open


def test_a_conflict_at_the_cause_is_refused() -> None:
    """No effect is given where it is not known what to adjust for."""
    part = learn(Dag({"a": [], "x": ["a"], "t": ["x"]}), "x")
    broken = attrs.evolve(part, ledger=part.ledger.with_findings(told("conflict:x,t")))

    with pytest.raises(ApslError, match="is a conflict, so it is not known what to adjust for"):
        effect(broken, "x", "t", data=draw().rename(columns={"z": "a"}))
