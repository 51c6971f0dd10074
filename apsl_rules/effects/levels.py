"""For whom: the effect by the levels or ranges of one or two columns, and whether they differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import attrs
import numpy as np

from apsl_rules.effects.contrasts import Estimates, Interval, Refusal, figure
from apsl_rules.effects.figures import Figures
from apsl_rules.effects.least_squares import least_squares
from apsl_rules.effects.queries import Effect, Subgroup, Subgroups
from apsl_rules.effects.samples import Covariance, Flags, How, Sample
from apsl_rules.effects.standardisation import standardise
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, listing, shown

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
    for chosen in product(*parts):
        masks = {}
        for given, sample in samples.items():
            mask = np.ones(len(sample.times), np.bool_)
            for node, (_, low, high) in zip(columns, chosen, strict=True):
                values = sample.values[sample.columns.index(node)]
                mask &= (values > low) & (values <= high)
            masks[given] = mask
        found.append((", ".join(name for name, _, _ in chosen), masks))
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
