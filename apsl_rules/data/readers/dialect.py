"""How a text file is written: its encoding, what stands between fields, and how numbers are spelt."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

import attrs

from apsl_rules.data.readers.paths import UTF_8, open_bytes, open_text
from apsl_rules.notes import Note

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars", ",": "commas"}
_SAMPLED_LINES = 50
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: Whole parts of numbers with a mark before each three digits.
_GROUPED = r"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:{mark}\d{{3}})+)"
_COMMA = re.compile(_GROUPED.format(mark=r"[. '\u2019\u00a0\u202f]") + r"(?:,\d+)?")
_POINT = re.compile(_GROUPED.format(mark=r"[,'\u2019\u00a0\u202f]") + r"(?:\.\d+)?")
_SPACES = re.compile(r"[ '\u2019\u00a0\u202f]")


@attrs.frozen
class Dialect:
    """How the fields of a text file are written."""

    separator: str
    encoding: str = UTF_8

    def note(self, file: Path, usual: str, spelt: Sequence[str]) -> tuple[str, ...]:
        """Return a sentence on what was assumed beyond the usual, and how numbers are spelt, if anything was."""
        found = [f"{_SEPARATORS[self.separator]} between the fields"] if self.separator != usual else []
        found += [*spelt, *([f"the encoding {self.encoding}"] if self.encoding != UTF_8 else [])]
        return (Note(f"the file {file.name!r} was read with {', '.join(found)}", "dialect"),) if found else ()


def other_encoding(file: Path) -> str | None:
    """Return the encoding of a file that is not UTF-8, or None if it is no text."""
    with open_bytes(file) as handle:
        content = handle.read()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if _CONTROLS.search(content):
        return None
    try:
        content.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def find_separator(file: Path, usual: str, encoding: str) -> str:
    """Return what stands between the fields: the usual, unless the first lines agree on another alone."""
    with open_text(file, encoding) as handle:
        lines = [line for line in islice(handle, _SAMPLED_LINES) if line.strip()]
    for separator in (usual, *(one for one in _SEPARATORS if one != usual)):
        try:
            widths = {len(row) for row in csv.reader(lines, delimiter=separator)}
        except csv.Error:
            continue
        if separator == usual and len(widths) == 1 and widths != {1}:
            return usual
        if separator != usual and len(widths) == 1 and widths != {1} and len(lines) > 1:
            return separator
    return usual


@attrs.frozen
class Spelling:
    """How numbers are spelt: each in plain spelling, and whether they have a decimal comma or marks of thousands."""

    plain: Mapping[str, str]
    has_comma: bool
    has_marks: bool


def plain_numbers(fields: Sequence[str], *, comma_first: bool) -> Spelling | None:
    """Return numbers with a decimal comma or marks of thousands in plain spelling.

    None stands for fields of which one is no such number, and for numbers without any mark. What can be read in two
    ways has a decimal comma if ``comma_first``, as in files with semicolons.

    >>> dict(plain_numbers(["1.234,5", "7"], comma_first=True).plain)
    {'1.234,5': '1234.5', '7': '7'}
    >>> dict(plain_numbers(["1,234", "12.5"], comma_first=False).plain)
    {'1,234': '1234', '12.5': '12.5'}
    """
    stripped = {field: _SPACES.sub("", field.strip()) for field in fields}
    for mark, decimal, pattern in ((".", ",", _COMMA), (",", ".", _POINT))[:: 1 if comma_first else -1]:
        if not all(pattern.fullmatch(field.strip()) for field in fields):
            continue
        has_marks = any(mark in bare or bare != field.strip() for field, bare in stripped.items())
        has_comma = decimal == "," and (has_marks or any("," in bare for bare in stripped.values()))
        if not (has_marks or has_comma):
            return None
        plain = {field: bare.replace(mark, "").replace(",", ".") for field, bare in stripped.items()}
        return Spelling(plain, has_comma, has_marks)
    return None
