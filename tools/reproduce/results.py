"""Run the units of an experiment, and read, log and summarise their results."""

from __future__ import annotations

import csv
import io
import json
import multiprocessing
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from functools import lru_cache, partial
from importlib.metadata import version
from multiprocessing.synchronize import Event
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import attrs
from design import (
    SCORINGS,
    Experiment,
    Samples,
    Scoring,
    Unit,
    order_columns,
    plan_units,
)

from apsl_rules._files import Log, atomic_file, write_text
from apsl_rules.data import Table
from apsl_rules.errors import ApslError, DataError, InvalidArgumentError
from apsl_rules.evaluation.scoring import Score, score
from apsl_rules.graphs import Dag
from apsl_rules.learning import WARMING, learn, learn_graph
from apsl_rules.names import Depth, Node, shown
from apsl_rules.parts import LearnedGraph, Part

if TYPE_CHECKING:
    import pandas as pd


RESULTS, TIMES, ABOUT = "results.csv", "times.csv", "about.json"
RUN = ("network", "size", "set", "order", "learner", "depth", "target")
FIGURES = ("precision", "recall", "distance", "f1", "skeleton_f1", "compelled_precision", "compelled_recall", "shd")
_PRINTED = 6
_TOOLS = ("apsl_rules", "numpy", "scipy")


@attrs.frozen(eq=False)
class Results:
    """The scores, the times and the circumstances of one experiment."""

    scores: pd.DataFrame
    times: pd.DataFrame
    about: Mapping[str, Any]


def write_results(
    experiment: Experiment, samples: Samples, units: list[Unit], records: Mapping[str, Any], folder: Path
) -> Results:
    """Write the results of all units, sorted; each file whole or not at all."""
    scores, times = [], []
    for unit in units:
        record = records[unit.key]
        for part, seconds in zip(record["parts"], record["seconds"], strict=True):
            place = (unit.network, unit.size, unit.number, unit.order, unit.learner, part["depth"], part["target"])
            times.append((*place, unit.learned, f"{seconds:.6f}"))
            cost = (part["node"], part["visits"], part["tests"], part["computed"])
            for name, counts in part["scores"].items():
                scores.append((*place, name, *cost, *counts, *_figures(name, counts)))
    _write_csv(folder / RESULTS, (*RUN, "scoring", "node", "visits", "tests", "computed", *COUNTED, *FIGURES), scores)
    _write_csv(folder / TIMES, (*RUN, "learned", "cpu_seconds"), times)
    about = {
        "experiment": experiment.name,
        "summary": experiment.summary,
        "seed": experiment.seed,
        "samples": samples.description(),
        "published": samples.published,
        "python": platform.python_version(),
        **{tool: version(tool) for tool in _TOOLS},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "date": datetime.now(tz=UTC).date().isoformat(),
    }
    write_text(folder / ABOUT, json.dumps(about, indent=2) + "\n")
    results = read_results(folder)
    _write_parquet(results.scores, folder)
    return results


def read_results(folder: str | Path) -> Results:
    """Read the results that a finished run left in a folder."""
    import pandas as pd

    place = Path(folder)
    try:
        kinds = {"depth": str}
        scores = pd.read_csv(place / RESULTS, dtype=kinds | {"node": str}, keep_default_na=False)
        times = pd.read_csv(place / TIMES, dtype=kinds, keep_default_na=False)
        about = json.loads((place / ABOUT).read_text("utf-8"))
    except (OSError, ValueError) as error:
        message = f"the folder {str(place)!r} has no results that can be read ({error}); run the experiment first"
        raise DataError(message) from error
    return Results(scores, times, about)


def _figures(name: Scoring, counts: list[int]) -> list[str]:
    found = Score(*SCORINGS[name], *counts)
    return [_format(getattr(found, figure)) for figure in FIGURES]


def _format(figure: float) -> str:
    return str(figure) if isinstance(figure, int) else f"{figure:.{_PRINTED}f}"


