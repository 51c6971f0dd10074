"""Count the configurations of columns and sum the terms of BDeu, or of BDe with a leaning prior, in machine code.

The rows of some columns get one number each, the *class* of their configuration: in mixed radix while that is small,
and otherwise by labelling the configurations that do occur. So memory never grows beyond a few numbers for each row,
however many configurations there could be. Terms are whole multiples of a unit far below any difference that matters.
Sums of whole numbers do not depend on any order, and graphs that score the same tie exactly.

Where the prior leans, the prior weight of a configuration is a product of shares, one for each column. A share is a
power of two with a whole number of small steps for its exponent, its *shade*: shades of columns add up to that of the
configuration, and terms are kept by shade and count.

Classes are unsigned, since numba looks for negative places in everything else.
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
Shades = npt.NDArray[np.int32]

#: How many steps of shade halve a weight; the shades and counts whose terms are kept.
STEPS = 32
_DARKEST, _COUNTS = 2048, 128
#: How many numbers of configurations have their terms kept, and for how many counts.
_SLOTS, _KEPT = 256, 1024
_UNKNOWN = np.iinfo(np.int64).min
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


class Desk(NamedTuple):
    """Working space: classes of the rows at each level, counts, labels of configurations, and known terms.

    Where the prior leans: shades of the rows and of the classes at each level, and terms by shade.
    """

    classes: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.int32]
    keys: npt.NDArray[np.uint64]
    labels: npt.NDArray[np.int32]
    configurations: npt.NDArray[np.float64]
    terms: Integers
    used: Integers
    shades: Shades
    cells: Shades
    shaded: Integers


class Columns(NamedTuple):
    """The codes of a table, the place there of each numbered node, and the number of levels of each.

    ``weights`` says how many rows each row of codes stands for; without any, each stands for itself.
    """

    codes: Codes
    places: Integers
    cards: Integers
    weights: npt.NDArray[np.int32]


class Prior(NamedTuple):
    """The equivalent sample size, how many units make a nat, what a parent costs in units, and shades.

    ``shades[starts[i] + k]`` is that of level k of node i; where the prior is uniform there are none.
    """

    ess: float
    scale: float
    price: int
    shades: Shades
    starts: Integers


def desk_for(rows: int, levels: int, *, leaning: bool = False) -> Desk:
    """Make working space for a table of so many rows, for sets that are built up over so many levels."""
    counts, slots = _sizes(rows)
    return Desk(
        np.empty((levels, rows), np.uint32),
        np.empty(counts, np.int32),
        np.empty(slots, np.uint64),
        np.empty(slots, np.int32),
        np.empty(_SLOTS, np.float64),
        np.empty((_SLOTS, min(rows + 1, _KEPT)), np.int64),
        np.zeros(2, np.int64),
        np.empty((levels, rows if leaning else 0), np.int32),
        np.empty((3, counts if leaning else 0), np.int32),
        np.full((_DARKEST, _COUNTS) if leaning else (0, 0), _UNKNOWN),
    )


def desk_bytes(rows: int, levels: int, *, leaning: bool = False) -> int:
    """Estimate the size of such a working space."""
    counts, slots = _sizes(rows)
    shaded = 4 * rows * levels + 12 * counts + 8 * _DARKEST * _COUNTS if leaning else 0
    return 4 * rows * levels + 4 * counts + 12 * slots + 8 * _SLOTS * (1 + min(rows + 1, _KEPT)) + shaded


def _sizes(rows: int) -> tuple[int, int]:
    """Return how many classes are counted in a plain array, and how many places there are for labels otherwise."""
    return max(4096, 2 * rows + min(6 * rows, 1 << 18)), 1 << max(4, (2 * rows - 1).bit_length())


def shades_of(totals: Integers, leaning: float) -> Shades:
    """Return the shade of each level of a column: how much a prior that leans to what was observed expects it."""
    rows = max(int(totals.sum()), 1)
    expected = (1.0 - leaning) / len(totals) + leaning * totals / rows
    shades: Shades = np.rint(-STEPS * np.log2(np.maximum(expected, 0.5 / rows))).astype(np.int32)
    return shades


@compiled
def _extend(desk: Any, before: Any, span: int, column: Any, card: int, after: Any) -> int:
    """Refine classes by a column; return how many classes there may be now."""
    wide = span * card
    rows = len(column)
    if wide <= max(1024, 2 * rows):
        for row in range(rows):
            after[row] = before[row] + np.uint32(column[row]) * np.uint32(span)
        return wide
    found = 0
    if wide <= len(desk.counts):
        desk.counts[:wide] = -1
        for row in range(rows):
            near = before[row] + np.uint32(column[row]) * np.uint32(span)
            if desk.counts[near] < 0:
                desk.counts[near] = found
                found += 1
            after[row] = desk.counts[near]
        return found
    last = np.uint64(len(desk.keys) - 1)
    desk.labels[:] = -1
    for row in range(rows):
        key = np.uint64(before[row]) + np.uint64(column[row]) * np.uint64(span)
        at = (key * _SPREAD >> np.uint64(20)) & last
        while desk.labels[at] >= 0 and desk.keys[at] != key:
            at = (at + np.uint64(1)) & last
        if desk.labels[at] < 0:
            desk.keys[at] = key
            desk.labels[at] = found
            found += 1
        after[row] = desk.labels[at]
    return found


@compiled
def _slot(desk: Any, configurations: float) -> Any:
    """Find the place of the terms for a number of configurations; the oldest one gives way when all are taken."""
    for slot in range(desk.used[0]):
        if desk.configurations[slot] == configurations:
            return slot
    slot = desk.used[1]
    desk.used[1] = (slot + 1) % len(desk.configurations)
    desk.used[0] = max(desk.used[0], slot + 1)
    desk.configurations[slot] = configurations
    desk.terms[slot, :] = _UNKNOWN
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
def _shaded_term(desk: Any, prior: Any, shade: int, count: int) -> Any:
    """Return the term of a configuration with a shade."""
    weight = prior.ess * 2.0 ** (-shade / STEPS)
    if shade >= _DARKEST or count >= _COUNTS:
        return np.int64(np.rint((lgamma(weight + count) - lgamma(weight)) * prior.scale))
    return _term(desk.shaded[shade], weight, prior.scale, count)


@compiled
def _darken(before: Any, column: Any, shades: Any, after: Any) -> None:
    """Add the shades of a column to those of the rows, if they have any."""
    for row in range(len(after)):
        after[row] = before[row] + shades[column[row]]


@compiled
def _settle(classes: Any, shades: Any, cells: Any) -> None:
    """Note the shade of each class, if rows have shades."""
    for row in range(len(shades)):
        cells[classes[row]] = shades[row]


@compiled
def _sum(desk: Any, prior: Any, span: int, configurations: float, cells: Any) -> int:
    """Sum the terms of the counts of so many classes; ``cells`` has their shades if the prior leans."""
    if len(prior.shades):
        total = 0
        for cell in range(span):
            if desk.counts[cell]:
                total += _shaded_term(desk, prior, cells[cell], desk.counts[cell])
        return total
    terms, weight, scale = desk.terms[_slot(desk, configurations)], prior.ess / configurations, prior.scale
    total = 0
    for count in desk.counts[:span]:
        if count:
            total += _term(terms, weight, scale, count)
    return total


@compiled
def _tally(counts: Any, classes: Any, span: int, column: Any, card: int, weights: Any) -> None:
    """Count the rows of each class refined by a column.

    Real columns have one level in most rows; four counts side by side do not wait for each other to be written.
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
def _sum_wide(desk: Any, prior: Any, span: int, levels: int, configurations: float, cells: Any, shades: Any) -> int:
    """Sum the terms of counts laid out as a column over classes; ``cells`` has the shades of the classes."""
    if not len(prior.shades):
        return _sum(desk, prior, span * levels, configurations, cells)
    total = 0
    for level in range(levels):
        counts, shade = desk.counts[level * span :], shades[level]
        for cell in range(span):
            if counts[cell]:
                total += _shaded_term(desk, prior, cells[cell] + shade, counts[cell])
    return total


