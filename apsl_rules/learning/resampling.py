"""Stability: learn a part from many resamples, and count how often each edge comes out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any, Unpack

import attrs
import numpy as np

from apsl_rules._arguments import demand, is_whole, path_text, spelt
from apsl_rules.data import Target, join_target
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import choose_learner
from apsl_rules.learning.many import describe_task, work_in_order
from apsl_rules.learning.progress import with_bar
from apsl_rules.learning.run import Budget, run_once
from apsl_rules.learning.settings import Request, Settings, with_settings
from apsl_rules.learning.source import draw_rows, open_data
from apsl_rules.names import Depth, check_depth
from apsl_rules.parts import Stability, Tally, TallyJournal, count_support, tally
from apsl_rules.stopping import interruptible


@with_settings()
@interruptible
@with_bar("resamples learned")
def stability(
    source: Any,
    target: Target,
    depth: Depth = 1,
    *,
    resamples: int = 100,
    seed: int = 0,
    subsample: float | None = None,
    journal: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[Settings],
) -> Stability:
    """Learn a part from all rows and again from many resamples of them, and count how often each mark comes back.

    Parameters
    ----------
    source, target, depth
        As for ``learn``; the source is a table. Plugins that watch see the run on all rows only.
    resamples
        How many tables to draw.
    seed
        The same seed draws the same tables.
    subsample
        Without it, each resample has as many rows as the table, drawn with repetition (the bootstrap); a share such as
        0.5 draws that share of the rows without repetition, which does not exaggerate dependence as repetition does.
    threads
        How many resamples to learn at a time; the result is the same for any number.
    journal
        A file that gets what each resample shows as soon as it is learned. The same call, made again after a kill, an
        interrupt or a limit, takes these from there; more resamples may be asked for. A file of other data or other
        settings is refused.
    progress
        A function that is told the number of resamples done, and of all.
    max_tests, max_seconds
        Limits for all runs together; resamples that do not fit are left out, and the result says so. An interrupt
        raises ``Interrupted``, whose ``result`` has the resamples that were counted.
    settings
        Further settings of ``learn``, the same for all runs.

    Examples
    --------
    >>> from apsl_rules import network
    >>> from apsl_rules.graphs.networks import sample
    >>> found = stability(sample(network("cancer"), 20_000, seed=1), "Cancer", resamples=10, seed=1)
    >>> found.of("Cancer", "Xray").edge
    1.0
    """
    source, target = join_target(source, target)
    check_depth(depth)
    known = progress is None or callable(progress)
    demand(
        known,
        f"progress is {spelt(progress)}; give a function that takes the resamples done and of all",
        argument="progress",
    )
    request = Request.of(settings, "stability")
    demand(request.hidden != "allowed", "stability counts arrows and lines; leave out hidden='allowed'")
    _check(resamples, seed, request)
    opened = open_data(source, request)
    size = _size(subsample, opened.rows)
    budget = Budget.of(request)
    single = attrs.evolve(request, threads=1)
    part = run_once(single, opened, target, depth)
    quiet = attrs.evolve(single, plugins=request.manager.copy(watched=False))

    kept: TallyJournal | None = None
    if journal is not None:
        spec = choose_learner(request, opened.gives)[0].spec
        task = describe_task(request, opened, spec, depth, target=target, seed=seed, subsample=subsample)
        kept = TallyJournal(Path(path_text(journal, "journal")), task, part.nodes)
    tell = progress or (lambda _done, _of: None)
    seeds = np.random.SeedSequence(seed).spawn(resamples)

    def draw(number: int) -> Tally:
        if kept is not None and number in kept:
            return kept.tally(number)
        rows = opened.resampled(draw_rows(opened.rows, seeds[number], size))
        return tally(run_once(budget.left(quiet, 0), rows, target, depth))

    tallies: list[Tally] = []
    stopped, interrupted = part.incomplete, False
    tests = part.counts.distinct
    wanted = range(0 if stopped else resamples)
    try:
        with kept or nullcontext(), closing(work_in_order(draw, wanted, request.threads)) as ahead:
            for one in ahead:
                tests += one.tests
                stopped = one.incomplete or _over_limit(request, tests)
                if stopped is not None:
                    break
                if kept is not None:
                    kept.add(len(tallies), one)
                tallies.append(one)
                tell(len(tallies), resamples)
    except KeyboardInterrupt:
        stopped, interrupted = "stopped at an interrupt", True
    supports, support = count_support(part, tallies)
    asked = {"resamples": len(tallies), "seed": seed} | ({} if subsample is None else {"subsample": subsample})
    found = Stability(
        attrs.evolve(part, support=support, settings={**part.settings, **asked}),
        supports,
        resamples=resamples,
        counted=len(tallies),
        seed=seed,
        subsample=subsample,
        incomplete=None if stopped is None else f"{len(tallies)} of {resamples} resamples counted: {stopped}",
    )
    if interrupted:
        raise Interrupted(part=found.part, result=found)
    return found


def _over_limit(request: Request, tests: int) -> str | None:
    """Say that all runs together took too many tests, if they did."""
    over = request.max_tests is not None and tests > request.max_tests
    return f"stopped at {request.max_tests} tests" if over else None


def _check(resamples: int, seed: int, request: Request) -> None:
    """Refuse numbers and settings that mean nothing here."""
    for name, value, least in (("resamples", resamples, 1), ("seed", seed, 0)):
        if not is_whole(value) or not least <= value < 2**63:
            raise InvalidArgumentError(argument=name, value=value, advice=f"give a whole number from {least} on")
    if request.cache is not None:
        message = "a cache keeps the figures of one table, but every resample is another; leave it out"
        raise InvalidArgumentError(message)


def _size(subsample: float | None, rows: int) -> int | None:
    """Return the number of rows of a subsample, or None for the bootstrap."""
    if subsample is None:
        return None
    if not isinstance(subsample, float) or not 0 < subsample < 1:
        advice = "give a share between 0 and 1, such as 0.5, or leave it out for the bootstrap"
        raise InvalidArgumentError(argument="subsample", value=subsample, advice=f"{advice}")
    size = round(subsample * rows)
    if size < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"a subsample of {subsample} has {size} of {rows} rows; at least 2 are needed"
        raise InvalidArgumentError(message)
    return size
