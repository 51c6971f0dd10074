"""Weighed graphs: what the interval reaches, what is given, and what decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, effect, learn
from apsl_rules.effects.wording import percent
from apsl_rules.errors import ApslError

ORDER = Knowledge(tiers=[["a", "b"], ["x"], ["t"], ["m"]])


def confounded(rows: int = 500, seed: int = 5) -> pd.DataFrame:
    """Draw numbers: a and b cause x and t, x causes t with 0.5, and t causes m."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=(2, rows))
    x = 0.6 * a - 0.5 * b + random.normal(size=rows)
    t = 0.5 * x + 0.7 * a + 0.4 * b + random.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "x": x, "t": t, "m": 0.8 * t + random.normal(size=rows)})


def trial(rows: int = 4000, seed: int = 1) -> pd.DataFrame:
    """Draw a trial with a hidden cause of the dose's covariate: the rows alone put the outcome before the dose."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=rows)
    site = 0.8 * hidden + random.normal(size=rows)
    dose = 0.8 * hidden + 0.9 * site + random.normal(size=rows)
    return pd.DataFrame({"site": site, "dose": dose, "pain": -0.3 * dose + 1.2 * random.normal(size=rows)})


def test_the_interval_reaches_zero_where_none_cannot_be_excluded() -> None:
    """Shares sum to one, the truth is held, and the text says what would decide."""
    found = effect(confounded(), "x", "t", confidence=0.9)
    shares = [one.probability for one in found.possible]

    assert found.is_weighed
    assert sum(share for share in shares if share is not None) == pytest.approx(1)
    assert found.no_effect is not None
    assert found.no_effect > 0.1
    assert found.bounds is not None
    assert found.bounds[0] == 0.0
    assert found.bounds[1] > 0.5
    assert "rests on the rows alone" in str(found)
    assert "none, t being a cause of x; else" in str(found)
    assert "knowledge=Knowledge(tiers=[['x'], ['t'], ...])" in str(found)


def test_an_order_that_is_given_decides() -> None:
    """One set is left, its interval is that of least squares, and no share of none is left."""
    found = effect(confounded(), "x", "t", knowledge=ORDER)

    assert found.basis == "given"
    assert found.no_effect == 0
    assert [one.adjustment for one in found.possible] == [("a", "b")]
    assert found.interval is not None
    assert found.interval.estimate == pytest.approx(0.5, abs=0.1)


def test_all_earlier_columns_are_held_by_name() -> None:
    """It is least squares on these columns; without tiers it is refused."""
    frame = confounded()
    found = effect(frame, "x", "t", adjust="earlier", knowledge=ORDER)
    design = np.column_stack([frame[["x", "a", "b"]], np.ones(len(frame))])
    slope = np.linalg.lstsq(design, frame["t"].to_numpy(), rcond=None)[0][0]

    assert found.interval is not None
    assert found.interval.estimate == pytest.approx(slope, abs=1e-10)
    with pytest.raises(ApslError, match="'x', which is in no tier; give the order with knowledge="):
        effect(frame, "x", "t", adjust="earlier")


def test_the_target_given_first_has_no_effect_back() -> None:
    """Backwards the effect is 0, and what was given is named."""
    found = effect(confounded(), "t", "x", knowledge=ORDER)

    assert found.bounds == (0.0, 0.0)
    assert "it was given that x comes first: t is in tier 3 and x in tier 2" in str(found)


def test_a_given_direction_against_the_rows_is_a_line_and_no_refusal() -> None:
    """The rows alone would turn the order round; the effect is told with a note, however many rows there are."""
    random = np.random.default_rng(2)
    wealth, season = random.normal(size=(2, 3000))
    vitamins = 0.9 * wealth + 0.8 * season + random.normal(size=3000)
    frame = pd.DataFrame({"season": season, "vitamins": vitamins, "health": wealth + random.normal(size=3000)})
    order = Knowledge(tiers=[["season"], ["vitamins"], ["health"]])
    found = effect(frame, "vitamins", "health", knowledge=order)

    assert found.interval is not None
    assert any(
        "the rows speak against what was given: by them alone health would be a cause" in one for one in found.notes
    )


@pytest.mark.parametrize("hidden", ["excluded", "possible"])
def test_no_bare_zero_rests_on_a_score(hidden: Any) -> None:
    """Where a score alone puts the target first, the interval still reaches to what the effect would be otherwise."""
    frame = trial()
    found, assigned = (effect(frame, "dose", "pain", hidden=hidden, randomised=flag) for flag in (False, True))

    assert found.bounds is not None
    assert found.bounds[0] < -0.2
    assert assigned.basis == "assigned"
    assert assigned.bounds is not None
    assert assigned.bounds[0] < -0.3 < assigned.bounds[1]


def test_the_rows_alone_do_not_decide_where_hidden_causes_are_possible() -> None:
    """With the weights alone there would be a sign; unless a good V-structure or names decide, none stays in."""
    random = np.random.default_rng(3)
    x, c = random.normal(size=(2, 800))
    frame = pd.DataFrame({"x": x, "c": c, "t": 0.5 * x + random.normal(size=800)})
    found = effect(frame, "x", "t", hidden="possible")
    named = effect(frame.rename(columns={"x": "age"}), "age", "t", hidden="possible")
    frame["t"] += 0.6 * c
    collider = effect(frame, "x", "t", hidden="possible")

    assert found.no_effect is not None
    assert found.no_effect >= 0.4
    assert (named.basis, named.no_effect) == ("names", 0)
    assert collider.basis == "V-structure"
    assert collider.no_effect is not None
    assert collider.no_effect < 0.4


def test_ways_to_adjust_are_checked() -> None:
    """What was given as later is not held, and a strategy that there is not is refused."""
    frame = confounded()
    with pytest.raises(ApslError, match="adjusting for 'm' is wrong: it was given as later than 'x'"):
        effect(frame, "x", "t", adjust=["m"], knowledge=ORDER)
    with pytest.raises(ApslError, match="give 'parents', 'earlier', 'optimal', or a list of columns"):
        effect(frame, "x", "t", adjust="all")
    with pytest.raises(ApslError, match="'x' is said to be assigned by chance, and 'a' -> 'x' to be required"):
        effect(frame, "x", "t", randomised=True, knowledge=Knowledge(required=[("a", "x")]))


def test_equal_figures_are_one_line() -> None:
    """Whichever way a line points that does not change what is held, the effect is told once."""
    frame = confounded()[["x", "t", "m"]]
    part = learn(Dag({"x": [], "t": ["x"], "m": ["t"]}), "x")
    drawn = effect(part, "x", "m", data=frame, graphs="drawn")
    lines = str(drawn).splitlines()

    assert len(lines) == len(set(lines))


def test_rows_that_are_lost_are_named() -> None:
    """The note has the number of rows, and which columns lack values."""
    frame = confounded()
    frame.loc[:49, "a"] = np.nan
    found = effect(frame, "x", "t", knowledge=ORDER)

    assert "50 rows of 500 were left out, which lack a in 50" in found.notes


def test_every_way_to_count_gives_the_same_shares(tmp_path: Any) -> None:
    """Categories in memory and in a file that DuckDB reads."""
    random = np.random.default_rng(4)
    z = random.random(900) < 0.5
    x = random.random(900) < np.where(z, 0.7, 0.3)
    t = random.random(900) < 0.2 + 0.3 * x + 0.3 * z
    frame = pd.DataFrame({"z": z, "x": x, "t": t}).replace({True: "yes", False: "no"})
    frame.to_parquet(tmp_path / "rows.parquet")
    here, there = effect(frame, "x", "t"), effect(tmp_path / "rows.parquet", "x", "t", counts="duckdb")

    assert here.to_dict() == there.to_dict()


def test_wide_tables_are_narrowed_to_what_is_near() -> None:
    """Of forty columns at most ten take part, the two that matter among them."""
    frame = confounded(800)
    random = np.random.default_rng(6)
    wide = frame.join(pd.DataFrame(random.normal(size=(800, 35)), columns=[f"n{one:02d}" for one in range(35)]))
    found = effect(wide, "x", "t", knowledge=ORDER)

    assert found.interval is not None
    assert {"a", "b"} <= set(found.possible[0].adjustment)


def test_shares_are_told_as_people_write_them() -> None:
    """Never as 1e+02, and never as 0 or 100 where something is left."""
    told = [percent(share) for share in (1.0, 0.9995, 0.997, 0.99, 0.786, 0.0527, 0.0003, 0.0)]

    assert told == ["100 %", "> 99.9 %", "99.7 %", "99 %", "79 %", "5.3 %", "< 0.1 %", "0 %"]


def test_what_is_made_from_the_outcome_is_never_held() -> None:
    """A cut of the target, and the number that a target is cut from: held, they would take the effect away."""
    random = np.random.default_rng(8)
    rows = 400
    race, smoke = random.normal(size=rows), random.random(rows) < 0.4
    grams = np.round(3000 - 300.0 * smoke + 150 * race + 400 * random.normal(size=rows))
    low = np.where(grams < 2500, "yes", "no")
    frame = pd.DataFrame({"race": race, "smoke": np.where(smoke, "yes", "no"), "grams": grams, "low": low})
    order = Knowledge(tiers=[["race"], ["smoke"], ["low"]])
    found = effect(frame, "smoke", "low", knowledge=order)
    known = learn(frame, "smoke")

    assert not any("grams" in one.adjustment for one in found.possible)
    assert found.bounds is not None
    assert found.bounds[0] > 0
    assert any("'grams' cannot be adjusted for: by definition it says what" in note for note in found.notes)
    assert not any("grams" in one.adjustment for one in effect(known, "smoke", "low", data=frame).possible)
    assert not any("low" in one.adjustment for one in effect(frame, "smoke", "grams").possible)
    with pytest.raises(ApslError, match="adjusting for 'grams' is wrong: by definition it says what"):
        effect(frame, "smoke", "low", adjust=["grams"])
    assert effect(frame, "smoke", "low", adjust=["grams"], keep=["grams"]).possible[0].adjustment == ("grams",)
