"""A checked graph as people see it: a drawing in three colours, a page, and the view of notebooks."""

from __future__ import annotations

from html import escape
from pathlib import Path

from apsl_rules._files import write_text
from apsl_rules.checking import Check
from apsl_rules.names import Pair, count_of
from apsl_rules.views.pieces import (
    card,
    draw_graph,
    figure,
    fold,
    html_of,
    name,
    notes,
    paragraph,
    scroll,
    table,
    text,
    title,
)

#: What stands, what is doubtful, and what the rows contradict; all readable on white and on black.
COLOURS = {"stands": "#2e7d4f", "doubtful": "#b07a00", "contradicted": "#d0342c"}
_LEGEND = {
    "stands": "stands",
    "doubtful": "weak, not shown by these rows, or to be turned",
    "contradicted": "the graph joins them not, or holds them independent, and the rows say otherwise",
}


def check_svg(check: Check) -> str:
    """Draw a checked graph as SVG text; a line joins pairs that it holds independent while the rows do not."""
    return draw_graph(check.picture, colours=_strokes(check))


def _strokes(check: Check) -> dict[Pair, str]:
    return {pair: COLOURS[kind] for pair, kind in check.colours.items()}


@html_of.register
def check_html(check: Check) -> str:
    """Return a check: what it says first, the drawing, and the tables of claims, edges and changes."""
    first, *rest = check.lines()
    told = "".join(paragraph(text(line)) for line in rest if not line.startswith((" ", "note:")))
    claims = [
        [text(one.statement), text(str(one.state)), figure(one.verdict.p), figure(one.size), figure(one.correlation)]
        for one in check.claims
    ]
    edges = [
        [name(one.source), name(one.target), text(str(one.existence)), text(str(one.direction)), figure(one.need)]
        for one in check.edges
    ]
    changes = "".join(f"<li>{text(str(one))}</li>" for one in check.changes)
    heads = ("independence", "state", "p", "nats a row", "as correlation")
    return card(
        title(text(first)),
        told,
        f"<ol>{changes}</ol>" if changes else "",
        scroll(check_svg(check)),
        _legend(check),
        fold(count_of(len(claims), "independence"), table(heads, claims, words=2, what="independence")),
        fold(
            count_of(len(edges), "edge"),
            table(("from", "to", "edge", "direction", "nats"), edges, words=4, what="edge"),
        ),
        notes(check.notes),
    )


def _legend(check: Check) -> str:
    """Say what the colours that are used stand for."""
    used = set(check.colours.values())
    return "".join(
        paragraph(f'<span style="color:{COLOURS[kind]}">━━</span> {words}')
        for kind, words in _LEGEND.items()
        if kind in used
    )


def write_check(check: Check, path: str | Path) -> None:
    """Write a check as a page, or as its drawing alone where the name ends in .svg."""
    if str(path).casefold().endswith(".svg"):
        write_text(path, check_svg(check))
        return
    write_text(path, page_of(repr(check), check_html(check)))


def page_of(heading: str, body: str) -> str:
    """Return a whole page of HTML without scripts around a view."""
    head = escape(heading.strip("<>"))
    style = "body{font-family:system-ui,sans-serif;margin:2em;max-width:75em}"
    page = (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{head}</title><style>{style}</style></head>'
    )
    return f"{page}<body>{body}</body></html>\n"
