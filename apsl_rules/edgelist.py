"""The edges of a part as comma-separated text."""

from __future__ import annotations

import csv
import io

from apsl_rules.part import Part


def edges_csv(part: Part) -> str:
    """Give one row for each edge, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ["source", "target", "mark", "rule", "p", "distance"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(part.rows())
    return text.getvalue()
