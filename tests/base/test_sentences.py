"""Sentences that keep the arguments that they name apart from their words."""

from __future__ import annotations

import json
import pickle
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.errors import DataError
from apsl_rules.notes import Argument, Note, Sentence, argument, empty_note, marked, note_of, sentence_of

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES: st.SearchStrategy[Any] = st.none() | TEXTS | st.integers() | st.lists(TEXTS, max_size=3)
PIECES = st.lists(TEXTS | st.builds(Argument, TEXTS, TEXTS, VALUES), max_size=5)


def written(pieces: list[str | Argument]) -> str:
    """Return a text as a message has it, with its arguments marked."""
    return "".join(one if isinstance(one, str) else argument(one.name, one.value, python=one.python) for one in pieces)


@given(PIECES)
def test_the_text_is_that_of_python_and_its_arguments_are_kept(pieces: list[str | Argument]) -> None:
    """Whatever users put into a sentence; copies, longer sentences and plain data keep the same."""
    sentence = Sentence(written(pieces))
    arguments = [one for one in pieces if isinstance(one, Argument)]

    assert sentence == "".join(one if isinstance(one, str) else one.python for one in pieces)
    assert [one for one in sentence.pieces if isinstance(one, Argument)] == arguments
    assert sentence.spoken(lambda one: f"<{one.name}>") == "".join(
        one if isinstance(one, str) else f"<{one.name}>" for one in pieces
    )
    for again in (
        Sentence(sentence),
        Sentence(marked(sentence)),
        pickle.loads(pickle.dumps(sentence)),  # noqa: S301 - our own
        sentence_of(str(sentence), json.loads(json.dumps(sentence.arguments()))),
        sentence.changed(str),
    ):
        assert again == sentence
        assert [one for one in again.pieces if isinstance(one, Argument)] == arguments


def test_a_mark_that_a_user_wrote_is_text() -> None:
    """Characters of private use are shown as they are."""
    for odd in ("\ue000", "\ue000[1]\ue001", '\ue000["a"]\ue001', '\ue000["a", "b"\ue001', "\ue001\ue000"):
        assert Sentence(odd) == odd


def test_errors_and_notes_show_no_marks() -> None:
    """Text, fields and data of both have the words of Python, and the arguments beside them."""
    told = f"few rows; give {argument('missing', 'testwise')}"
    error, note = DataError(told), empty_note(told)

    assert str(error) == error.sentence == "few rows; give missing='testwise'"
    assert note == "the part is empty: few rows; give missing='testwise'"
    assert note.fields["why"] == "few rows; give missing='testwise'"
    assert note_of(json.loads(json.dumps(note.to_dict()))).arguments() == note.arguments() != []


def test_data_that_does_not_fit_its_text_is_left_out() -> None:
    """A file that was changed by hand shows its text, whatever it says of arguments."""
    wrong = {"code": "other", "severity": "info", "fields": {}, "text": "give drop=['a']"}
    for at in (-1, 3, 99):
        argued = [{"at": at, "text": "drop=['a']", "name": "drop", "value": ["a"]}]
        assert note_of({**wrong, "arguments": argued}) == Note("give drop=['a']")