@compiled
def _total(
    desk: Any, prior: Any, classes: Any, span: int, configurations: float, shades: Any, cells: Any, weights: Any
) -> int:
    """Count the rows of each class and sum the terms; the classes' shades are left in ``cells``."""
    desk.counts[:span] = 0
    if len(weights):
        for row in range(len(classes)):
            desk.counts[classes[row]] += weights[row]
    else:
        for row in range(len(classes)):
            desk.counts[classes[row]] += np.int32(1)
    _settle(classes, shades, cells)
    return _sum(desk, prior, span, configurations, cells)


@compiled
def _build(columns: Any, members: Any, but: int, prior: Any, desk: Any) -> tuple[int, float]:
    """Put the rows into the classes of all members but one, with their shades, at level 0.

    Return how many classes there may be, and how many configurations there are in all.
    """
    span, configurations = 1, 1.0
    desk.classes[0, :] = 0
    desk.shades[0, :] = 0
    for member in members:
        if member != but:
            column, card = columns.codes[columns.places[member]], columns.cards[member]
            span = _extend(desk, desk.classes[0], span, column, card, desk.classes[0])
            configurations *= card
            _darken(desk.shades[0], column, prior.shades[prior.starts[member] :], desk.shades[0])
    return span, configurations


@compiled
def local(columns: Any, node: int, parents: Any, but: int, prior: Any, desk: Any) -> int:
    """Score a node given all its parents but one."""
    base, configurations = _build(columns, parents, but, prior, desk)
    rest = _total(desk, prior, desk.classes[0], base, configurations, desk.shades[0], desk.cells[0], columns.weights)
    below, card = columns.codes[columns.places[node]], columns.cards[node]
    shades = prior.shades[prior.starts[node] :]
    if base * card > len(desk.counts):
        base = _extend(desk, desk.classes[0], base, below, card, desk.classes[0])
        _darken(desk.shades[0], below, shades, desk.shades[0])
        combined = configurations * card
        whole = _total(desk, prior, desk.classes[0], base, combined, desk.shades[0], desk.cells[0], columns.weights)
        return whole - rest
    _tally(desk.counts, desk.classes[0], base, below, card, columns.weights)
    return _sum_wide(desk, prior, base, card, configurations * card, desk.cells[0], shades) - rest


