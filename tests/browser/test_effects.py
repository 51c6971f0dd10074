"""The report with a table in a real browser: effects, levels, and the rows behind an edge."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, Part, learn
from support.drawn import HOSTILE
from support.viewing import Page

pytestmark = pytest.mark.slow


def draw(rows: int = 1500) -> pd.DataFrame:
    """Draw a table with numbers and categories around a cost."""
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], rows)
    age = rng.normal(50, 12, rows)
    smoker = np.where(rng.random(rows) < np.where(sex == "m", 0.5, 0.2), "yes", "no")
    cost = 3 * age + 40 * (smoker == "yes") + rng.normal(0, 15, rows)
    return pd.DataFrame({"sex": sex, "age": age, "smoker": smoker, "cost": cost})


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Return the table."""
    return draw()


@pytest.fixture(scope="module")
def part(rows: pd.DataFrame) -> Part:
    """Return the part around the cost."""
    tiers = Knowledge(tiers=[["sex", "age"], ["smoker"], ["cost"]])
    return learn(rows, "cost", depth=2, knowledge=tiers)


def click_edge(page: Page, x: str, y: str) -> None:
    """Choose the edge between two nodes by its button in the list."""
    page.find("#tab-edges").click()
    next(
        one
        for one in page.all("#panel button.edge")
        if {name.text for name in one.find_elements("css selector", ".name")} == {x, y}
    ).click()


def test_an_edge_shows_its_effect_and_the_rows_behind_it(
    opened: Callable[..., Page], part: Part, rows: pd.DataFrame
) -> None:
    """Numbers have points, a category and a number boxes, categories a table of counts."""
    page = opened(part, data=rows)

    click_edge(page, "age", "cost")
    assert "mean of cost per unit of age" in page.find("#panel .effect").text
    assert len(page.all("#panel .chart .point")) == 400
    click_edge(page, "smoker", "cost")
    assert "smoker = yes against no" in page.find("#panel .effect").text
    assert len(page.all("#panel .chart .quartiles")) == 2
    click_edge(page, "sex", "smoker")
    counts = pd.crosstab(rows["sex"], rows["smoker"])
    told = [cell.text.split(" ")[0].split("\n")[0].replace(",", "") for cell in page.all("#panel .counts td.figure")]
    assert [int(one) for one in told] == counts.to_numpy().ravel().tolist()
    assert not page.all("#panel .effect")


def test_edges_at_the_target_have_their_size(opened: Callable[..., Page], part: Part, rows: pd.DataFrame) -> None:
    """The drawing has sign and size where the effect is known, as the still view has; without a table it has none."""
    page = opened(part, data=rows)
    sizes = [one.text for one in page.all("#drawing .weight text")]

    assert any(one.startswith("+3") for one in sizes)
    assert any(one.startswith("+3") for one in part.svg(data=rows).replace(">", "\n").split("\n"))
    assert not any(one.startswith("+") for one in [one.text for one in opened(part).all("#drawing .weight text")])


def test_a_node_shows_its_values(opened: Callable[..., Page], part: Part, rows: pd.DataFrame) -> None:
    """A category has its kind, its levels with their rows, and no missing value."""
    page = opened(part, data=rows)
    page.find("#search").send_keys("smoker\n")
    smokers = int((rows["smoker"] == "yes").sum())

    assert page.find("#panel .kind").text.startswith("category")
    assert page.find("#panel .kind").text.endswith("no value is missing")
    told = [[cell.text for cell in row.find_elements("css selector", "th, .figure")] for row in page.all(".spread tr")]
    assert told == [
        ["no", f"{1500 - smokers:,}", f"{(1500 - smokers) / 15:.0f} %"],
        ["yes", f"{smokers:,}", f"{smokers / 15:.0f} %"],
    ]


def test_a_number_has_a_histogram(opened: Callable[..., Page], part: Part, rows: pd.DataFrame) -> None:
    """The bars of a number have all its rows, and the share of those without a value is told."""
    holey = rows.copy()
    holey.loc[:149, "age"] = np.nan
    page = opened(part, data=holey)
    page.find("#search").send_keys("age\n")

    script = "return [...document.querySelectorAll('#panel .column title')].map((one) => one.textContent)"
    bars = [int(one.rpartition(": ")[2].removesuffix(" rows").replace(",", "")) for one in page.run(script)]
    assert sum(bars) == 1350
    assert "10 % missing (150 of 1,500 rows)" in page.find("#panel .kind").text
    assert "median" in page.find("#panel .values").text


def test_names_cannot_break_out(opened: Callable[..., Page]) -> None:
    """Names and levels that look like markup are text."""
    rng = np.random.default_rng(1)
    name = str(HOSTILE[0])
    level = "<img src=x onerror=alert(1)>"
    x = rng.random(800) < 0.5
    frame = pd.DataFrame({name: np.where(x, level, "no"), "t": np.where(rng.random(800) < 0.2 + 0.5 * x, level, "b")})
    page = opened(learn(frame, "t", depth=2), data=frame)

    click_edge(page, name, "t")
    assert level in page.find("#panel .counts").text
    assert not page.all("#panel img")
