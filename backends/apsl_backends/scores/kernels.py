"""Count the configurations of columns and sum the terms of BDeu, or of BDe with an empirical prior, in machine code.

Each row gets a number, the *class* of its configuration: in mixed radix while that is small, otherwise a label of the
configurations that occur. So memory is limited to a few numbers per row, however many configurations are possible.
Terms are integers in a unit far below any relevant difference. Sums of integers do not depend on their order, and
graphs with the same score tie exactly.

With an empirical prior, the prior weight of a configuration is a product of shares, one for each column. A share is
rounded to 2 ** (-k / STEPS) with an integer k, its *log prior*. The log priors of columns add up to that of the
configuration, and terms are stored by log prior and count.

Classes are unsigned, since numba checks signed indices for negative values.
"""
# ruff: noqa: PLR0917 - machine code is called by position

from __future__ import annotations

from math import lgamma
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_backends.scores.compiling import allocating, compiled
from apsl_rules.data import Codes

Integers = npt.NDArray[np.int64]
LogPriors = npt.NDArray[np.int32]

#: The steps of the log prior that halve a weight; the limits of the log priors and counts whose terms are stored.
STEPS = 32
_LARGEST, _COUNTS = 2048, 128
#: How many numbers of configurations have stored terms, and for how many counts.
_SLOTS, _KEPT = 256, 1024
_UNKNOWN = np.iinfo(np.int64).min
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Workspace(NamedTuple):
    """Working space: classes of the rows at each level, counts, labels of configurations, and known terms.

    For an empirical prior also the log priors of the rows and of the classes at each level, and terms by log prior.
    """

    classes: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    labels: npt.NDArray[np.int32]
    configurations: npt.NDArray[np.float64]
    terms: Integers
    used: Integers
    log_priors: LogPriors
    cells: LogPriors
    prior_terms: Integers


class Columns(NamedTuple):
    """The codes of a table, and for each numbered node its place in the table and its number of levels.

    ``weights`` is the number of rows that each row of codes represents; it is empty if each represents one.
    """

    codes: Codes
    places: Integers
    cards: Integers
    weights: npt.NDArray[np.int32]


class Prior(NamedTuple):
    """The equivalent sample size, the units in a nat, the penalty of a parent in units, and log priors.

    ``log_priors[starts[i] + k]`` is that of level k of node i; for a uniform prior there are none.
    """

    ess: float
    scale: float
    penalty: int
    log_priors: LogPriors
    starts: Integers


def workspace_for(rows: int, levels: int, *, empirical: bool = False) -> Workspace:
    """Make working space for a table, and for sets of columns that are built up over some levels."""
    counts, slots = _sizes(rows)
    return Workspace(
        np.empty((levels, rows), np.uint32),
        np.empty(counts, np.int32),
        np.empty(slots, np.uint64),
        np.empty(slots, np.int32),
        np.empty(_SLOTS, np.float64),
        np.empty((_SLOTS, min(rows + 1, _KEPT)), np.int64),
        np.zeros(2, np.int64),
        np.empty((levels, rows if empirical else 0), np.int32),
        np.empty((3, counts if empirical else 0), np.int32),
        np.full((_LARGEST, _COUNTS) if empirical else (0, 0), _UNKNOWN),
    )


def workspace_bytes(rows: int, levels: int, *, empirical: bool = False) -> int:
    """Estimate the size of such a working space."""
    counts, slots = _sizes(rows)
    prior_terms = 4 * rows * levels + 12 * counts + 8 * _LARGEST * _COUNTS if empirical else 0
    return 4 * rows * levels + 4 * counts + 12 * slots + 8 * _SLOTS * (1 + min(rows + 1, _KEPT)) + prior_terms


def _sizes(rows: int) -> tuple[int, int]:
    """Return how many classes are counted in a plain array, and the places for labels if there are more."""
    return max(4096, 2 * rows + min(6 * rows, 1 << 18)), 1 << max(4, (2 * rows - 1).bit_length())


def log_priors_of(totals: Integers, empirical_weight: float) -> LogPriors:
    """Return the log prior of each level of a column, from how often it occurs and the weight of that."""
    rows = max(int(totals.sum()), 1)
    expected = (1.0 - empirical_weight) / len(totals) + empirical_weight * totals / rows
    log_priors: LogPriors = np.rint(-STEPS * np.log2(np.maximum(expected, 0.5 / rows))).astype(np.int32)
    return log_priors


