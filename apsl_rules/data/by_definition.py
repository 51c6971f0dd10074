"""Columns that a target defines, or that define it: its logarithm, its rank, a cut of it, a sum that contains it.

A column follows from others by definition if it can be computed from them as exactly as the digits of the table tell,
in every row. Columns that only depend on each other strongly never agree so well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.dataset import CountedDataset, Dataset
from apsl_rules.data.exact_sums import exact_sums, plain_sums
from apsl_rules.data.formulas import Floats, correlation, errors_of, formula, is_rank, places, written
from apsl_rules.data.kinds import BY_DEFINITION
from apsl_rules.data.one_hot import one_hot_sets
from apsl_rules.names import Node, in_order
from apsl_rules.notes import Note, argument

if TYPE_CHECKING:
    from apsl_rules.data.tables import LocalTable

Codes = npt.NDArray[np.int64]
Data = TypeVar("Data", bound=Dataset)

#: So many numbers are compared with a target two by two; of more, those that make plain sums with it are found first.
MOST_COMPARED = 60

_FEWEST_ROWS = 20
#: A formula is told only of numbers with so many distinct values.
_FEWEST_VALUES = 5
_LARGEST = 1e100
_NEARLY_ONE = 1 - 1e-3
_MOST_LEVELS = 20
_FEWEST_PER_LEVEL = 5
#: At the limit of a cut the values stand as close as elsewhere, up to this factor.
_WIDE_GAP = 10.0
_NEAREST = 10
_INDICATOR_LEVELS = 3


@attrs.frozen
class Definition:
    """The columns that say by definition what a target says.

    Attributes
    ----------
    target
        The target.
    told
        For each column how it follows from the target, or defines it, in words such as "is log('wage')".
    """

    target: Node
    told: dict[Node, str]

    def __bool__(self) -> bool:
        return bool(self.told)

    @property
    def columns(self) -> tuple[Node, ...]:
        """Return the columns in the order of names."""
        return in_order(self.told)

    def reason(self, column: Node) -> str:
        """Return why a column is set aside."""
        return f"{BY_DEFINITION}{self.told[column]}"

    def note(self) -> Note:
        """Return the sentence that names the columns and takes them back."""
        columns = self.columns
        listed = "; ".join(f"{shown_name(name)} {self.told[name]}" for name in columns)
        them = "it" if len(columns) == 1 else "them"
        words = f"{listed}: set aside; take {them} back with {argument('keep', [*columns])}"
        return Note(words, "by definition", "warning", target=self.target, columns=[*columns])


def shown_name(name: Node) -> str:
    """Return a name as notes have it."""
    return f"{name!r}"


def definitions(data: Dataset, target: Node, keep: Collection[Node] = (), *, functions: bool = False) -> Definition:
    """Return the columns that say by definition what a target says, but for those to keep.

    With ``functions`` these are functions of the target alone, and no terms of sums and products. Categories are
    counted; where there are numbers about 10,000 of the rows are looked at, wherever they are.
    """
    told: dict[Node, str] = {}
    used = [name for name in data.names if name == target or name not in keep]
    if "counts" in data.can:
        return Definition(target, dict(_indicators(data.categories, target, used)))
    table = data.thinned()
    if table is None or table.rows < _FEWEST_ROWS:
        return Definition(target, told)
    some = _Rows.of(table, target, used)
    if target not in some.numbers and target not in some.categories:
        return Definition(target, told)
    indicators = _indicators(table.categories, target, list(some.categories))
    for name, sentence in (*_functions(some), *_cuts(some), *indicators, *_interactions(some)):
        told.setdefault(name, sentence)
    for name, sentence in () if functions else _sums(some.without(told)):
        told.setdefault(name, sentence)
    return Definition(target, told)


def taken_apart_for(
    data: Data, nodes: Collection[Node], kept: Collection[Node] | None = ()
) -> tuple[Data, list[Definition]]:
    """Take joined columns apart where one of them is a node, or is kept; None keeps all.

    What makes one category with a node follows from it.
    """
    sets = one_hot_sets(data.notes)
    asked = {*nodes, *(kept or ())}
    left = [one for one in sets if one.name in nodes or (kept is not None and one.is_apart_from(asked))]
    if len(left) == len(sets):
        return data, []
    told = [Definition(node, one.with_member(node, but=asked)) for node in nodes for one in sets if kept is not None]
    found: Any = data.apart().joined(left)
    return found, told


@attrs.frozen(eq=False)
class _Rows:
    """Some rows of a table: numbers, NaN where missing, categories by their codes, -1 where missing, and a target."""

    target: Node
    numbers: dict[Node, Floats]
    categories: dict[Node, Codes]
    levels: dict[Node, tuple[Any, ...]]
    errors: dict[Node, Floats]

    @classmethod
    def of(cls, table: LocalTable, target: Node, used: Sequence[Node]) -> _Rows:
        """Take the columns that are used; of very many some that make sums."""
        coded = table.categories
        known = set(table.number_names)
        given = {name: table.values(name) for name in used if name in known}
        numbers = {name: values for name, values in given.items() if _is_of_usual_size(values)}
        if len(numbers) > MOST_COMPARED and target in numbers:
            found = {part for _, *parts in plain_sums(numbers, [target]) for part in parts}
            near = _alike(numbers, target)
            chosen = {target, *found, *near}
            numbers = {name: values for name, values in numbers.items() if name in chosen}
        categories = {name: coded.codes_of(name) for name in _compared(coded, target, used)}
        levels = {name: coded.levels[coded.place[name]] for name in categories}
        errors = {name: errors_of(values) for name, values in numbers.items()}
        return cls(target, numbers, categories, levels, errors)

    def without(self, names: Collection[Node]) -> _Rows:
        """Return the rows without some columns."""
        return attrs.evolve(self, numbers={name: one for name, one in self.numbers.items() if name not in names})


def _compared(coded: CountedDataset, target: Node, used: Sequence[Node]) -> list[Node]:
    """Return the categories that are compared with a target: of very many none with another category."""
    found = [name for name in used if name in coded.place]
    return [target] if len(found) > MOST_COMPARED and target in coded.place else found


def _is_of_usual_size(values: Floats) -> bool:
    """Return whether a float holds the squares of all values."""
    size = np.abs(values[values != 0])
    size = size[~np.isnan(size)]
    return not len(size) or bool(size.min() > 1 / _LARGEST and size.max() < _LARGEST)


def _alike(numbers: dict[Node, Floats], target: Node) -> list[Node]:
    """Return the numbers whose ranks go with those of the target, or with its size, as those of its functions do."""
    aim = places(numbers[target])
    size = places(np.abs(numbers[target]))
    found = []
    for name, values in numbers.items():
        own = places(values)
        there = ~(np.isnan(own) | np.isnan(aim))
        if name != target and there.sum() >= _FEWEST_ROWS:
            least = max(abs(correlation(own[there], one[there])) for one in (aim, size))
            if least > _NEARLY_ONE:
                found.append(name)
    return found[:MOST_COMPARED]


# --- functions of one number ------------------------------------------------------------------------------------------


def _functions(some: _Rows) -> Iterator[tuple[Node, str]]:
    """Tell the numbers that are functions of the target, or of which it is one."""
    if some.target not in some.numbers:
        return
    for name in some.numbers:
        if name != some.target and (told := _function(some, name)) is not None:
            yield name, told


def _function(some: _Rows, name: Node) -> str | None:
    """Return in words how a number follows from the target, or defines it, or None."""
    x, y = some.numbers[some.target], some.numbers[name]
    there = ~(np.isnan(x) | np.isnan(y))
    if there.sum() < max(_FEWEST_ROWS, (~np.isnan(y)).sum() / 2):
        return None
    x, y = x[there], y[there]
    pairs = ((x, y), (np.abs(x), y), (y, x), (np.abs(y), x))
    is_alike = any(abs(correlation(places(one), places(other))) > _NEARLY_ONE for one, other in pairs)
    if not is_alike or min(len(np.unique(x)), len(np.unique(y))) < _FEWEST_VALUES:
        return None
    x_error, y_error = some.errors[some.target][there], some.errors[name][there]
    spelt = shown_name(some.target)
    if (one := formula(x, y, x_error, y_error)) is not None:
        return f"is {written(one, spelt)}"
    if (one := formula(y, x, y_error, x_error)) is not None:
        return f"defines {spelt}, which is {written(one, shown_name(name))}"
    if is_rank(y, x):
        return f"is the rank of {spelt}"
    return f"has {spelt} as its rank" if is_rank(x, y) else None


# --- cuts and indicators ----------------------------------------------------------------------------------------------


def _cuts(some: _Rows) -> Iterator[tuple[Node, str]]:
    """Tell the columns of few levels that are cut from the target, and the numbers that it is cut from."""
    target, spelt = some.target, shown_name(some.target)
    for name in (*some.numbers, *some.categories):
        if name == target:
            continue
        if target in some.numbers and (limits := _limits(some, name, target)) is not None:
            yield name, f"is cut from {spelt} {limits}"
        elif name in some.numbers and (limits := _limits(some, target, name)) is not None:
            yield name, f"is what {spelt} is cut from {limits}"


def _limits(some: _Rows, cut: Node, number: Node) -> str | None:
    """Return the limits at which a number was cut into the levels of a column, or None if it was not."""
    values = some.numbers[number]
    codes = some.categories.get(cut)
    if codes is None:
        given = some.numbers[cut]
        known = given[~np.isnan(given)]
        levels, found = np.unique(known, return_inverse=True)
        if not 1 < len(levels) <= _MOST_LEVELS or np.any(levels != np.floor(levels)):
            return None
        codes = np.full(len(given), -1, np.int64)
        codes[~np.isnan(given)] = found
    there = (codes >= 0) & ~np.isnan(values)
    found_limits = limits_of(codes[there], values[there], is_ordered=cut in some.numbers)
    if found_limits is None:
        return None
    named = ", ".join(f"{one:.6g}" for one in found_limits)
    return (
        f"(at about {named})" if len(found_limits) <= _INDICATOR_LEVELS else f"into {len(found_limits) + 1} intervals"
    )


def limits_of(codes: Codes, values: Floats, *, is_ordered: bool = False) -> list[float] | None:
    """Return the limits between the levels of a cut, or None if levels overlap, are rare, or stand far apart.

    Groups that differ much by nature leave a gap between them, and a cut goes through values that stand close.
    """
    counts = np.bincount(codes) if len(codes) else np.zeros(0, np.int64)
    seen = np.flatnonzero(counts)
    distinct = np.unique(values)
    is_told = 1 < len(seen) <= _MOST_LEVELS and len(values) >= _FEWEST_ROWS and len(distinct) >= 2 * len(seen)
    if not is_told or counts[seen].min() < _FEWEST_PER_LEVEL:
        return None
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, codes, values)
    np.maximum.at(high, codes, values)
    order = seen[np.argsort(low[seen], kind="stable")]
    if (high[order[:-1]] >= low[order[1:]]).any():
        return None
    if is_ordered and not (np.all(np.diff(order) > 0) or np.all(np.diff(order) < 0)):
        return None
    spacing = np.diff(distinct)
    found = []
    for below, above in zip(high[order[:-1]].tolist(), low[order[1:]].tolist(), strict=True):
        at = int(np.searchsorted(distinct, above)) - 1
        near = np.delete(spacing, at)[max(0, at - _NEAREST) : at + _NEAREST]
        if not len(near) or above - below > _WIDE_GAP * np.median(near):
            return None
        found.append(below / 2 + above / 2)
    return found


def _indicators(coded: CountedDataset, target: Node, used: Sequence[Node]) -> Iterator[tuple[Node, str]]:
    """Tell the two-valued columns that say whether the target has a level by their name, and the other way round."""
    if target not in coded.place:
        return
    named: list[tuple[Node, str, list[int]]] = []
    cards = dict(zip(coded.names, coded.heading.cards.tolist(), strict=True))
    for name in _compared(coded, target, used):
        for flag, labels in ((name, target), (target, name)):
            may_be = name != target and cards[flag] == 2 and cards[labels] >= _INDICATOR_LEVELS  # noqa: PLR2004 - two values
            if may_be and (codes := _levels_named(coded, flag, labels)):
                named.append((name, "says whether {} is {}" if flag == name else _STANDS_FOR, codes))
    coded.fetch([(coded.place[name], coded.place[target]) for name, _, _ in named], needed=True)
    for name, told, codes in named:
        flag, labels = (target, name) if told == _STANDS_FOR else (name, target)
        joint = coded.joint((coded.place[flag], coded.place[labels]))
        code = next((code for code in codes if _stands_for(joint.codes, joint.weights, code, coded, labels)), None)
        if code is not None:
            yield name, told.format(shown_name(target), repr(coded.levels_of(labels)[code]))


_STANDS_FOR = "has a level {1}, which {0} stands for"


def _levels_named(coded: CountedDataset, flag: Node, labels: Node) -> list[int]:
    """Return the codes of the levels that a two-valued column has in its name."""
    words = _words(str(flag))
    return [code for code, level in enumerate(coded.levels_of(labels)) if (own := _words(str(level))) and own <= words]


def _stands_for(
    codes: npt.NDArray[Any], weights: npt.NDArray[np.int64], code: int, coded: CountedDataset, labels: Node
) -> bool:
    """Return whether the first of two counted columns says in every row whether the second has a level."""
    flags, levels = codes.astype(np.int64)
    there = (flags < 2) & (levels < len(coded.levels_of(labels)))  # noqa: PLR2004 - two values
    flags, is_level = flags[there], levels[there] == code
    if weights[there].sum() < _FEWEST_ROWS or not is_level.any() or is_level.all():
        return False
    return any(np.array_equal(is_level, flags == side) for side in (0, 1))


@lru_cache(maxsize=1 << 16)
def _words(name: str) -> frozenset[str]:
    text = "".join(one if one.isalnum() else " " for one in name.casefold())
    return frozenset(text.split())


# --- sums and products ------------------------------------------------------------------------------------------------


def _sums(some: _Rows) -> Iterator[tuple[Node, str]]:
    """Tell the columns that make a sum, a mean, a difference, a product or a ratio with the target."""
    return exact_sums(some.numbers, some.errors, some.target) if some.target in some.numbers else iter(())


def _interactions(some: _Rows) -> Iterator[tuple[Node, str]]:
    """Tell the numbers that are the target where a two-valued column says so, and zero elsewhere."""
    target = some.target
    if target not in some.numbers:
        return
    x = some.numbers[target]
    flags = [name for name, levels in some.levels.items() if len(levels) == 2]  # noqa: PLR2004 - two values
    for name, y in some.numbers.items():
        if name == target:
            continue
        there = ~(np.isnan(x) | np.isnan(y))
        used = there & (y != 0)
        if (
            used.sum() < _FEWEST_ROWS
            or not np.array_equal(x[used], y[used])
            or len(np.unique(y[used])) < _FEWEST_VALUES
        ):
            continue
        for flag in flags:
            codes = some.categories[flag]
            sides = [there & (codes == side) & (x != 0) for side in (0, 1)]
            for off, on in (sides, sides[::-1]):
                if off.any() and on.any() and not used[off].any() and used[on].all():
                    yield name, f"is {shown_name(target)} times {shown_name(flag)}"
                    break
            else:
                continue
            break
