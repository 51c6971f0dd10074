"""Datasets: any table once it is opened, and what can be asked of it wherever its rows are.

Learners, tests, scores, effects and charts ask a ``Dataset`` and never which kind of one they were given. What it can
answer is in ``can``; what it cannot do it refuses in one sentence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.duplicates import Groups, content_fingerprint, sorted_groups
from apsl_rules.data.kinds import ColumnKind, Roles, why_never_varies, why_set_aside
from apsl_rules.data.one_hot import OneHot, Place, arranged, joined_codes, joined_columns
from apsl_rules.data.roles import TIME
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.memory import DatasetMemory, Kind
from apsl_rules.names import Node, count_of, listing, require_known, spell_bytes
from apsl_rules.notes import Note, argument
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    from apsl_rules.data.tables import LocalTable, Table

Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
Weights: TypeAlias = npt.NDArray[np.int64]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
RowNumbers: TypeAlias = npt.NDArray[np.integer[Any]]
#: "counts": all columns are categories, which can be counted; "moments": some are numbers, so that tests and scores
#: need sums of products; "rows": the rows are in this process; "fingerprint": a column has a hash of its contents.
Capability: TypeAlias = Literal["counts", "moments", "rows", "fingerprint"]

#: The fewest rows that tell anything of two columns.
FEWEST_TOGETHER = 20
#: The rows of a section. Engines answer section by section, in the order of the rows.
SECTION = 1 << 16
_ENOUGH_ROWS = 10_000


def thin_step(rows: int) -> int:
    """Return how many rows lie from one to the next, where about 10,000 of a table are looked at."""
    return max(1, -(-rows // _ENOUGH_ROWS))


def thin_rows(rows: int, step: int) -> Integers:
    """Return the numbers of every few rows of each section, so that every engine takes the same."""
    numbers = np.arange(rows)
    found: Integers = numbers[numbers % SECTION % step == 0]
    return found


@attrs.frozen
class Traffic:
    """How often rows elsewhere were asked, in ``rounds``, and the bytes that came back, ``moved``."""

    rounds: int = 0
    moved: int = 0

    def since(self, before: Traffic) -> Traffic:
        """Return what came after a point in time."""
        return Traffic(self.rounds - before.rounds, self.moved - before.moved)

    def __str__(self) -> str:
        size = f", {spell_bytes(self.moved)}" if self.moved else ""
        return f"in {count_of(self.rounds, 'round')}{size}"


NO_TRAFFIC = Traffic()


def names_joined(names: Sequence[Node], parts: Sequence[Place]) -> tuple[Node, ...]:
    """Return the names of columns of which some are joined."""
    return tuple(one.name if one else names[at[0]] for at, one in parts)


def codes_joined(lines: Iterable[Any], parts: Sequence[Place]) -> Codes:
    """Return the codes of columns of which some are joined, given those of the columns that make each, in turn."""
    left, made = iter(lines), list[Any]()
    for at, one in parts:
        some = [next(left) for _ in at]
        made.append(some[0] if one is None else joined_codes(some))
    codes: Codes = np.stack(made)
    return codes


@attrs.frozen(eq=False, slots=False)
class Heading:
    """All of a table of categories but its rows; ``totals`` says how often each code occurs in its column.

    Attributes
    ----------
    names, columns
        The columns that are used, and how each column of the source was read.
    cards, levels
        How many levels each column has, and the levels in the order of their codes.
    incomplete
        Which columns have missing values.
    rows
        How many rows there are.
    notes
        What was assumed when the table was read.
    """

    names: tuple[Node, ...]
    cards: Integers
    levels: tuple[tuple[Any, ...], ...]
    incomplete: npt.NDArray[np.bool_]
    rows: int
    totals: Sequence[Weights]
    notes: tuple[str, ...] = ()
    columns: tuple[ColumnKind, ...] = ()

    def coding(self, place: int) -> bytes:
        """Return a key of how a column was coded: its place, its levels and the rows of each.

        Intervals are spelt with few digits, so two cuts of a column may have the same names.
        """
        return repr((place, self.levels[place], self.totals[place].tolist())).encode()

    def select(self, places: Sequence[int], columns: tuple[ColumnKind, ...], notes: tuple[str, ...]) -> Heading:
        """Return the heading of some columns, with what became of all columns of the source and with notes."""
        return attrs.evolve(
            self,
            names=tuple(self.names[place] for place in places),
            cards=self.cards[list(places)],
            levels=tuple(self.levels[place] for place in places),
            incomplete=self.incomplete[list(places)],
            totals=tuple(self.totals[place] for place in places),
            columns=columns,
            notes=notes,
        )

    def joined(self, sets: Sequence[OneHot]) -> Heading:
        """Return the heading with one-hot columns joined into categories."""
        parts = arranged(self.names, sets)
        return attrs.evolve(
            self,
            names=names_joined(self.names, parts),
            cards=np.array([len(at) if one else self.cards[at[0]] for at, one in parts], np.int64),
            levels=tuple(one.levels if one else self.levels[at[0]] for at, one in parts),
            incomplete=np.array([one is None and self.incomplete[at[0]] for at, one in parts], np.bool_),
            totals=tuple(
                np.array([self.totals[place][1] for place in at], np.int64) if one else self.totals[at[0]]
                for at, one in parts
            ),
            columns=joined_columns(self.columns, sets),
            notes=(*(one.note() for one in sets), *self.notes),
        )

    @cached_property
    def place(self) -> dict[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def spans(self) -> Integers:
        """Return how many codes each column can have, that of a missing value included."""
        return self.cards + self.incomplete

    @cached_property
    def varied(self) -> npt.NDArray[np.bool_]:
        """Return for each column whether at least two of its levels occur."""
        pairs = zip(self.totals, self.cards.tolist(), strict=True)
        return np.array([np.count_nonzero(total[:card]) > 1 for total, card in pairs], np.bool_)

    @cached_property
    def missing(self) -> Integers:
        """Return how many values are missing in each column."""
        missing = np.zeros(len(self.names), np.int64)
        for place in np.flatnonzero(self.incomplete).tolist():
            missing[place] = self.totals[place][self.cards[place] :].sum()
        return missing


class Totals(Sequence[Weights]):
    """How often each code occurs in its column, counted when it is asked for: a wide table has very many columns."""

    def __init__(self, codes: Codes, spans: Integers) -> None:
        self._codes = codes
        self._spans = spans
        self._known: dict[int, Weights] = {}

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> Weights: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Weights]: ...
    def __getitem__(self, place: int | slice) -> Weights | Sequence[Weights]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if place not in self._known:
            self._known[place] = np.bincount(self._codes[place], minlength=int(self._spans[place]))
        return self._known[place]


@attrs.frozen(eq=False)
class Joint:
    """Rows of some columns as codes, each with the number of rows of the table for which it stands.

    ``codes[i, e]`` is the code of column ``places[i]`` in combination e; a missing value has the code after the last
    level. Rows as they are in the table have no ``weights``: each counts once.

    Attributes
    ----------
    places, codes
        The columns by place, and their codes.
    """

    places: tuple[int, ...]
    codes: Codes
    weights: Weights

    @property
    def is_whole(self) -> bool:
        """Return whether these are the rows of the table as they are."""
        return not len(self.weights) and bool(self.codes.shape[1])

    @property
    def nbytes(self) -> int:
        """Return the memory that it takes."""
        return int(self.codes.nbytes + self.weights.nbytes)


_ELSEWHERE = "the rows of {} stay where they are; take a sample into memory to see them"
_DUPLICATES: Kind[Groups] = Kind("duplicate columns")


class Dataset(NotebookView, ABC):
    """An opened table; subclasses are the places where rows can be.

    Attributes
    ----------
    names
        The columns that are used, in the order of the source.
    columns
        How each column of the source was read, also those that were set aside.
    notes
        What was assumed when the table was read.
    kind
        The name of the engine that holds the rows, such as "memory".
    can
        What the dataset can answer.
    number_names
        The columns that are numbers, in the order of the source.
    roles
        The columns that say something of the rows, by role.
    """

    names: tuple[Node, ...]
    columns: tuple[ColumnKind, ...]
    notes: tuple[str, ...]
    kind: str = "memory"
    can: frozenset[Capability]
    number_names: tuple[Node, ...] = ()
    #: The columns that say something of the rows and are no nodes, by role.
    roles: Roles = MappingProxyType({})
    #: The dataset before one-hot columns were joined.
    before: Dataset | None = None
    #: The categories among the columns; counting those of rows elsewhere is refused where others are numbers.
    categories: CountedDataset

    @property
    @abstractmethod
    def rows(self) -> int:
        """Return the number of rows."""

    @property
    @abstractmethod
    def missing(self) -> Integers:
        """Return how many values are missing in each column."""

    @abstractmethod
    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing."""

    @cached_property
    def place(self) -> Mapping[Node, int]:
        """Return the column number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def memory(self) -> DatasetMemory:
        """Return what was worked out on the rows so far, for later runs."""
        return DatasetMemory()

    @property
    def in_time(self) -> Note | None:
        """Return the note that says how the rows are in time, if they are."""
        return next((one for one in self.notes if isinstance(one, Note) and one.code == TIME), None)

    @cached_property
    def constant_in_groups(self) -> tuple[Node, ...]:
        """Return the columns that are the same in all rows of each group, where rows are in groups."""
        return ()

    @property
    def traffic(self) -> Traffic:
        """Return what came from rows that are elsewhere so far."""
        return NO_TRAFFIC

    def is_category(self, node: Node) -> bool:
        """Return whether a column is a category."""
        return node in self.place and node not in self.number_names

    def values(self, node: Node) -> Floats:
        """Return the values of a number in the order of the rows, NaN where they are missing."""
        require_known(node, self.number_names, "number")
        raise InvalidArgumentError(_ELSEWHERE.format(self.kind))

    def distinct(self, node: Node) -> int | None:
        """Return how many distinct values a column has, counted up to some bound; None where nobody can tell."""
        if self.is_category(node):
            return len(self.categories.levels_of(node))
        values = self.values(node)
        return len(np.unique(values[~np.isnan(values)]))

    def resampled(self, rows: RowNumbers, *, declared: bool) -> Dataset:
        """Return a dataset of some rows, in any order and as often as they are named.

        Levels that these rows do not show are left out, unless all are ``declared``.
        """
        del rows, declared
        message = (
            "stability draws rows from a table, but a source whose rows stay elsewhere has none; give the data, or "
            "sample some from it"
        )
        raise InvalidArgumentError(message)

    def thinned(self) -> LocalTable | None:
        """Return about 10,000 of the rows, all if they are fewer; None where the engine gives no rows."""
        return None

    def set_aside(self, reasons: Mapping[Node, str], notes: Sequence[str]) -> Dataset:
        """Return the dataset without some columns, each set aside for a reason, and with notes that say so."""
        del reasons, notes
        message = f"the rows are in {self.kind}, which leaves no column out; give {argument('drop')}"
        raise InvalidArgumentError(message)

    def levels_of(self, node: Node) -> tuple[Any, ...]:
        """Return the levels of a category in the order of their codes."""
        return self.categories.levels_of(node)

    def is_one_hot(self, members: Sequence[Node]) -> bool:
        """Return whether each row has a single one in some columns of ones and zeros; False where nobody can tell."""
        del members
        return False

    def joined(self, sets: Sequence[OneHot]) -> Dataset:
        """Return the dataset with one-hot columns joined into categories."""
        if not sets:
            return self
        message = f"the rows are in {self.kind}, which joins no columns"
        raise InvalidArgumentError(message)

    def apart(self) -> Dataset:
        """Return the dataset with all joined columns taken apart."""
        if self.before is not None:
            return self.before
        message = (
            "columns of these rows were joined before the rows were taken from their table; give "
            f"{argument('kinds')} for these columns where the table is read, and they stay apart"
        )
        raise InvalidArgumentError(message)

    def _columns_without(self, reasons: Mapping[Node, str]) -> tuple[ColumnKind, ...]:
        return tuple(
            attrs.evolve(one, kind="set aside", detail=reasons[one.name]) if one.name in reasons else one
            for one in self.columns
        )

    # --- what a reader should know ------------------------------------------------------------------------------------

    def why_not(self, node: Node) -> str | None:
        """Return why a column of the source is not used, or None if it is, or is unknown."""
        return why_set_aside(self.columns, node)

    def why_constant(self, node: Node) -> str | None:
        """Return why nothing can depend on a column that was set aside, or None if it is not such a column."""
        return why_never_varies(self.columns, node)

    def duplicates(self) -> Groups:
        """Return the groups of columns that divide or order the rows alike, in enough rows to compare with others."""
        return self.memory.once(_DUPLICATES, None, self._with_rows)

    def _with_rows(self) -> Groups:
        if self.rows < FEWEST_TOGETHER:
            return ()
        most = self.rows - FEWEST_TOGETHER
        return tuple(group for group in self.find_duplicates() if self.missing[self.place[group[0]]] <= most)

    def find_duplicates(self) -> Groups:
        """Return the groups of columns that divide or order the rows alike, each sorted by name."""
        return sorted_groups(self.names, self._alike())

    @abstractmethod
    def _alike(self) -> Iterable[Sequence[int]]:
        """Return groups of columns, by place, that divide or order the rows alike."""

    def notes_on(self, members: Sequence[Node], before: Traffic = NO_TRAFFIC, unused: Sequence[str] = ()) -> list[str]:
        """Return what a reader of a part should know of the table; ``unused`` are notes on options without effect."""
        del members, before
        return [*self.notes, *unused]

    # --- what identifies it -------------------------------------------------------------------------------------------

    @cached_property
    def fingerprint(self) -> str:
        """Return a hash of what the columns hold, each by itself: the same wherever the rows are.

        Each column that is used counts with its kind, its range and its missing values, a category among categories
        with the rows of each level.
        """
        used = [one for one in self.columns if one.kind != "set aside"]
        return content_fingerprint((self.rows, used, *self._totals()))

    def _totals(self) -> Iterable[list[int]]:
        return ()

    @property
    def content(self) -> str:
        """Return a hash of every row, as far as the engine can tell."""
        return content_fingerprint(self)

    def fingerprint_of(self, node: Node) -> bytes:
        """Return a hash of the contents of a column."""
        require_known(node, self.place, "column")
        message = f"a cache needs a fingerprint of each column, and {self.kind} gives none; leave the cache out"
        raise InvalidArgumentError(message)


class CountedDataset(Dataset):
    """A dataset of categories: all is answered from counts, wherever the rows are."""

    heading: Heading

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return self.heading.rows

    @property
    def missing(self) -> Integers:
        """Return how many values are missing in each column."""
        return self.heading.missing

    @property
    def categories(self) -> CountedDataset:  # type: ignore[override]
        """Return the dataset itself: all columns are categories."""
        return self

    @property
    def in_memory(self) -> Table | None:
        """Return the table itself if its rows are in this process."""
        return None

    def levels_of(self, node: Node) -> tuple[Any, ...]:
        """Return the levels of a column in the order of their codes."""
        place = self.place[node]
        return tuple(self.heading.levels[place][: int(self.heading.cards[place])])

    def codes_of(self, node: Node) -> Integers:
        """Return the codes of a column in the order of the rows, -1 where a value is missing."""
        require_known(node, self.place, "column")
        raise InvalidArgumentError(_ELSEWHERE.format(self.kind))

    def fetch(self, sets: Iterable[Collection[int]], *, needed: bool = False) -> None:
        """Count sets of columns in one round, if the rows are elsewhere."""

    def has(self, places: Collection[int]) -> bool:
        """Return whether some columns need no round."""
        del places
        return True

    def fits(self, places: Collection[int], most: float | None = None) -> bool:
        """Return whether some columns can be counted together without too many combinations."""
        del places, most
        return True

    def near(self, places: Collection[int]) -> Joint:
        """Return combinations of some columns, and of others too where that is no more work."""
        return self.joint(sorted(set(places)))

    def fetch_complete(self, sets: Iterable[Sequence[int]]) -> None:
        """Count the complete rows of sets of columns in one round, if the rows are elsewhere."""

    def complete(self, sets: Sequence[tuple[int, ...]]) -> list[int]:
        """Count, for each set of columns by place, the rows in which none of them is missing."""
        return [self.rows_used(one) for one in sets]

    @abstractmethod
    def rows_used(self, places: Sequence[int]) -> int:
        """Count the rows in which none of some columns is missing."""

    @abstractmethod
    def joint(self, places: Sequence[int]) -> Joint:
        """Return the combinations of some columns, in their order, each once."""

    def block(self, places: Sequence[int]) -> Joint:
        """Return rows that have some columns: all as they are where that is no more work, otherwise combinations."""
        return self.joint(places)

    def notes_on(self, members: Sequence[Node], before: Traffic = NO_TRAFFIC, unused: Sequence[str] = ()) -> list[str]:
        """Return what stands out: columns that never vary."""
        del members, before, unused
        constant = [self.names[place] for place in np.flatnonzero(self.heading.cards == 1).tolist()]
        words = f"columns that never vary and so are adjacent to nothing: {listing(constant)}"
        told = [Note(words, "constant", columns=constant)] if constant else []
        return [*self.notes, *told]

    def _totals(self) -> Iterable[list[int]]:
        return (total.tolist() for total in self.heading.totals)


def counted(data: object, who: str) -> CountedDataset:
    """Return a dataset of categories, or refuse anything else; ``who`` asks for it, such as "the learner 'mmhc'"."""
    if not isinstance(data, Dataset) or "counts" not in data.can:
        message = f"{who} needs a table of discrete columns, but the source has none; learn from a table"
        raise InvalidArgumentError(message)
    return data.categories
