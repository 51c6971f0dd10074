"""The same part from memory, from a cluster of two worker processes, and from one that loses a worker on the way.

    python tools/bench/cluster.py --rows 2_000_000

Everything runs on this machine. Rows of ALARM are drawn into a Parquet file that the workers read. After the second
visit of the third run one worker is killed (SIGKILL, by its process id); its rows are read again by the others.
Printed are rounds, bytes and seconds, and what a round costs that counts nothing, which docs/cluster.md reckons with.
"""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
from bigdata import write

from apsl_backends.engines.counts import count_part
from apsl_backends.engines.dask import DaskEngine
from apsl_backends.engines.opening import counted
from apsl_backends.independence.count_tests import GSquare
from apsl_backends.kernels.bindings.embedded import CategoryColumn
from apsl_rules import hookimpl, learn
from apsl_rules.data import coded_table
from apsl_rules.data.counts import CachedCounts, CountSource, Joint
from apsl_rules.data.files import FileTable
from apsl_rules.parts.part import Part

TARGET, DEPTH = "HR", 2


class TimedCounts:
    """Counts of a cluster, with the rounds that were asked and the seconds that they took."""

    def __init__(self, counts: CountSource) -> None:
        self.counts = counts
        self.seconds = 0.0
        self.asked: list[tuple[Sequence[tuple[int, ...]], int]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.counts, name)

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns and add to the seconds."""
        self.asked.append((sets, most))
        begun = perf_counter()
        found = list(self.counts.joints(sets, most))
        self.seconds += perf_counter() - begun
        return found


class Killer:
    """Kills a process at the second visit."""

    def __init__(self, kill: Callable[[], None]) -> None:
        self._kill = kill

    @hookimpl
    def apsl_progress(self, progress: Any) -> None:
        """Look at the visits."""
        if progress.visited == 2:
            self._kill()


def told(part: Part) -> tuple[object, ...]:
    """Return what two parts must agree in."""
    proofs = [str(part.why(x, y)) for x, y in sorted(part.arrows)]
    return part.arrows, part.lines, part.gaps, part.counts, proofs


def run(title: str, path: Path, client: Any, plugins: Sequence[object], expected: Part) -> TimedCounts:
    """Learn from the cluster, and print what it took."""
    begun = perf_counter()
    source = TimedCounts(counted(DaskEngine(FileTable(path), client=client)))
    kept = CachedCounts(source)
    opened = perf_counter() - begun
    part = learn(GSquare(kept), TARGET, depth=DEPTH, plugins=plugins)
    seconds = perf_counter() - begun
    print(
        f"{title}: {seconds:.1f} s, of which {opened:.1f} s to open and {source.seconds:.1f} s in {kept.rounds} rounds "
        f"for {kept.tables} tables; {kept.moved / 2**20:.2f} MiB came "
        f"to here; {part.counts.distinct} tests; the same part: {told(part) == told(expected)}",
        flush=True,
    )
    return source


def seconds_for_a_row(path: Path, source: TimedCounts) -> float:
    """Return the CPU seconds that the kernels take for one row in all rounds together."""
    known = coded_table(path)
    part = [CategoryColumn(codes, np.zeros(0, np.int64), 0) for codes in known.codes]
    spans = source.heading.spans.tolist()
    count_part(part, spans, [(0, 1)], 1000)
    begun = process_time()
    for sets, most in source.asked:
        count_part(part, spans, sets, most)
    return (process_time() - begun) / known.rows


def main() -> None:
    """Run the three, and time rounds that count nothing."""
    from distributed import Client, LocalCluster

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    rows = parser.parse_args().rows
    with TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.parquet"
        write(rows, path, group=1 << 17)
        begun = perf_counter()
        expected = learn(path, TARGET, depth=DEPTH, learner="apsl", counts="memory")
        print(f"memory, {rows:,} rows: {perf_counter() - begun:.1f} s, reading and encoding included", flush=True)
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        )
        client = Client(cluster, set_as_default=False)
        try:
            source = run("two workers", path, client, (), expected)
            row = seconds_for_a_row(path, source)
            empty = []
            for _ in range(30):
                begun = perf_counter()
                source.joints([(0,)], 10)
                empty.append(perf_counter() - begun)
            begun = perf_counter()
            client.gather([client.submit(len, (), pure=False) for _ in range(500)])
            task = (perf_counter() - begun) / 500
            print(
                f"a round that counts one column: {1000 * median(empty):.0f} ms (median of {len(empty)}); "
                f"a task that does nothing: {1000 * task:.1f} ms; "
                f"a row in all rounds together: {1e6 * row:.2f} µs of CPU",
                flush=True,
            )
            victim = min(client.run(os.getpid).values())
            killer = Killer(lambda: os.kill(victim, signal.SIGKILL))
            run(f"one of two workers (process {victim}) killed after two visits", path, client, [killer], expected)
        finally:
            client.close()
            cluster.close()


if __name__ == "__main__":
    main()
