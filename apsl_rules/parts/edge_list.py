"""The edges of a part as comma-separated text."""

from __future__ import annotations

import csv
import io

from apsl_rules.parts.edge_rows import ROW
from apsl_rules.parts.part import Part

#: How the fields begin that spreadsheets carry out.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def edges_csv(part: Part) -> str:
    """Return one row for each edge, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ROW, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: _inert(value) for key, value in row.items()} for row in part.rows())
    return text.getvalue()


def _inert(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
