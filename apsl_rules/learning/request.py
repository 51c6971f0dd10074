"""What a caller asks of a run: the one list of settings that front doors, command line and config files read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, get_args

import attrs

from apsl_rules._arguments import demand, is_number, is_whole, mapping, path_text, spelt
from apsl_rules.data import Kind, MissingRule
from apsl_rules.data.counts import CountSource
from apsl_rules.errors import InvalidArgumentError, KnowledgeError
from apsl_rules.learning.choose import AUTO, false_discovery_rate, load_plugins
from apsl_rules.names import Node, nearest
from apsl_rules.parts import DEFAULT_DIRECTION, LeastDirection, least_direction
from apsl_rules.plugins import LearnerOffer, Plugins, Spec
from apsl_rules.rules import NOTHING, POLICIES, Knowledge, Policy

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
