"""What views show of a table: effects in a few signs, counts, boxes, points and levels, from memory and elsewhere."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, Part, learn
from apsl_rules.effects import edge_figures
from apsl_rules.errors import ApslError

ORDER = Knowledge(tiers=[["sex", "age"], ["smoker"], ["cost"]])


def draw(rows: int = 1500) -> pd.DataFrame:
    """Draw a table of both kinds around a cost."""
    rng = np.random.default_rng(3)
    sex, age = rng.choice(["f", "m"], rows), rng.normal(50, 12, rows)
    smoker = np.where(rng.random(rows) < np.where(sex == "m", 0.5, 0.2), "yes", "no")
    cost = 3 * age - 40 * (smoker == "yes") + rng.normal(0, 15, rows)
    return pd.DataFrame({"sex": sex, "age": age, "smoker": smoker, "cost": cost})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return the table."""
    return draw()


@pytest.fixture(scope="module")
def part(rows: pd.DataFrame) -> Part:
    """Return the part around the cost."""
    return learn(rows, "cost", depth=2, knowledge=ORDER)


def test_every_edge_has_what_lies_behind_it(part: Part, rows: pd.DataFrame) -> None:
    """Two numbers have points, a category and a number quartiles, two categories counts; signs are right."""
    found = edge_figures(part, rows)
    kinds = {pair: chart["kind"] for pair, chart in found.charts.items()}

    assert kinds == {
        frozenset({"age", "cost"}): "points",
        frozenset({"smoker", "cost"}): "boxes",
        frozenset({"sex", "smoker"}): "table",
    }
    assert found.labels[frozenset({"age", "cost"})].startswith("+")
    assert found.labels[frozenset({"smoker", "cost"})].startswith("−")
    counts = pd.crosstab(rows["sex"], rows["smoker"]).to_numpy().tolist()
    assert found.charts[frozenset({"sex", "smoker"})]["counts"] == counts
    median = rows.loc[rows["smoker"] == "yes", "cost"].median()
    assert found.charts[frozenset({"smoker", "cost"})]["boxes"][1][2] == pytest.approx(median)


def test_every_node_has_the_spread_of_its_values(part: Part, rows: pd.DataFrame) -> None:
    """A category has the rows of its levels, a number a histogram and quartiles, and both the rows without a value."""
    holey = rows.copy()
    holey.loc[:99, "age"] = np.nan
    found = edge_figures(part, holey).distributions
    levels = [{"name": name, "rows": int((rows["sex"] == name).sum())} for name in ("f", "m")]

    assert found["sex"]["levels"] == levels
    assert (found["sex"]["missing"], found["sex"]["rows"]) == (0, 1500)
    assert (found["age"]["missing"], sum(found["age"]["counts"])) == (100, 1400)
    assert found["age"]["low"] == pytest.approx(holey["age"].min())
    assert float(found["age"]["quartiles"]["median"]) == pytest.approx(holey["age"].median(), rel=0.01)


def test_rare_levels_are_told_together() -> None:
    """Of more levels than a chart has the commonest are shown, and how many rows the others have."""
    rng = np.random.default_rng(2)
    town = rng.integers(0, 45, 3000)
    frame = pd.DataFrame({"town": [f"t{one}" for one in town], "t": rng.random(3000) < 0.1 + 0.8 * (town < 20)})
    found = edge_figures(learn(frame, "t"), frame).distributions["town"]

    assert len(found["levels"]) == 30
    assert found["others"]["levels"] == 15
    assert sum(one["rows"] for one in found["levels"]) + found["others"]["rows"] == 3000


def test_rows_elsewhere_have_counts_and_effects_but_no_points(part: Part, rows: pd.DataFrame, tmp_path: Path) -> None:
    """From a file that DuckDB reads come the same effects and counts; rows are not brought here for a chart."""
    rows.to_parquet(tmp_path / "rows.parquet")
    here, there = edge_figures(part, rows), edge_figures(part, tmp_path / "rows.parquet", counts="duckdb")

    assert there.labels == here.labels
    for pair, lines in here.effects.items():
        assert there.effects[pair][0] == lines[0]
        if "cost" in pair:  # a number: without the rows the errors are those for equal spread, and that is said
            assert any("worked out from sums" in line for line in there.effects[pair])
    assert {chart["kind"] for chart in there.charts.values()} == {"table"}


def test_how_to_read_no_table_is_refused(part: Part) -> None:
    """A misspelt argument is not passed over in silence."""
    with pytest.raises(ApslError, match="'dta' says how a table is read, and none is given"):
        part.svg(dta=1)


def test_plots_have_the_effects(part: Part, rows: pd.DataFrame) -> None:
    """The plot and the SVG label the edges at the target, and only these."""
    mpl.use("Agg")
    texts = [one.get_text() for one in part.plot(data=rows).texts]
    signed = [text for text in texts if text.startswith(("+", "−"))]

    assert len(signed) == 2
    assert all(f">{text}</text>" in part.svg(data=rows) for text in signed)