@compiled
def _extend(space: Any, before: Any, span: int, column: Any, card: int, after: Any) -> int:
    """Refine classes by a column; return an upper bound of the number of classes."""
    wide = span * card
    rows = len(column)
    if wide <= max(1024, 2 * rows):
        for row in range(rows):
            after[row] = before[row] + np.uint32(column[row]) * np.uint32(span)
        return wide
    found = 0
    if wide <= len(space.counts):
        space.counts[:wide] = -1
        for row in range(rows):
            near = before[row] + np.uint32(column[row]) * np.uint32(span)
            if space.counts[near] < 0:
                space.counts[near] = found
                found += 1
            after[row] = space.counts[near]
        return found
    last = np.uint64(len(space.keys) - 1)
    space.labels[:] = -1
    for row in range(rows):
        key = np.uint64(before[row]) + np.uint64(column[row]) * np.uint64(span)
        at = (key * _SPREAD >> np.uint64(20)) & last
        while space.labels[at] >= 0 and space.keys[at] != key:
            at = (at + np.uint64(1)) & last
        if space.labels[at] < 0:
            space.keys[at] = key
            space.labels[at] = found
            found += 1
        after[row] = space.labels[at]
    return found


@compiled
def _slot(space: Any, configurations: float) -> Any:
    """Return the place of the terms for a number of configurations; when all are used, the oldest is replaced."""
    for slot in range(space.used[0]):
        if space.configurations[slot] == configurations:
            return slot
    slot = space.used[1]
    space.used[1] = (slot + 1) % len(space.configurations)
    space.used[0] = max(space.used[0], slot + 1)
    space.configurations[slot] = configurations
    space.terms[slot, :] = _UNKNOWN
    return slot


@compiled
def _term(terms: Any, weight: float, scale: float, count: int) -> Any:
    """Return ln Γ(a + count) - ln Γ(a) in units, where a is the prior weight of one configuration."""
    if count >= len(terms):
        return np.int64(np.rint((lgamma(weight + count) - lgamma(weight)) * scale))
    if terms[count] == _UNKNOWN:
        terms[count] = np.int64(np.rint((lgamma(weight + count) - lgamma(weight)) * scale))
    return terms[count]


@compiled
def _prior_term(space: Any, prior: Any, log_prior: int, count: int) -> Any:
    """Return the term of a configuration with a given log prior."""
    weight = prior.ess * 2.0 ** (-log_prior / STEPS)
    if log_prior >= _LARGEST or count >= _COUNTS:
        return np.int64(np.rint((lgamma(weight + count) - lgamma(weight)) * prior.scale))
    return _term(space.prior_terms[log_prior], weight, prior.scale, count)


@compiled
def _add_log_prior(before: Any, column: Any, log_priors: Any, after: Any) -> None:
    """Add the log priors of a column to those of the rows, if they have any."""
    for row in range(len(after)):
        after[row] = before[row] + log_priors[column[row]]


@compiled
def _note_log_priors(classes: Any, log_priors: Any, cells: Any) -> None:
    """Record the log prior of each class, if rows have log priors."""
    for row in range(len(log_priors)):
        cells[classes[row]] = log_priors[row]


@compiled
def _sum(space: Any, prior: Any, span: int, configurations: float, cells: Any) -> int:
    """Sum the terms of the counts of ``span`` classes; ``cells`` has their log priors if the prior is empirical."""
    if len(prior.log_priors):
        total = 0
        for cell in range(span):
            if space.counts[cell]:
                total += _prior_term(space, prior, cells[cell], space.counts[cell])
        return total
    terms, weight, scale = space.terms[_slot(space, configurations)], prior.ess / configurations, prior.scale
    total = 0
    for count in space.counts[:span]:
        if count:
            total += _term(terms, weight, scale, count)
    return total


@compiled
def _tally(counts: Any, classes: Any, span: int, column: Any, card: int, weights: Any) -> None:
    """Count the rows of each class refined by a column.

    Real columns often have one level in most rows. Four separate histograms avoid waiting for the previous increment.
    """
    wide, radix, one, rows = span * card, np.uint32(span), np.int32(1), len(column)
    if len(weights):
        counts[:wide] = 0
        for row in range(rows):
            counts[classes[row] + np.uint32(column[row]) * radix] += weights[row]
        return
    if 4 * wide > min(1024, len(counts)):
        counts[:wide] = 0
        for row in range(rows):
            counts[classes[row] + np.uint32(column[row]) * radix] += one
        return
    counts[: 4 * wide] = 0
    second, third, fourth = counts[wide:], counts[2 * wide :], counts[3 * wide :]
    whole = rows - rows % 4
    for row in range(0, whole, 4):
        counts[classes[row] + np.uint32(column[row]) * radix] += one
        second[classes[row + 1] + np.uint32(column[row + 1]) * radix] += one
        third[classes[row + 2] + np.uint32(column[row + 2]) * radix] += one
        fourth[classes[row + 3] + np.uint32(column[row + 3]) * radix] += one
    for row in range(whole, rows):
        counts[classes[row] + np.uint32(column[row]) * radix] += one
    for cell in range(wide):
        counts[cell] += second[cell] + third[cell] + fourth[cell]


