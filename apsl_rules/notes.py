"""Notes: what a reader of a result should know, for people as a sentence and for programs as a code with fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias

from apsl_rules._documents import label, node_of
from apsl_rules.masking import masked
from apsl_rules.wording import Sentence, marked, sentence_of

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
    read = {
        name: [*map(node_of, one)] if isinstance(one, list) else node_of(one) for name, one in data["fields"].items()
    }
    return _note(sentence_of(data["text"], data.get("arguments", ())), data["code"], data["severity"], read)


def empty_note(why: str, **fields: Any) -> Note:
    """Return the note that says why a part has no edge."""
    return Note(f"{EMPTY}{why}", "empty", why=why, **fields)


def _note(words: str, code: str, severity: Severity, fields: Mapping[str, Any]) -> Note:
    return Note(words, code, severity, **fields)


def without_secrets(note: str) -> Note:
    """Return a note whose sentence shows no password."""
    whole = note_of(note)
    if "@" not in whole and "=" not in whole:  # no address and no parameter
        return whole
    return _note(whole.changed(masked), whole.code, whole.severity, whole.fields)


def assumptions(allows_hidden: bool, hidden: str | None) -> str:  # noqa: FBT001 - as a part has them
    """Return what the marks of a part from data rest on; ``hidden`` is the setting of that name."""
    if allows_hidden:
        return "faithfulness and independent, unselected rows"
    rest = "faithfulness and independent rows"
    return rest if hidden == "possible" else f"no hidden common causes, {rest}"
