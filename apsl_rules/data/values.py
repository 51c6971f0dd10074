"""What the values of a column become: levels as they occur, those that cuts of numbers make, and missing ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, Rows, as_finite, numbers
from apsl_rules.data.dataset import Codes
from apsl_rules.data.kinds import MOST_CODES, MOST_LEVELS
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listing, order_key, spelt
from apsl_rules.notes import Note, argument, named

#: One value that stands for a missing one, or several, for all columns or by the name of a column, "*" for all others.
MissingCodes: TypeAlias = str | float | Iterable[Any] | Mapping[Node, Any] | None

#: Words that stand for a missing value in a column of numbers, in small letters.
MISSING_WORDS = frozenset({"", ".", "-", "--", "?", "na", "n/a", "n.a.", "#n/a", "nan", "null", "none", "<na>"})
#: Numbers that people write for a missing value.
MISSING_NUMBERS = (99, 999, 9999, 99999, -1, -9, -99, -999, -9999)

_NARROW_CODES = np.array([number for number in MISSING_NUMBERS if abs(number) < 256])  # noqa: PLR2004 - of a byte
_MOST_ODD_WORDS = 3
_MOST_ODD_SHARE = 0.05
_FEWEST_ROWS = 20
#: As many columns are named with their codes.
_NAMED = 8


def codes_by_column(given: MissingCodes) -> dict[Node, tuple[Any, ...]]:
    """Return the codes for missing values by column, those of all columns under a star.

    >>> codes_by_column({"age": 999, "*": [".", -9]}), codes_by_column(-1)
    ({'age': (999,), '*': ('.', -9)}, {'*': (-1,)})
    """
    by_column = given if isinstance(given, Mapping) else {} if given is None else {"*": given}
    return {name: _codes(codes) for name, codes in by_column.items()}


def _codes(given: Any) -> tuple[Any, ...]:
    codes = tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)
    for code in codes:
        if not isinstance(code, str) and as_finite(code) is None:
            message = f"{named('na')} is {spelt(given)}; give a word or a number, several, or such by column"
            raise InvalidArgumentError(message)
    return codes


def may_hold_codes(low: npt.NDArray[Any], high: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return for columns of small whole numbers whether their smallest or largest value may be a code."""
    return np.isin(low, _NARROW_CODES) | np.isin(high, _NARROW_CODES)


@attrs.frozen(eq=False)
class Blanked:
    """A column without its codes for missing values; ``words`` are those that were found, ``suspects`` stay values."""

    column: Column
    words: Mapping[str, int] = attrs.field(factory=dict)
    suspects: tuple[int, ...] = ()


def blank(column: Column, told: Sequence[Any], rows: Rows | None, *, is_category: bool = False) -> Blanked:
    """Take what stands for a missing value out of a column; ``told`` are codes that the caller named.

    ``is_category`` says that the caller takes the column for a category, so that odd words are levels.
    """
    if told:
        column = _without(column, told)
    if not column.is_label:
        return Blanked(column, suspects=_suspects(column, rows))
    found = _numbers_among(column, rows, is_category=is_category)
    return Blanked(column) if found is None else found


def _without(column: Column, told: Sequence[Any]) -> Column:
    values = {value for value in map(as_finite, told) if value is not None}
    if not column.is_label:
        return numbers(column.values, column.missing | np.isin(column.values, sorted(values)))
    words = {str(code).strip() for code in told}
    gone = [str(level).strip() in words or as_finite(level) in values for level in column.levels]
    if not any(gone):
        return column
    kept = [level for level, is_gone in zip(column.levels, gone, strict=True) if not is_gone]
    place = np.append(np.where(gone, -1, np.cumsum(np.logical_not(gone)) - 1), -1)
    codes = place[column.codes].astype(np.intp)
    spelt_numbers = [as_finite(level) for level in kept]
    if not column.declared and kept and None not in spelt_numbers:
        return numbers(np.array([*spelt_numbers, np.nan], np.float64)[codes])
    return Labels(codes, tuple(kept), column.declared)


