"""Any table as integer codes: ``table()``, with a clear sentence for what cannot be encoded."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import spelt
from apsl_rules.data.columns import Source
from apsl_rules.data.cuts import Cut, parse_cut
from apsl_rules.data.levels import MOST_LEVELS, Coded, Coding, ContinuousError, LevelRule, code, code_integers
from apsl_rules.data.open_table import open_source
from apsl_rules.data.table import Codes, Table
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, count_of, listing, nearest, require_known

MissingRule: TypeAlias = Literal["refuse", "testwise", "level"]

MISSING_LEVEL = "missing"

#: The word for cutting no column.
UNCUT = "none"

_USUAL_CUT = Cut("quantile", 3)
_BYTE_LEVELS = 255
_CELLS_AT_ONCE = 2**20
_SHOWN = 8


def table(
    source: Any,
    *,
    names: Iterable[Node] | None = None,
    missing: MissingRule = "testwise",
    discretize: str | Mapping[Node, str] | None = None,
    levels: LevelRule = "observed",
) -> Table:
    """Encode a table of any kind once, so that everything that takes data can count it.

    Parameters
    ----------
    source
        A pandas, polars or pyarrow table or another that narwhals reads (lazy ones are collected), a 2-d numpy array,
        or the path of a CSV, Parquet or blank-separated integer text file. A ``Table`` is given back as it is.
    names
        Labels for the columns, any hashables, instead of the table's own. The columns of an array are otherwise
        called X1, X2 and so on, those of a text file 1, 2 and so on.
    missing
        What to do about missing values: keep them apart so that each test leaves out the rows that it cannot use
        (``testwise``), count them as one more level called "missing" (``level``), or ``refuse`` them.
    discretize
        How to cut numbers, such as ``quantile:3`` or ``width:4``. Without it fractions, and whole numbers with more
        than ten values and fewer than 25 rows for each, are cut into three intervals with about as many rows. A mapping
        from names says how to cut those columns, whatever they hold. ``none`` cuts nothing and refuses fractions. Whole
        numbers stored as floats count as integers.
    levels
        ``observed`` makes codes of the values seen, sorted, categories in their order. ``declared`` keeps unseen
        levels below the largest one seen: those of a category, and the integers from 0 of an integer column.

    Returns
    -------
    Table
        The codes, column by column, with the names of the levels.

    Raises
    ------
    DataError
        When the table cannot be encoded as asked.

    Examples
    --------
    >>> import numpy as np
    >>> small = table(np.array([[7, 1], [5, 0], [7, 1]]), names=["age", "ill"])
    >>> small.codes.tolist(), small.levels
    ([[1, 0, 1], [1, 0, 1]], ((5, 7), (0, 1)))
    """
    check_rules(missing, levels)
    if isinstance(source, Table):
        if names is not None or discretize is not None:
            message = "a Table is encoded already; give names= and discretize= together with the data it was made from"
            raise InvalidArgumentError(message)
        return source
    opened = open_source(source, names)
    coding = coding_of(levels, discretize, opened.names)
    store = _Store(opened, missing)
    cut: list[Node] = []
    continuous: dict[Node, int] = {}
    step = max(1, _CELLS_AT_ONCE // opened.rows)
    for start in range(0, len(opened.names), step):
        run = opened.names[start : start + step]
        block = None if coding.cuts.keys() & set(run) else opened.integers(start, start + len(run))
        whole = None if block is None else code_integers(block, run, coding)
        if whole is not None and not any(coding.cuts_whole(len(one), opened.rows) for one in whole.levels):
            store.put(start, whole)
            continue
        for place, name in enumerate(run, start):
            try:
                coded = code(opened.column(place), name, coding)
            except ContinuousError as error:
                continuous[name] = error.distinct
                continue
            store.put(place, coded)
            if coded.cut:
                cut.append(name)
    if continuous:
        raise DataError(advice_on_continuous(continuous))
    finished = store.finish()
    notes = (*notes_on_cuts(cut, discretize), *notes_on_gaps(store.names, store.absent, finished.rows, missing))
    return attrs.evolve(finished, notes=notes)


class _Store:
    """The codes as they come in, a byte each until a column needs two; a missing value is one more code."""

    def __init__(self, opened: Source, missing: MissingRule) -> None:
        columns = len(opened.names)
        self.names = opened.names
        self.missing = missing
        self.codes: Codes = np.empty((columns, opened.rows), dtype=np.uint8)
        self.levels: list[tuple[Any, ...]] = [()] * columns
        self.absent = np.zeros(columns, dtype=np.int64)

    def put(self, start: int, coded: Coded) -> None:
        """Keep encoded columns from a place on."""
        places = slice(start, start + len(coded.levels))
        codes, levels = coded.codes, list(coded.levels)
        if codes.dtype.kind == "i":
            gone = codes < 0
            self.absent[places] = gone.sum(axis=1)
            codes = np.where(gone, np.array([[len(known)] for known in levels]), codes)
            if self.missing == "level":
                levels = [
                    with_missing(self.names[place], known) if self.absent[place] else known
                    for place, known in enumerate(levels, start)
                ]
        self.levels[places] = levels
        most = max(len(known) for known in levels)
        if most > MOST_LEVELS:
            name = next(self.names[place] for place in range(start, places.stop) if len(self.levels[place]) == most)
            raise DataError(advice_on_levels(name, most))
        if most > _BYTE_LEVELS and self.codes.dtype == np.uint8:
            self.codes = self.codes.astype(np.uint16)
        self.codes[places] = codes

    def finish(self) -> Table:
        """Check what is missing and give the table."""
        check_gaps(self.names, self.absent, self.codes.shape[1], self.missing)
        return Table(
            names=self.names,
            codes=self.codes,
            cards=np.array([len(known) for known in self.levels], dtype=np.int64),
            levels=tuple(self.levels),
            incomplete=(self.absent > 0) & (self.missing == "testwise"),
        )


def with_missing(name: Node, levels: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the levels of a column with one more for its missing values."""
    if MISSING_LEVEL in levels:
        message = (
            f"column {name!r} has missing values and also a level {MISSING_LEVEL!r}; "
            f"rename that level, or fill the missing values"
        )
        raise DataError(message)
    return (*levels, MISSING_LEVEL)


