"""Effects in a notebook: estimates with their intervals, what they rest on, causes, and fitted parts."""

from __future__ import annotations

from apsl_rules.effects import Answer, Effect, Effects, Fitted, Grounds
from apsl_rules.names import count_of, shown
from apsl_rules.notebook.graph_views import network_html
from apsl_rules.notebook.pieces import (
    card,
    figure,
    fold,
    indent,
    name,
    names,
    notes,
    paragraph,
    soft,
    table,
    text,
    title,
)
from apsl_rules.notebook.proof_views import tree

_WORDS = {True: "a cause", False: "no cause", None: "unknown"}


def effect_html(effect: Effect) -> str:
    """Return every possible effect by every change, with its interval."""
    return card(_effect(effect), notes(effect.notes))


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
    elif effect.is_open and effect.bounds is not None and effect.changes:
        low, high = effect.bounds
        told = paragraph(f"{text(effect.compares)}: between {low:.3g} and {high:.3g}, whatever the open lines are")
    return head + table(heads, cells, words=3, what="estimate", remark=True) + told


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.3g} to {high:.3g}"


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
            text(row["reason"] or ""),
        ]
        for row in effects.rows()
    ]
    heads = ("cause", "target", "change", "estimate", "interval", "rows", "")
    head = title(f"effects along the edges at {name(effects.part.target)}")
    return card(head, table(heads, rows, words=3, what="effect", remark=True))


def grounds_html(grounds: Grounds) -> str:
    """Return an effect and what it rests on: the proofs of its arrows, open lines and assumptions."""
    cause = name(grounds.effect.cause)
    proofs = [fold(text(proof.steps[-1].text), indent(tree(proof))) for proof in grounds.proofs]
    lines = [
        [f"{name(one.other)} — {cause}", _values(one.into_cause), _values(one.out_of_cause)] for one in grounds.turned
    ]
    heads = ("open line", f"if it points at {cause}", f"if it points away from {cause}")
    turned = table(heads, lines, words=1, what="line") if lines else ""
    untested = paragraph(f"{soft('not tested against')} {cause}: {names(grounds.untested)}") if grounds.untested else ""
    assumed = "".join(f"<li>{text(one)}</li>" for one in grounds.assumptions)
    arrows = title(f"arrows at {cause}") if proofs else paragraph(soft(f"no arrow at {cause}"))
    return card(_effect(grounds.effect), arrows, *proofs, turned, untested, title("assumed"), f"<ul>{assumed}</ul>")


def _values(values: tuple[float, ...]) -> str:
    return " or ".join(f"{one:.3g}" for one in values) if values else "not possible"


def answer_html(answer: Answer) -> str:
    """Return whether a node is a cause, and what decides it in each case."""
    first, *_ = str(answer).split("\n")
    rows = [
        [text(str(case.orientation)) if case.orientation.arrows else "", _WORDS[case.is_cause], text(case.reason)]
        for case in answer.cases
    ]
    head = title(f"{name(answer.cause)} → {name(answer.target)}? {answer.answer}")
    return card(head, paragraph(text(first)), table(("if", "then", "since"), rows, words=3, what="case"))


def fitted_html(fitted: Fitted) -> str:
    """Return a fitted part: its target, its graph, and the distribution of the target."""
    shares = fitted.query(fitted.target)
    rows = [[text(level), f"{share:.3f}"] for level, share in shares.items()]
    head = title(f"fitted part around {name(fitted.target)}: {count_of(fitted.rows, 'row')}, prior {fitted.prior:g}")
    distribution = table((text(shown(fitted.target)), "probability"), rows, words=1, what="level")
    return card(head, distribution, fold("network", network_html(fitted.network), is_open=True))
