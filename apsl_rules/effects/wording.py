"""Effects in words and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from apsl_rules._documents import label
from apsl_rules.effects.contrasts import Change, Interval, figure
from apsl_rules.effects.queries import Basis, Effect, PossibleEffect
from apsl_rules.errors import GraphError
from apsl_rules.names import shown
from apsl_rules.notes import Sentence, argument, marked

#: What the first line says an effect rests on.
RESTS_ON: dict[Basis, str] = {
    "graph": "",
    "given": "; rests on what was given",
    "assigned": "; rests on assignment by chance",
    "names": "; rests on what names of columns say",
    "V-structure": "; rests on a V-structure in the rows",
    "rows": "; rests on the rows alone",
}
#: So many sets are told with their shares.
_MOST_SHARES = 4


def effect_text(effect: Effect) -> str:
    """Return an effect in words: the interval to state by the changes to look at, and what it rests on.

    Of a target with two levels the last is told, since the other mirrors it; of one with more levels all are.
    """
    cause, target = shown(effect.cause), shown(effect.target)
    what = _compared(effect) or ("refused" if effect.is_refused else "none")
    lines = [f"effect of {cause} on {target}: {what}{RESTS_ON[effect.basis]}"]
    labels = effect.part.labels
    lines += [f"  {shown(one)}: {labels[one]}" for one in (effect.cause, effect.target) if one in labels]
    if effect.is_weighed and not effect.is_refused:
        lines += [f"  {line}" for line in _weighed_text(effect)]
    else:
        for one in _merged(effect):
            lines += [f"  {_possible_text(effect, one, change)}" for change in _shown_changes(effect, one)]
    if effect.is_refused:
        lines.append("  nothing bounds the effect, since one that is possible could not be estimated")
    elif effect.is_open and effect.changes and not effect.is_weighed:
        lines += [f"  {line}" for line in _bounds_text(effect)]
    lines += [f"  {line}" for line in _further(effect)]
    lines += [f"  note: {marked(note)}" for note in effect.notes]
    return Sentence("\n".join(lines))


def _merged(effect: Effect) -> list[PossibleEffect]:
    """Return the possible effects, of those with equal figures the first: lines between make no difference."""
    met: dict[Any, PossibleEffect] = {}
    for one in effect.possible:
        figures = None if one.estimates is None else tuple(one.estimates.changes.items())
        met.setdefault((one.no_effect, one.refused, one.adjustment, figures), one)
    return [*met.values()]


def _weighed_text(effect: Effect) -> Iterator[str]:
    """Give the interval to state by each change, then the shares of the graphs."""
    known = [one for one in effect.possible if one.estimates is not None]
    if not known:
        yield f"0, since {next(one.no_effect for one in effect.possible if one.no_effect)}".replace(" being ", " is ")
        return
    likeliest = max(known, key=lambda one: one.probability or 0.0)
    rows = f"{likeliest.estimates.rows:,} rows" if likeliest.estimates else ""
    none, percent = effect.no_effect or 0.0, f"{100 * effect.confidence:g} %"
    is_single = len(known) == 1 and none <= 1 - effect.confidence
    for change in _shown_changes(effect, likeliest):
        found = effect.interval_of(change)
        if found is None:
            continue
        if is_single:
            yield f"{_label(effect, change)}{found}, {_held(likeliest)}, {rows}"
        elif none > 1 - effect.confidence:
            ends = f"between {figure(found.low)} and {figure(found.high)} ({percent})"
            yield f"{_label(effect, change)}{ends}, {rows}"
        else:
            yield f"{_label(effect, change)}{found}, whichever graph is true ({percent}), {rows}"
    if not is_single or none > 1 - effect.confidence:
        yield f"graph: {_shares(effect)}"
    if effect.basis in ("rows", "V-structure") and none > 1 - effect.confidence:
        x, t = effect.cause, effect.target
        order = argument(
            "knowledge", {"tiers": [[x], [t]]}, python=f"knowledge=Knowledge(tiers=[[{x!r}], [{t!r}], ...])"
        )
        yield f"what comes first would decide it: {order}"


def _shares(effect: Effect) -> str:
    """Return the possible effects by the main change with their shares, most probable first; equal figures are one."""
    told = []
    none = effect.no_effect or 0.0
    if none > 0:
        why = next(one.no_effect for one in effect.possible if one.no_effect)
        told.append(f"{percent(none)} none, {why}; else ")
    groups: dict[str, tuple[float, list[PossibleEffect]]] = {}
    for one in effect.possible:
        found = one.interval(effect.main)
        if one.no_effect is None and found is not None:
            share, others = groups.get(figure(found.estimate), (0.0, []))
            groups[figure(found.estimate)] = (share + (one.probability or 0.0), [*others, one])
    ranked = sorted(groups.items(), key=lambda item: -item[1][0])
    shown_sets = [
        f"{value} ({percent(share)}) {_held(max(ones, key=lambda one: one.probability or 0.0))}"
        + (f" or {len(ones) - 1} more" if len(ones) > 1 else "")
        for value, (share, ones) in ranked[:_MOST_SHARES]
    ]
    left = sum(share for _, (share, _) in ranked[_MOST_SHARES:])
    if left > 0:
        unlisted = len(ranked) - _MOST_SHARES
        shown_sets.append(f"{unlisted} {'other' if unlisted == 1 else 'others'} ({percent(left)})")
    return "".join(told) + ", ".join(shown_sets)


def percent(share: float) -> str:
    """Spell a share with two digits, never as nothing or all where something is left."""
    if 0 < share < 0.001:  # noqa: PLR2004 - shares are told to a tenth of a percent
        return "< 0.1 %"
    if 0.999 < share < 1:  # noqa: PLR2004 - as above
        return "> 99.9 %"
    return f"{100 * share:.{2 if share < 0.99 else 3}g} %"  # noqa: PLR2004 - two digits would be 1e+02


def _held(one: PossibleEffect) -> str:
    return f"adjusted for {', '.join(map(shown, one.adjustment))}" if one.adjustment else "not adjusted"


def _further(effect: Effect) -> Iterator[str]:
    """Tell what could undo the effect, for whom it differs, and what controls and the instrument say."""
    if effect.by is not None:
        for one in effect.by.levels:
            told = f"cannot be estimated: {marked(one.refused or '')}" if one.interval is None else str(one.interval)
            yield f"{one.name}: {told}, {one.rows:,} rows"
        if effect.by.p is not None:
            yield f"the same for all? p = {effect.by.p:.2g}"
    stated = effect.interval
    if (
        effect.part.is_from_data
        and not effect.part.allows_hidden
        and stated is not None
        and (stated.low > 0 or stated.high < 0)
    ):
        try:
            yield f"hidden: {effect.sensitivity()}"
        except GraphError:
            return
    for control in effect.controls:
        yield f"control: {control.text(effect.cause, effect.target)}"
    if effect.instrument is not None:
        yield f"instrument: {effect.instrument}"


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
    held = _held(one)
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
        "basis": effect.basis,
        **({"no_effect": effect.no_effect} if effect.is_weighed else {}),
        "possible": [_possible_data(effect, one) for one in effect.possible],
        **_further_data(effect),
        "notes": list(effect.notes),
    }


def _further_data(effect: Effect) -> dict[str, Any]:
    """Return what could undo the effect, for whom it differs, and what controls and the instrument say."""
    data: dict[str, Any] = {}
    if any(one.estimates is not None and one.estimates.covariance is not None for one in effect.possible):
        found = effect.sensitivity()
        data["sensitivity"] = {
            **{name: getattr(found, name) for name in ("e_value", "e_value_limit", "robustness", "robustness_limit")},
            "times": {str(label(node)): value for node, value in found.times.items() if isfinite(value)},
            "times_limit": {str(label(node)): value for node, value in found.times_limit.items() if isfinite(value)},
        }
    if effect.by is not None:
        data["by"] = {
            "columns": [label(node) for node in effect.by.columns],
            "p": effect.by.p,
            "levels": [
                {"name": one.name, "rows": one.rows, **({} if one.interval is None else _interval(one.interval))}
                for one in effect.by.levels
            ],
        }
    if effect.controls:
        data["controls"] = [
            {"column": label(one.column), "kind": one.kind, "p": one.p, "sounds": one.sounds} for one in effect.controls
        ]
    if effect.instrument is not None:
        data["instrument"] = {
            "column": label(effect.instrument.column),
            "f": effect.instrument.f,
            **_interval(effect.instrument.interval),
        }
    return data


def _possible_data(effect: Effect, one: PossibleEffect) -> dict[str, Any]:
    data: dict[str, Any] = {
        "assumes": [[label(tail), label(head)] for tail, head in one.orientation.arrows],
        "parents": [label(node) for node in one.orientation.parents],
        "adjustment": [label(node) for node in one.adjustment],
        **({} if one.probability is None else {"probability": one.probability}),
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
