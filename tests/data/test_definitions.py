"""Columns that say by definition what a target says are set aside, with one note, and no column that depends on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import effect, learn, learn_graph, learn_many, stability
from apsl_rules.data import definitions, table
from apsl_rules.errors import ApslError
from support.terminal import apsl_here

RANDOM = np.random.default_rng(5)
ROWS = 300
WAGE = np.round(np.exp(RANDOM.normal(2, 0.5, ROWS)), 2)
HOURS = RANDOM.integers(10, 60, ROWS)
TIPS = np.round(RANDOM.exponential(3, ROWS), 2)
FLAG = RANDOM.integers(0, 2, ROWS)
SCHOOL = RANDOM.integers(8, 18, ROWS)
AREA = RANDOM.choice(["north", "south", "west"], ROWS)


def found(target: str, **columns: Any) -> dict[Any, str]:
    """Return what is set aside for a target, with the words."""
    return dict(definitions(table(pd.DataFrame(columns)), target).told)


@pytest.mark.parametrize(
    ("name", "column", "words"),
    [
        ("lwage", np.round(np.log(WAGE), 4), "is log('wage')"),
        ("wage2", WAGE**2, "is 'wage'²"),
        ("root", np.sqrt(WAGE), "is the root of 'wage'"),
        ("monthly", WAGE * 160, "is 160 · 'wage'"),
        ("rest", 100 - WAGE, "is 100 - 'wage'"),
        ("place", pd.Series(WAGE).rank(), "is the rank of 'wage'"),
        ("high", np.where(WAGE > 8, "yes", "no"), "is cut from 'wage' (at about 8"),
        ("fifth", pd.qcut(WAGE, 5, labels=False), "is cut from 'wage' into 5 intervals"),
        ("total", WAGE + TIPS, "is 'wage' + 'tips'"),
        ("pay", np.round(WAGE * HOURS, 1), "is 'wage' · 'hours'"),
        ("share", np.round(WAGE / HOURS, 5), "is 'wage' / 'hours'"),
        ("flagged", WAGE * FLAG, "is 'wage' times 'flag'"),
        ("mean", (WAGE + TIPS) / 2, "is 0.5 · ('wage' + 'tips')"),
        ("all", WAGE + TIPS + HOURS, "is 'hours' + 'tips' + 'wage'"),
    ],
)
def test_what_a_target_defines_is_set_aside(name: str, column: Any, words: str) -> None:
    """Each way to make a column from the target is recognised, named, and nothing else with it."""
    told = found("wage", wage=WAGE, hours=HOURS, tips=TIPS, flag=FLAG, **{name: column})
    assert list(told) == [name]
    assert words in told[name] or sorted(words.split(" ")) == sorted(told[name].split(" "))


def test_what_defines_the_target_is_set_aside() -> None:
    """The number behind a logarithm or a cut, the terms of a sum, and what a difference is taken from."""
    frame = {"wage": WAGE, "tips": TIPS, "hours": HOURS}
    assert list(found("lwage", **frame, lwage=np.log(WAGE))) == ["wage"]
    assert found("lwage", wage=WAGE, lwage=np.round(np.log(WAGE), 5)) == {"wage": "is exp('lwage')"}
    assert list(found("high", **frame, high=(WAGE > 8) * 1)) == ["wage"]
    assert sorted(found("total", **frame, total=WAGE + TIPS)) == ["tips", "wage"]
    many = {"wage": WAGE, "tips": TIPS, "hours": HOURS, "all": WAGE + TIPS + HOURS}
    assert sorted(found("all", **many)) == ["hours", "tips", "wage"]
    assert list(found("change", **frame, change=WAGE - TIPS)) == ["wage"]


def test_an_indicator_of_a_level_belongs_to_its_category() -> None:
    """A two-valued column that a level names is the category again, whichever of the two is the target."""
    flags = {"south": (AREA == "south") * 1, "lucky": (AREA == "west") * 1}
    assert list(found("area", area=AREA, wage=WAGE, **flags)) == ["south"]
    assert list(found("south", area=AREA, wage=WAGE, **flags)) == ["area"]


def test_what_merely_depends_stays() -> None:
    """Strong dependence, groups that stand apart, coarse scales and near sums are no definitions."""
    noise = RANDOM.normal(size=ROWS)
    group = np.where(np.arange(ROWS) < 100, "a", "b")
    told = found(
        "x",
        x=np.where(group == "a", 0, 10) + noise,
        group=group,
        near=np.where(group == "a", 0, 10) + noise + 0.01 * RANDOM.normal(size=ROWS),
        scale=np.round(noise * 1.2),
        other=np.round(noise),
        hours=HOURS,
    )
    assert told == {}
    cause = RANDOM.normal(size=ROWS)
    effect_of = 0.8 * cause + 0.6 * noise + 0.005 * RANDOM.normal(size=ROWS)
    assert found("effect", cause=cause, noise=noise, effect=effect_of) == {}


def test_one_note_names_them_and_takes_them_back(tmp_path: Path) -> None:
    """The part says what was set aside; `keep` and `--keep` take it back; an unknown name is refused."""
    frame = pd.DataFrame(
        {"wage": WAGE, "lwage": np.round(np.log(WAGE), 5), "school": SCHOOL + WAGE.round(), "hours": HOURS}
    )
    part = learn(frame, "lwage")
    (note,) = [one for one in part.notes if getattr(one, "code", "") == "by definition"]
    assert note == "'wage' is exp('lwage'): set aside; take it back with keep=['wage']"
    assert "wage" not in part.nodes
    assert "school" in part.neighbours_of("lwage")
    (aside,) = [one for one in part.columns if one.name == "wage"]
    assert (aside.kind, aside.detail) == ("set aside", "it follows from the target: it is exp('lwage')")
    assert "wage" in learn(frame, "lwage", keep=["wage"]).nodes
    assert "wage" in learn(frame, "lwage", keep="*").nodes
    with pytest.raises(ApslError, match="'wages'"):
        learn(frame, "lwage", keep=["wages"])

    frame.to_csv(tmp_path / "w.csv", index=False)
    told = apsl_here("learn", str(tmp_path / "w.csv"), "-t", "lwage")
    assert "--keep wage" in told.out + told.err
    kept = apsl_here("learn", str(tmp_path / "w.csv"), "-t", "lwage", "--keep", "wag*", "--json")
    assert "wage" in json.loads(kept.out)["nodes"]


def test_a_cut_alone_leaves_a_table_of_categories() -> None:
    """Where the only number is set aside, the rest is a table of categories, tested and scored as such."""
    frame = pd.DataFrame({"wage": WAGE, "high": (WAGE > 8) * 1, "area": AREA, "flag": FLAG})
    part = learn(frame, "high")
    assert part.oracle == "gsquare"
    assert set(part.nodes) == {"high", "area", "flag"}


def test_graphs_resamples_targets_and_effects() -> None:
    """Graphs of all nodes keep copies; resamples have the nodes of their part; both ends of an effect stay."""
    frame = pd.DataFrame({"wage": WAGE, "lwage": np.log(WAGE), "school": SCHOOL + np.round(WAGE), "hours": HOURS})
    assert "lwage" in learn_graph(frame).nodes
    found_again = stability(frame, "wage", resamples=3, seed=1)
    assert "lwage" not in found_again.part.nodes
    parts = learn_many(frame, ["wage", "hours"])
    assert "lwage" not in parts["wage"].nodes
    assert "lwage" in parts["hours"].nodes
    assert effect(frame, "wage", "lwage") is not None
