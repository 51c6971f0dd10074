"""Why a number moved: what is named, in words, as data and as a drawing, and what two tables may not be."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, moved
from apsl_rules.attribution import Moved
from apsl_rules.environments import State
from apsl_rules.errors import ApslError
from support.terminal import apsl_here


def month(seed: int, spread: float = 1.0, rows: int = 2000) -> pd.DataFrame:
    """Return a month of a shop: price moves visits, visits move churn, complaints have nothing to do with them."""
    random = np.random.default_rng(seed)
    season = random.choice(["dry", "wet", "cold"], rows)
    price = 20 + 3 * spread * random.normal(size=rows) + (season == "wet")
    visits = np.round(50 - price + 3 * random.normal(size=rows))
    churn = np.where(random.random(rows) < 1 / (1 + np.exp((visits - 32) / 2)), "yes", "no")
    return pd.DataFrame(
        {"price": price, "visits": visits, "season": season, "complaints": random.poisson(3, rows), "churn": churn}
    )


@pytest.fixture(scope="module")
def found() -> Moved:
    """Return why churn moved where the spread of the price grew."""
    return moved(month(1), month(2, 1.9), "churn")


def test_what_changed_what_passed_it_on_and_what_did_not(found: Moved) -> None:
    """The three are told apart, and the way of the change to the target is named."""
    assert found.changed == ("price",)
    assert found.passed_on == ("visits", "churn")
    assert set(found.unchanged) == {"season", "complaints"}
    assert found.way_to("churn") == ("price", "visits", "churn")
    assert [found[column].given for column in ("visits", "churn")] == [("price",), ("visits",)]
    assert found["price"].how.startswith("spread × 1.9")
    assert {("price", "visits"), ("visits", "churn"), ("table", "price")} <= found.graph.arrows


def test_every_line_has_its_proof(found: Moved) -> None:
    """Each column stands in a line with the verdict that decides, and the first line says how the target moved."""
    lines = str(found).splitlines()

    assert lines[0].startswith("churn moved between before (2,000 rows) and after (2,000): share of no")
    assert lines[0].endswith("it passed on what happened before it: price -> visits -> churn")
    for column in ("price", "visits", "season", "complaints", "churn"):
        (line,) = [one for one in lines[1:] if one.startswith(f"  {column}: ")]
        assert "p = " in line
        assert "table" in line
    data = json.loads(json.dumps(found.to_dict()))
    assert {one["column"]: one["state"] for one in data["columns"]}["visits"] == "passed on"
    assert all(one["proof"]["decision"] in ("dependent", "independent") for one in data["columns"])


def test_the_drawing_has_three_colours(found: Moved, tmp_path: Path) -> None:
    """What changed is red, what passed it on amber, what did not change green; the page has the same drawing."""
    from apsl_rules.views.attributed import COLOURS

    drawing = found.svg()
    for state in (State.CHANGED, State.PASSED_ON, State.SAME):
        assert COLOURS[state] in drawing
    found.report(tmp_path / "moved.html")
    assert drawing in (tmp_path / "moved.html").read_text("utf-8")
    assert drawing in found._repr_html_()


def test_the_order_of_the_tables_turns_sizes_only(found: Moved) -> None:
    """Backwards the same columns changed, and the spread shrank."""
    back = moved(month(2, 1.9), month(1), "churn", names=("June", "May"))

    assert (back.changed, back.passed_on) == (found.changed, found.passed_on)
    assert back["price"].made.spread == pytest.approx(1 / (found["price"].made.spread or 1), rel=0.05)
    assert "between June (2,000 rows) and May (2,000)" in str(back)


def test_categories_alone_are_compared_by_counts() -> None:
    """With nothing but categories the tests are G²."""
    tables = [month(seed, 1 + wide).drop(columns=["complaints"]) for seed, wide in ((1, 0.0), (2, 0.9))]
    cut = [one.assign(price=pd.cut(one.price, [-99, 17, 20, 23, 99], labels=list("abcd"))) for one in tables]
    cut = [one.assign(visits=pd.cut(one.visits, [-99, 27, 30, 33, 99], labels=list("abcd"))) for one in cut]
    found = moved(cut[0], cut[1], "churn")

    assert "G² = " in str(found)
    assert found["price"].state is State.CHANGED
    assert found["season"].state is State.SAME


def test_nothing_moved_in_two_draws_of_one_table() -> None:
    """Without a difference nothing is named, and the first line says so."""
    found = moved(month(1), month(2), "churn")

    assert found.changed == ()
    assert str(found).startswith("churn did not move between before")
    assert "changed: no change that is large enough to count was found" in str(found)


def test_missing_values_and_columns_of_one_table() -> None:
    """Gaps leave rows out; a column of one table, and one that tells the tables apart, are named and left out."""
    before, after = month(1).assign(old=1.5), month(2, 1.9)
    before["week"], after["week"] = np.arange(2000) % 4, 4 + np.arange(2000) % 4
    after.loc[after.index[:100], "visits"] = np.nan
    found = moved(before, after, "churn")

    assert found.changed == ("price",)
    told = " ".join(found.notes)
    assert "only 'before' has 'old'" in told
    assert "no value of 'week' occurs in both tables" in told


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"target": "chrn"}, "did you mean 'churn'"),
        ({"alpha": 2}, "give a number between 0 and 1"),
        ({"names": ("x", "x")}, "give two different names"),
        ({"kinds": {"nobody": "number"}}, "nobody"),
        ({"learnr": "apsl"}, "moved has no setting 'learnr'"),
    ],
)
def test_wrong_arguments_get_a_sentence(settings: dict[str, object], words: str) -> None:
    """Each mistake is named with what to do."""
    with pytest.raises(ApslError, match=words):
        moved(month(1, rows=100), month(2, rows=100), **{"target": "churn", **settings})  # type: ignore[arg-type]


def test_few_rows_and_lacking_targets_get_a_sentence() -> None:
    """A table of a handful of rows, or without the target, cannot be compared."""
    with pytest.raises(ApslError, match="the table 'after' has 10 rows; at least 20 are needed"):
        moved(month(1), month(2, rows=10), "churn")
    with pytest.raises(ApslError, match="the table 'after' has no column 'churn', which 'before' has"):
        moved(month(1), month(2).drop(columns="churn"), "churn")


def test_the_command_prints_writes_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are called by their files; --json has the same states; a wrong ending is refused before any work."""
    monkeypatch.chdir(tmp_path)
    month(1).to_csv("may.csv", index=False)
    month(2, 1.9).to_csv("june.csv", index=False)

    told = apsl_here("moved", "may.csv", "june.csv", "-t", "churn", "--out", "moved.svg")
    assert told.out.startswith("churn moved between may (2,000 rows) and june (2,000)")
    assert Path("moved.svg").read_text("utf-8").startswith("<svg")
    data = json.loads(apsl_here("moved", "may.csv", "june.csv", "-t", "churn", "--json").out)
    assert data["way"] == ["price", "visits", "churn"]
    wrong = apsl_here("moved", "may.csv", "june.csv", "-t", "churn", "--out", "moved.png")
    assert wrong.code == 1
    assert "give a name that ends in .svg or .html" in wrong.err


