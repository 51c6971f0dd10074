"""Views of graphs, tables and effects in a notebook; importing this module registers the views of parts as well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from apsl_rules.data import Description, LocalTable, describe_columns
from apsl_rules.effects import Answer, Effect, Effects, Fitted, Grounds
from apsl_rules.graphs import Dag, Pdag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Node, count_of, listing, shown
from apsl_rules.neighbours import Blanket
from apsl_rules.parts import LearnedGraph, MarkedGraph, graph_of
from apsl_rules.rules import Mark
from apsl_rules.views.attributed import moved_html
from apsl_rules.views.checked import check_html
from apsl_rules.views.part_html import conflicts_fold, edges_table, sign_of, tree
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

__all__ = ["check_html", "html_of", "moved_html"]


@html_of.register
def learned_graph_html(learned: LearnedGraph) -> str:
    """Return the drawing of a learned graph and its edges."""
    head = title(f"graph of {count_of(len(learned.nodes), 'node')}, learner {text(learned.learner)}")
    stopped = paragraph(f"<b>incomplete</b>: {text(learned.incomplete)}") if learned.incomplete else ""
    rows = learned.rows()
    edges = fold(count_of(len(rows), "edge"), edges_table(rows))
    return card(
        head, _drawing(learned.graph()), stopped, edges, conflicts_fold(learned.conflicts), notes(learned.notes)
    )


@html_of.register
def marked_graph_html(graph: MarkedGraph) -> str:
    """Return the drawing of a graph and its edges."""
    edges = fold(count_of(len(graph.edges), "edge"), _edges(graph))
    return card(title(text(repr(graph).strip("<>"))), _drawing(graph), edges)


@html_of.register
def known_graph_html(source: Dag | Pdag) -> str:
    """Return the drawing of a known graph."""
    return marked_graph_html(graph_of(source))


@html_of.register
def network_html(network: Network) -> str:
    """Return the drawing of a network, and its nodes with their levels and parents."""
    dag = network.dag
    head = title(
        f"network {text(network.name)}: {count_of(len(dag.nodes), 'node')}, {count_of(len(dag.edges), 'arrow')}, "
        f"{count_of(network.parameters, 'parameter')}"
    )
    rows = [[name(node), names(dag.parents_of(node)), names(network.levels[node])] for node in dag.nodes[:MOST_ROWS]]
    nodes = table(("node", "parents", "levels"), rows, words=3, what="node", total=len(dag.nodes))
    source = paragraph(soft(text(network.source))) if network.source else ""
    return card(head, _drawing(graph_of(dag)), fold("nodes", nodes), source)


@html_of.register
def blanket_html(blanket: Blanket) -> str:
    """Return a Markov blanket as a small graph, and in words."""
    children = set(blanket.spouses)
    arrows = {(blanket.node, child) for child in children}
    arrows |= {(other, child) for child, others in blanket.spouses.items() for other in others}
    lines = [(blanket.node, one, Mark.LINE) for one in blanket.neighbours if one not in children]
    graph = MarkedGraph.of_edges(
        (blanket.node, *blanket.members), [*((x, y, Mark.ARROW) for x, y in sorted(arrows, key=str)), *lines]
    )
    shared = [
        paragraph(f"{soft('spouses through')} {name(child)}{soft(':')} {names(others)}")
        for child, others in blanket.spouses.items()
    ]
    untested = [paragraph(f"{soft('not tested:')} {names(blanket.untested)}")] if blanket.untested else []
    around = paragraph(f"{soft('neighbours:')} {names(blanket.neighbours)}")
    head = title(f"Markov blanket of {name(blanket.node)}")
    return card(head, _drawing(graph, bold=blanket.node), around, *shared, *untested)


def _drawing(graph: MarkedGraph, bold: Node = None) -> str:
    """Return a drawing, or the word that the graph is too large for one; nodes without edges are named."""
    joined = {node for edge in graph.edges for node in (edge.source, edge.target)}
    if len(joined) > MOST_DRAWN:
        return paragraph(soft(f"{count_of(len(joined), 'node')} with edges: too many to draw here"))
    alone = [node for node in graph.nodes if node not in joined and node != bold]
    rest = paragraph(f"{soft('without an edge:')} {names(alone)}") if alone else ""
    return (scroll(draw_graph(graph, bold=bold)) if joined or bold is not None else "") + rest


def _edges(graph: MarkedGraph) -> str:
    rows: Sequence[dict[str, Any]] = graph.rows()
    known = [one for one in ("probability", "direction") if any(row.get(one) is not None for row in rows)]
    cells = [
        [name(row["source"]), sign_of(row), name(row["target"]), *(figure(row[one]) for one in known)] for row in rows
    ]
    return table(["source", "", "target", *known], cells, words=3, what="edge")


_FIRST_ROWS = 5
_MOST_COLUMNS = 20


@html_of.register
def table_html(source: LocalTable) -> str:
    """Return the columns of a table, its first rows and what was assumed when it was read."""
    some = _narrow(source)
    rows = [
        [
            name(one.name),
            text(one.kind),
            text(one.detail),
            f"{one.missing / max(1, source.rows):.1%}" if one.missing else "",
        ]
        for one in describe_columns(some)
    ]
    aside = len(source.columns) - len(source.names)
    head = title(
        f"table of {count_of(source.rows, 'row')} and {count_of(len(source.names), 'column')}"
        + (f"; {count_of(aside, 'further column')} set aside" if aside > 0 else "")
    )
    total = max(len(source.columns), len(source.names))
    columns = table(("column", "kind", "holds", "missing"), rows, words=3, what="column", total=total)
    return card(head, columns, fold("first rows", _first_rows(source)), notes(source.notes))


@html_of.register
def description_html(found: Description) -> str:
    """Return the columns with their histograms, what is set aside for which target, and what was assumed."""
    rows = [
        [
            name(one.name),
            text(one.kind),
            _bars([bar.rows for bar in one.bars]),
            text(one.detail),
            f"{one.missing / max(1, found.rows):.1%}" if one.missing else "",
            text(", ".join(map(str, one.options))) if one.kind != "set aside" else "",
        ]
        for one in found.described[:MOST_ROWS]
    ]
    heads = ("column", "kind", "", "holds", "missing", "change with")
    columns = table(heads, rows, words=len(heads), what="column", total=len(found.described))
    defined = notes([f"if {one.target!r} is the target: {one.note()}" for one in found.defined])
    head = title(f"table of {count_of(found.rows, 'row')} and {count_of(len(found.described), 'column')}")
    copies = [f"duplicate columns: {listing(group)}" for group in found.duplicates]
    return card(head, columns, notes([*copies, *found.derived]), defined, notes(found.notes))


def _bars(rows: Sequence[int]) -> str:
    """Return a histogram as a small drawing."""
    most, width, tall = max(rows, default=0), 6, 22
    drawn = "".join(
        f'<rect x="{at * width}" y="{tall - tall * one / most:.1f}" width="{width - 1}" '
        f'height="{tall * one / most:.1f}" fill="currentColor" opacity=".6"/>'
        for at, one in enumerate(rows)
        if most
    )
    return f'<svg width="{width * len(rows)}" height="{tall}" aria-hidden="true">{drawn}</svg>' if drawn else ""


def _narrow(source: LocalTable) -> LocalTable:
    """Return the table with the first columns only, where there are many: only those are described."""
    if len(source.names) <= MOST_ROWS and len(source.columns) <= MOST_ROWS:
        return source
    return source.select([one.name for one in source.columns[:MOST_ROWS]] or source.names[:MOST_ROWS])


def _first_rows(source: LocalTable) -> str:
    """Return the first rows with their values."""
    listed = source.names[:_MOST_COLUMNS]
    values = [_values(source, one) for one in listed]
    rows = [[column[at] for column in values] for at in range(min(_FIRST_ROWS, source.rows))]
    rest = len(source.names) - len(listed)
    heads = [*map(name, listed), *([f"and {count_of(rest, 'more column')}"] if rest else [])]
    return table(heads, rows, words=len(heads), what="row", total=source.rows)


def _values(source: LocalTable, node: Node) -> list[str]:
    """Return the first values of a column as text; a missing one is empty."""
    if source.is_category(node):
        levels = source.categories.levels_of(node)
        codes = source.categories.codes_of(node)[:_FIRST_ROWS].tolist()
        return [figure(_plain(levels[code])) if code >= 0 else "" for code in codes]
    return ["" if np.isnan(value) else f"{value:.6g}" for value in source.values(node)[:_FIRST_ROWS].tolist()]


def _plain(level: Any) -> Any:
    return level.item() if isinstance(level, np.generic) else level


_CAUSE_WORDS = {True: "a cause", False: "no cause", None: "unknown"}


@html_of.register
def effect_html(effect: Effect) -> str:
    """Return every possible effect by every change, with its interval."""
    return card(_effect(effect), scroll(effect.svg()) if effect.interval is not None else "", notes(effect.notes))


def _effect(effect: Effect) -> str:
    rows = effect.rows()
    cells = [
        [
            text(row["change"]),
            text(row["assumes"]),
            names(row["adjustment"]),
            figure(row["estimate"]),
            _interval(row["low"], row["high"]),
            figure(row["rows"]),
            text(row["reason"]),
        ]
        for row in rows
    ]
    interval = f"{100 * effect.confidence:g} % interval"
    heads = ("change", "if", "adjusted for", "estimate", interval, "rows", "")
    head = title(f"effect of {name(effect.cause)} on {name(effect.target)}")
    told = ""
    if effect.is_refused:
        told = paragraph("nothing bounds the effect, since one that is possible could not be estimated")
    elif effect.is_weighed:
        told = "".join(paragraph(text(line.strip())) for line in str(effect).split("\n")[1:])
    elif effect.is_open and effect.bounds is not None and effect.changes:
        low, high = effect.bounds
        told = paragraph(f"{text(effect.compares)}: between {low:.3g} and {high:.3g}, whatever the open lines are")
    return head + table(heads, cells, words=3, what="estimate", remark=True) + told


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3g} to {high:.3g}"


@html_of.register
def effects_html(effects: Effects) -> str:
    """Return one row for each edge at the target."""
    rows = [
        [
            name(row["cause"]),
            name(row["target"]),
            text(row["change"] or ""),
            figure(row["lowest"]) if row["lowest"] == row["highest"] else _interval(row["lowest"], row["highest"]),
            _interval(row["low"], row["high"]),
            figure(row["rows"]),
            "" if row["none"] is None else f"{100 * row['none']:.2g} %",
            text(row["basis"] or ""),
            text(row["reason"] or ""),
        ]
        for row in effects.rows()
    ]
    heads = ("cause", "target", "change", "estimate", "interval", "rows", "none", "rests on", "")
    head = title(f"effects along the edges at {name(effects.part.target)}")
    return card(head, table(heads, rows, words=3, what="effect", remark=True))


@html_of.register
def grounds_html(grounds: Grounds) -> str:
    """Return an effect and what it rests on: the proofs of its arrows, open lines and assumptions."""
    cause = name(grounds.effect.cause)
    proofs = [fold(text(proof.steps[-1].text), indent(tree(proof))) for proof in grounds.proofs]
    lines = [
        [f"{name(one.other)} — {cause}", _spelt_values(one.into_cause), _spelt_values(one.out_of_cause)]
        for one in grounds.turned
    ]
    heads = ("open line", f"if it points at {cause}", f"if it points away from {cause}")
    turned = table(heads, lines, words=1, what="line") if lines else ""
    untested = paragraph(f"{soft('not tested against')} {cause}: {names(grounds.untested)}") if grounds.untested else ""
    assumed = "".join(f"<li>{text(one)}</li>" for one in grounds.assumptions)
    arrows = title(f"arrows at {cause}") if proofs else paragraph(soft(f"no arrow at {cause}"))
    return card(_effect(grounds.effect), arrows, *proofs, turned, untested, title("assumed"), f"<ul>{assumed}</ul>")


def _spelt_values(values: tuple[float, ...]) -> str:
    return " or ".join(f"{one:.3g}" for one in values) if values else "not possible"


@html_of.register
def answer_html(answer: Answer) -> str:
    """Return whether a node is a cause, and what decides it in each case."""
    first, *_ = str(answer).split("\n")
    rows = [
        [text(str(case.orientation)) if case.orientation.arrows else "", _CAUSE_WORDS[case.is_cause], text(case.reason)]
        for case in answer.cases
    ]
    head = title(f"{name(answer.cause)} → {name(answer.target)}? {answer.answer}")
    return card(head, paragraph(text(first)), table(("if", "then", "since"), rows, words=3, what="case"))


@html_of.register
def fitted_html(fitted: Fitted) -> str:
    """Return a fitted part: its target, its graph, and the distribution of the target."""
    shares = fitted.query(fitted.target)
    rows = [[text(level), f"{share:.3f}"] for level, share in shares.items()]
    head = title(f"fitted part around {name(fitted.target)}: {count_of(fitted.rows, 'row')}, prior {fitted.prior:g}")
    distribution = table((text(shown(fitted.target)), "probability"), rows, words=1, what="level")
    return card(head, distribution, fold("network", network_html(fitted.network), is_open=True))
