"""An effect on a category with several levels: all of them are told, since none of them says all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, effect

GRAPH = Dag({"sex": [], "dose": ["sex"], "pain": ["dose", "sex"]})


def frame() -> pd.DataFrame:
    """Return a table in which the dose of three levels acts on the pain, which has three levels, too."""
    random = np.random.default_rng(1)
    sex, dose = random.choice(["f", "m"], 600), random.choice(["a", "b", "c"], 600)
    strong = random.random(600) < np.where(dose == "a", 0.6, 0.2)
    return pd.DataFrame(
        {"sex": sex, "dose": dose, "pain": np.where(strong, "strong", random.choice(["mild", "none"], 600))}
    )


def test_every_level_of_the_target_is_printed() -> None:
    """A line for each level, and the first line says what is set to what; the estimates sum to zero."""
    found = effect(GRAPH, "sex", "pain", data=frame())
    first, *lines = str(found).split("\n")

    assert first == "effect of sex on pain: sex = m against f"
    assert [line.partition(":")[0] for line in lines] == ["  P(pain = mild)", "  P(pain = none)", "  P(pain = strong)"]
    assert sum(found.values_of(change)[0] for change in found.changes) == pytest.approx(0)


def test_levels_of_cause_and_target_are_told_apart() -> None:
    """Where the cause has several levels as well, each line names both."""
    first, *lines = str(effect(GRAPH, "dose", "pain", data=frame())).split("\n")

    assert first == "effect of dose on pain: dose = b or c against a"
    assert len(lines) == 6
    assert lines[0].startswith("  P(pain = mild), b: ")
    assert lines[-1].startswith("  P(pain = strong), c: ")


def test_bounds_are_told_for_every_level() -> None:
    """Where a line is open, each level of the target has its own bounds."""
    text = str(effect(frame(), "dose", "pain"))

    assert text.count("whatever the open lines are") == 6
    assert "P(pain = strong), b: between -" in text


def test_two_levels_are_told_once() -> None:
    """Of a target with two levels the last is enough, as before."""
    two = frame().assign(pain=lambda table: table["pain"].where(table["pain"] == "strong", "no"))
    first, *lines = str(effect(GRAPH, "sex", "pain", data=two)).split("\n")

    assert first == "effect of sex on pain: P(pain = strong), sex = m against f"
    assert len(lines) == 1
