"""The runner: all units of an experiment, in as many processes as wanted, from where the last run stopped."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from apsl_rules._files import Log
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.evaluation.experiments.design import Experiment
from apsl_rules.evaluation.experiments.plan import Unit, plan_units
from apsl_rules.evaluation.experiments.results import Results, write_results
from apsl_rules.evaluation.experiments.samples import Samples
from apsl_rules.evaluation.experiments.work import work

LOG = "log.jsonl"


@attrs.frozen
class Advance:
    """How far a run is: the unit just finished, and parts learned so far, before this run, and in all."""

    unit: Unit | None
    done: int
    before: int
    total: int


Watch: TypeAlias = Callable[[Advance], None]


def run(
    experiment: Experiment, samples: Samples, folder: str | Path, *, processes: int = 1, watch: Watch | None = None
) -> Results:
    """Run what is not yet in the log of a folder, then write the results there.

    The results are the same, byte for byte, for any number of processes, and whether or not earlier runs were killed.
    """
    if processes < 1:
        message = f"processes is {processes}; give at least 1"
        raise InvalidArgumentError(message)
    units = plan_units(experiment, samples)
    total = sum(unit.parts for unit in units)
    with Log(Path(folder) / LOG) as log:
        left = [unit for unit in units if unit.key not in log]
        before = done = total - sum(unit.parts for unit in left)
        if watch is not None:
            watch(Advance(None, done, before, total))
        for unit, record in _work_on(left, samples, processes):
            log.add(record)
            done += unit.parts
            if watch is not None:
                watch(Advance(unit, done, before, total))
        return write_results(experiment, samples, units, log, Path(folder))


def _work_on(units: list[Unit], samples: Samples, processes: int) -> Iterator[tuple[Unit, dict[str, Any]]]:
    if processes == 1:
        for unit in units:
            yield unit, work(unit, samples)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_with_parent) as pool:
        waiting: dict[Future[dict[str, Any]], Unit] = {}
        queue = iter(units)
        try:
            _fill(waiting, pool, queue, samples, 2 * processes)
            while waiting:
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    unit = waiting.pop(future)
                    yield unit, future.result()
                _fill(waiting, pool, queue, samples, 2 * processes)
        except BrokenProcessPool as error:
            message = "a process of the run was killed; start the same command again to go on"
            raise ApslError(message) from error
        finally:
            for future in waiting:
                future.cancel()


def _fill(
    waiting: dict[Future[dict[str, Any]], Unit],
    pool: ProcessPoolExecutor,
    queue: Iterable[Unit],
    samples: Samples,
    most: int,
) -> None:
    """Hand out units until enough are waiting, so that a stopped run ends soon."""
    for unit in queue:
        waiting[pool.submit(work, unit, samples)] = unit
        if len(waiting) >= most:
            return


def _end_with_parent() -> None:
    """Let a worker end when the process that started it is gone, even if that was killed."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
