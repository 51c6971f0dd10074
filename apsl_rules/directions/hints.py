"""What hints at the direction of an edge: names of columns, shapes and V-structures; and what is drawn of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import as_file, files
from itertools import groupby
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.cycles import cyclic_groups
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import SHAPES, Evidence, Verdict
from apsl_rules.names import Node, Pair, in_order, nearest, order_key, shown
from apsl_rules.oracles import Oracle
from apsl_rules.rules import Fact, Finding, MarkStore, collider, gap

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


Arrow = tuple[Node, Node]

#: The least probability of a direction for it to be drawn as an arrow, to be "precise", and to be suggested.
DRAWN, PRECISE, SUGGESTED = 0.75, 0.9, 0.6


@attrs.frozen
class Drawing:
    """The arrows that are drawn, and the directions of lines that are suggested, each with its probability."""

    arrows: Mapping[Arrow, float]
    suggested: Mapping[Arrow, float]


def draw(
    edges: Collection[Pair],
    decided: Collection[Arrow],
    likely: Mapping[Arrow, float],
    found: Collection[tuple[Node, Node, Node]],
    least: float = DRAWN,
) -> Drawing:
    """Return the drawing of some edges.

    ``decided`` arrows are drawn in any case. Of the other edges, ``likely`` has the probability of the likelier
    direction; the likeliest are drawn first, equally likely ones together. One that would close a cycle, or make a
    V-structure that is not ``found``, is only suggested.
    """
    drawn = dict.fromkeys(decided, 1.0)
    into: dict[Node, set[Node]] = {}
    for tail, head in drawn:
        into.setdefault(head, set()).add(tail)
    pairs = frozenset(edges)
    colliders = {triple for x, middle, y in found for triple in ((x, middle, y), (y, middle, x))}

    def fits(arrow: Arrow, others: Iterable[Node]) -> bool:
        tail, head = arrow
        return all(
            other == tail or frozenset((tail, other)) in pairs or (tail, head, other) in colliders for other in others
        )

    ranked = sorted(((share, one) for one, share in likely.items() if share >= least), key=_by_share)
    for share, group in groupby(ranked, key=lambda item: item[0]):
        fitting = [one for _, one in group if fits(one, into.get(one[1], ()))]
        together: dict[Node, set[Node]] = {}
        for tail, head in fitting:
            together.setdefault(head, set()).add(tail)
        kept = [one for one in fitting if fits(one, together[one[1]])]
        circles = cyclic_groups([*drawn, *kept])
        for tail, head in kept:
            if not any({tail, head} <= circle for circle in circles):
                drawn[tail, head] = share
                into.setdefault(head, set()).add(tail)
    return Drawing(drawn, dict(_suggestions(likely, drawn)))


def _by_share(item: tuple[float, Arrow]) -> tuple[float, object, object]:
    share, (tail, head) = item
    return -share, order_key(tail), order_key(head)


def _suggestions(likely: Mapping[Arrow, float], drawn: Collection[Arrow]) -> Iterator[tuple[Arrow, float]]:
    for arrow, share in sorted(likely.items(), key=lambda item: _by_share((item[1], item[0]))):
        if share >= SUGGESTED and arrow not in drawn:
            yield arrow, share


#: The weight of each term; one that speaks for x -> y is positive, and all change their sign with the direction.
WEIGHTS: Mapping[str, float] = {"collider": 1.1, "values": 0.8, "dependents": 0.5, "missing": 0.35, "outcome": 1.65}

#: Directions that the curve is surer of are stated with this: in real tables 94 % of them were right.
SUREST = 0.95
#: A column depends on another one for a term if a test of the two alone has a p below this.
_CLEAR = log(0.001)
#: Distinct values are told apart up to so many.
MOST_VALUES = 1000
#: The share of missing values by which two columns must differ.
_MORE_MISSING = 0.005
#: The ends of a V-structure must depend on each other so much more given its middle, and so much at all.
_TIMES, _LEAST = 2.0, 0.1


#: What each term says if it speaks for the first column as the cause of the second.
_SAID = {
    "collider": "{0} and an independent cause of {1} become dependent given {1}",
    "values": "{1} has more distinct values",
    "dependents": "more columns depend on {1}",
    "missing": "{1} has more missing values",
    "outcome": "{1} has the name of an outcome",
}


class Columns(Protocol):
    """What the terms ask about columns."""

    def distinct(self, node: Node) -> int | None:
        """Return how many distinct values a column has; None where nobody can tell."""

    def missing_share(self, node: Node) -> float:
        """Return the share of the rows in which a column has no value."""


@attrs.frozen
class Support:
    """What speaks for a direction x -> y, term by term; ``verdicts`` are the tests of a V-structure that does."""

    terms: Mapping[str, float]
    verdicts: tuple[Verdict, ...] = ()

    @property
    def probability(self) -> float:
        """Return the share of real tables in which such a direction was right."""
        return 1 / (1 + exp(-sum(WEIGHTS[name] * value for name, value in self.terms.items())))

    def evidence(self, x: Node, y: Node) -> Evidence:
        """Return the evidence for x -> y; its strength says how often such a direction is wrong."""
        share = min(self.probability, SUREST)
        return Evidence(SHAPES, self.verdicts, self.text(x, y), strength=-log(1 - share))

    def text(self, x: Node, y: Node) -> str:
        """Say what speaks for x -> y, and what that was worth on real tables."""
        said = [_SAID[name].format(shown(x), shown(y)) for name, value in self.terms.items() if value > 0]
        share = self.probability
        cases = "more than 9 of 10 cases" if share > SUREST else f"about {10 * share:.0f} of 10 cases"
        return f"in real tables with known directions such a column was the effect in {cases}: {', '.join(said)}"

    @property
    def turned(self) -> Support:
        """Return what speaks for the other direction, without tests."""
        return Support({name: -value for name, value in self.terms.items()})


class Shapes:
    """The support for directions between columns of a table, worked out when it is asked for."""

    def __init__(self, columns: Columns, oracle: Oracle, store: MarkStore, names: NameList) -> None:
        self._columns = columns
        self._oracle = oracle
        self._store = store
        self._names = names
        self._dependents: dict[Node, int] = {}

    def support(self, x: Node, y: Node) -> Support:
        """Return what speaks for x -> y."""
        values = [
            None if one is None else log(1 + min(one, MOST_VALUES)) for one in map(self._columns.distinct, (x, y))
        ]
        lacking = [self._columns.missing_share(node) for node in (x, y)]
        more = lacking[1] - lacking[0]
        ahead, back = self._collision(x, y), self._collision(y, x)
        terms = {
            "collider": bool(ahead) - bool(back),
            "values": 0.0 if values[0] is None or values[1] is None else (values[1] - values[0]) / 3,
            "dependents": log((1 + self._depending(y)) / (1 + self._depending(x))),
            "missing": (more > _MORE_MISSING) - (more < -_MORE_MISSING),
            "outcome": self._names.is_outcome(y) - self._names.is_outcome(x),
        }
        return Support({name: float(value) for name, value in terms.items() if value}, () if back else ahead)

    def _depending(self, node: Node) -> int:
        """Count the columns that clearly depend on a node by themselves."""
        if node not in self._dependents:
            self._dependents[node] = int((self._oracle.associations(node).log_p() < _CLEAR).sum())
        return self._dependents[node]

    def _collision(self, x: Node, y: Node) -> tuple[Verdict, ...]:
        """Return the tests which show that x meets an independent cause at y: the two become dependent given y."""
        for other in self._meeting.get((x, y), ()):
            alone, given = self._oracle.verdicts([(x, other, ()), (x, other, (y,))])
            if alone.independent and _strength(given) >= max(_LEAST, _TIMES * _strength(alone)):
                return alone, given
        return ()

    @cached_property
    def _meeting(self) -> Mapping[tuple[Node, Node], tuple[Node, ...]]:
        """Return by arrow the other ends of V-structures whose ends a test of the two alone found independent."""
        found: dict[tuple[Node, Node], list[Node]] = {}
        for fact in self._store.facts(collider):
            x, middle, y = fact.nodes
            if self._is_marginal(x, y, (fact, gap.fact(x, y))):
                found.setdefault((x, middle), []).append(y)
                found.setdefault((y, middle), []).append(x)
        return {arrow: tuple(others) for arrow, others in found.items()}

    def _is_marginal(self, x: Node, y: Node, facts: Iterable[Fact]) -> bool:
        reasons = (self._store.reason(fact) for fact in facts if fact in self._store)
        verdicts = (one for reason in reasons if isinstance(reason, Finding) for one in reason.evidence.verdicts)
        return any(one.independent and not one.given and {one.x, one.y} == {x, y} for one in verdicts)


def _strength(verdict: Verdict) -> float:
    """Return the correlation of two normal columns whose test has this statistic, less what chance gives."""
    if verdict.statistic is None or not verdict.n or verdict.dof is None:
        return 0.0
    return sqrt(1 - exp(-max(0.0, verdict.statistic - verdict.dof) / verdict.n))
