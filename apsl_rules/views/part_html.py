"""Views of parts, proofs and conflicts in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from apsl_rules.names import count_of
from apsl_rules.parts import Comparison, Part, Parts, Stability
from apsl_rules.rules import Conflict, Proof
from apsl_rules.views.pieces import (
    MOST_DRAWN,
    MOST_ROWS,
    card,
    draw_graph,
    figure,
    fold,
    html_of,
    indent,
    name,
    names,
    notes,
    paragraph,
    scroll,
    soft,
    table,
    text,
    title,
)
from apsl_rules.views.svg import svg

#: How many steps of a proof are shown, and how many levels below each other.
MOST_STEPS = 150
_DEEPEST = 30
_OPEN_LEVELS = 2


@html_of.register
def proof_html(proof: Proof) -> str:
    """Return a proof as a tree that folds."""
    return card(tree(proof))


def tree(proof: Proof) -> str:
    """Return the tree of a proof, with the sides of a conflict and what is known of its probability."""
    sides = [fold(f"side {number}", indent(tree(side))) for number, side in enumerate(proof.sides, start=1)]
    told = [paragraph(soft(text(line))) for line in proof.probability_lines]
    return "".join([_Tree(proof).html(), *sides, *told])


class _Tree:
    """Writes the steps of one proof, each once."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof
        self._shown: set[int] = set()

    def html(self) -> str:
        written = self._step(len(self._proof.steps) - 1, 0)
        rest = len(self._proof.steps) - len(self._shown)
        if rest:
            written += paragraph(soft(f"{count_of(rest, 'further step')} left out here; print it to see all"))
        return written

    def _step(self, at: int, level: int) -> str:
        step = self._proof.steps[at]
        words = f"<b>{text(step.text)}</b>" if level == 0 else text(step.text)
        if at in self._shown and step.premises:
            return paragraph(f"{words} {soft('[shown above]')}")
        self._shown.add(at)
        line = f"{words} {soft(f'[{text(step.because)}]')}"
        if not step.premises:
            return paragraph(line)
        if level >= _DEEPEST or len(self._shown) >= MOST_STEPS:
            return paragraph(f"{line} {soft('…')}")
        below = "".join(self._step(one, level + 1) for one in step.premises)
        return fold(line, indent(below), is_open=level < _OPEN_LEVELS)


@html_of.register
def conflict_html(conflict: Conflict) -> str:
    """Return a contradiction in words, and the proof of each of its sides."""
    sides = [
        fold(f"side {number}: {text(proof.steps[-1].text)}", indent(tree(proof)))
        for number, proof in enumerate(conflict.proofs, start=1)
    ]
    return card(
        title(f"{name(conflict.pair[0])} ✕ {name(conflict.pair[1])}"), paragraph(text(conflict.reading)), *sides
    )


def conflicts_fold(conflicts: tuple[Conflict, ...]) -> str:
    """Return several contradictions under a fold, or nothing."""
    rows = [[names(one.pair), text(one.reading)] for one in conflicts]
    listed = table(("pair", "contradiction"), rows, words=2, what="contradiction")
    return fold(count_of(len(conflicts), "contradiction"), listed) if conflicts else ""


_SIGNS = {"arrow": "→", "line": "—", "conflict": "✕", "partial": "o→", "bidirected": "↔"}
_FIGURES = ("probability", "direction", "p", "support")
#: So many edges are listed without being asked for.
_FEW = 8
_HEADS = {"probability": "P(edge)", "direction": "P(direction)"}


@html_of.register
def part_html(part: Part) -> str:
    """Return the answer in words, the drawing of a part, and its edges under a fold."""
    rows = part.rows()
    drawn = scroll(svg(part)) if len(part.members) <= 4 * MOST_DRAWN else soft("too many nodes to draw here")
    edges = fold(count_of(len(rows), "edge"), edges_table(rows), is_open=len(rows) <= _FEW) if rows else ""
    answer = title(text(part.summary()))
    return card(answer, drawn, edges, conflicts_fold(part.conflicts), notes(part.notes))


def sign_of(row: Mapping[str, Any]) -> str:
    """Return the sign of an edge; one with a suggested direction has its own."""
    return "⇢" if row["suggested"] else _SIGNS[row["mark"]]


