"""What a run is made of: plugins, learner, settings and oracle, chosen by name and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from apsl_rules._arguments import demand, is_number, is_whole, spelt
from apsl_rules._documents import DocumentError, file_text
from apsl_rules.data import Table
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError, UnknownNameError
from apsl_rules.names import nearest
from apsl_rules.oracles import Asker, Oracle
from apsl_rules.plugins import LearnerOffer, OracleSettings, Plugins, Spec, TestSpec, installed, parse_spec, pick
from apsl_rules.rules import POLICIES, Policy


def gathered(plugins: Plugins | Iterable[object]) -> Plugins:
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
        else:
            manager.register(plugin)
    return manager


def learner_offer(learner: str | Path | Spec | LearnerOffer, plugins: Plugins) -> LearnerOffer:
    """Return the learner of a name, of a spec file or of a spec."""
    if isinstance(learner, LearnerOffer):
        return learner
    if isinstance(learner, Spec):
        return LearnerOffer(learner, _code(learner, plugins))
    known = isinstance(learner, str | Path)
    demand(known, f"the learner is {spelt(learner)}; give the name of one, a spec file *.toml, or a Spec")
    if str(learner).endswith(".toml"):
        try:
            text = file_text(learner)
        except DocumentError as error:
            message = f"the spec file {str(learner)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        spec = parse_spec(text, f"spec file {str(learner)!r}")
        return LearnerOffer(spec, _code(spec, plugins))
    return pick(plugins.learners, str(learner), "learner")


#: The name that leaves the choice of a learner to the source, and what it may choose.
AUTO, BY_TESTS, BY_SCORES = "auto", "apsl", "apsl-score"
#: The largest tables that are searched by scores unless that is asked for by name.
MOST_ROWS, MOST_COLUMNS = 20_000_000, 250_000
_ELSEWHERE = "the table is not counted in memory"


def is_auto(learner: object) -> bool:
    """Whether the choice of a learner is left to the source."""
    return isinstance(learner, str) and learner == AUTO


def at_first(*, limited: bool, knowing: bool, counts: object) -> tuple[str, str]:
    """Choose a learner before the source is opened, and say why.

    On tables of discrete columns the learner that refines parts by scores is right more often than the one that goes by
    tests alone. It cannot stop half-way, nor take up knowledge, and it counts in memory.
    """
    in_memory = counts is None or (isinstance(counts, str) and counts == "memory")
    reasons = {"knowledge is given": knowing, "the run is limited": limited, _ELSEWHERE: not in_memory}
    for reason, holds in reasons.items():
        if holds:
            return BY_TESTS, reason
    return BY_SCORES, "the source is a table, read as discrete columns"


def unfit_for_scores(oracle: Asker) -> str:
    """Say why scores cannot refine parts from a source, or nothing."""
    if oracle.kept is not None:
        return _ELSEWHERE
    if oracle.table is not None:
        if oracle.table.rows > MOST_ROWS or len(oracle.table.names) > MOST_COLUMNS:
            return "the table is too large to search by scores"
        return "values are missing" if oracle.table.incomplete.any() else ""
    return "the answers are perfect" if oracle.perfect else "the source has no table of discrete columns"


def reopened(source: Any, options: Mapping[str, Any], table: Table | None) -> tuple[Any, dict[str, Any]]:
    """Return a table that was read already instead of its source, without the options that reading it took.

    A source that is an oracle itself stays as it is.
    """
    if table is None or callable(getattr(source, "verdict", None)):
        return source, dict(options)
    reading = {"names", "missing", "discretize", "levels"}
    return table, {name: value for name, value in options.items() if name not in reading}


def chosen_note(name: str, why: str) -> str:
    """Say which learner was chosen."""
    return f"learner 'auto' chose {name!r}: {why}"


def _code(spec: Spec, plugins: Plugins) -> Any:
    """Return the code for the kind of a user's own spec: that of any learner of the same kind."""
    known = {"local": None} | {offer.spec.kind: offer.learn for offer in plugins.learners.values()}
    if spec.kind not in known:
        message = f"unknown kind {spec.kind!r} in spec {spec.name!r}{nearest(spec.kind, known)}"
        raise UnknownNameError(message)
    return known[spec.kind]


