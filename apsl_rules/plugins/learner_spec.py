"""Learner specs: which finder, which findings, which rules, how the frontier grows; read from TOML and checked.

A learner is a small TOML file, so what separates two published algorithms is a diff of two files.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from apsl_rules._documents import DocumentError, toml_data
from apsl_rules.errors import SpecError
from apsl_rules.names import nearest
from apsl_rules.rules import Policy, Rule, Rulebook


@attrs.frozen
class NeighbourSpec:
    """How neighbours are found.

    ``symmetry`` "both" keeps u in PC(v) only if each finds the other; "none" believes the first finder.
    ``unreliable`` says how a marginal test with too few rows counts. "independent" makes no candidate of such a node,
    and the pair is reported as untested; "finder" leaves it to the habit of the finder, as published.
    """

    finder: str = "hiton"
    symmetry: Literal["both", "none"] = "both"
    unreliable: Literal["finder", "independent", "dependent"] = "independent"


Separators: TypeAlias = Literal["stored", "stored-first", "search", "search-first", "none"]


@attrs.frozen
class FindingSpec:
    """What a visit to a node tells the rules.

    ``spouses`` (Step 1) and ``colliders`` (Step 2) say where the separator of a pair comes from: "stored" by the
    finders of both ends or of the first end alone, found by a fresh "search" among the neighbours of both ends or of
    the first end alone, or "none": the step is left out. ``chains`` tells known non-colliders too. ``unreliable`` says
    what to do with a V-structure whose confirming test has too few rows; without ``confirm`` there is no such test: a
    middle outside the separator is enough.
    """

    spouses: Separators = "stored"
    colliders: Separators = "stored"
    chains: bool = True
    unreliable: Literal["reject", "accept"] = "reject"
    confirm: bool = True


@attrs.frozen
class ExtraRule:
    """A rule of a learner's own: its ``name``, the ``rule`` as it prints, and its ``reason``."""

    name: str
    rule: str
    reason: str = ""


@attrs.frozen
class RuleSpec:
    """Which rules fire, of a rulebook and ``extra`` ones, and what happens when findings contradict each other."""

    rulebook: str = "sound"
    conflicts: Policy = "given"
    extra: tuple[ExtraRule, ...] = ()

    def complete(self, rulebook: Rulebook) -> Rulebook:
        """Return the rulebook with the extra rules, which speak of its relations."""
        if not self.extra:
            return rulebook
        relations = rulebook.relations
        rules = [Rule.parse(one.rule, name=one.name, reason=one.reason, relations=relations) for one in self.extra]
        return rulebook.with_rules(*rules, name=f"{rulebook.name}, {', '.join(one.name for one in rules)}")


@attrs.frozen
class FrontierSpec:
    """In which order nodes are taken where nothing else decides: by "name", or by "column"."""

    order: Literal["name", "column"] = "name"


@attrs.frozen
class TestSpec:
    """The defaults of the tests: alpha and the largest conditioning set (a perfect oracle is never limited)."""

    __test__ = False

    alpha: float = 0.01
    max_conditioning: int = 3


@attrs.frozen
class Spec:
    """A whole learner."""

    name: str
    summary: str
    kind: str = "local"
    neighbours: NeighbourSpec = NeighbourSpec()
    findings: FindingSpec = FindingSpec()
    rules: RuleSpec = RuleSpec()
    frontier: FrontierSpec = FrontierSpec()
    tests: TestSpec = TestSpec()
    options: Mapping[str, Any] = attrs.field(factory=dict)


if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

Section = TypeVar("Section")


def parse_spec(text: str, origin: str) -> Spec:
    """Read a spec from TOML text; ``origin`` names it in errors."""
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise SpecError(message) from error
    return build(Spec, data, origin)


def read_specs(folder: Traversable) -> list[Spec]:
    """Read every spec in a folder, by the names of their files."""
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [parse_spec(file.read_text("utf-8"), f"spec {file.name}") for file in found]


_HINTS: dict[type, dict[str, Any]] = {}


def build(cls: type[Section], data: Mapping[str, Any], origin: str) -> Section:
    """Make an attrs class from a table of a TOML file: unknown keys, missing keys and wrong values are refused."""
    hints = _HINTS[cls] = _HINTS.get(cls) or get_type_hints(cls)
    fields = {field.name: field for field in attrs.fields(cls)}  # type: ignore[arg-type]  # every section is an attrs class
    for key in data:
        if key not in fields:
            message = f"{origin} has the unknown setting {key!r}{nearest(key, fields)}; known are {', '.join(fields)}"
            raise SpecError(message)
    for name, field in fields.items():
        if field.default is attrs.NOTHING and name not in data:
            message = f"{origin} lacks the setting {name!r}"
            raise SpecError(message)
    return cls(**{key: _value(hints[key], value, f"{origin}, {key}") for key, value in data.items()})


def _value(hint: Any, value: Any, origin: str) -> Any:
    if attrs.has(hint):
        if not isinstance(value, Mapping):
            message = f"{origin} must be a table, not {value!r}"
            raise SpecError(message)
        return build(hint, value, origin)
    kind = get_origin(hint)
    if kind is Literal:
        allowed = get_args(hint)
        if value not in allowed:
            message = (
                f"{origin} is {value!r}{nearest(str(value), allowed)}; allowed are {', '.join(map(repr, allowed))}"
            )
            raise SpecError(message)
        return value
    if kind is tuple:
        return _items(get_args(hint)[0], value, origin)
    types, words = _alternatives(hint)
    if value in words:
        return value
    if float in types and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        allowed_kinds = [*(one.__name__ for one in types), *map(repr, words)]
        message = f"{origin} must be {' or '.join(allowed_kinds)}, not {value!r}"
        raise SpecError(message)
    return value


def _items(hint: Any, value: Any, origin: str) -> tuple[Any, ...]:
    if not isinstance(value, list):
        message = f"{origin} must be a list, not {value!r}"
        raise SpecError(message)
    return tuple(_value(hint, one, f"{origin}, item {at}") for at, one in enumerate(value, 1))


def _alternatives(hint: Any) -> tuple[tuple[type, ...], tuple[Any, ...]]:
    """Return the types that a hint allows, and the words that it allows besides."""
    kind = get_origin(hint)
    if kind in (Union, UnionType):
        choices = get_args(hint)
        words = tuple(word for one in choices if get_origin(one) is Literal for word in get_args(one))
        return tuple(one for one in choices if get_origin(one) is not Literal), words
    return ((dict,) if kind is not None else (hint,)), ()
