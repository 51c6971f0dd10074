"""Any table gets a part, or one sentence: small ones of all kinds, and tables as trouble has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn
from apsl_rules.errors import ApslError
from support.hostile_tables import draw_table, faults

ROWS = (1, 2, 3, 5, 8, 15, 30, 60, 200)


def _column(random: np.random.Generator, rows: int, before: dict[str, Any]) -> Any:
    """Draw a column of any kind: numbers of all sizes, codes, labels, constants, copies and sums of earlier columns."""
    numbers = [np.asarray(column, float) for column in before.values() if np.asarray(column).dtype.kind in "fi"]
    huge = random.normal(size=rows) * 10.0 ** random.integers(-12, 12) + 10.0 ** random.integers(0, 9)
    kinds: list[Any] = [
        random.normal(size=rows),
        random.choice(list("abc"), rows),
        random.integers(0, 100, rows),
        np.full(rows, 3.5),
        huge,
        next(iter(before.values()), huge),
        np.round(random.exponential(size=rows), 1),
        random.integers(0, 3, rows),
        sum(numbers, np.zeros(rows)),
    ]
    drawn = pd.Series(kinds[random.integers(len(kinds))], dtype=object)
    if random.random() < 0.3:
        drawn[random.random(rows) < random.choice([0.05, 0.3, 0.9, 1.0])] = None
    return drawn.infer_objects().to_numpy()


@pytest.mark.parametrize("learner", ["auto", "apsl"])
@given(st.integers(0, 10**9))
def test_any_table_is_answered(learner: str, seed: int) -> None:
    """A part that can be printed and saved as rows, or an error of ours; nothing else, and no warning."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.choice(ROWS)), int(random.integers(1, 9))
    drawn: dict[str, Any] = {}
    for place in range(columns):
        drawn[f"c{place}"] = _column(random, rows, drawn)
    try:
        part = learn(pd.DataFrame(drawn), "c0", depth=int(random.integers(1, 4)), learner=learner)
    except ApslError:
        return
    assert part.picture()
    assert len(part.rows()) == len(part.edges)


def test_a_table_is_drawn_again_by_its_number() -> None:
    """So that a fault can be looked at."""
    for number in range(20):
        assert draw_table(number).frame.equals(draw_table(number).frame)


@pytest.mark.parametrize("number", [21_003_713, 21_003_748, 21_003_822])
def test_columns_with_few_values_that_never_meet_are_unknown(number: int) -> None:
    """A column that seems constant, since it has few values, is not independent of one that it is never seen with."""
    assert list(faults(number)) == []


def test_a_column_that_is_the_same_where_two_others_are_known_is_no_regressor() -> None:
    """It has no sum of squares there, and made a system of equations singular."""
    assert list(faults(77_000_746, ("default",))) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(60))
def test_every_promise_holds_of_a_hostile_table(number: int) -> None:
    """No exception but a sentence, no edge without rows behind it, and no dependence on names or order."""
    assert list(faults(number)) == []
