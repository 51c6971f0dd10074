"""Rows in time in a run: what is drawn of earlier steps, on every surface, and what is refused or only noted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, Part, blanket, effect, learn, learn_graph, learn_many, load, moved, stability, table
from apsl_rules.data import find_derived
from apsl_rules.errors import ApslError
from apsl_rules.learning.sklearn import PartSelector
from support.terminal import apsl_here

TODAY = {("rain[t-1]", "rain"), ("rain[t-1]", "river"), ("river[t-1]", "river"), ("sales[t-1]", "sales")}


def days(rows: int = 1000, seed: int = 3) -> pd.DataFrame:
    """Return a series in which rain moves the river a day later, and sales go their own way."""
    random = np.random.default_rng(seed)
    rain, river, sales = np.zeros((3, rows))
    for day in range(1, rows):
        rain[day] = 0.7 * rain[day - 1] + random.normal()
        river[day] = 0.7 * river[day - 1] + 0.5 * rain[day - 1] + random.normal()
        sales[day] = 0.7 * sales[day - 1] + random.normal()
    date = pd.date_range("2020-01-01", periods=rows).strftime("%Y-%m-%d")
    return pd.DataFrame({"date": date, "rain": rain, "river": river, "sales": sales})


def test_arrows_come_from_the_step_before_in_any_order_of_rows() -> None:
    """The graph has the arrows of the truth, and nothing among columns of earlier steps alone."""
    shuffled = days().sample(frac=1, random_state=1)
    graph = learn_graph(shuffled, time="date")
    assert graph.arrows == TODAY
    assert not graph.lines

    hand = days().drop(columns="date")
    before = hand.shift(1).add_suffix("[t-1]")
    known = Knowledge(tiers=[list(before), list(hand)])
    by_hand = learn_graph(pd.concat([hand, before], axis=1).iloc[1:], knowledge=known, groups=None)
    assert {way for way in by_hand.arrows if way[1] in hand} == TODAY


@pytest.mark.parametrize("hidden", ["possible", "excluded", "allowed"])
def test_no_arrow_goes_back_in_time(hidden: Any) -> None:
    """Whatever is thought of hidden causes, no edge joins earlier steps and no arrow points at one."""
    random = np.random.default_rng(8)
    frame = days(400)
    frame["flood"] = frame["river"] * 0.6 + random.normal(size=400)
    part = learn(frame, "river", time="date", depth="max", hidden=hidden, lags=2)
    assert part.edges
    assert not any(head in part.earlier for _, head in part.all_arrows)
    assert not any(pair <= part.earlier.keys() for pair in part.edges)
    assert part.settings["lags"] == 2


def test_edges_of_one_step_are_found_as_ever() -> None:
    """A relation within a day is drawn between columns of the day."""
    random = np.random.default_rng(8)
    frame = days(600)
    frame["flood"] = frame["river"] * 0.6 + random.normal(size=600)
    part = learn(frame, "flood", time="date")
    assert part.neighbours_of("flood") == ("river",)


def test_a_part_in_time_is_saved_drawn_and_verified(tmp_path: Path) -> None:
    """The file keeps time and lags; the drawings say which way time runs; verify asks all tests again."""
    frame = days(500)
    frame.to_csv(tmp_path / "days.csv", index=False)
    data, out = str(tmp_path / "days.csv"), str(tmp_path / "p.json")
    ran = apsl_here("learn", data, "-t", "river", "--time", "date", "--out", out)
    assert ran.code == 0, ran.err
    assert "rain[t-1]" in ran.out
    assert "[t-1] one step before" in ran.out
    part = load(out)
    assert isinstance(part, Part)
    assert (part.settings["time"], part.settings["lags"]) == (["date"], 1)
    assert part == learn(frame, "river", time="date")
    assert part.earlier["rain[t-1]"] == ("rain", 1)
    drawn = part.to("svg")
    assert "time runs from left to right" in drawn
    assert ">t-1</text>" in drawn
    again = apsl_here("verify", out, "--data", data)
    assert again.code == 0, again.out + again.err
    assert "asked again" in again.out


def test_the_effect_of_an_earlier_step_holds_the_others_of_it() -> None:
    """What a column of the step before does is not mixed with what the others of that step do."""
    frame = days()
    part = learn(frame, "river", time="date")
    found = effect(part, "rain[t-1]", "river", data=frame)
    assert found.possible[0].adjustment == ("river[t-1]", "sales[t-1]")
    assert found.bounds is not None
    low, high = found.bounds
    assert low < 0.5 < high
    assert effect(frame, "rain[t-1]", "river", time="date", graphs="drawn").possible[0].adjustment == (
        "river[t-1]",
        "sales[t-1]",
    )


def test_other_answers_honour_time() -> None:
    """Many parts, resamples, blankets and the selector learn from the columns of earlier steps."""
    frame = days(500)
    parts = learn_many(frame, ["river", "rain"], time="date")
    assert parts["river"].arrows == {("rain[t-1]", "river"), ("river[t-1]", "river")}
    counted = stability(frame, "river", time="date", resamples=4)
    assert {(row["source"], row["target"]) for row in counted.part.rows()} == parts["river"].arrows
    assert all(row["support"] == 1 for row in counted.part.rows())
    assert set(blanket(frame, "river", time="date").members) >= {"rain[t-1]", "river[t-1]"}
    assert set(blanket(frame, "river", time="date", finder="gs").members) >= {"rain[t-1]", "river[t-1]"}
    selector = PartSelector(time="date").fit(frame.drop(columns="river"), frame["river"])
    assert selector.get_feature_names_out().tolist() == ["rain"]


def test_panels_are_lagged_within_units() -> None:
    """Independent columns of units that drift get no edge but from their own step before."""
    frames = []
    for unit in range(30):
        drawn = days(40, seed=100 + unit).assign(unit=f"u{unit}", date=np.arange(40))
        frames.append(drawn.assign(rain=drawn.rain + unit % 7, sales=drawn.sales + unit % 5))
    panel = pd.concat(frames, ignore_index=True)
    graph = learn_graph(panel, time="date", groups="unit")
    assert set(graph.arrows) == TODAY
    assert not graph.lines
    noticed = learn_graph(panel, time="date")
    assert set(noticed.arrows) == TODAY


def test_a_series_is_noted_and_nothing_is_done_by_itself() -> None:
    """The note has the ready argument; without it the part is that of independent rows."""
    part = learn(days(300), "river")
    (note,) = [one for one in part.notes if one.code == "series"]
    assert "time='date' adds the columns of the step before" in note
    assert note.fields["worth"] < 300
    assert not part.earlier
    assert part.edges == learn(days(300).drop(columns="date"), "river").edges
    assert not [one for one in learn(days(300), "river", time="date").notes if one.code == "series"]
    random = np.random.default_rng(0)
    plain = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc")).assign(date=days(200).date)
    assert not [one for one in learn(plain, "a").notes if one.code == "series"]


def test_rows_of_a_database_in_time_are_taken_into_memory(tmp_path: Path) -> None:
    """The sentence that refuses them where they are names the way, and that way is open."""
    frame = days(300).sample(frac=1, random_state=1)  # noqa: F841 - the statement reads it
    with duckdb.connect(tmp_path / "days.duckdb") as connection:
        connection.execute("CREATE TABLE days AS SELECT * FROM frame")
    with pytest.raises(ApslError, match="give counts='memory'"):
        learn(tmp_path / "days.duckdb", "river", time="date")
    there = learn(tmp_path / "days.duckdb", "river", time="date", counts="memory")
    assert there.arrows == learn(days(300), "river", time="date").arrows


def test_what_cannot_be_done_in_time_is_refused(tmp_path: Path) -> None:
    """One sentence each, in the words of the caller."""
    frame = days(100)
    with pytest.raises(ApslError, match=r"lags=2 needs the column that says when each row was; give time='date'"):
        learn(frame, "river", lags=2)
    with pytest.raises(ApslError, match="time and environment cannot be given together"):
        learn(frame, "river", time="date", environment="rain")
    with pytest.raises(ApslError, match="moved compares the rows of two tables"):
        moved(frame, frame, "river", time="date")
    with pytest.raises(ApslError, match="lags"):
        learn(frame, "river", time="date", lags=0)
    with pytest.raises(ApslError, match="'date' says when each row was"):
        learn(frame, "date", time="date")
    path = str(tmp_path / "days.parquet")
    frame.to_parquet(path)
    with pytest.raises(ApslError, match="time='date' sorts the rows in memory, and duckdb reads them where they are"):
        learn(path, "river", time="date", counts="duckdb")
    ran = apsl_here("learn", path, "-t", "river", "--time", "dat")
    assert ran.code == 1
    assert "did you mean 'date'" in ran.err
    ran = apsl_here("learn", path, "-t", "river", "--lags", "3")
    assert "--lags 3 needs the column" in ran.err
    assert "Traceback" not in ran.err


def test_categories_go_by_counts() -> None:
    """A table of categories in time is learned as one without, by counts."""
    random = np.random.default_rng(5)
    state = np.zeros(800, int)
    for at in range(1, 800):
        state[at] = state[at - 1] if random.random() < 0.8 else random.integers(3)
    mood = np.where(random.random(800) < 0.8, np.roll(state, 1), random.integers(3, size=800))
    frame = pd.DataFrame({"t": np.arange(800), "state": state, "mood": mood})
    part = learn(frame, "mood", time="t", hidden="excluded", kinds={"state": "category", "mood": "category"})
    assert ("state[t-1]", "mood") in part.arrows
    assert part.learner == "apsl-score"
    assert part.settings["time"] == ["t"]


def test_a_slow_column_is_no_copy_of_itself() -> None:
    """That a column hardly differs from its own step before needs no note; a copy of another column does."""
    walk = np.random.default_rng(6).normal(size=800).cumsum()
    twin = walk + 1e-3 * np.random.default_rng(7).normal(size=800)
    frame = pd.DataFrame({"t": np.arange(800), "walk": walk, "twin": twin, "rain": days(800)["rain"]})
    read = table(frame[["t", "walk", "rain"]], time="t")
    assert find_derived(read, read.names) == ()
    read = table(frame, time="t")
    assert find_derived(read, read.names)
