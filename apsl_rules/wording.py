"""Sentences that name arguments: Python reads them as a call has them, and another surface spells them in its own way.

The text of an error or of a note is written with ``argument``, which marks what it names. Errors and notes keep the
marks apart from the words, so that nobody has to look for names in a sentence, where a column may be called so too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import attrs

_OPEN, _CLOSE = "\ue000", "\ue001"
#: A mark: JSON in ASCII between two characters of private use.
_MARK = re.compile(rf'{_OPEN}(\["[ -~]*?\]){_CLOSE}')


@attrs.frozen
class Argument:
    """An argument or a call in a sentence: how Python spells it, its name, and its value as plain data, if any."""

    python: str
    name: str
    value: Any = None


def argument(name: str, value: object = None, *, python: str | None = None) -> str:
    """Return an argument, marked for the text of an error or a note, as ``drop=['id']``, or ``drop=`` without a value.

    >>> Sentence(f"leave it out with {argument('drop', ['id'])}")
    "leave it out with drop=['id']"
    """
    spelling = f"{name}={'' if value is None else repr(value)}" if python is None else python
    return f"{_OPEN}{json.dumps([spelling, name, value], default=str)}{_CLOSE}"


def named(name: str) -> str:
    """Return an argument that a sentence speaks of by its bare name, marked: ``depth`` in "depth is 0"."""
    return argument(name, python=name)


def marked(text: str) -> str:
    """Return a sentence with its marks, to write it into a longer one."""
    return _whole(text.pieces) if isinstance(text, Sentence) else text


class Sentence(str):
    """A text whose marked arguments are kept apart; it is text wherever text is wanted."""

    __slots__ = ("pieces",)

    pieces: tuple[str | Argument, ...]

    def __new__(cls, text: str) -> Self:
        """Make a sentence of a text with marks, or of another sentence."""
        pieces = text.pieces if isinstance(text, Sentence) else tuple(_pieces(text))
        sentence = super().__new__(cls, "".join(one if isinstance(one, str) else one.python for one in pieces))
        sentence.pieces = pieces
        return sentence

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentence, (_whole(self.pieces),)

    def spoken(self, spell: Callable[[Argument], str]) -> str:
        """Return the text with each argument spelled in another way."""
        return "".join(one if isinstance(one, str) else spell(one) for one in self.pieces)

    def changed(self, change: Callable[[str], str]) -> Sentence:
        """Return the sentence with each piece of text changed, those in arguments too."""
        return Sentence(_whole([_changed(one, change) for one in self.pieces]))

    def arguments(self) -> list[dict[str, Any]]:
        """Return the arguments as plain data, each with its place in the text."""
        found, at = [], 0
        for one in self.pieces:
            spelling = one if isinstance(one, str) else one.python
            if isinstance(one, Argument):
                found.append({"at": at, "text": one.python, "name": one.name, "value": one.value})
            at += len(spelling)
        return found


def sentence_of(text: str, arguments: Sequence[Mapping[str, Any]]) -> Sentence:
    """Return the sentence that a text and its arguments as plain data stand for."""
    whole, end = "", 0
    for one in arguments:
        at, python = one["at"], one["text"]
        if end <= at and text.startswith(python, at):
            whole += text[end:at] + argument(one["name"], one["value"], python=python)
            end = at + len(python)
    return Sentence(whole + text[end:])


def _pieces(text: str) -> list[str | Argument]:
    if _OPEN not in text:
        return [text]
    return [_argument(one) if place % 2 else one for place, one in enumerate(_MARK.split(text))]


def _argument(data: str) -> str | Argument:
    """Return the argument that a mark stands for; what only looks like a mark is text of a user."""
    try:
        python, name, value = json.loads(data)
        return Argument(python, name, value)
    except ValueError:
        return f"{_OPEN}{data}{_CLOSE}"


def _whole(pieces: Sequence[str | Argument]) -> str:
    return "".join(one if isinstance(one, str) else argument(one.name, one.value, python=one.python) for one in pieces)


def _changed(piece: str | Argument, change: Callable[[str], str]) -> str | Argument:
    if isinstance(piece, str):
        return change(piece)
    value = change(piece.value) if isinstance(piece.value, str) else piece.value
    return Argument(change(piece.python), piece.name, value)
