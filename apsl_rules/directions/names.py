"""What the names of columns say of the order of causes: columns that come first, and stages in time."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, in_order, nearest

#: A category of more levels than this is no property of a person such as sex.
MOST_LEVELS = 12

_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
_NUMBERED = re.compile(r"(.*?)[._ ]?(\d{1,4})")


def words_of(name: Node) -> tuple[str, ...]:
    """Return the words of a column's name, without accents and in small letters.

    >>> words_of("birthYear"), words_of("age.65"), words_of("Année_naissance")
    (('birth', 'year'), ('age', '65'), ('annee', 'naissance'))
    """
    if not isinstance(name, str):
        return ()
    bare = name
    if not name.isascii():
        bare = "".join(one for one in unicodedata.normalize("NFKD", name) if not unicodedata.combining(one))
    return tuple(word.casefold() for word in _PART.findall(bare))


@attrs.frozen
class Group:
    """Names that mean one thing, and why a column of such a name stands where it does."""

    what: str
    reason: str
    word: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    categories: bool = False
    digits: bool = False


@attrs.frozen(slots=False)
class NameList:
    """The groups of names for columns that come first, and for those that are outcomes."""

    first: tuple[Group, ...] = ()
    last: tuple[Group, ...] = ()

    def group_of(self, name: Node, levels: int | None) -> Group | None:
        """Return the group of a column that comes first; ``levels`` of a category, None of a number."""
        is_small = levels is not None and levels <= MOST_LEVELS
        return next((one for one in _groups_of(name, self._first) if is_small or not one.categories), None)

    def is_outcome(self, name: Node) -> bool:
        """Return whether a column has the name of an outcome."""
        return bool(_groups_of(name, self._last))

    @cached_property
    def _first(self) -> Index:
        return _index_of(self.first)

    @cached_property
    def _last(self) -> Index:
        return _index_of(self.last)


#: Groups by the names that they have as a whole, and by words.
Index: TypeAlias = tuple[Mapping[str, tuple[Group, ...]], Mapping[str, tuple[Group, ...]]]


def _index_of(groups: Iterable[Group]) -> Index:
    whole: dict[str, tuple[Group, ...]] = {}
    word: dict[str, tuple[Group, ...]] = {}
    for group in groups:
        for names, index in ((group.whole, whole), (group.word, word)):
            index.update({name: (*index.get(name, ()), group) for name in names})
    return whole, word


def _groups_of(name: Node, index: Index) -> list[Group]:
    """Return the groups that have a name."""
    words = words_of(name)
    letters = [word for word in words if not word.isdigit()]
    found = [*index[0].get("".join(letters), ()), *(group for word in letters for group in index[1].get(word, ()))]
    if len(letters) == len(words):
        return found
    return [group for group in found if group.digits and len(letters) == 1]


def stages(names: Iterable[Node]) -> list[tuple[Node, Node]]:
    """Return pairs (earlier, later) of columns with one stem that are numbered by year.

    >>> stages(["re74", "re75", "age", "x1", "x2"])
    [('re74', 're75')]
    """
    found: dict[str, dict[int, Node]] = {}
    for name in in_order(names):
        match = _NUMBERED.fullmatch(name) if isinstance(name, str) else None
        if match and match[1]:
            found.setdefault(match[1].casefold(), {})[int(match[2])] = name
    pairs = []
    for numbered in found.values():
        years = sorted(numbered)
        if all(40 <= year <= 99 or 1900 <= year <= 2100 for year in years):  # noqa: PLR2004 - years in two or four digits
            pairs += [(numbered[one], numbered[other]) for one in years for other in years if one < other]
    return pairs


@cache
def shipped_names() -> NameList:
    """Return the list of names that comes with the package."""
    with as_file(files("apsl_specs") / "names" / "columns.toml") as path:
        return read_names(path)


def read_names(path: str | Path) -> NameList:
    """Read a list of names from a TOML file, which has the form of the one that is shipped."""
    origin = f"the list of names {str(path)!r}"
    try:
        data = toml_data(file_text(path))
    except DocumentError as error:
        message = f"{origin} cannot be read: {error}"
        raise InvalidArgumentError(message, argument="roots") from error
    for key in data:
        if key not in ("first", "last"):
            message = f"{origin} has the unknown key {key!r}{nearest(key, ('first', 'last'))}; known are first, last"
            raise InvalidArgumentError(message, argument="roots")
    return NameList(*(tuple(_group(one, origin) for one in data.get(key, ())) for key in ("first", "last")))


_FIELDS = tuple(field.name for field in attrs.fields(Group))


def _group(data: Any, origin: str) -> Group:
    known = isinstance(data, Mapping) and set(data) <= set(_FIELDS) and {"what", "reason"} <= set(data)
    if not known:
        message = f"{origin}: {data!r} is no group of names; give what, reason, and words by language in word and whole"
        raise InvalidArgumentError(message, argument="roots")
    lists = {key: _words(data[key], key, origin) for key in ("word", "whole") if key in data}
    return Group(**{**data, **lists})


def _words(data: Any, key: str, origin: str) -> frozenset[str]:
    listed: Sequence[Any] = list(data.values()) if isinstance(data, Mapping) else [None]
    if not all(isinstance(words, list) and all(isinstance(word, str) for word in words) for words in listed):
        message = f"{origin}: {key} is {data!r}; give lists of words by language, such as en = ['sex']"
        raise InvalidArgumentError(message, argument="roots")
    return frozenset("".join(words_of(word)) for words in listed for word in words)
