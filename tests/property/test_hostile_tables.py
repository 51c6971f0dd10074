"""What must hold of every part, on tables as trouble has them; tools/faults/fuzz.py --tables draws many more."""

from __future__ import annotations

import pytest

from support.hostile_tables import draw_table, faults


def test_a_table_is_drawn_again_by_its_number() -> None:
    """So that a fault can be looked at."""
    for number in range(20):
        assert draw_table(number).frame.equals(draw_table(number).frame)


@pytest.mark.parametrize("number", [21_003_713, 21_003_748, 21_003_822])
def test_columns_with_few_values_that_never_meet_are_unknown(number: int) -> None:
    """A column that seems constant, since it has few values, is not independent of one that it is never seen with."""
    assert list(faults(number)) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(60))
def test_every_promise_holds_of_a_hostile_table(number: int) -> None:
    """No exception but a sentence, no edge without rows behind it, and no dependence on names or order."""
    assert list(faults(number)) == []
