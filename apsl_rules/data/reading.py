"""How to read a table: the options of ``table``, checked, and what they mean for each column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import attrs

from apsl_rules._arguments import listed, mapping, spelt
from apsl_rules.data.cuts import Cut, parse_cut
from apsl_rules.data.kinds import Kind, of_type
from apsl_rules.data.levels import LevelRule
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, listing, nearest, require_known

MissingRule: TypeAlias = Literal["refuse", "testwise", "level", "complete"]
Discretize: TypeAlias = str | Mapping[Node, str] | None

#: The word for cutting no column.
UNCUT = "none"
#: The name that stands for all columns without a word of their own.
ALL = "*"
#: How numbers are cut where levels are counted and the caller does not say how.
USUAL_CUT = Cut("quantile", 3)


@attrs.frozen
class Reading:
    """The options of ``table`` but the names, as the caller gave them."""

    missing: MissingRule = "testwise"
    discretize: Discretize = None
    levels: LevelRule = "observed"
    kinds: Mapping[Node, Kind] | None = None
    drop: Iterable[Node] | None = None
    only: Iterable[Node] | None = None
    weights: Node | None = None

    def plan(self, names: Sequence[Node]) -> Plan:
        """Check the options against the names of the columns and return what they mean."""
        _check_choice("missing", self.missing, get_args(MissingRule))
        _check_choice("levels", self.levels, get_args(LevelRule))
        known = set(names)
        kinds = mapping("kinds", self.kinds, "{'age': 'number'}")
        for name, kind in kinds.items():
            _check_choice(f"kinds={{{name!r}: ...}}: the kind", kind, get_args(Kind))
            if name != ALL or ALL in known:
                require_known(name, known, "column in kinds")
        cuts, usual = _cuts(self.discretize, known)
        dropped = _names("drop", self.drop, known)
        only = _names("only", self.only, known)
        if self.weights is not None:
            require_known(self.weights, known, "column in weights")
        places = tuple(
            place
            for place, name in enumerate(names)
            if (only is None or name in only)
            and name not in (dropped or ())
            and (self.weights is None or name != self.weights)
        )
        if not places:
            message = "no column is left; take some out of drop=, or name more in only="
            raise InvalidArgumentError(message)
        usual_kind = None if ALL in known else kinds.pop(ALL, None)
        return Plan(self.missing, self.levels, kinds, usual_kind, cuts, usual, places)


@attrs.frozen
class Plan:
    """What the options mean for columns of known names; ``places`` are those of the columns that are read.

    ``cuts`` says how to cut columns that are named, None for those that stay numbers, and ``cut`` the other numbers.
    ``inferred`` are kinds that were found in more rows and stay. ``is_cut_asked`` says that ``cut`` is the caller's.
    ``aside`` says of some columns that are not read why they are set aside.
    """

    missing: MissingRule
    levels: LevelRule
    kinds: Mapping[Node, Kind]
    kind: Kind | None
    cuts: Mapping[Node, Cut | None]
    cut: Cut | None
    places: tuple[int, ...]
    inferred: Mapping[Node, Kind] = attrs.field(factory=dict)
    is_cut_asked: bool = True
    aside: Mapping[int, str] = attrs.field(factory=dict)

    def without(self, types: Mapping[int, str]) -> Plan:
        """Return the plan with columns set aside whose types, by place, have neither levels nor numbers."""
        aside = {place: of_type(types[place]) for place in self.places if place in types}
        return attrs.evolve(self, places=tuple(one for one in self.places if one not in aside), aside=aside)

    def asked_kind(self, name: Node) -> Kind | None:
        """Return the kind that the caller gave a column; one that is to be cut is a number."""
        if name in self.kinds:
            return self.kinds[name]
        if self.cuts.get(name) is not None:
            return "number"
        return self.inferred.get(name, self.kind)

    def asked_cut(self, name: Node) -> Cut | None:
        """Return how to cut a number, if at all."""
        return self.cuts.get(name, self.cut)

    def is_named(self, name: Node) -> bool:
        """Whether the caller said something about a column by its name."""
        return name in self.kinds or name in self.cuts


def _cuts(discretize: Discretize, known: set[Node]) -> tuple[dict[Node, Cut | None], Cut | None]:
    """Return the cuts of single columns and that of all others."""
    if not isinstance(discretize, Mapping):
        return {}, _cut(discretize)
    cuts = {name: _cut(text) for name, text in discretize.items()}
    usual = None if ALL in known else cuts.pop(ALL, None)
    for name in cuts:
        require_known(name, known, "column in discretize")
    return cuts, usual


def _cut(text: str | None) -> Cut | None:
    return None if text is None or (isinstance(text, str) and text == UNCUT) else parse_cut(text)


def _names(option: str, given: Any, known: set[Node]) -> set[Node] | None:
    if given is None:
        return None
    names = listed(option, given, "names of columns, such as ['id']")
    for name in names:
        require_known(name, known, f"column in {option}")
    return set(names)


def _check_choice(option: str, value: object, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        hint = nearest(value, allowed) if isinstance(value, str) else ""
        message = f"{option}={spelt(value)} is not known{hint or f'; give one of {listing(allowed)}'}"
        raise InvalidArgumentError(message)
