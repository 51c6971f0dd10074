"""Hidden causes: E-values, robustness values and bounds as published, controls, an instrument, and subgroups."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, effect
from apsl_rules.effects.contrasts import Interval
from apsl_rules.effects.estimate import differ
from apsl_rules.effects.sensitivity import Regressed, bound, e_value, e_value_of_limits
from apsl_rules.errors import ApslError

#: The example of Cinelli and Hazlett (2020): harm done in Darfur and attitudes to peace.
DARFUR = Regressed(0.09731582, 0.02325654, 783)
FEMALE = (0.009081065, 0.109033915)


def test_e_values_are_the_published_ones() -> None:
    """VanderWeele and Ding (2017): a risk ratio of 3.9 (1.8 to 8.7) has 7.26 and 3.0."""
    assert round(e_value(3.9), 2) == 7.26
    assert round(e_value_of_limits(1.8, 8.7), 2) == 3.0
    assert e_value_of_limits(0.9, 1.4) == 1.0
    assert e_value(0.5) == pytest.approx(e_value(2.0))


@pytest.mark.parametrize(
    ("times", "shares", "estimate"),
    [(1, (0.009164, 0.124641), 0.0752), (2, (0.018329, 0.249324), 0.0529), (3, (0.027493, 0.374050), 0.0304)],
)
def test_bounds_are_the_published_ones(times: float, shares: tuple[float, float], estimate: float) -> None:
    """A hidden cause as strong as being female, twice, and three times as strong."""
    found = bound(*FEMALE, times)

    assert found == pytest.approx(shares, abs=5e-6)
    assert found is not None
    assert DARFUR.adjusted(*found)[0] == pytest.approx(estimate, abs=5e-5)


def test_robustness_values_are_the_published_ones() -> None:
    """0.1388, and 0.0763 for the interval; what it takes to undo the estimate leaves nothing of it."""
    assert DARFUR.robustness() == pytest.approx(0.1388, abs=5e-5)
    assert DARFUR.robustness(0.95) == pytest.approx(0.0763, abs=5e-5)
    times = DARFUR.times(*FEMALE)
    shares = bound(*FEMALE, times)
    assert times == pytest.approx(4.33, abs=5e-3)
    assert shares is not None
    assert abs(DARFUR.adjusted(*shares)[0]) < 1e-9
    assert DARFUR.times(*FEMALE, 0.95) == pytest.approx(2.67, abs=5e-3)
    assert bound(0.5, 0.5, 3) is None


def tables(hidden: float, seed: int = 12, rows: int = 400) -> pd.DataFrame:
    """Draw a and b as causes of x and t, a hidden one of a strength, an instrument z and two negative controls."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows))
    x = 0.6 * a - 0.5 * b + random.normal(size=rows)
    t = 0.5 * x + 0.7 * a + 0.4 * b + random.normal(size=rows)
    u, z = random.normal(size=(2, rows))
    frame = pd.DataFrame({"a": a, "b": b, "x": x + hidden * (u + z), "t": t + hidden * (1.5 * u + 0.5 * z)})
    out, into = (0.6 * u + 0.5 * one + random.normal(size=rows) for one in (a, b))
    return frame.assign(z=z, out=out, into=into)


GRAPH = Dag({"a": [], "b": [], "x": ["a", "b"], "t": ["a", "b", "x"]})


def test_a_table_has_the_figures_of_pysensemakr() -> None:
    """On one table: the robustness values that PySensemakr 0.0.8 gives, and partial R² by statsmodels' t."""
    found = effect(GRAPH, "x", "t", data=tables(0.0)[["a", "b", "x", "t"]]).sensitivity()

    assert found.robustness == pytest.approx(0.44305539, abs=1e-8)
    assert found.robustness_limit == pytest.approx(0.38728029, abs=1e-8)
    assert found.strengths["a"] == pytest.approx((0.1708026752, 0.2182301017), abs=1e-9)
    assert found.strengths["b"] == pytest.approx((0.2217217477, 0.0913127901), abs=1e-9)
    assert str(found).startswith("undone by a cause 1.6 times as strong as a, 1.7 times as strong as b")


