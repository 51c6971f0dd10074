"""The edges of a part as a table for a paper: probabilities, effects and their intervals, with three digits."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import floor, isfinite, log10
from typing import Any, get_args

from apsl_rules.names import Pair, chosen, shown
from apsl_rules.parts.part import Part
from apsl_rules.parts.shortcuts import TableFormat
from apsl_rules.parts.tables import inert

_SIGNS = {"arrow": "→", "line": "—", "conflict": "✕", "partial": "o→", "bidirected": "↔"}
_IN_LATEX = {
    "→": r"$\rightarrow$",
    "↔": r"$\leftrightarrow$",
    "⇢": r"$\dashrightarrow$",
    "✕": r"$\times$",
    "—": "--",
    "−": "$-$",
}
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "…": r"\ldots{}",
    **{one: f"\\{one}" for one in "&%$#_{}"},
}
_LARGEST, _LEAST = 1e7, 1e-4


def latex_text(text: str) -> str:
    r"""Write a text so that LaTeX prints it as it is.

    >>> latex_text("profit_% & loss")
    'profit\\_\\% \\& loss'
    """
    return "".join(_SPECIAL.get(one, _IN_LATEX.get(one, one)) for one in text)


def three_digits(value: float) -> str:
    """Write a number with three digits that count.

    >>> [three_digits(one) for one in (5184.7, 0.93812, -12.34, 0, 1.5e9)]
    ['5,180', '0.938', '−12.3', '0', '1.5e+09']
    """
    if value == 0 or not isfinite(value):
        return f"{value:g}"
    if not _LEAST <= abs(value) < _LARGEST:
        return f"{value:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"
    digits = 2 - floor(log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}".replace("-", "−")


def edge_table(part: Part, style: TableFormat, effects: Iterable[Mapping[str, Any]] = (), level: str = "95 %") -> str:
    """Return the edges of a part as a table; ``effects`` are rows of the effects along edges at the target.

    "stated" has the ends of what is stated of an effect. ``level`` is how sure the intervals are.
    """
    chosen("format", style, get_args(TableFormat))
    known: dict[Pair, Mapping[str, Any]] = {frozenset((one["cause"], one["target"])): one for one in effects}
    heads = ["from", "", "to", "P(edge)", "P(arrow)"]
    heads += ["effect", f"{level} interval", "of what"] if known else []
    rows = []
    for row in part.rows():
        sign = "⇢" if row["suggested"] else _SIGNS[row["mark"]]
        edge, direction = row["probability"], row["direction"]
        arrow = None if edge is None or direction is None else edge * direction
        figures = ("" if one is None else three_digits(one) for one in (edge, arrow))
        effect = _effect_cells(known.get(frozenset((row["source"], row["target"])))) if known else []
        rows.append([shown(row["source"]), sign, shown(row["target"]), *figures, *effect])
    used = [at for at, head in enumerate(heads) if not head.startswith("P(") or any(row[at] for row in rows)]
    return _WRITERS[style]([heads[at] for at in used], [[row[at] for at in used] for row in rows])


def _effect_cells(row: Mapping[str, Any] | None) -> list[str]:
    """Return an effect, or the range that graphs leave open, its interval, and what it is the effect of."""
    if row is None or not row["stated"]:
        return ["", "", "" if row is None else str(row.get("reason") or "")]
    ends = list(dict.fromkeys(map(three_digits, row["stated"])))
    interval = "" if row.get("low") is None else f"{three_digits(row['low'])} to {three_digits(row['high'])}"
    return [" to ".join(ends), interval, f"{shown(row['cause'])} on {row['change']}"]


def _markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = [[*heads], *rows]
    escaped = [[cell.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in cells]
    lines = [f"| {' | '.join(row)} |" for row in escaped]
    rule = "|" + "|".join(" ---: " if _is_figure(head) else " --- " for head in heads) + "|"
    return "\n".join([lines[0], rule, *lines[1:]]) + "\n"


def _latex(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    columns = "".join("r" if _is_figure(head) else "l" for head in heads)
    lines = [" & ".join(map(latex_text, row)) + r" \\" for row in ([*heads], *rows)]
    body = "\n".join(["\\hline", lines[0], "\\hline", *lines[1:], "\\hline"])
    return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"


def _csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([head or "mark" for head in heads])
    for row in rows:
        pairs = zip(heads, row, strict=True)
        writer.writerow([_plain(cell) if _is_figure(head) else inert(cell) for head, cell in pairs])
    return text.getvalue()


def _plain(figure: str) -> str:
    """Write a figure as programs read it."""
    return figure.replace(",", "").replace("−", "-")


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    styles = [' style="text-align:right"' if _is_figure(head) else "" for head in heads]
    head = "".join(f"<th{style}>{escape(cell)}</th>" for cell, style in zip(heads, styles, strict=True))
    body = "\n".join(
        "<tr>" + "".join(f"<td{style}>{escape(cell)}</td>" for cell, style in zip(row, styles, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>\n"


def _is_figure(head: str) -> bool:
    return head.startswith("P(") or head == "effect" or head.endswith("interval")


_WRITERS = {"markdown": _markdown, "latex": _latex, "csv": _csv, "html": _html}
