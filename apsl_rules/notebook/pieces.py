"""The pieces that notebook views are made of: text, tables, folds and notes, as HTML without scripts.

Colours are those of the notebook, light or dark: nothing here sets one but for a few signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import isfinite
from typing import Any

from apsl_rules.names import Node, count_of, shown

#: How many rows of a table, and how many nodes of a list, are shown.
MOST_ROWS = 60
MOST_NAMES = 40
_LONGEST_NAME, _LONGEST_TEXT = 200, 2000
_SOFT = "opacity:.75"
_WORDS = "text-align:left;vertical-align:top;overflow-wrap:anywhere;min-width:1.2em;padding:.2em .6em"
_FIGURES = "text-align:right;vertical-align:top;white-space:nowrap;padding:.2em .6em"


def text(words: str, longest: int = _LONGEST_TEXT) -> str:
    """Return words as text that is no markup; very long ones are cut."""
    return escape(words if len(words) <= longest else f"{words[:longest]}…")


def name(node: Node) -> str:
    """Return the name of a node as text that is no markup."""
    return text(shown(node), _LONGEST_NAME)


def names(nodes: Sequence[Node]) -> str:
    """Return the names of nodes, the first ones of many."""
    rest = len(nodes) - MOST_NAMES
    listed = ", ".join(map(name, nodes[:MOST_NAMES]))
    return f"{listed} and {rest:,} more" if rest > 0 else listed or "none"


def soft(html: str) -> str:
    """Return a piece in a paler colour."""
    return f'<span style="{_SOFT}">{html}</span>'


def title(html: str) -> str:
    """Return a line that says what is shown."""
    return f'<div style="font-weight:600;margin:.3em 0">{html}</div>'


def paragraph(html: str) -> str:
    """Return a line of text."""
    return f'<div style="margin:.3em 0;max-width:60em">{html}</div>'


def fold(summary: str, body: str, *, is_open: bool = False) -> str:
    """Return a piece under a line that opens and closes it."""
    state = " open" if is_open else ""
    return f'<details{state} style="margin:.2em 0"><summary style="cursor:pointer">{summary}</summary>{body}</details>'


def indent(html: str) -> str:
    """Return a piece moved to the right, along a rule."""
    return f'<div style="margin-left:.45em;padding-left:1em;border-left:1px solid rgba(128,128,128,.45)">{html}</div>'


def card(*pieces: str) -> str:
    """Return a whole view."""
    return f'<div class="apsl">{"".join(pieces)}</div>'


def scroll(html: str) -> str:
    """Return a piece that scrolls where it is larger than the notebook."""
    return f'<div style="overflow:auto;max-height:640px">{html}</div>'


def notes(lines: Iterable[str]) -> str:
    """Return notes under a fold, or nothing."""
    listed = list(lines)
    items = "".join(f"<li>{escape(line)}</li>" for line in listed)
    return fold(count_of(len(listed), "note"), f"<ul>{items}</ul>") if listed else ""


def figure(value: Any) -> str:
    """Return a value of a table: figures with three digits that count, nothing for None.

    >>> figure(0.12345), figure(None), figure(True), figure(1200), figure("a < b")
    ('0.123', '', 'yes', '1,200', 'a &lt; b')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if isfinite(value) else str(value)
    return f"{value:,}" if isinstance(value, int) else name(value)


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int,
    what: str,
    total: int = 0,
    remark: bool = False,
) -> str:
    """Return a table of cells that are HTML already; the first ``words`` columns are words, the others figures.

    The last column is words, too, if it is a ``remark``. Of many rows the first are shown, and a line says how many of
    ``what`` are left out; ``total`` is how many there are where ``rows`` has only the first.
    """
    styles = [_WORDS if at < words or (remark and at == len(heads) - 1) else _FIGURES for at in range(len(heads))]
    shown_rows = rows[:MOST_ROWS]
    head = _row("th", styles, heads)
    body = "".join(f"<tr>{_row('td', styles, row)}</tr>" for row in shown_rows)
    rest = max(total, len(rows)) - len(shown_rows)
    more = paragraph(soft(f"and {count_of(rest, f'more {what}', f'more {what}s')}")) if rest else ""
    return scroll(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>") + more


def _row(tag: str, styles: Sequence[str], cells: Sequence[str]) -> str:
    return "".join(f'<{tag} style="{style}">{cell}</{tag}>' for style, cell in zip(styles, cells, strict=False))