def _numbers_among(column: Labels, rows: Rows | None, *, is_category: bool) -> Blanked | None:
    """Return labels as numbers where all are numbers but words for missing values, or but a few odd words."""
    if column.declared or not any(isinstance(level, str) for level in column.levels):
        return None
    values = [as_finite(level) for level in column.levels]
    words = {place: str(column.levels[place]) for place, value in enumerate(values) if value is None}
    if not words or len(words) == len(values):
        return None
    odd = [place for place, word in words.items() if _is_odd(word)]
    counts = np.bincount(column.codes + 1, rows, len(values) + 1).astype(np.int64)[1:]
    if odd:
        few = len(odd) <= _MOST_ODD_WORDS and counts[odd].sum() <= _MOST_ODD_SHARE * counts.sum()
        many = len(values) - len(words) > MOST_CODES and counts.sum() >= _FEWEST_ROWS
        if is_category or not (few and many):
            return None
    spread = np.array([np.nan if value is None else value for value in [*values, None]])
    found = {word: int(counts[place]) for place, word in words.items() if counts[place]}
    read = numbers(spread[column.codes])
    return Blanked(read, dict(sorted(found.items())), _suspects(read, rows))


def _is_odd(word: str) -> bool:
    return word.strip().casefold() not in MISSING_WORDS


def _suspects(column: Numbers, rows: Rows | None) -> tuple[int, ...]:
    """Return the usual codes that stand far outside the other values.

    A code lies further from the others than these lie apart, or is the only value below 0, in two rows at least.
    """
    present = column.present
    if len(present) == 0 or not _near_codes(present):
        return ()
    is_code = np.isin(present, MISSING_NUMBERS)
    rest = present[~is_code]
    if not is_code.any() or len(rest) == 0:
        return ()
    low, high = float(rest.min()), float(rest.max())
    counted = None if rows is None else rows[~column.missing]
    is_count = low >= 0 and len(np.unique(rest)) > MOST_CODES
    found = []
    for code in np.unique(present[is_code]).tolist():
        at = present == code
        times = int(at.sum() if counted is None else counted[at].sum())
        far = max(low - code, code - high) > high - low > 0
        if far or (code < 0 and is_count and times > 1):
            found.append(int(code))
    return tuple(found)


def _near_codes(present: npt.NDArray[Any]) -> bool:
    """Whether one of the ends of the values is a code: others are never far outside the rest."""
    return bool(np.isin([present.min(), present.max()], MISSING_NUMBERS).any())


