"""What a caller asks for: settings checked once, the learner and the oracle that they choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import attrs

from apsl_rules._arguments import demand, is_number, is_whole, mapping, path_text, spelt
from apsl_rules._documents import DocumentError, file_text
from apsl_rules.data import Kind, MissingRule, MixedTable, Table
from apsl_rules.data.counts import CountSource
from apsl_rules.errors import InvalidArgumentError, KnowledgeError, UnknownNameError
from apsl_rules.names import Node, nearest
from apsl_rules.parts import DEFAULT_DIRECTION, LeastDirection, least_direction
from apsl_rules.plugins import LearnerOffer, Plugins, Spec, installed, parse_spec, pick
from apsl_rules.rules import NOTHING, POLICIES, Knowledge, Policy, Rulebook, head


def say_default_learner(table: Table | MixedTable, plugins: Plugins) -> str:
    """Return a sentence on the learner that "auto" chooses for a table."""
    gives = {"tests", "scores", "counts" if isinstance(table, Table) else "moments"}
    offer, note = choose_learner(Request(plugins=plugins), frozenset(gives))
    return note or f"learner 'auto' chose {offer.name!r}"


#: The name that leaves the choice of a learner to the source, and what it may choose.
AUTO, BY_TESTS = "auto", "apsl"
#: The learner that allows hidden causes.
WITH_HIDDEN = "apsl-hidden"
#: The learner by scores for what a source gives, and how its columns are read.
BY_SCORES = {
    "counts": ("apsl-score", "the source is a table, read as discrete columns"),
    "moments": ("apsl-mixed", "the source is a table with numbers"),
}
#: Above this many nodes false discoveries are bounded unless the caller says otherwise, by this share.
WIDE, SHARE = 1000, 0.01


def load_plugins(plugins: Plugins | Iterable[object]) -> Plugins:
    """Return the installed plugins and those given for one run."""
    if isinstance(plugins, Plugins):
        return plugins
    if isinstance(plugins, str) or not isinstance(plugins, Iterable):
        message = f"plugins is {spelt(plugins)}; give a list of plugins, such as [plugin]"
        raise InvalidArgumentError(message)
    further = list(plugins)
    if not further:
        return installed()
    manager = installed().copy()
    for plugin in further:
        if isinstance(plugin, str):
            manager.register_module(plugin)
        elif isinstance(plugin, int | float | None):
            message = f"a plugin is {spelt(plugin)}; give objects or modules with hooks, or names of modules"
            raise InvalidArgumentError(message)
        else:
            manager.register(plugin)
    return manager


def is_auto(learner: object) -> bool:
    """Return whether the choice of a learner is left to the source."""
    return isinstance(learner, str) and learner == AUTO


def choose_learner(request: Request, gives: frozenset[str]) -> tuple[LearnerOffer, str | None]:
    """Return the learner for a source, with the settings of the request, and how it was chosen if that is to be said.

    On tables the learners that refine parts by scores are right more often than the one that goes by tests alone. Where
    answers are perfect, or the source has no table, there are only tests.
    """
    plugins = request.manager
    note: str | None = None
    if is_auto(request.learner) and request.hidden == "allowed":
        offer = find_learner(WITH_HIDDEN, plugins)
    elif is_auto(request.learner):
        name = BY_TESTS
        why = "the source is an oracle itself" if "own answers" in gives else "there is no table to score"
        for given, (scoring, reason) in BY_SCORES.items():
            if given in gives and "own answers" not in gives:
                name, why = scoring, reason
        if "perfect answers" not in gives:
            note = f"learner 'auto' chose {name!r}: {why}"
        offer = find_learner(name, plugins)
    else:
        offer = find_learner(request.learner, plugins)
    if request.certified:
        offer = _certifying(offer, plugins)
    offer = attrs.evolve(offer, spec=_adjust(offer.spec, request))
    if request.hidden == "allowed" and head not in _rulebook_of(offer, plugins).relations:
        message = (
            f"the learner {offer.name!r} assumes that no common cause is hidden; use learner={WITH_HIDDEN!r}, or leave "
            "the learner out"
        )
        raise InvalidArgumentError(message)
    _require_honouring(request.known, offer, plugins)
    _require_needs(offer, gives)
    return offer, note


def _require_needs(offer: LearnerOffer, gives: frozenset[str]) -> None:
    """Refuse a source that does not give what a learner needs."""
    lacking = sorted(offer.needs - gives)
    if lacking:
        advice = "learn from a table"
        if "moments" in gives:
            advice = "cut its numbers (discretize='quantile:3')"
        elif "counts" in gives:
            advice = "take learner='apsl-score'"
        message = (
            f"the learner {offer.name!r} needs {', '.join(lacking)}, but the source has none; {advice}, or learn by "
            "tests (learner='apsl')"
        )
        raise InvalidArgumentError(message)


def find_learner(learner: object, plugins: Plugins) -> LearnerOffer:
    """Return the learner of a name, of a spec file or of a spec."""
    if isinstance(learner, LearnerOffer):
        return learner
    if isinstance(learner, Spec):
        return _with_code(learner, plugins)
    known = isinstance(learner, str) or hasattr(learner, "__fspath__")
    demand(
        known,
        f"the learner is {spelt(learner)}; give the name of one, a spec file *.toml, or a Spec",
        argument="learner",
    )
    if str(learner).endswith(".toml"):
        try:
            text = file_text(str(learner))
        except DocumentError as error:
            message = f"the spec file {str(learner)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        return _with_code(parse_spec(text, f"spec file {str(learner)!r}"), plugins)
    return pick(plugins.learners, str(learner), "learner")


def _with_code(spec: Spec, plugins: Plugins) -> LearnerOffer:
    """Return a user's own spec with the code of any learner of the same kind."""
    known = {"local": LearnerOffer(spec)} | {offer.spec.kind: offer for offer in plugins.learners.values()}
    if spec.kind not in known:
        message = f"unknown kind {spec.kind!r} in spec {spec.name!r}{nearest(spec.kind, known)}"
        raise UnknownNameError(message)
    return attrs.evolve(known[spec.kind], spec=spec)