def edges_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return edges as a table, with the figures that any of them has."""
    known = [one for one in _FIGURES if any(row.get(one) is not None for row in rows)]
    cells = [
        [
            name(row["source"]),
            sign_of(row),
            name(row["target"]),
            text(row.get("rule") or ""),
            *(figure(row.get(one)) for one in known),
        ]
        for row in rows
    ]
    heads = ["source", "", "target", "rule", *(_HEADS.get(one, one) for one in known)]
    return table(heads, cells, words=4, what="edge")


@html_of.register
def parts_html(parts: Parts) -> str:
    """Return one row for each part, and the drawing of all of them together."""
    head = title(f"{count_of(len(parts), 'part')} of depth {parts.depth}, learner {text(parts.learner)}")
    rows = [
        [
            name(target),
            names(part.parents_of(part.target)),
            names(part.children_of(part.target)),
            figure(len(part.members)),
            figure(len(part.arrows)),
            figure(len(part.lines)),
            figure(len(part.conflicts)),
        ]
        for target, part in islice(parts.items(), MOST_ROWS)
    ]
    heads = ("target", "causes", "effects", "nodes", "arrows", "undirected", "conflicts")
    stopped = paragraph(f"<b>incomplete</b>: {text(parts.incomplete)}") if parts.incomplete else ""
    asked = paragraph(soft(f"{parts.asked:,} tests asked, {parts.computed:,} computed"))
    listed = table(heads, rows, words=3, what="part", total=len(parts))
    return card(head, listed, stopped, asked, _together(parts))


def _together(parts: Parts) -> str:
    """Return all parts as one drawing under a fold, where they are few enough."""
    if len(parts) > MOST_ROWS:
        return ""
    graph = parts.union.graph()
    joined = {node for edge in graph.edges for node in (edge.source, edge.target)}
    return fold("all parts together", scroll(draw_graph(graph))) if 0 < len(joined) <= MOST_DRAWN else ""


@html_of.register
def stability_html(stability: Stability) -> str:
    """Return how often each mark came back, each share with a bar."""
    part = stability.part
    asked = f"{count_of(stability.counted, 'resample')}"
    head = title(f"how often each edge around {name(part.target)} came back in {asked}")
    rows = [
        [
            name(row["source"]),
            _SIGNS.get(row["mark"], soft("·")),
            name(row["target"]),
            *(_share(row[one]) for one in ("support", "edge", "arrow", "reversed", "line", "conflict", "gap")),
        ]
        for row in stability.rows()
    ]
    heads = ("source", "", "target", "same mark", "edge", "arrow", "reversed", "line", "conflict", "no edge")
    stopped = paragraph(f"<b>incomplete</b>: {text(stability.incomplete)}") if stability.incomplete else ""
    return card(head, table(heads, rows, words=3, what="edge"), stopped, fold("the part", part_html(part)))


def _share(value: float | None) -> str:
    """Return a share after a bar of its length; what never happened is pale."""
    if not value:
        return "" if value is None else soft("0")
    width = max(1, round(40 * value))
    bar = f'<span style="display:inline-block;width:{width}px;height:.5em;background:currentColor;opacity:.35"></span>'
    return f"{bar} {value:.2f}"


@html_of.register
def comparison_html(comparison: Comparison) -> str:
    """Return one row for each learner, and for each edge which learners draw it and how."""
    first = next(iter(comparison.parts))
    rows = [[figure(value) for value in row.values()] for row in comparison.rows()]
    heads = list(comparison.rows()[0])
    learners = table(heads, rows, words=1, what="learner")
    head = title(f"{count_of(len(rows), 'learner')}, compared with {text(first)}")
    return card(head, learners, fold("edge by edge", _marks(comparison), is_open=True))


def _marks(comparison: Comparison) -> str:
    """Return for each pair that some learner joins the mark that each draws."""
    marks: dict[tuple[Any, Any], dict[str, str]] = {}
    for learner, part in comparison.parts.items():
        for row in part.rows():
            pair = (row["source"], row["target"])
            turned = pair[::-1] in marks
            sign = sign_of(row)
            key = pair[::-1] if turned else pair
            marks.setdefault(key, {})[learner] = _TURNED.get(sign, sign) if turned else sign
    rows = [
        [name(x), name(y), *(found.get(learner, soft("·")) for learner in comparison.parts)]
        for (x, y), found in marks.items()
    ]
    return table(["", "", *map(text, comparison.parts)], rows, words=2 + len(comparison.parts), what="edge")


_TURNED = {"→": "←", "⇢": "⇠", "o→": "←o"}