def notes_on_words(found: Mapping[Node, Mapping[str, int]]) -> tuple[str, ...]:
    """Return a sentence on the words in columns of numbers that were read as missing."""
    if not found:
        return ()
    told = "; ".join(f"{name!r}: {_counted(words)}" for name, words in list(found.items())[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    odd = [name for name, words in found.items() if any(map(_is_odd, words))]
    what = f"columns of numbers hold words that are read as missing values: {told}{more}"
    advice = f"; give {argument('kinds', {odd[0]: 'category'})} if these are levels" if odd else ""
    return (Note(what + advice, "missing words", "warning", columns=[*found]),)


def _counted(words: Mapping[str, int]) -> str:
    return ", ".join(f"{word!r} in {count_of(count, 'row')}" for word, count in words.items())


def notes_on_suspects(found: Mapping[Node, Sequence[int]]) -> tuple[str, ...]:
    """Return a sentence for numbers far outside the rest that may be codes for missing values."""
    if not found:
        return ()
    told = ", ".join(f"{listing(list(codes))} in {name!r}" for name, codes in list(found.items())[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    codes = {name: one[0] if len(one) == 1 else list(one) for name, one in list(found.items())[:_NAMED]}
    what = f"{told}{more} may stand for missing values, and are read as values; give {argument('na', codes)} if so"
    return (Note(what, "missing codes", "warning", columns=[*found]),)


Method: TypeAlias = Literal["quantile", "width"]

_FEWEST, _MOST = 2, 65_534


@attrs.frozen
class Cut:
    """How to cut a column into at most ``bins`` intervals."""

    method: Method
    bins: int


def parse_cut(text: str) -> Cut:
    """Read how to cut a column, such as ``quantile:3``.

    >>> parse_cut("width:4")
    Cut(method='width', bins=4)
    """
    match = re.fullmatch(r"(quantile|width):([0-9]{1,5})", text) if isinstance(text, str) else None
    if match is None or not _FEWEST <= int(match[2]) <= _MOST:
        message = (
            f"cannot discretise by {spelt(text)}; give 'quantile:k' or 'width:k' with k from {_FEWEST} to {_MOST:,}, "
            f"such as 'quantile:3'"
        )
        raise InvalidArgumentError(message)
    return Cut("quantile" if match[1] == "quantile" else "width", int(match[2]))


def intervals(
    values: npt.NDArray[np.float64], cut: Cut, weights: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.intp], tuple[str, ...]]:
    """Cut finite values into intervals closed on the right, and give their codes and the intervals as text.

    ``weights`` say in how many rows each value stands, if not in one.

    Equal values always share an interval, and no interval is empty, so there may be fewer than asked for.

    >>> intervals(np.array([0.5, 1.5, 2.5, 9.5]), Cut("quantile", 2))
    (array([0, 0, 1, 1]), ('[0.5, 1.5]', '(1.5, 9.5]'))
    """
    points = cut_points(values, cut, weights)
    codes = np.searchsorted(points, values, side="left")
    edges = _readable([edge + 0.0 for edge in (float(values.min()), *points.tolist(), float(values.max()))])  # no -0.0
    if len(points) == 0 and edges[0] == edges[1]:
        return codes, (edges[0],)
    opening = ["[", *["("] * len(points)]
    names = [f"{mark}{low}, {high}]" for mark, low, high in zip(opening, edges[:-1], edges[1:], strict=True)]
    return codes, tuple(names)


def cut_points(
    values: npt.NDArray[np.float64], cut: Cut, weights: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.float64]:
    """Return the inner limits of the intervals, rising, each with a value at or below it and a value above it."""
    shares = np.arange(1, cut.bins) / cut.bins
    if cut.method == "quantile":
        # Limits that are values of the column stay where they are whatever the rounding.
        order = np.argsort(values, kind="stable")
        rows = np.arange(1, len(values) + 1) if weights is None else np.cumsum(weights[order])
        points = values[order][np.searchsorted(rows, -(-np.arange(1, cut.bins) * rows[-1] // cut.bins))]
        # A value that fills more than the last interval still leaves one for all below it.
        points = np.minimum(points, values[values < values.max()].max(initial=values.min()))
    else:
        # Weighting the ends cannot overflow, as their difference could.
        points = values.min() * (1 - shares) + values.max() * shares
    limits = np.unique(points[points < values.max()])
    filled = np.unique(np.searchsorted(limits, values, side="left"))
    return limits[filled[filled < len(limits)]]


def _readable(edges: list[float]) -> list[str]:
    """Spell numbers with as few digits as keep different ones apart."""
    different = len(set(edges))
    for digits in range(4, 17):
        words = [f"{edge:.{digits}g}" for edge in edges]
        if len(set(words)) == different:
            return words
    return [repr(edge) for edge in edges]


LevelRule: TypeAlias = Literal["observed", "declared"]


@attrs.frozen(eq=False)
class Coded:
    """Columns as the rows of an array of codes, -1 where a value is missing, and the names of the codes."""

    codes: npt.NDArray[np.integer[Any]]
    levels: Sequence[tuple[Any, ...]]


def code_integers(block: npt.NDArray[np.integer[Any]], names: Sequence[Node], rule: LevelRule) -> Coded:
    """Encode integer columns without missing values that are the rows of a block."""
    if rule == "observed":
        ranked = dense(block)
        return Coded(ranked.codes, ranked.levels)
    for name, low, high in zip(names, block.min(axis=1).tolist(), block.max(axis=1).tolist(), strict=True):
        if low < 0 or high >= MOST_LEVELS:
            message = (
                f"column {name!r} has integers from {low} to {high}, but {argument('levels', 'declared')} takes "
                "integers as codes and "
                f"needs them from 0 to {MOST_LEVELS - 1:,}; give {argument('levels', 'observed')}"
            )
            raise DataError(message)
    return Coded(block, [tuple(range(largest + 1)) for largest in block.max(axis=1).tolist()])


def code(column: Column, name: Node, rule: LevelRule) -> Coded:
    """Encode one column as a category."""
    if column.is_label:
        return _code_labels(column, rule)
    present = column.present
    if len(present) == 0:
        return _spread(column, Coded(present[None, :], [()]))
    if present.dtype.kind == "f":
        values, codes = np.unique(present, return_inverse=True)
        return _spread(column, Coded(codes[None, :], [tuple((values + 0.0).tolist())]))  # no -0.0
    return _spread(column, code_integers(present[None, :], [name], rule))


def code_cut(column: Numbers, cut: Cut, weights: npt.NDArray[np.int64] | None = None) -> Coded:
    """Encode a column of finite numbers as intervals; ``weights`` say in how many rows each value stands."""
    present = column.present
    if len(present) == 0:
        return _spread(column, Coded(present[None, :], [()]))
    of_present = None if weights is None else weights[~column.missing]
    codes, levels = intervals(present.astype(np.float64, copy=False), cut, of_present)
    return _spread(column, Coded(codes[None, :], [levels]))


def _code_labels(column: Labels, rule: LevelRule) -> Coded:
    seen = np.flatnonzero(np.bincount(column.codes + 1, minlength=len(column.levels) + 1)[1:]).tolist()
    if rule == "declared" and column.declared:
        seen = list(range(max(seen, default=-1) + 1))
    else:  # A copy of the table in a text file or a database declares no order, and searches break ties by it.
        seen.sort(key=lambda place: order_key(column.levels[place]))
    # The last place is what the code -1 of a missing value finds.
    rank = np.full(len(column.levels) + 1, -1)
    rank[seen] = np.arange(len(seen))
    return Coded(rank[column.codes][None, :], [tuple(column.levels[place] for place in seen)])


def _spread(column: Numbers, coded: Coded) -> Coded:
    """Put the codes of the present values back to their rows."""
    codes = np.full((1, len(column.values)), -1)
    codes[:, ~column.missing] = coded.codes
    return attrs.evolve(coded, codes=codes)


_NARROW = 256


@attrs.frozen(eq=False)
class Dense:
    """Codes without holes: ``codes[i, r]`` is the rank of a value among ``levels[i]``."""

    codes: Codes | npt.NDArray[np.intp]
    levels: list[tuple[int, ...]]


def dense(block: npt.NDArray[np.integer[Any]]) -> Dense:
    """Encode the columns that are the rows of a block, each by the sorted values seen in it."""
    low, high = block.min(axis=1), block.max(axis=1)
    # Unsigned arithmetic wraps round, so that the span is right at the ends of the 64-bit range too.
    span = high.astype(np.uint64) - low.astype(np.uint64)
    if (span < _NARROW).all():
        return _narrow(block, low, span.astype(np.intp))
    if len(block) == 1:
        return _wide(block)
    parts = [dense(block[place : place + 1]) for place in range(len(block))]
    return Dense(np.concatenate([part.codes for part in parts]), [part.levels[0] for part in parts])


def _narrow(block: npt.NDArray[np.integer[Any]], low: npt.NDArray[Any], span: npt.NDArray[np.intp]) -> Dense:
    width = int(span.max()) + 1
    codes: npt.NDArray[np.uint8] = (block - low[:, None]).astype(np.uint8)
    cells = codes + np.arange(0, len(block) * width, width)[:, None]
    seen = np.bincount(cells.ravel(), minlength=len(block) * width).reshape(len(block), width) > 0
    holes = seen.sum(axis=1) <= span
    if holes.any():
        ranks = (np.cumsum(seen, axis=1) - 1).astype(np.uint8)
        codes = ranks.ravel()[cells]
    shared: dict[tuple[int, int], tuple[int, ...]] = {}
    levels = []
    for place, (first, count) in enumerate(zip(low.tolist(), (span + 1).tolist(), strict=True)):
        if holes[place]:
            levels.append(tuple(first + step for step in np.flatnonzero(seen[place]).tolist()))
        else:
            levels.append(shared.setdefault((first, count), tuple(range(first, first + count))))
    return Dense(codes, levels)


def _wide(block: npt.NDArray[np.integer[Any]]) -> Dense:
    values, codes = np.unique(block[0], return_inverse=True)
    return Dense(codes[None, :], [tuple(values.tolist())])
