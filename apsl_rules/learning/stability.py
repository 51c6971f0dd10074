"""Stability: how often each mark of a part comes back when the rows of the table are drawn anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from contextlib import closing
from inspect import signature
from time import monotonic
from typing import Any

import attrs
from numpy.random import SeedSequence

from apsl_rules._arguments import demand, is_whole, mapping, spelt
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import AUTO, check_limits, gathered, is_auto
from apsl_rules.learning.learn import learn
from apsl_rules.learning.resample import Drawable, drawable, row_numbers
from apsl_rules.names import Depth, Node, check_depth, check_target, nearest
from apsl_rules.parts import Part, Stability, Tally, count_support, tally
from apsl_rules.plugins import Plugins
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
    threads: int = 1,
    progress: Callable[[int, int], None] | None = None,
    max_tests: int | None = None,
    max_seconds: float | None = None,
    plugins: Plugins | Iterable[object] = (),
    **settings: Any,
) -> Stability:
    """Learn a part from all rows and again from many resamples of them, and count how often each mark comes back.

    Parameters
    ----------
    source, target, depth, plugins
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
    check_limits(max_tests=max_tests, max_seconds=max_seconds, threads=threads)
    known = progress is None or callable(progress)
    demand(known, f"progress is {spelt(progress)}; give a function that takes the resamples done and of all")
    _check(resamples, seed, settings)
    table = _opened(source, settings)
    size = _size(subsample, table.rows)
    manager = gathered(plugins)
    runs = _Runs(table, target, {**settings, "depth": depth, "max_tests": max_tests}, max_seconds)
    part = runs.learned(None, manager)
    if is_auto(runs.settings.get("learner", AUTO)):  # a resample may leave out what decided
        runs.settings["learner"] = part.learner
    quiet = manager.copy(watched=False)

    def drawn(seeds: SeedSequence) -> Tally:
        return tally(runs.learned(row_numbers(table.rows, seeds, size), quiet))

    tallies: list[Tally] = []
    stopped, interrupted = part.incomplete, False
    tests = part.counts.distinct
    seeds = [] if stopped else SeedSequence(seed).spawn(resamples)
    try:
        with closing(_in_order(drawn, seeds, threads)) as ahead:
            for one in ahead:
                tests += one.tests
                stopped = one.incomplete
                if stopped is None and max_tests is not None and tests > max_tests:
                    stopped = f"stopped at {max_tests} tests"
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


@attrs.frozen(eq=False)
class _Runs:
    """The runs on all rows and on resamples of them: the same target, settings and limits."""

    table: Drawable
    target: Node
    settings: dict[str, Any]
    max_seconds: float | None
    begun: float = attrs.field(factory=monotonic)

    def learned(self, rows: Any, plugins: Plugins) -> Part:
        """Learn the part from some rows, or from all, in the time that is left."""
        left = None if self.max_seconds is None else max(0.0, self.max_seconds - (monotonic() - self.begun))
        return learn(self.table.drawn(rows), self.target, max_seconds=left, plugins=plugins, **self.settings)


def _check(resamples: int, seed: int, settings: dict[str, Any]) -> None:
    """Refuse numbers and settings that mean nothing here."""
    for name, value, least in (("resamples", resamples, 1), ("seed", seed, 0)):
        if not is_whole(value) or not least <= value < 2**63:
            message = f"{name} is {spelt(value)}; give a whole number from {least} on"
            raise InvalidArgumentError(message)
    known = signature(learn).parameters
    for name, value in settings.items():
        if name == "cache" and value is not None:
            message = "a cache keeps the figures of one table, but every resample is another; leave it out"
            raise InvalidArgumentError(message)
        if name not in known:
            message = f"stability has no setting {name!r}{nearest(name, known)}"
            raise InvalidArgumentError(message)


def _opened(source: Any, settings: dict[str, Any]) -> Drawable:
    """Encode the source and leave in the settings what is still to be given with a table drawn from it."""
    given = {name: settings.pop(name, None) for name in ("missing", "discretize")}
    options = {name: value for name, value in given.items() if value is not None}
    further = mapping("options", settings.get("options"), "{'max_levels': 50}")
    table = drawable(source, settings.get("oracle"), {**options, **further})
    settings["options"] = table.options
    return table


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


def _in_order(work: Callable[[SeedSequence], Tally], seeds: Iterable[SeedSequence], threads: int) -> Generator[Tally]:
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
