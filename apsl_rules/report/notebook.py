"""A part as a notebook shows it: the drawing, its figures in a line, and a folded table of the edges."""

from __future__ import annotations

from html import escape
from typing import Any

from apsl_rules.names import shown
from apsl_rules.parts import Part
from apsl_rules.report.svg import svg

_ROWS = 60
_SIGNS = {"arrow": "→", "line": "—", "conflict": "✕"}
_FIGURES = ("p", "support", "probability", "direction")


def notebook_html(part: Part) -> str:
    """Return a piece of HTML without any script."""
    rows = part.rows()
    figures = [name for name in _FIGURES if any(row.get(name) is not None for row in rows)]
    heads = "".join(f"<th>{name}</th>" for name in ("source", "", "target", "rule", *figures))
    left_out = f"<p>and {len(rows) - _ROWS} more edges</p>" if len(rows) > _ROWS else ""
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(_row(row, figures) for row in rows[:_ROWS])}"
    return (
        f'<div><div style="overflow:auto;max-height:640px">{svg(part)}</div>'
        f"<details><summary>{escape(repr(part))}</summary>{table}</tbody></table>{left_out}</details></div>"
    )


def _row(row: dict[str, Any], figures: list[str]) -> str:
    sign = "⇢" if row["suggested"] else _SIGNS[row["mark"]]
    names = [shown(row["source"]), sign, shown(row["target"]), row["rule"]]
    values = ["" if row.get(name) is None else f"{row[name]:.3g}" for name in figures]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in (*names, *values)) + "</tr>"
