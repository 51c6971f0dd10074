"""The front door: learn a part from a source, a target and a depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from apsl_rules.conflicts import POLICIES, Policy
from apsl_rules.cpdag import Depth, check_depth
from apsl_rules.errors import InvalidArgumentError, UnknownNameError
from apsl_rules.learner import learn_locally
from apsl_rules.names import Node, nearest, require_known
from apsl_rules.offers import FinderSettings, LearnerOffer, OracleSettings
from apsl_rules.part import Part
from apsl_rules.plugins import Plugins, installed, pick
from apsl_rules.remembering import RememberingOracle
from apsl_rules.spec import Spec, parse_spec
from apsl_rules.task import Task


def learn(
    source: Any,
    target: Node,
    *,
    depth: Depth = 1,
    learner: str | Path | Spec = "apsl",
    oracle: str | None = None,
    alpha: float | None = None,
    max_conditioning: int | Literal["none"] | None = None,
    finder: str | None = None,
    conflicts: Policy | None = None,
    options: Mapping[str, Any] | None = None,
    max_tests: int | None = None,
    max_seconds: float | None = None,
    threads: int = 1,
    plugins: Iterable[object] = (),
) -> Part:
    """Learn the structure around a target, every arrow with its proof.

    Parameters
    ----------
    source
        What to learn from: a known graph (``known_dag(...)``, a networkx DiGraph), a ``Network``, or any oracle.
    target
        The node of interest.
    depth
        How far to learn: 1 gives the edges at the target, "max" everything connected with it.
    learner
        The name of a learner, the path of a spec file, or a ``Spec``.
    oracle
        The name of the test; without it the natural one for the source.
    alpha, max_conditioning, finder, conflicts
        Settings of the spec to replace. A perfect oracle has no limit on conditioning sets unless you give one.
    options
        Further options for the oracle and the finder.
    max_tests, max_seconds
        Limits; a run that reaches one gives an incomplete part that says so.
    threads
        How many threads may search neighbours; the result is the same for any number.
    plugins
        Further plugins for this run only.

    Examples
    --------
    >>> from apsl_rules import known_dag, learn
    >>> part = learn(known_dag({"Rain": [], "Sprinkler": [], "Wet": ["Rain", "Sprinkler"]}), "Wet")
    >>> sorted(part.arrows)
    [('Rain', 'Wet'), ('Sprinkler', 'Wet')]
    """
    manager = _manager(plugins)
    offer = _learner(learner, manager)
    spec = _adjusted(offer.spec, alpha, max_conditioning, finder, conflicts)
    check_depth(depth)
    _check_limits(max_tests, max_seconds, threads)
    settings = OracleSettings(spec.tests.alpha, threads, dict(options or {}))
    made, origin = _oracle(source, oracle, settings, manager)
    asker = RememberingOracle(made, origin=origin, max_tests=max_tests, max_seconds=max_seconds)
    require_known(target, asker.nodes, "target")
    limit = (
        None
        if max_conditioning == "none" or (asker.perfect and max_conditioning is None)
        else (spec.tests.max_conditioning)
    )
    unreliable = spec.neighbours.unreliable
    task = Task(
        target=target,
        depth=depth,
        spec=spec,
        oracle=asker,
        plugins=manager,
        finder_settings=FinderSettings(
            limit, None if unreliable == "finder" else unreliable, {**spec.options, **settings.options}
        ),
        settings={"alpha": None if asker.perfect else spec.tests.alpha, "max_conditioning": limit},
        threads=threads,
    )
    return (offer.learn or learn_locally)(task)


def _manager(plugins: Iterable[object]) -> Plugins:
    further = list(plugins)
    if not further:
        return installed()
    manager = installed().copy()
    for plugin in further:
        if isinstance(plugin, str):
            manager.register_module(plugin)
        else:
            manager.register(plugin)
    return manager


def _learner(learner: str | Path | Spec, plugins: Plugins) -> LearnerOffer:
    if isinstance(learner, Spec):
        return LearnerOffer(learner, _code(learner, plugins))
    if str(learner).endswith(".toml"):
        try:
            text = Path(learner).read_text("utf-8")
        except OSError as error:
            message = f"the spec file {str(learner)!r} cannot be read: {error.strerror}"
            raise InvalidArgumentError(message) from error
        spec = parse_spec(text, f"spec file {str(learner)!r}")
        return LearnerOffer(spec, _code(spec, plugins))
    return pick(plugins.learners, str(learner), "learner")


def _code(spec: Spec, plugins: Plugins) -> Any:
    """Give the code for the kind of a user's own spec: that of any learner of the same kind."""
    known = {"local": None} | {offer.spec.kind: offer.learn for offer in plugins.learners.values()}
    if spec.kind not in known:
        message = f"unknown kind {spec.kind!r} in spec {spec.name!r}{nearest(spec.kind, known)}"
        raise UnknownNameError(message)
    return known[spec.kind]


def _adjusted(
    spec: Spec,
    alpha: float | None,
    max_conditioning: int | Literal["none"] | None,
    finder: str | None,
    conflicts: Policy | None,
) -> Spec:
    """Replace settings of a spec by those that the caller gave."""
    tests = spec.tests
    if alpha is not None:
        tests = attrs.evolve(tests, alpha=alpha)
    if not 0 < tests.alpha < 1:
        message = f"alpha is {tests.alpha!r}; give a number between 0 and 1, such as 0.01"
        raise InvalidArgumentError(message)
    if isinstance(max_conditioning, int):
        if max_conditioning < 0:
            message = f"max_conditioning is {max_conditioning}; give 0 or more, or 'none' for no limit"
            raise InvalidArgumentError(message)
        tests = attrs.evolve(tests, max_conditioning=max_conditioning)
    if conflicts is not None and conflicts not in POLICIES:
        message = (
            f"unknown conflict policy {conflicts!r}{nearest(str(conflicts), POLICIES)}; there are {', '.join(POLICIES)}"
        )
        raise InvalidArgumentError(message)
    neighbours = spec.neighbours if finder is None else attrs.evolve(spec.neighbours, finder=finder)
    rules = spec.rules if conflicts is None else attrs.evolve(spec.rules, conflicts=conflicts)
    return attrs.evolve(spec, tests=tests, neighbours=neighbours, rules=rules)


def _check_limits(max_tests: int | None, max_seconds: float | None, threads: int) -> None:
    for name, value, least in (("max_tests", max_tests, 1), ("max_seconds", max_seconds, 0), ("threads", threads, 1)):
        if value is not None and value < least:
            message = f"{name} is {value!r}; give at least {least}"
            raise InvalidArgumentError(message)


def _oracle(source: Any, name: str | None, settings: OracleSettings, plugins: Plugins) -> tuple[Any, str]:
    """Give the oracle to ask, and how to call it in messages."""
    if callable(getattr(source, "verdict", None)):
        return source, f"the oracle {type(source).__name__}"
    offers = plugins.oracles
    if name is None:
        name = next((offer.name for offer in offers.values() if offer.natural_for(source)), None)
        if name is None:
            message = (
                f"cannot learn from {type(source).__name__}; give a known graph (known_dag(...)), a network, a table "
                "or an oracle"
            )
            raise InvalidArgumentError(message)
    return pick(offers, name, "oracle").make(source, settings), plugins.origin("apsl_oracles", name)
