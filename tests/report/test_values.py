"""The report without values: no level of a category and no value of a number is anywhere in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn
from support.terminal import apsl_here

ROWS = 400


def ward() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw categories, an ordered scale with its order declared, and codes for missing values, all of odd names."""
    random = np.random.default_rng(1)
    smoker = random.choice(["quxnever", "quxformer", "quxdaily"], ROWS)
    stage = np.where(random.random(ROWS) < 0.8, np.where(smoker == "quxdaily", "zyxlate", "zyxearly"), "zyxmiddle")
    outcome = np.where(random.random(ROWS) < 0.85, np.where(stage == "zyxlate", "wvuill", "wvuwell"), "wvuill")
    dose = random.choice([71717, 72727, 73737], ROWS)
    frame = pd.DataFrame({"smoker": smoker, "stage": stage, "outcome": outcome, "dose": dose})
    frame.loc[random.random(ROWS) < 0.05, "dose"] = -98989
    order = ["zyxearly", "zyxmiddle", "zyxlate"]
    frame["stage"] = pd.Categorical(frame["stage"], order, ordered=True)
    return frame, {"target": "outcome", "na": {"dose": [-98989]}}


def bills() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw numbers, and words that may stand for missing values."""
    random = np.random.default_rng(2)
    age = random.integers(20_011, 20_077, ROWS)
    region = random.choice(["kjinorth", "kjisouth", "none given"], ROWS)
    cost = 11.25 * (age - 20_000) + 300 * (region == "kjisouth") + random.normal(0, 40, ROWS) + 870_000
    return pd.DataFrame({"age": age, "region": region, "cost": cost.round(3)}), {"target": "cost"}


def cut_bills() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw the same numbers, to be cut into categories."""
    frame, settings = bills()
    return frame, {**settings, "discretize": "quantile:3"}


def sites() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Draw the same numbers from three sites, which make the costs differently."""
    frame, settings = bills()
    site = np.random.default_rng(3).choice(["hgfone", "hgftwo", "hgfthree"], ROWS)
    frame["cost"] += 500 * (site == "hgfone")
    return frame.assign(site=site), {**settings, "environment": "site"}


def spelt_values(frame: pd.DataFrame) -> set[str]:
    """Return every level and every number of a table as a page may spell it, if it is long enough to be told."""
    found = set()
    for name in frame:
        for value in frame[name].unique():
            spelt = {str(value)} if isinstance(value, str) else {f"{value:.10g}", f"{value:.6g}", f"{value:,}"}
            found |= {one for one in spelt if len(one) > 4}
    return found


@pytest.mark.parametrize("draw", [ward, bills, cut_bills, sites])
def test_a_report_without_values_has_none(
    draw: Callable[[], tuple[pd.DataFrame, dict[str, Any]]], tmp_path: Path
) -> None:
    """Each level and each number is looked for in the whole file; the report with values has some of them."""
    frame, settings = draw()
    reading = {name: settings[name] for name in ("na", "discretize") if name in settings}
    part = learn(frame, depth=2, **settings)
    whole, bare, plain = (tmp_path / f"{name}.html" for name in ("whole", "bare", "plain"))
    part.report(whole, data=frame, **reading)
    part.report(bare, data=frame, values=False, **reading)
    part.report(plain, values=False)
    values = spelt_values(frame)

    assert {one for one in values if one in whole.read_text("utf-8")}
    for page in (bare, plain):
        text = page.read_text("utf-8")
        assert not {one for one in values if one in text}
        assert "levels and values of columns are left out" in text
        assert all(f'"{node}"' in text for node in part.members)


def test_the_command_leaves_values_out(tmp_path: Path) -> None:
    """``apsl report --no-values`` writes the same page."""
    frame, settings = bills()
    frame.to_csv(tmp_path / "bills.csv", index=False)
    apsl_here("learn", "bills.csv", "-t", settings["target"], "--out", "part.json", folder=tmp_path)
    done = apsl_here("report", "part.json", "--data", "bills.csv", "--no-values", folder=tmp_path)
    text = (tmp_path / "part.html").read_text("utf-8")

    assert done.code == 0, done.err
    assert "levels and values of columns are left out" in text
    assert not {one for one in spelt_values(frame) if one in text}