def test_controls_sound_where_a_hidden_cause_acts() -> None:
    """Without a hidden cause they are silent; with one both sound, and the text says what that means."""
    order = Knowledge(tiers=[["a", "b"], ["x"], ["t"]])
    found = {}
    for hidden in (0.0, 1.0):
        frame = tables(hidden, seed=14)
        how = {"adjust": ["a", "b"], "unaffected": ["out"], "powerless": ["into"], "knowledge": order}
        found[hidden] = effect(frame, "x", "t", **how)  # type: ignore[arg-type]
    assert [one.sounds for one in found[0.0].controls] == [False, False]
    assert [one.sounds for one in found[1.0].controls] == [True, True]
    assert "control: an effect of x on out, which cannot be" in str(found[1.0])
    assert "no effect of into on t is seen" in str(found[0.0])
    with pytest.raises(ApslError, match="'t' is the cause or the target, and no negative control"):
        effect(tables(0.0), "x", "t", unaffected=["t"])


def test_an_instrument_finds_what_a_hidden_cause_covers() -> None:
    """Two-stage least squares holds the truth where adjusting does not; a weak instrument is named."""
    frame = tables(1.0, rows=2000)
    order = Knowledge(tiers=[["a", "b", "z"], ["x"], ["t"]])
    found = effect(frame, "x", "t", adjust=["a", "b"], instrument="z", knowledge=order)
    weak = effect(
        frame.assign(z=np.random.default_rng(1).normal(size=2000)), "x", "t", adjust=["a", "b"], instrument="z"
    )

    assert found.instrument is not None
    assert weak.instrument is not None
    assert found.bounds is not None
    assert found.bounds[0] > 0.6
    assert found.instrument.interval.low < 0.5 < found.instrument.interval.high
    assert (found.instrument.is_weak, weak.instrument.is_weak) == (False, True)
    assert "which is weak" in str(weak)


@pytest.mark.release
def test_the_instrument_is_that_of_statsmodels() -> None:
    """The estimate of two-stage least squares."""
    from statsmodels.sandbox.regression.gmm import IV2SLS

    frame = tables(1.0)
    found = effect(frame, "x", "t", adjust=["a", "b"], instrument="z").instrument
    ones = np.ones(len(frame))
    design = np.column_stack([frame[["x", "a", "b"]], ones])
    fitted = IV2SLS(frame["t"], design, np.column_stack([frame[["z", "a", "b"]], ones])).fit()

    assert found is not None
    assert found.interval.estimate == pytest.approx(fitted.params.iloc[0], rel=1e-8)


def test_subgroups_have_their_own_intervals_and_a_test() -> None:
    """An effect that differs between the sexes is found; ranges of a number and pairs of columns have names."""
    random = np.random.default_rng(2)
    frame = tables(0.0, rows=800)
    frame["sex"] = random.choice(["f", "m"], 800)
    frame["t"] += np.where(frame["sex"] == "m", 0.6, 0.0) * frame["x"]
    found = effect(GRAPH, "x", "t", data=frame, by="sex").by
    ranges = effect(GRAPH, "x", "t", data=frame, by=["a", "sex"]).by

    assert found is not None
    assert ranges is not None
    assert [one.name for one in found.levels] == ["sex = f", "sex = m"]
    for one, truth in zip(found.levels, (0.5, 1.1), strict=True):
        assert one.interval is not None
        assert one.interval.low < truth < one.interval.high
    assert found.p is not None
    assert found.p < 1e-6
    assert len(ranges.levels) == 6
    assert ranges.levels[0].name.startswith("a ≤ ")
    with pytest.raises(ApslError, match="by names 't', which is the target"):
        effect(GRAPH, "x", "t", data=frame, by="t")
    with pytest.raises(ApslError, match="by names 3 columns; give one or two"):
        effect(GRAPH, "x", "t", data=frame, by=["a", "b", "sex"])


def test_the_test_of_a_difference_is_that_of_welch() -> None:
    """Of two estimates it is the t-test for unequal variances."""
    from scipy import stats

    one, other = Interval(0.2, 0, 0, 0.1, 30), Interval(0.6, 0, 0, 0.2, 20)
    freedom = (0.1**2 + 0.2**2) ** 2 / (0.1**4 / 30 + 0.2**4 / 20)

    assert differ([one, other]) == pytest.approx(2 * stats.t.sf(0.4 / np.hypot(0.1, 0.2), freedom), rel=1e-9)
    assert differ([one]) is None