@compiled
def _sum_wide(
    space: Any, prior: Any, span: int, levels: int, configurations: float, cells: Any, log_priors: Any
) -> int:
    """Sum the terms of counts by level of a column and class; ``cells`` has the log priors of the classes."""
    if not len(prior.log_priors):
        return _sum(space, prior, span * levels, configurations, cells)
    total = 0
    for level in range(levels):
        counts, log_prior = space.counts[level * span :], log_priors[level]
        for cell in range(span):
            if counts[cell]:
                total += _prior_term(space, prior, cells[cell] + log_prior, counts[cell])
    return total


@compiled
def _total(space: Any, prior: Any, at: int, span: int, configurations: float, weights: Any) -> int:
    """Count the rows of each class at level ``at`` and sum the terms; record the log priors of the classes."""
    classes = space.classes[at]
    space.counts[:span] = 0
    if len(weights):
        for row in range(len(classes)):
            space.counts[classes[row]] += weights[row]
    else:
        for row in range(len(classes)):
            space.counts[classes[row]] += np.int32(1)
    _note_log_priors(classes, space.log_priors[at], space.cells[at])
    return _sum(space, prior, span, configurations, space.cells[at])


@compiled
def _build(columns: Any, members: Any, but: int, prior: Any, space: Any) -> tuple[int, float]:
    """Compute the classes and log priors of the rows for all members except one, at level 0.

    Return an upper bound of the number of classes, and the number of configurations.
    """
    span, configurations = 1, 1.0
    space.classes[0, :] = 0
    space.log_priors[0, :] = 0
    for member in members:
        if member != but:
            column, card = columns.codes[columns.places[member]], columns.cards[member]
            span = _extend(space, space.classes[0], span, column, card, space.classes[0])
            configurations *= card
            _add_log_prior(space.log_priors[0], column, prior.log_priors[prior.starts[member] :], space.log_priors[0])
    return span, configurations


@compiled
def local(columns: Any, node: int, parents: Any, but: int, prior: Any, space: Any) -> int:
    """Score a node given all its parents except one."""
    base, configurations = _build(columns, parents, but, prior, space)
    rest = _total(space, prior, 0, base, configurations, columns.weights)
    below, card = columns.codes[columns.places[node]], columns.cards[node]
    log_priors = prior.log_priors[prior.starts[node] :]
    if base * card > len(space.counts):
        base = _extend(space, space.classes[0], base, below, card, space.classes[0])
        _add_log_prior(space.log_priors[0], below, log_priors, space.log_priors[0])
        return _total(space, prior, 0, base, configurations * card, columns.weights) - rest
    _tally(space.counts, space.classes[0], base, below, card, columns.weights)
    return _sum_wide(space, prior, base, card, configurations * card, space.cells[0], log_priors) - rest


@compiled
def score_counts(space: Any, prior: Any, counts: Any, configurations: float) -> int:
    """Score one joint column with known counts."""
    terms, weight, scale = space.terms[_slot(space, configurations)], prior.ess / configurations, prior.scale
    total = 0
    for count in counts:
        total += _term(terms, weight, scale, count)
    return total


@compiled
def _has(members: Any, one: int) -> bool:
    found = False
    for member in members:
        found |= member == one
    return found


