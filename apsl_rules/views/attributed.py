"""Why a number moved, as people see it: a drawing whose nodes have three colours, a page, and the view of notebooks."""

from __future__ import annotations

from pathlib import Path

from apsl_rules._files import write_text
from apsl_rules.attribution import Moved
from apsl_rules.environments import State
from apsl_rules.names import count_of
from apsl_rules.views.checked import page_of
from apsl_rules.views.pieces import (
    MOST_DRAWN,
    card,
    draw_graph,
    figure,
    fold,
    html_of,
    name,
    names,
    notes,
    paragraph,
    scroll,
    table,
    text,
    title,
)

#: What changed, what passed it on, and what did not change; all readable on white and on black.
COLOURS = {
    State.CHANGED: "#d0342c",
    State.SMALL: "#c2785c",
    State.PASSED_ON: "#b07a00",
    State.SAME: "#2e7d4f",
}


def moved_svg(found: Moved) -> str:
    """Draw what changed, what passed it on and what did not change as SVG text."""
    boxes = {one.column: COLOURS[one.state] for one in found.moves if one.state in COLOURS}
    return draw_graph(found.graph, bold=found.target, boxes=boxes)


@html_of.register
def moved_html(found: Moved) -> str:
    """Return a comparison of two tables: what it says first, the drawing, and a table of all columns."""
    headline = next(found.lines())
    rows = [
        [
            name(one.column),
            text(str(one.state)),
            text(one.how or str(one.difference)),
            names(one.given) if one.state is State.PASSED_ON else "",
            figure(one.proof.verdict.p),
            figure(one.proof.nats),
        ]
        for one in found.moves
    ]
    proofs = "".join(f"<li>{text(str(one))}</li>" for one in found.moves)
    heads = ("column", "", "what differs", "explained by", "p", "nats a row")
    drawn = scroll(moved_svg(found)) if len(found.moves) <= MOST_DRAWN else ""
    return card(
        title(text(headline)),
        drawn,
        _legend(found),
        table(heads, rows, words=4, what="column"),
        fold(count_of(len(rows), "proof"), f"<ul>{proofs}</ul>"),
        notes(found.notes),
    )


def _legend(found: Moved) -> str:
    """Say what the colours that are used stand for."""
    used = {one.state for one in found.moves}
    return "".join(
        paragraph(f'<span style="color:{colour}">■</span> {state}')
        for state, colour in COLOURS.items()
        if state in used
    )


def write_moved(found: Moved, path: str | Path) -> None:
    """Write a comparison as a page, or as its drawing alone where the name ends in .svg."""
    is_drawing = str(path).casefold().endswith(".svg")
    write_text(path, moved_svg(found) if is_drawing else page_of(repr(found), moved_html(found)))