def test_slopes_that_cancel_are_seen_where_nothing_else_differs() -> None:
    """The outcome itself is as it was, and so are both causes; given either of them it differs."""

    def table(seed: int, *slopes: float) -> pd.DataFrame:
        random = np.random.default_rng(seed)
        heat, rain = random.normal(size=(2, 2000))
        growth = slopes[0] * heat + slopes[1] * rain + random.normal(size=2000)
        return pd.DataFrame({"heat": heat, "rain": rain, "growth": growth})

    turned = moved(table(1, 0.9, 0.3), table(2, 0.3, 0.9), "growth")
    assert turned.changed == ("growth",)
    assert turned["growth"].explanation.alone.verdict.independent
    assert "growth itself hardly differs: " in str(turned)
    assert "given its cause it does: " in str(turned)
    assert turned["growth"].how.startswith("it follows ")
    assert not moved(table(1, 0.9, 0.3), table(2, 0.9, 0.3), "growth").changed


@pytest.mark.parametrize("seed", [9026, 9040, 9100])
def test_a_known_direction_tells_which_of_two_columns_changed(seed: int) -> None:
    """Both are as they were, and only their relation differs: the effect is made differently, not its cause."""

    def table(seed: int, slope: float) -> pd.DataFrame:
        cause, noise = np.random.default_rng(seed).normal(size=(2, 1000))
        return pd.DataFrame({"x": cause, "y": slope * cause + np.sqrt(1 - slope**2) * noise})

    tables = table(seed, 0.9), table(seed + 1, 0.3)
    assert moved(*tables, "y", knowledge=Knowledge(required=[("x", "y")])).changed == ("y",)
    assert moved(*tables, "y", knowledge=Knowledge(required=[("y", "x")])).changed == ("x",)
