"""Columns of ones and zeros of which every row has a single one: they are joined into the category they stand for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.kinds import JOINED, ColumnKind
from apsl_rules.names import Node, count_of, listing
from apsl_rules.notes import Note, argument

if TYPE_CHECKING:
    from apsl_rules.data.dataset import Dataset

_CODE = "one-hot"
_FEWEST_ROWS = 20
_FEWEST_COLUMNS = 3
#: Of so many columns at most any some may stand for a category; of more those side by side or with a common stem.
_MOST_ANYWHERE = 12
_MOST_NAMED = 4
_SEPARATED = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"\d+$")


@attrs.frozen
class OneHot:
    """Columns of ones and zeros that stand for the levels of one category, in the order of the levels."""

    name: Node
    members: tuple[Node, ...]
    levels: tuple[Any, ...]

    @classmethod
    def of(cls, members: Sequence[Node], taken: Collection[Node]) -> OneHot:
        """Name the category by the common beginning of its columns, and its levels by what is left of each."""
        names = [str(name) for name in members]
        start = commonprefix(names)  # noqa: RUF071 - letters are meant
        if all(name[len(start) :].isdecimal() or not name[len(start) :] for name in names):
            start = _NUMBERED.sub("", start)
        stem, levels = start.rstrip("_.-:=/[( "), [name[len(start) :] or name for name in names]
        if len(stem) < 2 or stem in {str(name) for name in taken}:  # noqa: PLR2004 - a letter names nothing
            stem = "|".join(names if len(names) <= _MOST_NAMED else [names[0], "…", names[-1]])
            levels = names
        numbered = all(level.isdecimal() for level in levels) and len({int(level) for level in levels}) == len(levels)
        order = sorted(range(len(names)), key=lambda at: (int(levels[at]) if numbered else 0, levels[at]))
        return cls(
            stem,
            tuple(members[at] for at in order),
            tuple(int(levels[at]) if numbered else levels[at] for at in order),
        )

    def note(self) -> Note:
        """Return the sentence that names the columns and takes them apart."""
        words = (
            f"columns {listing(self.members)} are joined into the category {self.name!r}, since one of them is 1 in "
            f"every row; take them apart with {argument('keep', [self.name])}"
        )
        fields: Mapping[str, Any] = {"joined": self.name, "levels": [*self.levels]}
        return Note(words, _CODE, "warning", columns=[*self.members], **fields)

    def is_apart_from(self, names: Collection[Node]) -> bool:
        """Return whether neither the category nor any of its columns is among some names."""
        return self.name not in names and not any(name in names for name in self.members)

    def with_member(self, member: Node, but: Collection[Node]) -> dict[Node, str]:
        """Return how others of the columns follow from one of them, if it is one."""
        told = f"is never 1 where {member!r} is"
        return {name: told for name in self.members if member in self.members and name not in but}


def one_hot_sets(notes: Sequence[str]) -> tuple[OneHot, ...]:
    """Return the columns that were joined, as notes have them."""
    told = (one.fields for one in notes if isinstance(one, Note) and one.code == _CODE)
    return tuple(OneHot(one["joined"], tuple(one["columns"]), tuple(one["levels"])) for one in told)


def find_one_hot(data: Dataset, kinds: Mapping[Node, Any] | None = None) -> list[OneHot]:
    """Find the one-hot columns of a dataset; columns whose kinds were given stay as they are."""
    given = kinds or {}
    if "*" in given or data.rows < _FEWEST_ROWS:
        return []
    flags = [
        name
        for name, missing in zip(data.names, data.missing.tolist(), strict=True)
        if not missing and name not in given and data.is_category(name) and data.levels_of(name) == (0, 1)
    ]
    if len(flags) < _FEWEST_COLUMNS:
        return []
    taken = {*data.names, *(one.name for one in data.columns)}  # with columns that are set aside or have a role
    found, used = list[OneHot](), set[Node]()
    for members in _candidates(data, flags):
        if used.isdisjoint(members) and data.is_one_hot(members):
            found.append(OneHot.of(members, taken))
            taken.add(found[-1].name)
            used.update(members)
    return found


def _candidates(data: Dataset, flags: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield columns whose ones are as many as the rows: of one stem, side by side, or any if they are few."""
    some = data if "counts" in data.can else data.thinned()
    if some is None:
        return
    heading, rows = some.categories.heading, some.rows
    ones = {name: int(heading.totals[heading.place[name]][1]) for name in flags}
    if sum(ones.values()) < rows:
        return
    yield from _of_one_stem(flags, ones, rows)
    yield from _side_by_side(flags, ones, rows)
    if len(flags) <= _MOST_ANYWHERE:
        for size in range(_FEWEST_COLUMNS, len(flags) + 1):
            yield from (few for few in combinations(flags, size) if sum(ones[name] for name in few) == rows)


def _of_one_stem(flags: Sequence[Node], ones: Mapping[Node, int], rows: int) -> Iterator[tuple[Node, ...]]:
    by_stem: dict[str, list[Node]] = {}
    for name in flags:
        for stem in _stems(str(name)):
            by_stem.setdefault(stem, []).append(name)
    for stem in sorted(by_stem, key=lambda one: (-len(one), one)):
        if len(by_stem[stem]) >= _FEWEST_COLUMNS and sum(ones[name] for name in by_stem[stem]) == rows:
            yield tuple(by_stem[stem])


def _side_by_side(flags: Sequence[Node], ones: Mapping[Node, int], rows: int) -> Iterator[tuple[Node, ...]]:
    for start in range(len(flags)):
        total = 0
        for stop in range(start, len(flags)):
            total += ones[flags[stop]]
            if total > rows:
                break
            if total == rows and stop - start + 1 >= _FEWEST_COLUMNS:
                yield tuple(flags[start : stop + 1])


def _stems(name: str) -> set[str]:
    """Return the beginnings of a name that other columns of a category may share."""
    found = {name[: one.start()] for one in _SEPARATED.finditer(name)} | {_NUMBERED.sub("", name)}
    return {stem for stem in found if stem and stem != name}


Place = tuple[tuple[int, ...], OneHot | None]


def arranged(names: Sequence[Node], sets: Sequence[OneHot]) -> list[Place]:
    """Return the places of the columns that make each column once some are joined, each at that of its first."""
    place = {name: at for at, name in enumerate(names)}
    joined = {min(places): (places, one) for one in sets for places in [tuple(place[each] for each in one.members)]}
    gone = {at for places, _ in joined.values() for at in places}
    return [joined.get(at, ((at,), None)) for at in range(len(names)) if at in joined or at not in gone]


def joined_codes(flags: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return for each row which of the coded columns of ones and zeros has the one."""
    width = np.uint8 if len(flags) <= np.iinfo(np.uint8).max else np.uint16
    codes: npt.NDArray[Any] = np.argmax(np.stack([one == 1 for one in flags]), axis=0).astype(width)
    return codes


def joined_columns(columns: Sequence[ColumnKind], sets: Sequence[OneHot]) -> tuple[ColumnKind, ...]:
    """Return what became of all columns once some are joined."""
    of = {name: one for one in sets for name in one.members}
    told, made = set[Node](), list[ColumnKind]()
    for column in columns:
        one = of.get(column.name)
        if one is None:
            made.append(column)
            continue
        if one.name not in told:
            made.append(ColumnKind(one.name, "category", count_of(len(one.levels), "level")))
            told.add(one.name)
        made.append(attrs.evolve(column, kind="set aside", detail=f"{JOINED}{one.name!r}"))
    return tuple(made)