def _adjust(spec: Spec, request: Request) -> Spec:
    """Replace settings of a spec by those that the caller gave; no limit is no part of a spec."""
    tests, neighbours, rules = spec.tests, spec.neighbours, spec.rules
    if request.alpha is not None:
        tests = attrs.evolve(tests, alpha=request.alpha)
    if isinstance(request.max_conditioning, int):
        tests = attrs.evolve(tests, max_conditioning=int(request.max_conditioning))
    if request.finder is not None:
        neighbours = attrs.evolve(neighbours, finder=request.finder)
    if request.conflicts is not None:
        rules = attrs.evolve(rules, conflicts=request.conflicts)
    return attrs.evolve(spec, tests=tests, neighbours=neighbours, rules=rules)


def _certifying(offer: LearnerOffer, plugins: Plugins) -> LearnerOffer:
    """Return a learner that certifies what its search finds; one that has no such option is refused."""
    if "certified" not in offer.spec.options:
        able = sorted(one.name for one in plugins.learners.values() if "certified" in one.spec.options)
        message = f"certified=True needs a learner that searches by score: {', '.join(able)}; {offer.name!r} does not"
        raise InvalidArgumentError(message)
    return attrs.evolve(offer, spec=attrs.evolve(offer.spec, options={**offer.spec.options, "certified": True}))


def _require_honouring(knowledge: Knowledge, offer: LearnerOffer, plugins: Plugins) -> None:
    """Refuse background knowledge for a learner that does not honour it."""
    if knowledge and not _honours(offer, plugins):
        able = sorted(one.name for one in plugins.learners.values() if _honours(one, plugins))
        message = f"the learner {offer.name!r} does not honour background knowledge; use one of {', '.join(able)}"
        raise KnowledgeError(message)


