"""The front door: learn a part from a source, a target and a depth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from apsl_rules._arguments import mapping, path_text
from apsl_rules.data import notes_on, notes_on_counts
from apsl_rules.data.counts import CountSource
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.assembly import Assembly
from apsl_rules.learning.choose import (
    AUTO,
    BY_SCORES,
    BY_TESTS,
    adjusted,
    at_first,
    check_limits,
    chosen_note,
    false_discoveries,
    gathered,
    is_auto,
    learner_offer,
    oracle_for,
    reopened,
    unfit_for_scores,
)
from apsl_rules.learning.honouring import honoured, is_given
from apsl_rules.learning.local_run import learn_locally
from apsl_rules.learning.untested import notes_on_untested
from apsl_rules.names import Depth, Node, check_depth, check_target, require_known
from apsl_rules.oracles import Asker
from apsl_rules.parts import Part
from apsl_rules.plugins import FinderSettings, LearnerOffer, OracleSettings, Plugins, Spec, Task, pick
from apsl_rules.rules import Knowledge, Policy
from apsl_rules.stopping import INTERRUPTED, interruptible


@interruptible
def learn(
    source: Any,
    target: Node,
    *,
    depth: Depth = 1,
    learner: str | Path | Spec | LearnerOffer = AUTO,
    oracle: str | None = None,
    alpha: float | None = None,
    max_conditioning: int | Literal["none"] | None = None,
    finder: str | None = None,
    conflicts: Policy | None = None,
    fdr: float | Literal["auto", "none"] = "auto",
    missing: Literal["refuse", "testwise", "level"] | None = None,
    discretize: str | Mapping[Node, str] | None = None,
    cache: str | Path | None = None,
    counts: str | CountSource | None = None,
    options: Mapping[str, Any] | None = None,
    max_tests: int | None = None,
    max_seconds: float | None = None,
    threads: int = 1,
    knowledge: Knowledge | str | Path | None = None,
    plugins: Plugins | Iterable[object] = (),
) -> Part:
    """Learn the structure around a target, every arrow with its proof.

    Parameters
    ----------
    source
        What to learn from: a table (pandas, polars, pyarrow, numpy, a path, or ``table(...)``), a known graph
        (``known_dag(...)``, a networkx DiGraph), a ``Network``, or any oracle.
    target
        The node of interest.
    depth
        How far to learn: 1 gives the edges at the target, "max" everything connected with it.
    learner
        The name of a learner, the path of a spec file, a ``Spec``, or a ``LearnerOffer`` with code of its own.
        "auto" leaves the choice to the source: scores refine parts from tables of discrete columns ("apsl-score"),
        tests do the rest ("apsl"). The part says which it is, and why unless the answers are perfect.
    oracle
        The name of the test; without it the natural one for the source.
    alpha, max_conditioning, finder, conflicts
        Settings of the spec to replace. A perfect oracle has no limit on conditioning sets unless you give one.
    fdr
        Bound the share of false discoveries among the candidates for neighbours; "auto" does so, at 0.01, for sources
        of more than 1,000 nodes.
    missing, discretize
        For tables: what to do with missing values ("testwise" unless said otherwise, "level" or "refuse"), and how to
        cut numbers with many values ("quantile:3" unless said otherwise, "none", or one way for each column by name).
    cache
        For tables: a file that keeps the figures of all tests, so that a later run, at any alpha, need not count again.
    counts
        For tables: where they are counted. "memory"; "duckdb", for Parquet or CSV files and databases of any size,
        which are left where they are; "dask" or "dask:ADDRESS" for a cluster. By default memory, or DuckDB for a path
        to more than fits. The part is the same. Instead of a table the source may be a ``CountSource`` itself.
    options
        Further options of the oracle.
    max_tests, max_seconds
        Limits; a run that reaches one gives an incomplete part that says so. An interrupt (Ctrl-C) raises
        ``Interrupted``, which carries the part so far.
    threads
        How many threads may search neighbours; the result is the same for any number.
    knowledge
        What is known beforehand: a ``Knowledge``, or the path of a TOML file with required and forbidden arrows, tiers
        and nodes that are apart.
    plugins
        Further plugins for this run only (objects, modules or module names), or a whole ``Plugins`` manager.

    Examples
    --------
    >>> from apsl_rules import known_dag, learn
    >>> part = learn(known_dag({"Rain": [], "Sprinkler": [], "Wet": ["Rain", "Sprinkler"]}), "Wet")
    >>> sorted(part.arrows)
    [('Rain', 'Wet'), ('Sprinkler', 'Wet')]
    """
    check_target(target)
    source, counts = _with_counts(source, counts)
    manager = gathered(plugins)
    check_depth(depth)
    check_limits(max_tests=max_tests, max_seconds=max_seconds, threads=threads)
    given = {
        "missing": missing,
        "discretize": discretize,
        "cache": None if cache is None else path_text(cache, "cache"),
        "counts": counts,
    }
    further = mapping("options", options, "{'memory_limit': '2GiB'}")
    extra = {**{name: value for name, value in given.items() if value is not None}, **further}

    def opened(
        name: str | Path | Spec | LearnerOffer, source: Any, extra: Mapping[str, Any]
    ) -> tuple[LearnerOffer, Spec, Knowledge, Asker]:
        offer = learner_offer(name, manager)
        spec = adjusted(offer.spec, alpha=alpha, max_conditioning=max_conditioning, finder=finder, conflicts=conflicts)
        known = honoured(knowledge, offer, spec, manager)
        made, origin = oracle_for(source, oracle, OracleSettings(spec.tests.alpha, threads, extra), manager)
        asker = Asker(made, origin=origin, max_tests=max_tests, max_seconds=max_seconds)
        return offer, spec, known, asker

    if is_auto(learner):
        limited = max_tests is not None or max_seconds is not None
        name, why = at_first(limited=limited, knowing=is_given(knowledge), counts=counts)
        offer, spec, known, asker = opened(name, source, extra)
        if name == BY_SCORES and (reason := unfit_for_scores(asker)):
            name, why = BY_TESTS, reason
            offer, spec, known, asker = opened(name, *reopened(source, extra, asker.table))
        chosen = () if asker.perfect else (chosen_note(name, why),)
    else:
        offer, spec, known, asker = opened(learner, source, extra)
        chosen = ()
    rounds_before = asker.kept.rounds if asker.kept is not None else 0
    require_known(target, asker.nodes, "target")
    known.require_nodes(asker.nodes)
    unlimited = max_conditioning == "none" or (asker.perfect and max_conditioning is None)
    largest = None if unlimited else spec.tests.max_conditioning
    heeded = pick(manager.finders, spec.neighbours.finder, "finder").heeds_bound
    share = false_discoveries(fdr, asker) if heeded else None
    unreliable = None if spec.neighbours.unreliable == "finder" else spec.neighbours.unreliable
    task = Task(
        target=target,
        depth=depth,
        spec=spec,
        oracle=asker,
        plugins=manager,
        finder_settings=FinderSettings(largest, unreliable, share, spec.options),
        settings={
            "alpha": None if asker.perfect else spec.tests.alpha,
            "max_conditioning": largest,
            "fdr": share,
            **spec.options,
            **{
                name: value for name, value in extra.items() if isinstance(value, str | int | float) and name != "cache"
            },
        },
        # a limit is met at one place, and counts from elsewhere are asked for in the same rounds
        threads=threads if max_tests is None and max_seconds is None and asker.kept is None else 1,
        knowledge=known,
    )
    part = _carried_out(offer, task)
    try:
        asker.flush()
        notes = [*chosen, *part.notes, *notes_on_untested(part)]
        if asker.kept is not None:
            notes += notes_on_counts(asker.kept, part.members, rounds_before)
        elif asker.table is not None:
            notes += notes_on(asker.table, part.members)
        part = attrs.evolve(part, notes=tuple(notes))
    except KeyboardInterrupt:
        raise Interrupted(part=part) from None
    if asker.stop.is_interrupted:
        raise Interrupted(part=part)
    return part


def _carried_out(offer: LearnerOffer, task: Task) -> Part:
    """Return the part that a learner gives, or the part so far if an interrupt ends it."""
    stop = task.oracle.stop
    try:
        return stop.run(lambda: (offer.learn or learn_locally)(task))
    except KeyboardInterrupt as interrupt:
        stop.set(INTERRUPTED)
        so_far = interrupt.part if isinstance(interrupt, Interrupted) else None
        told = "stopped at an interrupt before the part was settled; nothing is learned yet"
        return so_far or Assembly(task, watched=False).part(told)
    except BaseException:
        task.oracle.flush()
        raise


def _with_counts(source: Any, counts: str | CountSource | None) -> tuple[Any, str | None]:
    """Take a source of counts for the source to learn from."""
    if counts is None or isinstance(counts, str) or not isinstance(counts, CountSource):
        return source, counts
    if source is not None and source is not counts:
        message = f"counts come from {counts.kind!r}, so there is no need of {type(source).__name__}; give None for it"
        raise InvalidArgumentError(message)
    return counts, None
