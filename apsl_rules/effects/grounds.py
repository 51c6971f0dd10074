"""What an effect rests on: its arrows with their proofs, its adjustment, its assumptions; as text and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import attrs

from apsl_rules._documents import label
from apsl_rules.effects.contrasts import Change, Interval, figure
from apsl_rules.effects.queries import Effect, PossibleEffect
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.notebook_view import NotebookView
from apsl_rules.notes import Sentence, marked
from apsl_rules.rules import Proof, untested


@attrs.frozen
class Turned:
    """What the effect would be for either direction of an open line at the cause, smallest first.

    Attributes
    ----------
    other
        The other end of the line.
    into_cause, out_of_cause
        The possible effects if the line points at the cause, and if it points away from it.
    """

    other: Node
    into_cause: tuple[float, ...]
    out_of_cause: tuple[float, ...]


@attrs.frozen(slots=False, repr=False)
class Grounds(NotebookView):
    """What an effect rests on. It prints as text, and ``to_json()`` gives it as data.

    ``proofs`` has the proof of each arrow at the cause, ``turned`` what each open line would change, ``untested`` the
    nodes that the cause could not be tested against, and ``assumptions`` what no data can show.

    Attributes
    ----------
    effect
        The effect itself.
    """

    effect: Effect
    proofs: tuple[Proof, ...]
    turned: tuple[Turned, ...]
    untested: tuple[Node, ...]
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return Sentence("\n".join(self._lines()))

    def __repr__(self) -> str:
        cause, target = shown(self.effect.cause), shown(self.effect.target)
        arrows, lines = count_of(len(self.proofs), "arrow"), count_of(len(self.turned), "open line")
        return f"<Grounds of the effect of {cause} on {target}: {arrows} and {lines}>"

    def _lines(self) -> Iterator[str]:
        cause = shown(self.effect.cause)
        yield marked(effect_text(self.effect))
        yield ""
        yield f"arrows at {cause}:" if self.proofs else f"arrows at {cause}: none"
        for proof in self.proofs:
            yield from (f"  {line}" for line in str(proof).split("\n"))
        if self.turned:
            yield f"open lines at {cause}:"
        for one in self.turned:
            other = shown(one.other)
            told = f"{other} -> {cause}: {_values(one.into_cause)}; {cause} -> {other}: {_values(one.out_of_cause)}"
            yield f"  {told}{self._suggested(one.other)}"
        if self.untested:
            yield f"not tested against {cause}, so possibly adjacent: {', '.join(map(shown, self.untested))}"
        yield "assumed:"
        yield from (f"  {one}" for one in self.assumptions)

    def _suggested(self, other: Node) -> str:
        """Say which direction of an open line is only suggested."""
        part, cause = self.effect.part, self.effect.cause
        for tail, head in ((other, cause), (cause, other)):
            share = part.all_suggested.get((tail, head))
            if share is not None:
                return f" ({shown(tail)} -> {shown(head)} is suggested, {share:.2f})"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the grounds as plain data."""
        return {
            "effect": effect_data(self.effect),
            "arrows": [proof.to_dict() for proof in self.proofs],
            "open_lines": [
                {
                    "other": label(one.other),
                    "into_cause": list(one.into_cause),
                    "out_of_cause": list(one.out_of_cause),
                }
                for one in self.turned
            ],
            "untested": [label(node) for node in self.untested],
            "assumptions": list(self.assumptions),
        }

    def to_json(self) -> str:
        """Return the grounds as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def grounds_of(effect: Effect) -> Grounds:
    """Gather what an effect rests on."""
    part, cause = effect.part, effect.cause
    arrows = sorted((pair for pair in part.all_arrows if cause in pair), key=lambda pair: [str(node) for node in pair])
    lines = in_order(other for pair in part.all_lines if cause in pair for other in pair if other != cause)
    unseen = in_order(
        other for fact in part.store.facts(untested) if cause in fact.nodes for other in fact.nodes if other != cause
    )
    return Grounds(
        effect,
        tuple(part.why(*pair) for pair in arrows),
        tuple(_turned(effect, other) for other in lines),
        unseen,
        _assumptions(effect),
    )


def _turned(effect: Effect, other: Node) -> Turned:
    into = [one for one in effect.possible if other in one.orientation.parents]
    out = [one for one in effect.possible if other in one.orientation.children]
    return Turned(other, _estimates(into, effect.main), _estimates(out, effect.main))


def _estimates(possible: list[PossibleEffect], change: Change) -> tuple[float, ...]:
    found = (one.interval(change) for one in possible)
    return tuple(sorted({one.estimate for one in found if one is not None}))


def _values(values: tuple[float, ...]) -> str:
    return " or ".join(map(figure, values)) if values else "not possible"


def _assumptions(effect: Effect) -> tuple[str, ...]:
    cause, target = shown(effect.cause), shown(effect.target)
    shown_none = f"hidden common causes were allowed, and the arrows at {cause} show that none acts there"
    assumed = (
        f"no hidden common cause of {cause} and {target}, or of {cause} and one of its neighbours; one would bias the "
        "effect, and nothing here can show it"
    )
    told = [
        shown_none if effect.part.allows_hidden else assumed,
        f"the edges at {cause} are right; each arrow is as good as its proof",
        "rows are independent of each other and were not selected by the target or its effects",
        f"setting {cause} changes nothing else than what follows from {cause}",
    ]
    if any(one.estimates is not None and not one.estimates.distribution for one in effect.possible):
        told.append("relations are linear, without interactions, and with the same spread everywhere")
    return tuple(told)


def effect_text(effect: Effect) -> str:
    """Return an effect in words: each possible effect by the changes to look at, and what bounds them.

    Of a target with two levels the last is told, since the other mirrors it; of one with more levels all are.
    """
    cause, target = shown(effect.cause), shown(effect.target)
    what = _compared(effect) or ("refused" if effect.is_refused else "none")
    lines = [f"effect of {cause} on {target}: {what}"]
    for one in effect.possible:
        lines += [f"  {_possible_text(effect, one, change)}" for change in _shown_changes(effect, one)]
    if effect.is_refused:
        lines.append("  nothing bounds the effect, since one that is possible could not be estimated")
    elif effect.is_open and effect.changes:
        lines += [f"  {line}" for line in _bounds_text(effect)]
    lines += [f"  note: {note}" for note in effect.notes]
    return Sentence("\n".join(lines))


def _bounds_text(effect: Effect) -> Iterator[str]:
    """Say between which figures an effect is, whatever the open lines are, by each change that is told."""
    for change in effect.changes if _has_many_outcomes(effect) else (effect.main,):
        bounds = effect.bounds_of(change)
        if bounds is not None:
            low, high = map(figure, bounds)
            percent = f"{100 * effect.confidence:g} %"
            yield f"{_label(effect, change)}between {low} and {high}, whatever the open lines are ({percent} intervals)"


def _shown_changes(effect: Effect, one: PossibleEffect) -> tuple[Change, ...]:
    """Return the changes to print: one for each level of the cause but the first, on each level that is told."""
    if one.estimates is None:
        return (effect.main,)
    return tuple(change for change in effect.changes if _is_told(effect, change))


def _is_told(effect: Effect, change: Change) -> bool:
    """Return whether a change is printed: of a target with two levels only that of the last."""
    return _has_many_outcomes(effect) or change.outcome == effect.main.outcome


def _has_many_outcomes(effect: Effect) -> bool:
    """Return whether the target has more than two levels, none of which says all."""
    return len({change.outcome for change in effect.changes}) > 2  # noqa: PLR2004 - of two, each mirrors the other


def _compared(effect: Effect) -> str:
    """Return what is compared, in words; where several levels of the target are told, each line names its own."""
    if not _has_many_outcomes(effect):
        return effect.compares
    cause, main = shown(effect.cause), effect.main
    if main.is_number:
        return f"per unit of {cause}"
    levels = list(dict.fromkeys(shown(change.level) for change in effect.changes))
    return f"{cause} = {' or '.join(levels)} against {shown(main.reference)}"


def _label(effect: Effect, change: Change) -> str:
    """Name a change that the first line does not name."""
    is_only = len({one.level for one in effect.changes}) == 1
    if _has_many_outcomes(effect):
        level = "" if is_only or change.is_number else f", {shown(change.level)}"
        return f"P({shown(effect.target)} = {shown(change.outcome)}){level}: "
    return "" if change == effect.main or change.is_number else f"{shown(change.level)}: "


def _possible_text(effect: Effect, one: PossibleEffect, change: Change) -> str:
    under = f"if {one.orientation}" if one.orientation.arrows else ""
    if one.no_effect is not None:
        return ", ".join(filter(None, ["0", under, f"since {one.no_effect}"]))
    if one.refused is not None:
        return f"{f'{under}: ' if under else ''}cannot be estimated: {marked(one.refused)}"
    found = one.interval(change)
    held = f"adjusted for {', '.join(map(shown, one.adjustment))}" if one.adjustment else "not adjusted"
    rows = f"{one.estimates.rows:,} rows" if one.estimates else ""
    return ", ".join(filter(None, [f"{_label(effect, change)}{found}", under, held, rows]))


def effect_data(effect: Effect) -> dict[str, Any]:
    """Return an effect as plain data."""
    bounds = effect.bounds
    return {
        "cause": label(effect.cause),
        "target": label(effect.target),
        "confidence": effect.confidence,
        "adjust": effect.adjust if isinstance(effect.adjust, str) else [label(node) for node in effect.adjust],
        "change": effect.compares,
        "bounds": None if bounds is None else list(bounds),
        "values": list(effect.values),
        "possible": [_possible_data(effect, one) for one in effect.possible],
        "notes": list(effect.notes),
    }


def _possible_data(effect: Effect, one: PossibleEffect) -> dict[str, Any]:
    data: dict[str, Any] = {
        "assumes": [[label(tail), label(head)] for tail, head in one.orientation.arrows],
        "parents": [label(node) for node in one.orientation.parents],
        "adjustment": [label(node) for node in one.adjustment],
    }
    if one.no_effect is not None:
        return data | {"estimate": 0.0, "no_effect": one.no_effect}
    if one.estimates is None:
        return data | {"refused": one.refused}
    changes = [
        {"change": change.text(effect.cause, effect.target), **_interval(found)}
        for change, found in one.estimates.changes.items()
    ]
    set_to = [
        {"level": label(level), "probabilities": {str(outcome): _interval(found) for outcome, found in row.items()}}
        for level, row in one.estimates.distribution.items()
    ]
    main = one.interval(effect.main)
    return (
        data
        | ({} if main is None else _interval(main))
        | {"rows": one.estimates.rows, "changes": changes}
        | ({"set_to": set_to} if set_to else {})
    )


def _interval(found: Interval) -> dict[str, float]:
    return {"estimate": found.estimate, "low": found.low, "high": found.high}
