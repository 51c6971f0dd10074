"""Words and numbers that stand for a missing value: found among numbers, named where they only may be, or as told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, Rows, as_finite, numbers
from apsl_rules.data.kinds import MOST_CODES
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, count_of, listing, spelt
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
    if isinstance(column, Numbers):
        return Blanked(column, suspects=_suspects(column, rows))
    found = _numbers_among(column, rows, is_category=is_category)
    return Blanked(column) if found is None else found


def _without(column: Column, told: Sequence[Any]) -> Column:
    values = {value for value in map(as_finite, told) if value is not None}
    if isinstance(column, Numbers):
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

    A code lies further from the others than these lie apart, or is the only value below 0 of whole numbers, in two rows
    at least.
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
    is_count = low >= 0 and present.dtype.kind in "iu" and len(np.unique(rest)) > MOST_CODES
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
