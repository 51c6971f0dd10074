"""The edges of a part as comma-separated text."""

from __future__ import annotations

import csv
import io

from apsl_rules.parts.edge_rows import ROW
from apsl_rules.parts.part import Part


def edges_csv(part: Part) -> str:
    """Return one row for each edge, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ROW, lineterminator="\n")
    writer.writeheader()
    writer.writerows(part.rows())
    return text.getvalue()
