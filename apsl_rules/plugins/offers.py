"""What a plugin can offer: oracles, ways to open tables, finders, learners, file readers, exporters and checks.

A learner is a spec: which finder, which findings, which rules, how the frontier grows. It is read from a small TOML
file, so what separates two published algorithms is a diff of two files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import attrs

from apsl_rules._documents import DocumentError, toml_data
from apsl_rules.data import Dataset
from apsl_rules.errors import SpecError
from apsl_rules.names import Node, nearest
from apsl_rules.neighbours import BlanketFinder, Finder
from apsl_rules.oracles import Oracle
from apsl_rules.rules import Policy, Rule, Rulebook

if TYPE_CHECKING:
    from apsl_rules.parts import MarkedGraph, Part
    from apsl_rules.plugins.manager import Context, Findings, Run


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


@attrs.frozen
class OracleSettings:
    """What a run asks of an oracle: its alpha, how many threads it may use, and options of its own."""

    alpha: float = 0.01
    threads: int = 1
    options: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class FinderSettings:
    """What a run asks of a finder: its largest conditioning set and options of its own.

    ``unreliable`` says how a marginal test with too few rows counts; None leaves it to the finder's habit.
    ``false_discoveries`` bounds the share of false ones among the candidates; None leaves it to alpha alone.
    ``hidden`` nodes are never candidates: duplicates of another column.
    """

    max_conditioning: int | None = None
    unreliable: Literal["independent", "dependent"] | None = None
    false_discoveries: float | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    hidden: frozenset[Node] = frozenset()


def _names(given: Iterable[str]) -> frozenset[str]:
    return frozenset(given)


@attrs.frozen
class OracleOffer:
    """An oracle by name, and how to make it from what a caller learns from.

    ``needs`` says what it needs of a table: "counts" of categories, "moments" of tables with numbers, or "rows" in this
    process. ``make`` is then given the table as a ``Dataset``, whatever the caller gave: a frame, an array, a path or
    an address. ``options`` are the names of its own settings, and ``preset`` are settings that it always has. If a
    caller names no oracle, the first that needs nothing that the table lacks answers.

    An oracle without needs is given the source as it is; ``natural_for`` says for which it answers without being named.
    """

    name: str
    summary: str
    make: Callable[[Any, OracleSettings], Oracle]
    natural_for: Callable[[Any], bool] | None = None
    needs: frozenset[str] = attrs.field(default=frozenset(), converter=_names)
    options: tuple[str, ...] = ()
    preset: Mapping[str, Any] = attrs.field(factory=dict)


@attrs.frozen
class DatasetOffer:
    """A way to open tables: what it takes, the options that it reads, and how it opens one for "counts" or "moments".

    Opened for "either", a table is what suits its columns. The options of the oracle come too.
    """

    name: str
    summary: str
    takes: Callable[[Any], bool]
    open: Callable[[Any, Mapping[str, Any], Literal["counts", "moments", "either"]], Dataset]
    options: tuple[str, ...] = ()


@attrs.frozen
class FinderOffer:
    """A finder of parents and children by name, and whether it heeds a bound on false discoveries."""

    name: str
    summary: str
    make: Callable[[Oracle, FinderSettings], Finder]
    heeds_bound: bool = True


@attrs.frozen
class BlanketOffer:
    """A finder of Markov blankets by name."""

    name: str
    summary: str
    make: Callable[[Oracle, FinderSettings], BlanketFinder]


@attrs.frozen
class ScoreOffer:
    """A score of graphs by name, the sum of how well the parents of each node predict it.

    ``make`` gets the opened table and returns a function of a node and its parents, in nats, any penalty included. It
    is the same for graphs with the same independences, as BIC, AIC and BDeu are: searches compare classes of these.
    ``needs`` says what it needs of a table, as that of an oracle does; graphs are checked by the first that suits.
    ``renamed`` gets what ``make`` returned, nodes with their parents, and renamings, each with the place of the node
    that takes the place of each; it counts those that score at least as high. Without it they are scored one by one.
    """

    name: str
    summary: str
    make: Callable[[Any], Callable[[Node, tuple[Node, ...]], float]]
    needs: frozenset[str] = attrs.field(default=frozenset(), converter=_names)
    renamed: Callable[[Any, list[tuple[Node, tuple[Node, ...]]], list[list[int]]], int] | None = None


@attrs.frozen
class LearnerOffer:
    """A learner: its spec, and how it finds things out unless the spec says everything (None: by tests).

    Code of its own says whether it honours the ``knowledge`` of a run; where it does not, knowledge is refused. It says
    also what it ``needs`` of a source besides answers: "counts", where it goes by scores. ``frontier`` gives the nodes
    to visit next (None: along open lines). A ``rival`` is compared with others where the caller names no learners.
    """

    spec: Spec
    findings: Callable[[Context], Findings] | None = None
    honours_knowledge: bool = False
    needs: frozenset[str] = frozenset()
    frontier: Callable[[Run], Iterator[tuple[Node, ...]]] | None = None
    rival: bool = False

    @property
    def name(self) -> str:
        """Return the name in the spec."""
        return self.spec.name

    @property
    def summary(self) -> str:
        """Return the summary in the spec."""
        return self.spec.summary


@attrs.frozen
class ReaderOffer:
    """A reader of files with certain endings, which gives a source to learn from."""

    name: str
    summary: str
    endings: tuple[str, ...]
    read: Callable[[Path], Any]


@attrs.frozen
class EngineOffer:
    """An engine by name: which sources it takes, and how it opens one.

    ``open`` returns an ``apsl_backends.engines.engine.Engine``.
    """

    name: str
    summary: str
    takes: Callable[[Any], bool]
    open: Callable[[Any], Any]


@attrs.frozen
class ExporterOffer:
    """A way to write a part as text; one that needs only the marks writes any graph (``export_graph``)."""

    name: str
    summary: str
    export: Callable[[Part], str]
    export_graph: Callable[[MarkedGraph], str] | None = None


@attrs.frozen
class CheckOffer:
    """A check of the installation: what it finds, in a sentence; it raises an ``ApslError`` if something is broken."""

    name: str
    summary: str
    check: Callable[[], str]