def _write_csv(path: Path, head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    rows.sort(key=_place)
    writer.writerows(rows)
    write_text(path, text.getvalue())


def _place(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the sort key of a row: depths in order, "max" last."""
    network, size, number, order, learner, depth, target, further, *_ = row
    deep = (1, 0) if depth == "max" else (0, depth)
    return (network, size, number, order, learner, deep, target, further)


def _write_parquet(scores: pd.DataFrame, folder: Path) -> None:
    """Write the scores as Parquet too, where pyarrow is installed."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        return
    with atomic_file(folder / "results.parquet") as draft:
        parquet.write_table(pa.Table.from_pandas(scores, preserve_index=False), draft)


GROUP = ["network", "size", "order", "learner", "depth", "scoring"]


def summarise(results: Results) -> pd.DataFrame:
    """Return the mean of every figure, the spread of the paper's three, and the mean cost of a part.

    ``runs`` counts the parts and ``sets`` the samples that a row is the mean of. CPU seconds are those of a part.
    ``arrow_precision`` and ``arrow_recall`` are of compelled arrows, counted over all parts together, since many parts
    have none; without any arrow they are 1.
    """
    keys = [key for key in GROUP if key != "scoring"]
    scores, times = results.scores, results.times
    grouped = scores.groupby(GROUP, sort=False)
    means = grouped[[*FIGURES, "visits", "tests", "predicted", "true"]].mean()
    spread = grouped[["distance", "precision", "recall"]].std(ddof=0).add_suffix("_sd")
    counted = grouped.agg(runs=("target", "size"), sets=("set", "nunique"))
    arrows = grouped[["compelled_correct", "arrows", "compelled"]].sum()
    for share, of in (("arrow_precision", "arrows"), ("arrow_recall", "compelled")):
        counted[share] = (arrows["compelled_correct"] / arrows[of]).where(arrows[of] > 0, 1.0)
    short = counted.join(means).join(spread).reset_index()
    spent = times.groupby(keys, sort=False).agg(cpu=("cpu_seconds", "mean"), learned=("learned", "first")).reset_index()
    return short.merge(spent, on=keys, how="left", validate="many_to_one")


Learned = TypeVar("Learned")

#: What is counted of a score; all its figures follow from these.
COUNTED = tuple(field.name for field in attrs.fields(Score) if field.name not in ("against", "scored"))


def work(unit: Unit, samples: Samples) -> dict[str, Any]:
    """Learn and score all parts of a unit; the CPU seconds stand apart, since no two runs agree on them."""
    dag = samples.dag(unit.network)
    table = order_columns(samples.table(unit.network, unit.size, unit.number), unit.permutation)
    _warm(unit.learner, table.rows)
    parts, seconds = [], []
    for target, depth, learned, spent in _learn_parts(unit, dag, table):
        node = dag.nodes[target - 1]
        parts.append(
            {
                "target": target,
                "node": shown(node),
                "depth": depth,
                **_cost(learned),
                "scores": {one: _counts(learned, dag, one, table.names, around=(node, depth)) for one in unit.scoring},
            }
        )
        seconds.append(spent)
    return {"key": unit.key, "parts": parts, "seconds": seconds}


def _learn_parts(unit: Unit, dag: Dag, table: Table) -> Iterator[tuple[int, Depth, Part | LearnedGraph, float]]:
    """Return for each target and depth what was learned, and the CPU seconds that the learner took for it."""
    whole = (
        _time(lambda: learn_graph(table, learner=unit.learner, hidden="excluded")) if unit.learned == "once" else None
    )
    for target in unit.targets:
        node = dag.nodes[target - 1]
        kept = _time(partial(_graph_from, table, node, unit.learner)) if unit.learned == "each target" else whole
        for depth in unit.depths:
            if kept is None:
                yield (
                    target,
                    depth,
                    *_time(partial(learn, table, node, depth=depth, learner=unit.learner, hidden="excluded")),
                )
            else:
                yield target, depth, *kept


def _graph_from(table: Table, node: Node, learner: str) -> LearnedGraph:
    """Learn the whole graph, beginning at a node."""
    part = learn(table, node, depth="max", learner=learner, hidden="excluded")
    return LearnedGraph(part.learner, part.nodes, (part,), part.incomplete)


def _time(learning: Callable[[], Learned]) -> tuple[Learned, float]:
    begun = process_time()
    learned = learning()
    return learned, process_time() - begun


def _cost(learned: Part | LearnedGraph) -> dict[str, int]:
    runs = (learned,) if isinstance(learned, Part) else learned.parts
    return {
        "visits": sum(len(part.visited) for part in runs),
        "tests": sum(part.counts.asked for part in runs),
        "computed": sum(part.counts.distinct for part in runs),
    }


def _counts(
    learned: Part | LearnedGraph, dag: Dag, scoring: Scoring, names: tuple[Node, ...], *, around: tuple[Node, Depth]
) -> list[int]:
    against, scored = SCORINGS[scoring]
    target, depth = (None, None) if isinstance(learned, Part) else around
    columns = names if scored == "extension" else None
    found = score(learned, dag, against=against, scored=scored, columns=columns, target=target, depth=depth)
    return [getattr(found, count) for count in COUNTED]


@lru_cache(maxsize=64)
def _warm(learner: str, rows: int) -> None:
    """Let a learner run on a few columns first, so that no time counts the loading of code."""
    from apsl_rules.graphs.networks import network, sample

    table = sample(network("asia"), rows, seed=1)
    learn(table, table.names[0], learner=learner, max_tests=WARMING, hidden="excluded")


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
    stop = context.Event()
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_end_in_time, initargs=(stop,)) as pool:
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
            if waiting:
                stop.set()


def _fill(
    waiting: dict[Future[dict[str, Any]], Unit],
    pool: ProcessPoolExecutor,
    queue: Iterable[Unit],
    samples: Samples,
    most: int,
) -> None:
    """Hand out units until enough are waiting; processes that this starts are never interrupted."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for unit in queue:
            waiting[pool.submit(work, unit, samples)] = unit
            if len(waiting) >= most:
                return
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_in_time(stop: Event) -> None:
    """Let a worker end, whatever it is at, when the run stops or the process that started it is gone."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        while not stop.wait(0.2) and parent is not None and parent.is_alive():
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
