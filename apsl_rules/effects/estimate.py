"""Ask for an effect: learn the edges at the cause where no part is given, adjust, and estimate in one round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import Any, Unpack

import attrs
import numpy as np

from apsl_rules.effects.adjustment import Adjustment
from apsl_rules.effects.asking import Graphs, Question, ask, ask_weighed, is_weighable
from apsl_rules.effects.contrasts import Estimates, Interval, Refusal, figure
from apsl_rules.effects.controls import Control, by_instrument, control_of
from apsl_rules.effects.figures import Figures
from apsl_rules.effects.least_squares import FROM_SUMS, from_sums, least_squares
from apsl_rules.effects.opening import part_and_figures
from apsl_rules.effects.orientations import SURE_DIRECTION, with_sure_arrows
from apsl_rules.effects.queries import Effect, Subgroup, Subgroups, possible_effects
from apsl_rules.effects.samples import Covariance, Empty, Flags, How, Sample, Variance
from apsl_rules.effects.standardisation import standardise
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs import Dag, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.learning import Request, Settings, notes_against_given, with_bar, with_settings
from apsl_rules.names import Depth, Node, check_depth, check_target, chosen, count_of, is_number, listed, listing, shown
from apsl_rules.oracles import is_oracle
from apsl_rules.stopping import interruptible

#: A number is cut into so many ranges with as many rows each; a category may have so many levels.
RANGES, MOST_LEVELS = 3, 12
_MOST_COLUMNS = 2


def by_levels(figures: Figures, found: Effect, columns: Sequence[Node], how: How) -> Effect:
    """Add the effect by the levels or ranges of columns, adjusted as the whole is, and a test of a difference."""
    if len(columns) > _MOST_COLUMNS:
        message = f"by names {len(columns)} columns; give one or two"
        raise InvalidArgumentError(message, argument="by")
    for node in columns:
        figures.require(node, "column in by")
        if node in (found.cause, found.target):
            message = f"by names {node!r}, which is the {'cause' if node == found.cause else 'target'}; leave it out"
            raise InvalidArgumentError(message)
        later = found.part.knowledge.why_barred(node, found.cause)
        if later:
            message = (
                f"the levels of {node!r} follow from {found.cause!r} ({later}), so they say not for whom; leave it out"
            )
            raise InvalidArgumentError(message)
    sets = [one.adjustment for one in found.possible if one.no_effect is None]
    whole = [(found.cause, found.target, *(node for node in given if node not in columns), *columns) for given in sets]
    samples = {given: _in_memory(one) for given, one in zip(sets, figures.samples(whole), strict=True)}
    if not samples:
        return found
    likeliest = max((one for one in found.possible if one.no_effect is None), key=lambda one: one.probability or 0.0)
    told = []
    for name, masks in _cells(samples, columns):
        possible = []
        for one in found.possible:
            if one.no_effect is not None:
                possible.append(one)
                continue
            sample = samples[one.adjustment]
            known = _estimated(_without(sample.among(masks[one.adjustment]), columns), how)
            given = tuple(node for node in one.adjustment if node not in columns)
            refused = known.reason if isinstance(known, Refusal) else None
            estimates = None if isinstance(known, Refusal) else known
            possible.append(attrs.evolve(one, adjustment=given, estimates=estimates, refused=refused))
        rows = samples[likeliest.adjustment].among(masks[likeliest.adjustment]).rows
        told.append((name, rows, attrs.evolve(found, possible=tuple(possible), by=None)))
    kept = found.possible.index(likeliest)
    single = [one.possible[kept].interval(found.main) for _, _, one in told]
    subgroups = tuple(
        Subgroup(name, rows, one.interval_of(found.main), next((p.refused for p in one.possible if p.refused), None))
        for name, rows, one in told
    )
    return attrs.evolve(
        found, by=Subgroups(tuple(columns), subgroups, differ([one for one in single if one is not None]))
    )


def differ(found: Sequence[Interval]) -> float | None:
    """Return the p of estimates in different rows if the effect were the same everywhere (Welch 1951)."""
    from scipy.special import fdtrc

    known = [one for one in found if one.error > 0]
    count = len(known)
    if count < 2:  # noqa: PLR2004 - nothing to compare
        return None
    weights = np.array([1 / one.error**2 for one in known])
    values = np.array([one.estimate for one in known])
    freedoms = np.array([min(one.freedom, 1e9) for one in known])
    share = weights / weights.sum()
    square = float(weights @ (values - share @ values) ** 2)
    rough = float(np.sum((1 - share) ** 2 / freedoms))
    ratio = square / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * rough)
    return float(fdtrc(count - 1, (count**2 - 1) / (3 * rough), ratio))


def _in_memory(sample: Sample | Covariance) -> Sample:
    if isinstance(sample, Covariance):
        message = "the effect by levels needs the rows, which stay elsewhere; take a sample into memory"
        raise InvalidArgumentError(message)
    return sample


def _estimated(sample: Sample, how: How) -> Estimates | Refusal:
    return standardise(sample, how) if sample.is_counted else least_squares(sample, how)


def _without(sample: Sample, columns: Sequence[Node]) -> Sample:
    """Return a sample without some of its columns."""
    kept = [at for at, node in enumerate(sample.columns) if node not in columns]
    return attrs.evolve(
        sample,
        columns=tuple(sample.columns[at] for at in kept),
        values=tuple(sample.values[at] for at in kept),
        levels=tuple(sample.levels[at] for at in kept),
    )


def _cells(
    samples: dict[tuple[Node, ...], Sample], columns: Sequence[Node]
) -> list[tuple[str, dict[tuple[Node, ...], Flags]]]:
    """Return each level or range, or each pair of them, with the rows of each sample that it has."""
    first = next(iter(samples.values()))
    parts = [_parts(first, node) for node in columns]
    found = []
    for cell in product(*parts):
        masks = {}
        for given, sample in samples.items():
            mask = np.ones(len(sample.times), np.bool_)
            for node, (_, low, high) in zip(columns, cell, strict=True):
                values = sample.values[sample.columns.index(node)]
                mask &= (values > low) & (values <= high)
            masks[given] = mask
        found.append((", ".join(name for name, _, _ in cell), masks))
    return found


def _parts(sample: Sample, node: Node) -> list[tuple[str, float, float]]:
    """Return the name and the two ends of each level, or of each range of a number; the upper end belongs to it."""
    at = sample.columns.index(node)
    values, levels = sample.values[at], sample.levels[at]
    if levels:
        there = np.unique(values).astype(np.int64).tolist()
        if len(there) > MOST_LEVELS:
            message = (
                f"by names {node!r}, which has {len(there)} levels; at most {MOST_LEVELS} are told apart, so join some"
            )
            raise DataError(message)
        return [(f"{shown(node)} = {shown(levels[code])}", code - 0.5, code + 0.5) for code in there]
    ends = np.unique(np.quantile(np.repeat(values, sample.times.astype(np.int64)), np.linspace(0, 1, RANGES + 1)[1:-1]))
    if values.min() == values.max():
        message = f"by names {listing([node])}, which does not vary"
        raise DataError(message)
    inner = [float(one) for one in ends if one < values.max()]
    limits = [-np.inf, *inner, np.inf]
    found = []
    for low, high in pairwise(limits):
        if low == -np.inf:
            name = f"{shown(node)} ≤ {figure(high)}"
        else:
            name = (
                f"{shown(node)} > {figure(low)}"
                if high == np.inf
                else f"{figure(low)} < {shown(node)} ≤ {figure(high)}"
            )
        found.append((name, low, high))
    return found


@with_settings(min_direction=SURE_DIRECTION)
@interruptible
@with_bar("effect", of_phases=True)
def effect(
    source: Any,
    cause: Node,
    target: Node,
    *,
    adjust: Adjustment = "parents",
    data: Any = None,
    confidence: float = 0.95,
    empty: Empty = "borrow",
    depth: Depth | None = None,
    graphs: Graphs = "weighed",
    variance: Variance = "robust",
    randomised: bool = False,
    instrument: Node | None = None,
    unaffected: Iterable[Node] = (),
    powerless: Iterable[Node] = (),
    by: Node | Iterable[Node] | None = None,
    **settings: Unpack[Settings],
) -> Effect:
    """Estimate what setting a cause would do to a target, with how sure that is.

    Parameters
    ----------
    source
        A table: the edges at the cause are learned from it, and the effect is estimated from it. Or a part, or a known
        graph or network, all of whose arrows are taken as known, with the rows as ``data``.
    cause, target
        Two nodes.
    adjust
        What to adjust for: "parents" of the cause, all columns that are given as "earlier" than the cause, the
        "optimal" set (narrower intervals; it takes a part that has all paths from the cause to the target), or a list
        of columns.
    data
        The table to estimate from, where the source has no rows.
    confidence
        The share of samples whose interval holds the effect.
    empty
        What to do with strata in which some level of the cause does not occur: "borrow" its rate in all rows, "refuse",
        or "leave-out", which gives the effect on the other rows.
    depth
        How far to learn around the cause; 1 by default, "max" for the optimal set.
    graphs
        "weighed": of graphs from rows, all that are possible near cause and target count by their probability.
        "drawn": those that the part leaves open count, without probabilities.
    variance
        "robust" errors, which hold if the spread is not the same everywhere, or those for "equal" spread.
    randomised
        Whether the cause was assigned by chance, so that nothing in the table causes it.
    instrument
        A column that moves the cause, and the target through it alone.
    unaffected, powerless
        Negative controls: columns that the cause does nothing to, and columns that do nothing to the target.
    by
        One or two columns by whose levels or ranges the effect is told, too.
    settings
        The further settings of ``learn``. ``min_direction`` is the least probability of a direction for drawn graphs to
        rest on it, 0.85 by default; less probable ones are open, whatever is drawn.

    Examples
    --------
    >>> import pandas as pd
    >>> from apsl_rules import effect, Dag
    >>> rows = pd.DataFrame({"sun": [0, 0, 1, 1] * 25, "ice": [0, 1, 1, 1] * 25})
    >>> effect(Dag({"sun": [], "ice": ["sun"]}), "sun", "ice", data=rows).values
    (0.5,)
    """
    require_different(cause, target)
    how = How(check_confidence(confidence), empty, variance)
    check_choices(how, graphs)
    if depth is not None:
        check_depth(depth)
    is_near = adjust in ("parents", "earlier") or (adjust != "optimal" and _has_rows(source))
    is_near = is_near and settings.get("hidden") != "allowed"
    far: Depth = depth or (1 if is_near else "max")
    part, figures = part_and_figures(source, cause, target, depth=far, data=data, settings=settings)
    named = {"unaffected": listed("unaffected", unaffected, "columns")}
    named["powerless"] = listed("powerless", powerless, "columns")
    sure = with_sure_arrows(part, least_direction(settings))
    if is_weighable(part, adjust, graphs):
        question = ask_weighed(sure, figures, cause, target, adjust, randomised=randomised)
    else:
        question = ask(sure, cause, target, adjust)
    (found,) = estimate(figures, [question], how)
    held = _likeliest(found)
    found = attrs.evolve(found, controls=_controls(figures, found, held, named, how))
    if instrument is not None:
        found = _with_instrument(figures, found, instrument, held, how)
    columns = () if by is None else (by,) if isinstance(by, str) or not isinstance(by, Iterable) else tuple(by)
    return by_levels(figures, found, columns, how) if columns else found


def _has_rows(source: Any) -> bool:
    """Return whether a graph is learned from the rows of a source."""
    return not (isinstance(source, Dag | Network) or is_networkx(source) or is_oracle(source))


def _likeliest(found: Effect) -> tuple[Node, ...]:
    """Return the most probable set that was held."""
    known = [one for one in found.possible if one.no_effect is None]
    return max(known, key=lambda one: one.probability or 0.0).adjustment if known else ()


def _controls(
    figures: Figures, found: Effect, held: tuple[Node, ...], named: Mapping[str, Sequence[Node]], how: How
) -> tuple[Control, ...]:
    """Estimate the effects that cannot be: of the cause on unaffected columns, and of powerless ones on the target."""
    cause, target = found.cause, found.target
    rest = {one: tuple(node for node in held if node != one) for ones in named.values() for one in ones}
    asked = [("unaffected", one, (cause, one, *rest[one])) for one in named["unaffected"]]
    asked += [("powerless", one, (one, target, cause, *rest[one])) for one in named["powerless"]]
    for _, one, _ in asked:
        figures.require(one, "negative control")
        if one in (cause, target):
            message = f"{one!r} is the cause or the target, and no negative control; name another column"
            raise InvalidArgumentError(message)
    samples = figures.samples([columns for _, _, columns in asked])
    return tuple(
        control_of(one, kind, estimated(sample, how)) for (kind, one, _), sample in zip(asked, samples, strict=True)
    )


def _with_instrument(figures: Figures, found: Effect, instrument: Node, held: tuple[Node, ...], how: How) -> Effect:
    """Add the estimate by an instrument."""
    figures.require(instrument, "instrument")
    if instrument in (found.cause, found.target):
        message = f"{instrument!r} is the cause or the target, and no instrument; name another column"
        raise InvalidArgumentError(message)
    columns = (found.cause, found.target, instrument, *(node for node in held if node != instrument))
    (sample,) = figures.samples([columns])
    if isinstance(sample, Covariance):
        message = "an instrument needs the rows, which stay elsewhere; take a sample into memory"
        raise InvalidArgumentError(message)
    made = by_instrument(sample, how)
    if isinstance(made, Refusal):
        return attrs.evolve(found, notes=(*found.notes, f"no estimate by the instrument {shown(instrument)}: {made}"))
    return attrs.evolve(found, instrument=made)


def least_direction(settings: Settings) -> float:
    """Return the least probability of a direction for an effect to rest on it."""
    given = settings.get("min_direction")
    return Request(min_direction=SURE_DIRECTION if given is None else given).least_direction


def estimate(figures: Figures, questions: Sequence[Question], how: How) -> list[Effect]:
    """Estimate all effects that are asked for from one round of counts, and one of covariances."""
    sets = {
        (one.cause, one.target, *adjusted.given)
        for one in questions
        for adjusted in one.adjusted
        if adjusted.no_effect is None
    }
    for columns in sets:
        for node in columns:
            figures.require(node, "node")
    ordered = sorted(sets, key=lambda columns: [str(node) for node in columns])
    samples = dict(zip(ordered, figures.samples(ordered), strict=True))
    known = {columns: estimated(sample, how) for columns, sample in samples.items()}
    return [_joined(one, figures, samples, known, how) for one in questions]


def estimated(sample: Sample | Covariance, how: How) -> Estimates | Refusal:
    """Estimate every change of the target by the way that suits the columns."""
    if isinstance(sample, Covariance):
        return from_sums(sample, how)
    return standardise(sample, how) if sample.is_counted else least_squares(sample, how)


def _joined(
    question: Question,
    figures: Figures,
    samples: Mapping[tuple[Node, ...], Sample | Covariance],
    known: Mapping[tuple[Node, ...], Estimates | Refusal],
    how: How,
) -> Effect:
    asked = [one for one in question.adjusted if one.no_effect is None]
    sets = {one.given: (question.cause, question.target, *one.given) for one in asked}
    mine = {given: known[columns] for given, columns in sets.items()}
    notes: list[str] = []
    if sets:
        likeliest = sets[max(asked, key=lambda one: one.probability or 0.0).given]
        chosen_sets = [likeliest] if question.is_weighed else list(sets.values())
        for columns in chosen_sets:
            found = known[columns]
            notes += found.notes if isinstance(found, Estimates) else ()
            notes += _lost(samples[columns], figures.rows)
    notes += [FROM_SUMS] if any(FROM_SUMS in getattr(one, "notes", ()) for one in mine.values()) else []
    notes += question.notes
    notes += notes_against_given(question.part, (question.cause, question.target))
    return Effect(
        question.cause,
        question.target,
        question.part,
        possible_effects(question.adjusted, mine),
        how.confidence,
        question.adjust,
        figures.opened.columns,
        tuple(dict.fromkeys(notes)),
        question.basis,
    )


def _lost(sample: Sample | Covariance, rows: int) -> list[str]:
    """Name the rows that were left out, and the columns that lack values there."""
    if isinstance(sample, Covariance) or sample.rows >= rows:
        return []
    missing = ", ".join(f"{shown(node)} in {count:,}" for node, count in sample.lost.items())
    lost = count_of(rows - sample.rows, "row")
    return [f"{lost} of {rows:,} {'was' if rows - sample.rows == 1 else 'were'} left out, which lack {missing}"]


def require_different(cause: Node, target: Node) -> None:
    """Refuse a question about one node."""
    check_target(cause, "cause")
    check_target(target)
    if cause == target:
        message = f"{cause!r} is named as cause and as target; name two different nodes"
        raise InvalidArgumentError(message)


def check_choices(how: How, graphs: str = "weighed") -> None:
    """Refuse choices that are none."""
    chosen("empty", how.empty, ("borrow", "refuse", "leave-out"))
    chosen("variance", how.variance, ("robust", "equal"))
    chosen("graphs", graphs, ("weighed", "drawn"))


def check_confidence(confidence: float) -> float:
    """Return a confidence, and refuse one that is no share."""
    if not (is_number(confidence) and 0 < confidence < 1):
        raise InvalidArgumentError(
            argument="confidence", value=confidence, advice="give a number between 0 and 1, such as 0.95"
        )
    return float(confidence)