@compiled
def score_counts(desk: Any, prior: Any, counts: Any, configurations: float) -> int:
    """Score one joint column whose counts are known."""
    terms, weight, scale = desk.terms[_slot(desk, configurations)], prior.ess / configurations, prior.scale
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
def gains(columns: Any, node: int, parents: Any, others: Any, prior: Any, desk: Any, out: Any) -> None:
    """Say what is gained when each other node in turn becomes a parent, or ceases to be one if it is."""
    own = local(columns, node, parents, -1, prior, desk)
    for at in range(len(others)):
        if _has(parents, others[at]):
            out[at] = local(columns, node, parents, others[at], prior, desk) - own + prior.price
    base, configurations = _build(columns, parents, -1, prior, desk)
    below, card = columns.codes[columns.places[node]], columns.cards[node]
    family = _extend(desk, desk.classes[0], base, below, card, desk.classes[1])
    _darken(desk.shades[0], below, prior.shades[prior.starts[node] :], desk.shades[1])
    _settle(desk.classes[0], desk.shades[0], desk.cells[0])
    _settle(desk.classes[1], desk.shades[1], desk.cells[1])
    labelled = family < base * card  # the level of the node cannot be read off the class
    for at in range(len(others)):
        if _has(parents, others[at]):
            continue
        other, levels = columns.codes[columns.places[others[at]]], columns.cards[others[at]]
        shades = prior.shades[prior.starts[others[at]] :]
        combined = configurations * levels
        if labelled or family * levels > len(desk.counts):
            rest = _refined(desk, prior, 0, base, other, levels, combined, shades, columns.weights)
            whole = _refined(desk, prior, 1, family, other, levels, combined * card, shades, columns.weights)
        else:
            _tally(desk.counts, desk.classes[1], family, other, levels, columns.weights)
            whole = _sum_wide(desk, prior, family, levels, combined * card, desk.cells[1], shades)
            rest = _sum_over(desk, prior, base, card, levels, combined, shades)
        out[at] = whole - rest - own - prior.price