def adjusted(
    spec: Spec,
    *,
    alpha: float | None,
    max_conditioning: int | Literal["none"] | None,
    finder: str | None,
    conflicts: Policy | None,
) -> Spec:
    """Replace settings of a spec by those that the caller gave."""
    tests = adjusted_tests(spec.tests, alpha, max_conditioning)
    if conflicts is not None and not (isinstance(conflicts, str) and conflicts in POLICIES):
        hint = nearest(conflicts, POLICIES) if isinstance(conflicts, str) else ""
        message = f"unknown conflict policy {spelt(conflicts)}{hint}; there are {', '.join(POLICIES)}"
        raise InvalidArgumentError(message)
    neighbours = spec.neighbours if finder is None else attrs.evolve(spec.neighbours, finder=finder)
    rules = spec.rules if conflicts is None else attrs.evolve(spec.rules, conflicts=conflicts)
    return attrs.evolve(spec, tests=tests, neighbours=neighbours, rules=rules)


def adjusted_tests(tests: TestSpec, alpha: float | None, max_conditioning: int | Literal["none"] | None) -> TestSpec:
    """Replace the settings of tests by those that the caller gave; no limit is no part of a spec."""
    if alpha is not None:
        tests = attrs.evolve(tests, alpha=alpha)
    if not isinstance(tests.alpha, float) or not 0 < tests.alpha < 1:
        message = f"alpha is {spelt(tests.alpha)}; give a number between 0 and 1, such as 0.01"
        raise InvalidArgumentError(message)
    if max_conditioning is None or (isinstance(max_conditioning, str) and max_conditioning == "none"):
        return tests
    if not is_whole(max_conditioning) or max_conditioning < 0:
        message = f"max_conditioning is {spelt(max_conditioning)}; give 0 or more, or 'none' for no limit"
        raise InvalidArgumentError(message)
    return attrs.evolve(tests, max_conditioning=int(max_conditioning))


def check_limits(*, max_tests: int | None, max_seconds: float | None, threads: int) -> None:
    """Refuse limits that allow nothing."""
    for name, value in (("max_tests", max_tests), ("threads", threads)):
        if (value is not None or name == "threads") and not (is_whole(value) and value >= 1):
            message = f"{name} is {spelt(value)}; give at least 1{'' if is_whole(value) else ', a whole number'}"
            raise InvalidArgumentError(message)
    if max_seconds is not None and not (is_number(max_seconds) and max_seconds >= 0):
        message = f"max_seconds is {spelt(max_seconds)}; give at least 0"
        raise InvalidArgumentError(message)


#: Above this many nodes false discoveries are bounded unless the caller says otherwise, by this share.
WIDE, SHARE = 1000, 0.01


def false_discoveries(fdr: float | Literal["auto", "none"], oracle: Oracle) -> float | None:
    """Return the share of false discoveries to allow, or None for no bound."""
    if isinstance(fdr, str) and fdr == "auto":
        return SHARE if len(oracle.nodes) > WIDE and not oracle.perfect else None
    if isinstance(fdr, str) and fdr == "none":
        return None
    if not isinstance(fdr, float) or not 0 < fdr < 1:
        message = f"fdr is {spelt(fdr)}; give a number between 0 and 1, 'auto' or 'none'"
        raise InvalidArgumentError(message)
    return None if oracle.perfect else fdr


def _natural(source: Any, plugins: Plugins) -> str:
    """Return the name of the natural oracle for a source."""
    for offer in plugins.oracles.values():
        if offer.natural_for(source):
            return offer.name
    kind = type(source).__name__
    message = f"cannot learn from {kind}; give a known graph (known_dag(...)), a network, a table or an oracle"
    raise InvalidArgumentError(message)


def oracle_for(source: Any, name: str | None, settings: OracleSettings, plugins: Plugins) -> tuple[Any, str]:
    """Return the oracle to ask, and how to call it in messages; a source that answers by itself is its own oracle."""
    if callable(getattr(source, "verdict", None)):
        if name is not None or settings.options:
            given = "another oracle" if name is not None else f"the option {next(iter(settings.options))!r}"
            message = f"the source is an oracle itself, so {given} cannot be given with it; leave it out"
            raise InvalidArgumentError(message)
        return source, f"the oracle {type(source).__name__}"
    offer = pick(plugins.oracles, _natural(source, plugins) if name is None else name, "oracle")
    origin = plugins.origin("apsl_oracles", offer.name)
    try:
        return offer.make(source, settings), origin
    except (ApslError, MemoryError):
        raise
    except Exception as error:
        message = f"{origin} cannot be made: it raised {type(error).__name__}: {error}"
        raise PluginError(message) from error
