"""Stability: how often each mark of a part comes back when the rows of the table are drawn anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import closing
from typing import Any, Unpack

import attrs
import numpy as np

from apsl_rules._arguments import demand, is_whole, spelt
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.budget import Budget
from apsl_rules.learning.request import Request, Settings
from apsl_rules.learning.resample import draw_rows
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import open_data
from apsl_rules.names import Depth, Node, check_depth, check_target
from apsl_rules.parts import Stability, Tally, count_support, tally
from apsl_rules.stopping import Workers, interruptible


@interruptible
def stability(
    source: Any,
    target: Node,
    *,
    depth: Depth = 1,
    resamples: int = 100,
    seed: int = 0,
    subsample: float | None = None,
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
    check_target(target)
    check_depth(depth)
    known = progress is None or callable(progress)
    demand(known, f"progress is {spelt(progress)}; give a function that takes the resamples done and of all")
    request = Request.of(settings, "stability")
    demand(request.hidden == "excluded", "stability counts arrows and lines; leave out hidden='allowed'")
    _check(resamples, seed, request)
    opened = open_data(source, request)
    size = _size(subsample, opened.rows)
    budget = Budget.of(request)
    single = attrs.evolve(request, threads=1)
    part = run_once(single, opened, target, depth)
    quiet = attrs.evolve(single, plugins=request.manager.copy(watched=False))

    def draw(seeds: np.random.SeedSequence) -> Tally:
        rows = opened.resampled(draw_rows(opened.rows, seeds, size))
        return tally(run_once(budget.left(quiet, 0), rows, target, depth))

    tallies: list[Tally] = []
    stopped, interrupted = part.incomplete, False
    tests = part.counts.distinct
    seeds = [] if stopped else np.random.SeedSequence(seed).spawn(resamples)
    try:
        with closing(_in_order(draw, seeds, request.threads)) as ahead:
            for one in ahead:
                tests += one.tests
                stopped = one.incomplete
                if stopped is None and request.max_tests is not None and tests > request.max_tests:
                    stopped = f"stopped at {request.max_tests} test{'s' * (request.max_tests != 1)}"
                if stopped is not None:
                    break
                tallies.append(one)
                if progress is not None:
                    progress(len(tallies), resamples)
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


def _check(resamples: int, seed: int, request: Request) -> None:
    """Refuse numbers and settings that mean nothing here."""
    for name, value, least in (("resamples", resamples, 1), ("seed", seed, 0)):
        if not is_whole(value) or not least <= value < 2**63:
            message = f"{name} is {spelt(value)}; give a whole number from {least} on"
            raise InvalidArgumentError(message)
    if request.cache is not None:
        message = "a cache keeps the figures of one table, but every resample is another; leave it out"
        raise InvalidArgumentError(message)


def _size(subsample: float | None, rows: int) -> int | None:
    """Return the number of rows of a subsample, or None for the bootstrap."""
    if subsample is None:
        return None
    if not isinstance(subsample, float) or not 0 < subsample < 1:
        advice = "give a share between 0 and 1, such as 0.5, or None for the bootstrap"
        message = f"subsample is {spelt(subsample)}; {advice}"
        raise InvalidArgumentError(message)
    size = round(subsample * rows)
    if size < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"a subsample of {subsample} has {size} of {rows} rows; at least 2 are needed"
        raise InvalidArgumentError(message)
    return size


def _in_order(
    work: Callable[[np.random.SeedSequence], Tally], seeds: Iterable[np.random.SeedSequence], threads: int
) -> Generator[Tally]:
    """Work on all seeds, several at a time, and give the results in their order; none is begun that nobody awaits."""
    if threads == 1:
        yield from map(work, seeds)
        return
    ahead: deque[Future[Tally]] = deque()
    with Workers(threads) as pool:
        try:
            for one in seeds:
                ahead.append(pool.submit(work, one))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()
