"""The whole graph: a learner of whole networks asked once, a local one asked once for each connected piece."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, Literal, TypedDict, Unpack

import attrs

from apsl_rules._arguments import mapping, path_text
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import (
    AUTO,
    BY_SCORES,
    BY_TESTS,
    adjusted,
    at_first,
    check_limits,
    chosen_note,
    gathered,
    is_auto,
    learner_offer,
    oracle_for,
    reopened,
    unfit_for_scores,
)
from apsl_rules.learning.honouring import honoured, is_given
from apsl_rules.learning.learn import learn
from apsl_rules.names import Depth, Node, in_order, nearest
from apsl_rules.oracles import Asker
from apsl_rules.parts import LearnedGraph, Part
from apsl_rules.plugins import LearnerOffer, OracleSettings, Plugins, Spec
from apsl_rules.rules import Knowledge, Policy
from apsl_rules.stopping import interruptible


class Settings(TypedDict, total=False):
    """The further settings of :func:`learn_graph`; all are those of ``learn``."""

    oracle: str | None
    alpha: float | None
    max_conditioning: int | Literal["none"] | None
    finder: str | None
    conflicts: Policy | None
    fdr: float | Literal["auto", "none"]
    missing: Literal["refuse", "testwise", "level"] | None
    discretize: str | Mapping[Node, str] | None
    cache: str | Path | None
    counts: str | None
    options: Mapping[str, Any] | None
    max_tests: int | None
    max_seconds: float | None
    threads: int
    knowledge: Knowledge | str | Path | None
    plugins: Plugins | Iterable[object]


@interruptible
def learn_graph(source: Any, *, learner: str | Path | Spec = AUTO, **settings: Unpack[Settings]) -> LearnedGraph:
    """Learn the structure of all nodes.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    learner
        The name of a learner, the path of a spec file, a ``Spec``, or "auto", as for ``learn``. Learners of whole
        networks run once; others learn one connected piece after another.
    settings
        Further settings of ``learn``; limits hold for all pieces together. An interrupt raises ``Interrupted``, whose
        ``result`` is the graph so far.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> graph = learn_graph(known_dag({"a": [], "b": [], "c": ["a", "b"], "d": ["e"], "e": []}))
    >>> sorted(graph.arrows), [sorted(line) for line in graph.lines]
    ([('a', 'c'), ('b', 'c')], [['d', 'e']])
    """
    ready = prepared(source, learner, settings)
    nodes = tuple(ready.oracle.nodes)
    begun = monotonic()
    parts: list[Part] = []
    unvisited = dict.fromkeys(in_order(nodes))
    stopped: str | None = None
    while unvisited and stopped is None:
        spent = sum(part.counts.distinct for part in parts)
        if parts and ready.is_spent(spent, begun):
            stopped = f"stopped at the limit before {len(unvisited)} of {len(nodes)} nodes were visited"
            break
        limits = ready.left(spent, begun)
        try:
            part = ready.learned(ready.oracle, next(iter(unvisited)), "max", settings.get("threads", 1), limits)
        except KeyboardInterrupt as stop:
            so_far = getattr(stop, "part", None)
            parts += [] if so_far is None else [so_far]
            told = f"stopped at an interrupt before {len(unvisited)} of {len(nodes)} nodes were visited"
            graph = LearnedGraph(ready.offer.name, nodes, tuple(parts), told) if parts else None
            raise Interrupted(part=so_far, result=graph) from None
        parts.append(part)
        stopped = part.incomplete
        for node in part.visited:
            unvisited.pop(node, None)
    return LearnedGraph(ready.offer.name, nodes, tuple(parts), stopped)


@attrs.frozen(eq=False)
class Prepared:
    """What several runs of one learner on one source share, made and checked once."""

    oracle: Any
    offer: LearnerOffer
    plugins: Plugins
    arguments: dict[str, Any]
    max_tests: int | None
    max_seconds: float | None
    notes: tuple[str, ...]

    def learned(self, oracle: Any, target: Node, depth: Depth, threads: int, limits: dict[str, Any]) -> Part:
        """Learn one part; it says how its learner was chosen."""
        part = learn(oracle, target, depth=depth, threads=threads, **self.arguments, **limits)
        return attrs.evolve(part, notes=(*self.notes, *part.notes))

    def left(self, tests: int, begun: float) -> dict[str, Any]:
        """Return what the limits leave for the next run after so many tests and since a moment."""
        return {
            "max_tests": None if self.max_tests is None else max(1, self.max_tests - tests),
            "max_seconds": None if self.max_seconds is None else max(0.0, self.max_seconds - (monotonic() - begun)),
        }

    def is_spent(self, tests: int, begun: float) -> bool:
        """Return whether the limits leave nothing for another run."""
        no_tests = self.max_tests is not None and tests >= self.max_tests
        return no_tests or (self.max_seconds is not None and monotonic() - begun >= self.max_seconds)


def prepared(source: Any, learner: str | Path | Spec, settings: Settings) -> Prepared:
    """Check the settings that several runs share, and make the oracle that all of them ask."""
    for name in settings:
        if name not in Settings.__annotations__:
            message = f"there is no setting {name!r}{nearest(name, Settings.__annotations__)}"
            raise InvalidArgumentError(message)
    plugins = gathered(settings.get("plugins", ()))
    max_tests, max_seconds = settings.get("max_tests"), settings.get("max_seconds")
    check_limits(max_tests=max_tests, max_seconds=max_seconds, threads=settings.get("threads", 1))
    limited = max_tests is not None or max_seconds is not None
    first, why = at_first(limited=limited, knowing=is_given(settings.get("knowledge")), counts=settings.get("counts"))
    offer = learner_offer(first if is_auto(learner) else learner, plugins)
    spec = _adjusted(offer.spec, settings)
    knowledge = honoured(settings.get("knowledge"), offer, spec, plugins)
    options = _options(settings)
    oracle = _oracle(source, spec, settings, plugins, options)
    asker = Asker(oracle, origin="the oracle")
    if is_auto(learner) and first == BY_SCORES and (reason := unfit_for_scores(asker)):
        offer, why = learner_offer(BY_TESTS, plugins), reason
        spec = _adjusted(offer.spec, settings)
        source, options = reopened(source, options, asker.table)
        oracle = _oracle(source, spec, settings, plugins, options)
    notes = (chosen_note(offer.name, why),) if is_auto(learner) and not asker.perfect else ()
    offer = attrs.evolve(offer, spec=spec)
    arguments = {
        "learner": offer,
        "max_conditioning": settings.get("max_conditioning"),
        "fdr": settings.get("fdr", "auto"),
        "knowledge": knowledge,
        "plugins": plugins,
    }
    return Prepared(oracle, offer, plugins, arguments, max_tests, max_seconds, notes)


def _adjusted(spec: Spec, settings: Settings) -> Spec:
    """Replace settings of a spec by those that the caller gave."""
    return adjusted(
        spec,
        alpha=settings.get("alpha"),
        max_conditioning=settings.get("max_conditioning"),
        finder=settings.get("finder"),
        conflicts=settings.get("conflicts"),
    )


def _options(settings: Settings) -> dict[str, Any]:
    """Return the options of the oracle that all runs ask."""
    given = {name: settings[name] for name in ("missing", "discretize", "counts") if settings.get(name) is not None}
    cache = settings.get("cache")
    if cache is not None:
        given["cache"] = path_text(cache, "cache")
    return {**given, **mapping("options", settings.get("options"), "{'memory_limit': '2GiB'}")}


def _oracle(source: Any, spec: Spec, settings: Settings, plugins: Plugins, options: dict[str, Any]) -> Any:
    """Make the oracle that all runs ask."""
    asked = OracleSettings(spec.tests.alpha, settings.get("threads", 1), options)
    return oracle_for(source, settings.get("oracle"), asked, plugins)[0]
