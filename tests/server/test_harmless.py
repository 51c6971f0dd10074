"""Answers in which names from a file can do no harm."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.server.limits import LONGEST, plain_data, plain_text

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.text())
def test_all_of_a_text_can_be_seen(text: str) -> None:
    """Nothing that turns the line round, hides letters or ends a line is left."""
    assert plain_text(text).isprintable()


def test_a_long_text_is_cut() -> None:
    """A name does not fill an answer."""
    assert len(plain_text("x" * 10**6)) == LONGEST


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20))
def test_every_answer_is_json(data: object) -> None:
    """No number, key or text of an answer is outside of JSON."""
    json.loads(json.dumps(plain_data(data), allow_nan=False))