@compiled
def gains(columns: Any, node: int, parents: Any, others: Any, prior: Any, space: Any, out: Any) -> None:
    """Write the gain of adding each other node to the parents, or of removing it if it is one of them."""
    own = local(columns, node, parents, -1, prior, space)
    for at in range(len(others)):
        if _has(parents, others[at]):
            out[at] = local(columns, node, parents, others[at], prior, space) - own + prior.penalty
    base, configurations = _build(columns, parents, -1, prior, space)
    below, card = columns.codes[columns.places[node]], columns.cards[node]
    family = _extend(space, space.classes[0], base, below, card, space.classes[1])
    _add_log_prior(space.log_priors[0], below, prior.log_priors[prior.starts[node] :], space.log_priors[1])
    _note_log_priors(space.classes[0], space.log_priors[0], space.cells[0])
    _note_log_priors(space.classes[1], space.log_priors[1], space.cells[1])
    labelled = family < base * card  # then the class does not determine the level of the node
    for at in range(len(others)):
        if _has(parents, others[at]):
            continue
        other, levels = columns.codes[columns.places[others[at]]], columns.cards[others[at]]
        log_priors = prior.log_priors[prior.starts[others[at]] :]
        combined = configurations * levels
        if labelled or family * levels > len(space.counts):
            rest = _score_refined(space, prior, 0, base, other, levels, combined, log_priors, columns.weights)
            whole = _score_refined(space, prior, 1, family, other, levels, combined * card, log_priors, columns.weights)
        else:
            _tally(space.counts, space.classes[1], family, other, levels, columns.weights)
            whole = _sum_wide(space, prior, family, levels, combined * card, space.cells[1], log_priors)
            rest = _sum_over(space, prior, base, card, levels, combined, log_priors)
        out[at] = whole - rest - own - prior.penalty


@compiled
def _score_refined(
    space: Any,
    prior: Any,
    at: int,
    span: int,
    other: Any,
    card: int,
    configurations: float,
    log_priors: Any,
    weights: Any,
) -> int:
    """Score the classes at level ``at`` refined by another column."""
    wide = _extend(space, space.classes[at], span, other, card, space.classes[2])
    _add_log_prior(space.log_priors[at], other, log_priors, space.log_priors[2])
    return _total(space, prior, 2, wide, configurations, weights)


@compiled
def _sum_over(space: Any, prior: Any, base: int, card: int, levels: int, configurations: float, log_priors: Any) -> int:
    """Sum the terms of counts by other, node and parents, after summing the counts over the levels of the node."""
    terms, weight, scale = space.terms[_slot(space, configurations)], prior.ess / configurations, prior.scale
    empirical = len(prior.log_priors) > 0
    total = 0
    for outer in range(levels):
        start = outer * card * base
        for cell in range(base):
            count = 0
            for level in range(card):
                count += space.counts[start + cell + level * base]
            if count and empirical:
                total += _prior_term(space, prior, space.cells[0, cell] + log_priors[outer], count)
            elif count:
                total += _term(terms, weight, scale, count)
    return total


@compiled
def collapse(columns: Any, members: Any, prior: Any, space: Any, small: Any, weights: Any) -> int:
    """Find the distinct rows of some columns and their frequencies; return how many there are."""
    span, _ = _build(columns, members, -1, prior, space)
    space.counts[:span] = -1
    found = 0
    for row in range(columns.codes.shape[1]):
        label = space.counts[space.classes[0, row]]
        if label < 0:
            label = found
            space.counts[space.classes[0, row]] = label
            weights[label] = 0
            for at in range(len(members)):
                small[at, label] = columns.codes[columns.places[members[at]], row]
            found += 1
        weights[label] += 1
    return found


@allocating
def joints(codes: Any, cards: Any, weights: Any, prior: Any, members: Any, space: Any, scores: Any, stop: Any) -> None:
    """Score every subset of the columns of ``members`` as one joint column; bit i of an index is column i.

    A subset refines the classes of the subset without its last column, so these are kept at each level. The kernel ends
    early once ``stop`` is set.
    """
    width, rows = len(cards), len(weights)
    spans = np.ones(width + 1, np.int64)
    configurations = np.ones(width + 1, np.float64)
    chosen = np.zeros(width + 1, np.int64)
    total = 0
    for weight in weights:
        total += weight
    scores[0] = _term(space.terms[_slot(space, 1.0)], prior.ess, prior.scale, total)
    space.classes[0, :rows] = 0
    space.log_priors[0, :] = 0
    level, subset, column = 0, 0, 0
    while (level or column < width) and not stop[0]:
        if column == width:
            column = chosen[level] + 1
            subset ^= 1 << chosen[level]
            level -= 1
            continue
        card = cards[column]
        after = space.classes[level + 1, :rows]
        span = _extend(space, space.classes[level, :rows], spans[level], codes[column], card, after)
        space.counts[:span] = 0
        for row in range(rows):
            space.counts[after[row]] += weights[row]
        summed = space.log_priors[level + 1, :rows]
        log_priors = prior.log_priors[prior.starts[members[column]] :]
        _add_log_prior(space.log_priors[level, :rows], codes[column], log_priors, summed)
        _note_log_priors(after, summed, space.cells[0])
        subset |= 1 << column
        level += 1
        spans[level], configurations[level], chosen[level] = span, configurations[level - 1] * card, column
        scores[subset] = _sum(space, prior, span, configurations[level], space.cells[0])
        column += 1