def _honours(offer: LearnerOffer, plugins: Plugins) -> bool:
    """Return whether a learner has all its arrows from rules that knowledge can join, or promises to honour it."""
    if offer.findings is not None:
        return offer.honours_knowledge
    return _rulebook_of(offer, plugins).positive


def _rulebook_of(offer: LearnerOffer, plugins: Plugins) -> Rulebook:
    return pick(plugins.rulebooks, offer.spec.rules.rulebook, "rulebook")


def false_discovery_rate(fdr: float | Literal["auto", "none"], nodes: int, *, perfect: bool) -> float | None:
    """Return the share of false discoveries to allow among so many nodes, or None for no bound."""
    if isinstance(fdr, str) and fdr == "auto":
        return SHARE if nodes > WIDE and not perfect else None
    if isinstance(fdr, str) and fdr == "none":
        return None
    if not isinstance(fdr, float) or not 0 < fdr < 1:
        message = f"fdr is {spelt(fdr)}; give a number between 0 and 1, 'auto' or 'none'"
        raise InvalidArgumentError(message, argument="fdr")
    return None if perfect else fdr


def natural_oracle(source: Any, plugins: Plugins) -> str:
    """Return the name of the natural oracle for a source."""
    for offer in plugins.oracles.values():
        if offer.natural_for(source):
            return offer.name
    kind = type(source).__name__
    message = f"cannot learn from {kind}; give a known graph (known_dag(...)), a network, a table or an oracle"
    raise InvalidArgumentError(message)


Learner: TypeAlias = str | Path | Spec | LearnerOffer
#: Whether common causes may be missing from the source.
Hidden: TypeAlias = Literal["excluded", "allowed"]


class Settings(TypedDict, total=False):
    """The settings of ``learn`` beside the depth; ``learn`` says what each means."""

    learner: Learner
    hidden: Hidden
    oracle: str | None
    alpha: float | None
    max_conditioning: int | Literal["none"] | None
    finder: str | None
    conflicts: Policy | None
    fdr: float | Literal["auto", "none"]
    min_direction: LeastDirection
    certified: bool
    kinds: Mapping[Node, Kind] | None
    drop: Iterable[Node] | None
    only: Iterable[Node] | None
    weights: Node | None
    missing: MissingRule | None
    discretize: str | Mapping[Node, str] | None
    cache: str | Path | None
    counts: str | CountSource | None
    options: Mapping[str, Any] | None
    max_tests: int | None
    max_seconds: float | None
    threads: int
    knowledge: Knowledge | str | Path | None
    plugins: Plugins | Iterable[object]