@compiled
def _refined(
    desk: Any,
    prior: Any,
    level: int,
    span: int,
    other: Any,
    levels: int,
    configurations: float,
    shades: Any,
    weights: Any,
) -> int:
    """Score the classes of a level refined by another column."""
    wide = _extend(desk, desk.classes[level], span, other, levels, desk.classes[2])
    _darken(desk.shades[level], other, shades, desk.shades[2])
    return _total(desk, prior, desk.classes[2], wide, configurations, desk.shades[2], desk.cells[2], weights)


@compiled
def _sum_over(desk: Any, prior: Any, base: int, card: int, levels: int, configurations: float, shades: Any) -> int:
    """Sum the terms of counts laid out as other, node, parents once the levels of the node are added up."""
    terms, weight, scale = desk.terms[_slot(desk, configurations)], prior.ess / configurations, prior.scale
    leaning = len(prior.shades) > 0
    total = 0
    for outer in range(levels):
        start = outer * card * base
        for cell in range(base):
            count = 0
            for level in range(card):
                count += desk.counts[start + cell + level * base]
            if count and leaning:
                total += _shaded_term(desk, prior, desk.cells[0, cell] + shades[outer], count)
            elif count:
                total += _term(terms, weight, scale, count)
    return total


@compiled
def collapse(columns: Any, members: Any, prior: Any, desk: Any, small: Any, weights: Any) -> int:
    """Find the distinct rows of some columns and how often each occurs; return how many there are."""
    span, _ = _build(columns, members, -1, prior, desk)
    desk.counts[:span] = -1
    found = 0
    for row in range(columns.codes.shape[1]):
        label = desk.counts[desk.classes[0, row]]
        if label < 0:
            label = found
            desk.counts[desk.classes[0, row]] = label
            weights[label] = 0
            for at in range(len(members)):
                small[at, label] = columns.codes[columns.places[members[at]], row]
            found += 1
        weights[label] += 1
    return found


@allocating
def joints(codes: Any, cards: Any, weights: Any, prior: Any, members: Any, desk: Any, scores: Any, stop: Any) -> None:
    """Score every subset of the columns as one joint column; bit i of a place in ``scores`` stands for column i.

    A subset refines the classes of the subset without its last column, so these are kept at each level. The columns
    are those of the ``members``. It ends early once ``stop`` is set.
    """
    width, rows = len(cards), len(weights)
    spans = np.ones(width + 1, np.int64)
    configurations = np.ones(width + 1, np.float64)
    chosen = np.zeros(width + 1, np.int64)
    total = 0
    for weight in weights:
        total += weight
    scores[0] = _term(desk.terms[_slot(desk, 1.0)], prior.ess, prior.scale, total)
    desk.classes[0, :rows] = 0
    desk.shades[0, :] = 0
    level, subset, column = 0, 0, 0
    while (level or column < width) and not stop[0]:
        if column == width:
            column = chosen[level] + 1
            subset ^= 1 << chosen[level]
            level -= 1
            continue
        card = cards[column]
        after = desk.classes[level + 1, :rows]
        span = _extend(desk, desk.classes[level, :rows], spans[level], codes[column], card, after)
        desk.counts[:span] = 0
        for row in range(rows):
            desk.counts[after[row]] += weights[row]
        darkened = desk.shades[level + 1, :rows]
        _darken(desk.shades[level, :rows], codes[column], prior.shades[prior.starts[members[column]] :], darkened)
        _settle(after, darkened, desk.cells[0])
        subset |= 1 << column
        level += 1
        spans[level], configurations[level], chosen[level] = span, configurations[level - 1] * card, column
        scores[subset] = _sum(desk, prior, span, configurations[level], desk.cells[0])
        column += 1