def check_gaps(names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, missing: MissingRule) -> None:
    """Refuse columns of which all values are missing, and with ``refuse`` those of which any is."""
    empty = [names[place] for place in np.flatnonzero(absent == rows).tolist()]
    if empty:
        message = f"all values are missing in {_columns(empty)}; leave {_them(empty)} out"
        raise DataError(message)
    gaps = {names[place]: int(absent[place]) for place in np.flatnonzero(absent).tolist()}
    if gaps and missing == "refuse":
        message = (
            f"values are missing in {_columns(gaps)} ({_shares(gaps, rows)}); give missing='testwise' to leave "
            f"out rows test by test, or missing='level' to count them as a level"
        )
        raise DataError(message)


def advice_on_levels(name: Node, count: int) -> str:
    """Return advice on a column with too many levels."""
    return (
        f"column {name!r} has {count:,} levels; at most {MOST_LEVELS:,} can be encoded, so group them, "
        f"cut the column with discretize=, or leave it out"
    )


def check_rules(missing: str, levels: str) -> None:
    """Refuse unknown rules for missing values and for levels."""
    _check_choice("missing", missing, get_args(MissingRule))
    _check_choice("levels", levels, get_args(LevelRule))


def coding_of(levels: LevelRule, discretize: str | Mapping[Node, str] | None, names: tuple[Node, ...]) -> Coding:
    """Return how to encode columns of these names."""
    if isinstance(discretize, str) and discretize == UNCUT:
        return Coding(levels)
    if discretize is not None and not isinstance(discretize, Mapping):
        return Coding(levels, cut=parse_cut(discretize))
    known = set(names)
    for name in discretize or ():
        require_known(name, known, "column in discretize")
    cuts = {name: parse_cut(text) for name, text in (discretize or {}).items()}
    return Coding(levels, cut=_USUAL_CUT, cuts=cuts)


def notes_on_cuts(cut: Collection[Node], discretize: str | Mapping[Node, str] | None) -> tuple[str, ...]:
    """Return a sentence on the columns that were cut by default."""
    unasked = [] if isinstance(discretize, str) else [name for name in cut if name not in (discretize or ())]
    if not unasked:
        return ()
    how = f"{_USUAL_CUT.bins} intervals with about as many rows each"
    return (f"{_columns(unasked)} cut into {how}; choose other cuts with discretize",)


def notes_on_gaps(
    names: Sequence[Node], absent: npt.NDArray[np.int64], rows: int, missing: MissingRule
) -> tuple[str, ...]:
    """Return a sentence on the columns with missing values, where tests leave out rows for them."""
    gaps = {names[place]: int(absent[place]) for place in np.flatnonzero(absent).tolist()}
    if not gaps or missing != "testwise":
        return ()
    return (f"values are missing in {_columns(gaps)} ({_shares(gaps, rows)}); each test leaves out such rows",)


def _shares(gaps: Mapping[Node, int], rows: int) -> str:
    return f"{', '.join(f'{count:,}' for count in list(gaps.values())[:_SHOWN])} of {count_of(rows, 'row')}"


def _check_choice(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        message = f"{option}={spelt(value)} is not known{hint}; give one of {listing(allowed)}"
        raise InvalidArgumentError(message)


def advice_on_continuous(continuous: Mapping[Node, int]) -> str:
    """Return advice on columns of fractions, each with its number of distinct values."""
    first, distinct = next(iter(continuous.items()))
    looks = "looks" if len(continuous) == 1 else "look"
    return (
        f"{_columns(continuous)} {looks} continuous ({first!r} has {distinct:,} distinct values) and discretize is "
        f"'none'; leave that out, turn {_them(continuous)} into categories, or use the fisherz test"
    )


def _columns(names: Collection[Node]) -> str:
    return f"column{'s' * (len(names) > 1)} {listing(names)}"


def _them(names: Collection[Node]) -> str:
    return "them" if len(names) > 1 else "it"
