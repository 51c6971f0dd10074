"""Rules from text: what ``print(rule)`` writes, or relations by their names, or both.

>>> from apsl_rules.rules.vocabulary import Rule
>>> print(Rule.parse("X -> Y, adjacent(Y, Z), chain(X, Y, Z) => Y -> Z"))
X -> Y, Y -- Z, Y no collider between X and Z  =>  Y -> Z
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from apsl_rules.errors import RuleError
from apsl_rules.names import nearest
from apsl_rules.rules.vocabulary import Atom, Relation, Rule, Variable, by_name

_NAMED = re.compile(r"(?P<relation>\w+)\s*\((?P<variables>[^()]*)\)")
_VARIABLE = re.compile(r"[^\W\d]\w*")
_PLACE = re.compile(r"\{(\d)\}")
_PARTS = re.compile(r"(?P<when>.*?)(?P<unless>\bunless\b.*?)?=>(?P<then>.*)", re.DOTALL)


def parse_rule(text: str, name: str, reason: str, relations: Iterable[Relation]) -> Rule:
    """Read a rule: premises, perhaps ``unless`` and guards, ``=>`` and conclusions, each set off by commas."""
    reader = _Reader(text, by_name(relations))
    found = _PARTS.fullmatch(text)
    if found is None:
        raise reader.error(len(text), "has no '=>'; write the premises, '=>' and the conclusions")
    guards = found["unless"]
    when, then = (tuple(reader.atoms(*found.span(part))) for part in ("when", "then"))
    unless = tuple(reader.atoms(found.start("unless") + len("unless"), found.end("unless"))) if guards else ()
    return Rule(name, reason, when, then, unless)


class _Reader:
    """The text of a rule, and how each relation reads in it."""

    def __init__(self, text: str, relations: Mapping[str, Relation]) -> None:
        self._text, self._relations = text, relations
        self._spellings = [(_spelling(one), one) for one in relations.values()]

    def error(self, at: int, trouble: str) -> RuleError:
        """Return a sentence that names the place."""
        return RuleError(f"the rule {self._text!r} {trouble} (at character {at + 1})")

    def atoms(self, begin: int, end: int) -> Iterator[Atom]:
        """Yield what stands between two places, set off by commas that are in no brackets."""
        low, depth = begin, 0
        for at in range(begin, end + 1):
            sign = self._text[at] if at < end else ","
            depth += (sign == "(") - (sign == ")")
            if at == end or (sign == "," and not depth):
                yield self._atom(low, at)
                low = at + 1

    def _atom(self, low: int, high: int) -> Atom:
        said = self._text[low:high]
        at, said = low + len(said) - len(said.lstrip()), said.strip()
        if not said:
            raise self.error(low, "lacks a relation; write one such as 'X -> Y' or 'chain(X, Y, Z)'")
        named = _NAMED.fullmatch(said)
        if named is not None:
            return self._by_name(named, at)
        for spelling, relation in self._spellings:
            found = spelling.fullmatch(said)
            if found is not None:
                terms = [found[f"v{place}"] for place in range(relation.arity)]
                return self._made(relation, terms, at)
        raise self.error(
            at,
            f"has {said!r}, which is no relation; write 'X -> Y', 'X -- Y', or a name with variables: chain(X, Y, Z)",
        )

    def _by_name(self, named: re.Match[str], at: int) -> Atom:
        name, terms = named["relation"], [one.strip() for one in named["variables"].split(",")]
        if name not in self._relations:
            hint = nearest(name, self._relations) or f"; there are {', '.join(self._relations)}"
            raise self.error(at, f"has the unknown relation {name!r}{hint}")
        odd = next((one for one in terms if not _VARIABLE.fullmatch(one)), None)
        if odd is not None:
            raise self.error(at, f"has {odd!r} for a variable in {named[0]!r}; variables are words such as X")
        return self._made(self._relations[name], terms, at)

    def _made(self, relation: Relation, terms: Iterable[str], at: int) -> Atom:
        try:
            return relation(*map(Variable, terms))
        except RuleError as error:
            raise self.error(at, f"is wrong: {error}") from error


def _spelling(relation: Relation) -> re.Pattern[str]:
    """Return how a relation between variables is printed, with blanks as they come."""
    met: set[str] = set()
    signs = []
    for number, piece in enumerate(_PLACE.split(relation.reads)):
        if number % 2:
            signs.append(f"(?P=v{piece})" if piece in met else rf"(?P<v{piece}>[^\W\d]\w*)")
            met.add(piece)
        else:
            signs.append(r"\s+".join(map(re.escape, piece.replace(" is ", " ").split(" "))))
    return re.compile("".join(signs))