@attrs.frozen(eq=False)
class Request:
    """The settings of a run, checked."""

    learner: Learner = AUTO
    hidden: Hidden = "excluded"
    oracle: str | None = None
    alpha: float | None = None
    max_conditioning: int | Literal["none"] | None = None
    finder: str | None = None
    conflicts: Policy | None = None
    fdr: float | Literal["auto", "none"] = "auto"
    min_direction: LeastDirection = DEFAULT_DIRECTION
    certified: bool = False
    kinds: Mapping[Node, Kind] | None = None
    drop: Iterable[Node] | None = None
    only: Iterable[Node] | None = None
    weights: Node | None = None
    missing: MissingRule | None = None
    discretize: str | Mapping[Node, str] | None = None
    cache: str | Path | None = None
    counts: str | CountSource | None = None
    options: Mapping[str, Any] | None = None
    max_tests: int | None = None
    max_seconds: float | None = None
    threads: int = 1
    knowledge: Knowledge | str | Path | None = None
    plugins: Plugins | Iterable[object] = ()

    def __attrs_post_init__(self) -> None:
        if not (isinstance(self.hidden, str) and self.hidden in get_args(Hidden)):
            message = f"hidden is {spelt(self.hidden)}; give 'allowed' if common causes may be hidden, or 'excluded'"
            raise InvalidArgumentError(message, argument="hidden")
        _check_limits(self.max_tests, self.max_seconds, self.threads)
        _check_tests(self.alpha, self.max_conditioning)
        if self.conflicts is not None and not (isinstance(self.conflicts, str) and self.conflicts in POLICIES):
            hint = nearest(self.conflicts, POLICIES) if isinstance(self.conflicts, str) else ""
            hint = hint or f"; there are {', '.join(POLICIES)}"
            message = f"unknown conflict policy {spelt(self.conflicts)}{hint}"
            raise InvalidArgumentError(message)
        false_discovery_rate(self.fdr, 0, perfect=True)
        demand(
            isinstance(self.certified, bool),
            f"certified is {spelt(self.certified)}; give True or False",
            argument="certified",
        )
        least_direction(self.min_direction)

    @classmethod
    def of(cls, settings: Settings, caller: str = "learn") -> Request:
        """Return the request that settings stand for; plugins and knowledge are loaded."""
        for name in settings:
            if name not in Settings.__annotations__:
                message = f"{caller} has no setting {name!r}{nearest(name, Settings.__annotations__)}"
                raise InvalidArgumentError(message)
        request = cls(**settings)
        plugins, known = load_plugins(request.plugins), load_knowledge(request.knowledge)
        return attrs.evolve(request, plugins=plugins, knowledge=known)

    @property
    def known(self) -> Knowledge:
        """Return the background knowledge, loaded."""
        return load_knowledge(self.knowledge)

    @property
    def manager(self) -> Plugins:
        """Return the plugins, loaded."""
        return load_plugins(self.plugins)

    @property
    def is_limited(self) -> bool:
        """Return whether a limit may end the run."""
        return self.max_tests is not None or self.max_seconds is not None

    @property
    def reading(self) -> dict[str, Any]:
        """Return the options that say how to read and count the source, and further ones of the oracle."""
        given = {
            "kinds": self.kinds,
            "drop": self.drop,
            "only": self.only,
            "weights": self.weights,
            "missing": self.missing,
            "discretize": self.discretize,
            "cache": None if self.cache is None else path_text(self.cache, "cache"),
            "counts": self.counts,
        }
        further = mapping("options", self.options, "{'memory_limit': '2GiB'}")
        return {**{name: value for name, value in given.items() if value is not None}, **further}


def load_knowledge(knowledge: object) -> Knowledge:
    """Return background knowledge, read from its file where a path was given."""
    if isinstance(knowledge, str | Path):
        return Knowledge.read(knowledge)
    if knowledge is None:
        return NOTHING
    if not isinstance(knowledge, Knowledge):
        message = f"knowledge is {spelt(knowledge)}; give Knowledge(required=[...], ...) or the path of a TOML file"
        raise KnowledgeError(message, argument="knowledge")
    return knowledge


def _check_limits(max_tests: int | None, max_seconds: float | None, threads: int) -> None:
    """Refuse limits that allow nothing."""
    for name, value in (("max_tests", max_tests), ("threads", threads)):
        if (value is not None or name == "threads") and not (is_whole(value) and value >= 1):
            message = f"{name} is {spelt(value)}; give at least 1{'' if is_whole(value) else ', a whole number'}"
            raise InvalidArgumentError(message, argument=name)
    if max_seconds is not None and not (is_number(max_seconds) and max_seconds >= 0):
        message = f"max_seconds is {spelt(max_seconds)}; give at least 0"
        raise InvalidArgumentError(message, argument="max_seconds")


def _check_tests(alpha: float | None, max_conditioning: int | Literal["none"] | None) -> None:
    """Refuse settings of tests that mean nothing."""
    if alpha is not None and not (isinstance(alpha, float) and 0 < alpha < 1):
        message = f"alpha is {spelt(alpha)}; give a number between 0 and 1, such as 0.01"
        raise InvalidArgumentError(message, argument="alpha")
    if max_conditioning is None or (isinstance(max_conditioning, str) and max_conditioning == "none"):
        return
    if not is_whole(max_conditioning) or max_conditioning < 0:
        message = f"max_conditioning is {spelt(max_conditioning)}; give 0 or more, or 'none' for no limit"
        raise InvalidArgumentError(message, argument="max_conditioning")
