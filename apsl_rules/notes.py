"""Sentences for readers: the arguments that they name are kept apart, and notes have a code and fields as well.

The text of an error or of a note is written with ``argument``, which marks what it names. Python reads it as in a call,
and another surface spells it in its own way, without looking for names in a sentence, where a column may be called so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import attrs

from apsl_rules.masking import masked

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


#: Whether a note explains, or names something that makes conclusions doubtful.
Severity: TypeAlias = Literal["info", "warning"]
#: The code of a note that says no more than its sentence.
OTHER = "other"
#: How the note begins that says why a part has no edge.
EMPTY = "the part is empty: "


class Note(Sentence):
    """A sentence with a code, a severity and fields; it is text wherever text is wanted.

    Decisions go by the code and the fields, never by the words. A field is a node, a number, a text or a list of these.

    >>> note = Note("12 rows are few", "few rows", "warning", rows=12)
    >>> note, note.code, note.fields["rows"]
    ('12 rows are few', 'few rows', 12)
    """

    __slots__ = ("code", "fields", "severity")

    code: str
    severity: Severity
    fields: Mapping[str, Any]

    def __new__(cls, words: str, code: str = OTHER, severity: Severity = "info", /, **fields: Any) -> Self:
        """Make a note from its sentence, its code and its severity; further names are fields."""
        note = super().__new__(cls, words)
        note.code, note.severity = code, severity
        note.fields = {name: Sentence(one) if isinstance(one, str) else one for name, one in fields.items()}
        return note

    def __reduce__(self) -> tuple[Any, ...]:
        return _note, (marked(self), self.code, self.severity, self.fields)

    def to_dict(self) -> dict[str, Any]:
        """Return the note as plain data."""
        from apsl_rules._documents import label

        fields = {
            name: [*map(label, one)] if isinstance(one, list) else label(one) for name, one in self.fields.items()
        }
        note = {"code": self.code, "severity": self.severity, "fields": fields, "text": str(self)}
        return {**note, "arguments": found} if (found := self.arguments()) else note


def note_of(data: Mapping[str, Any] | str) -> Note:
    """Return the note that plain data or a bare sentence stands for."""
    if isinstance(data, Note):
        return data
    if isinstance(data, str):
        return Note(data)
    from apsl_rules._documents import node_of

    read = {
        name: [*map(node_of, one)] if isinstance(one, list) else node_of(one) for name, one in data["fields"].items()
    }
    return _note(sentence_of(data["text"], data.get("arguments", ())), data["code"], data["severity"], read)


def empty_note(why: str, **fields: Any) -> Note:
    """Return the note that says why a part has no edge."""
    return Note(f"{EMPTY}{why}", "empty", why=why, **fields)


#: So many labels of columns are spelt in one note.
_MOST_LABELS = 8


def note_on_labels(labels: Mapping[str, str]) -> Note:
    """Return the note that keeps the labels that a file gives its columns."""
    told = "; ".join(f"{name!r}: {text}" for name, text in list(labels.items())[:_MOST_LABELS])
    more = f" and {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else ""
    return Note(f"the file labels its columns: {told}{more}", "labels", columns=[*labels], labels=[*labels.values()])


def differences_in(notes: Iterable[str]) -> dict[frozenset[Any], float]:
    """Return the pairs that graphs nearly as good answer otherwise, and by how many nats they are behind."""
    near = [one.fields for one in notes if isinstance(one, Note) and one.code == "near graphs"]
    listed = (zip(one["first"], one["second"], one["nats"], strict=True) for one in near)
    return {frozenset((x, y)): nats for some in listed for x, y, nats in some}


def labels_in(notes: Iterable[str]) -> dict[Any, str]:
    """Return the labels of columns that notes keep."""
    kept = [note for note in notes if isinstance(note, Note) and note.code == "labels"]
    return {
        name: text for note in kept for name, text in zip(note.fields["columns"], note.fields["labels"], strict=True)
    }


def _note(words: str, code: str, severity: Severity, fields: Mapping[str, Any]) -> Note:
    return Note(words, code, severity, **fields)


def without_secrets(note: str) -> Note:
    """Return a note whose sentence shows no password."""
    whole = note_of(note)
    if "@" not in whole and "=" not in whole:  # no address and no parameter
        return whole
    return _note(whole.changed(masked), whole.code, whole.severity, whole.fields)


def assumptions(allows_hidden: bool, settings: Mapping[str, Any]) -> str:  # noqa: FBT001 - as parts have
    """Return what the marks of a part from data rest on, by its settings."""
    rows = "groups of rows" if settings.get("groups") else "rows"
    if settings.get("time"):
        rows = f"{rows} once earlier steps are known"
    if allows_hidden:
        return f"faithfulness and independent, unselected {rows}"
    rest = f"faithfulness and independent {rows}"
    return rest if settings.get("hidden") == "possible" else f"no hidden common causes, {rest}"
