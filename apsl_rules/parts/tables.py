"""Parts as tables: the rows of their edges, for papers too, and a comparison of several parts; how they are printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import floor, isfinite, log10, prod
from typing import TYPE_CHECKING, Any, get_args

import attrs

from apsl_rules._renamed import OldMethods
from apsl_rules.evidence import GIVEN
from apsl_rules.names import Node, Pair, chosen, in_order, order_key, shown
from apsl_rules.parts.shortcuts import TableFormat
from apsl_rules.rules import Finding, Firing, Mark, Proof, instead
from apsl_rules.showing import WIDTH, NotebookView, in_columns

if TYPE_CHECKING:
    import pandas as pd

    from apsl_rules.parts.part import Part

_TWO_ENDS = (Mark.PARTIAL, Mark.BIDIRECTED)

#: The columns of the table of edges that ``Part.to_frame`` gives.
ROW = (
    "source",
    "target",
    "mark",
    "probability",
    "direction",
    "p",
    "rule",
    "distance",
    "support",
    "suggested",
)


def edge_rows(part: Part) -> list[dict[str, Any]]:
    """Return the edges of a part by the names of their ends; ``Part.rows`` says what each value means."""
    rows = []
    for pair in sorted(part.edges, key=lambda one: tuple(order_key(node) for node in in_order(one))):
        x, y = in_order(pair)
        is_turned = (y, x) in part.arrows or (y, x) in part.suggested or (y, x) in part.partial
        rows.append(edge_row(part, y, x) if is_turned else edge_row(part, x, y))
    return rows


def edge_row(part: Part, x: Node, y: Node) -> dict[str, Any]:
    """Return what a part knows of one of its edges, along its direction if it has one."""
    mark = part.mark(x, y)
    proof = part.why(x, y)
    proofs = [proof, part.why(y, x)] if mark in _TWO_ENDS else [proof]
    known = [part.distances[node] for node in (x, y) if node in part.distances]
    points = mark is Mark.ARROW or (x, y) in part.all_suggested
    figures = (
        x,
        y,
        str(mark.drawn),
        part.edge_probability(x, y),
        part.direction_probability(x, y) if points else None,
        part.edge_p(x, y),
        _bases(proofs),
        min(known, default=None),
        part.support.get(frozenset((x, y))),
        (x, y) in part.all_suggested,
    )
    return dict(zip(ROW, figures, strict=True))


def arrow_share(row: Mapping[str, Any]) -> float | None:
    """Return how often the arrow of a row is right, its edge included; what was given beforehand counts as certain."""
    figures = [row[name] for name in ("probability", "direction") if row[name] is not None]
    return prod(figures) if figures else None


def _bases(proofs: Sequence[Proof]) -> str:
    """Name what an edge rests on: with marks at both ends, the rule of each end that has one."""
    reasons = [proof.steps[-1].reason for proof in proofs]
    rules = [reason.rule for reason in reasons if isinstance(reason, Firing)]
    found = [GIVEN if one.evidence.is_given else "found" for one in reasons[:1] if isinstance(one, Finding)]
    return ", ".join(dict.fromkeys(rules or found))


@attrs.frozen(repr=False)
class Comparison(OldMethods, NotebookView):
    """The part of each learner, by its name, and its CPU seconds; all are compared with the first.

    Attributes
    ----------
    parts
        The part of each learner, by its name.
    seconds
        The CPU seconds of each learner, by its name.
    """

    parts: Mapping[str, Part]
    seconds: Mapping[str, float] = attrs.field(eq=False)

    def __hash__(self) -> int:
        return hash((Comparison, *self.parts))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each learner.

        ``edges`` are those of the asked part, ``arrows``, ``lines`` and ``conflicts`` how they are marked, and
        ``partial`` and ``bidirected`` too where causes may be hidden; ``shared`` counts the edges that the first
        learner has too, ``same`` those of them with the same mark and direction.
        """
        first = next(iter(self.parts.values()))
        with_ends = any(part.allows_hidden for part in self.parts.values())
        return [
            {
                "learner": name,
                "edges": len(part.edges),
                "arrows": len(part.arrows),
                **({"partial": len(part.partial), "bidirected": len(part.bidirected)} if with_ends else {}),
                "lines": len(part.lines),
                "conflicts": len(part.conflicts),
                "shared": len(part.edges & first.edges),
                "same": sum(
                    _mark_and_arrows(part, pair) == _mark_and_arrows(first, pair) for pair in part.edges & first.edges
                ),
                "visited": len(part.visited),
                "tests": part.counts.asked,
                "cpu": round(self.seconds[name], 4),
                "complete": part.incomplete is None,
            }
            for name, part in self.parts.items()
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        rows = self.rows()
        cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
        return in_columns(cells, right=range(1, len(cells[0])), width=WIDTH)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.parts)}>"


def _mark_and_arrows(part: Part, pair: Pair) -> tuple[bool, bool, str]:
    """Return the mark of an edge and the direction of its arrow."""
    x, y = sorted(pair, key=part.nodes.index)
    return (x, y) in part.arrows, (y, x) in part.arrows, str(part.mark(x, y).drawn)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


#: How the fields begin that spreadsheets carry out.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def edges_csv(part: Part) -> str:
    """Return one row for each edge, with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, ROW, lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: inert(value) for key, value in row.items()} for row in part.rows())
    return text.getvalue()


def inert(value: object) -> object:
    """Put an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def alternatives_of(part: Part) -> Mapping[tuple[Node, Node], Mapping[Node, float]]:
    """Return the columns that would serve almost as well as a neighbour, by node and neighbour, the nearest first."""
    found: dict[tuple[Node, Node], dict[Node, float]] = {}
    ties = [one for one in part.findings if one.fact.relation == instead.name]
    for one in sorted(ties, key=lambda one: one.evidence.nats or 0.0):
        node, neighbour, other = one.fact.nodes
        if frozenset((node, neighbour)) in part.edges:
            found.setdefault((node, neighbour), {})[other] = one.evidence.nats or 0.0
    return found


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
