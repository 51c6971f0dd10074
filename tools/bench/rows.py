"""What a row costs: CPU and memory of one part from memory, DuckDB and Dask workers, as the rows grow tenfold.

    python tools/bench/rows.py --rows 1_000_000,10_000_000,100_000_000 --folder rows

Rows of ALARM are drawn block by block into Parquet files (kept in the folder and used again). Each run is a process of
its own with the default learner, a part of depth 2; the cluster has two worker processes. CPU is that of all threads
and workers together, memory the peak above what the process had before. The last size is first predicted: the cost of
a row from the two sizes before it, times the rows, and then measured. docs/cluster.md plans a billion rows with that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import attrs
from bigdata import write

from apsl_rules.data.counts import Joint

TARGET, DEPTH, WORKERS = "HR", 2, 2
COLUMNS = 37


@attrs.frozen
class Cost:
    """What a part cost, and what it is."""

    rows: int
    opening: float
    learning: float
    wall: float
    peak: int
    rounds: int
    tables: int
    sent: int
    part: str

    @property
    def cpu(self) -> float:
        """Return the CPU seconds of the whole run."""
        return self.opening + self.learning


def peak_memory() -> int:
    """Return the most bytes that this process had in memory; what its parent had before does not count."""
    (line,) = [one for one in Path("/proc/self/status").read_text("ascii").splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def digest(part: Any) -> str:
    """Return all that a part tells but where its counts came from."""
    from hashlib import sha256

    told = (sorted(part.arrows), sorted(sorted(line) for line in part.lines), sorted(map(sorted, part.gaps)))
    proofs = [str(part.why(x, y)) for x, y in sorted(part.arrows)]
    return sha256(repr((told, proofs, part.counts)).encode()).hexdigest()


class Watched:
    """A source of counts, with the rounds and tables that it was asked for and the bytes that came back."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self.rounds = self.tables = self.moved = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns."""
        found: list[Joint | None] = self._source.joints(sets, most)
        self.rounds += 1
        self.tables += len(found)
        self.moved += sum(one.codes.nbytes + one.weights.nbytes for one in found if one is not None)
        return found


def learn_in_process(path: str, kind: str) -> dict[str, Any]:
    """Learn in this process, from memory or by DuckDB; opening is apart."""
    from apsl_backends.engines.duckdb import DuckEngine
    from apsl_backends.engines.opening import counted
    from apsl_rules import learn
    from apsl_rules.data import table

    before, begun, wall = peak_memory(), process_time(), perf_counter()
    source: Any = table(path) if kind == "memory" else Watched(counted(DuckEngine.of_file(path)))
    opening = process_time() - begun
    part = learn(source, TARGET, depth=DEPTH, hidden="excluded")
    return {
        "opening": opening,
        "learning": process_time() - begun - opening,
        "wall": perf_counter() - wall,
        "peak": peak_memory() - before,
        "rounds": getattr(source, "rounds", 0),
        "tables": getattr(source, "tables", 0),
        "sent": getattr(source, "moved", 0),
        "part": digest(part),
    }


def learn_on_cluster(path: str) -> dict[str, Any]:
    """Learn from two worker processes; the scheduler is in this one."""
    from distributed import Client, LocalCluster

    from apsl_backends.engines.dask import DaskEngine
    from apsl_backends.engines.opening import counted
    from apsl_rules import learn
    from apsl_rules.data.files import FileTable

    cluster = LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        memory_limit=None,
        silence_logs=50,
    )
    client = Client(cluster, set_as_default=False)
    try:

        def used() -> float:
            return process_time() + float(sum(client.run(process_time).values()))

        before, begun, wall = client.run(peak_memory), used(), perf_counter()
        source = counted(DaskEngine(FileTable(path), client=client))
        source.joints([(0,)], 10)  # the rows are read once a round asks for them
        opened = used()
        watched = Watched(source)
        part = learn(watched, TARGET, depth=DEPTH, hidden="excluded")
        peaks = client.run(peak_memory)
        return {
            "opening": opened - begun,
            "learning": used() - opened,
            "wall": perf_counter() - wall,
            "peak": sum(peaks[worker] - before[worker] for worker in peaks),
            "rounds": watched.rounds,
            "tables": watched.tables,
            "sent": watched.moved,
            "part": digest(part),
        }
    finally:
        client.close()
        cluster.close()


def measure(path: Path, rows: int, kind: str) -> Cost:
    """Learn in a process of its own."""
    words = [sys.executable, __file__, "--alone", str(path), kind]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return Cost(rows=rows, **json.loads(done.stdout.splitlines()[-1]))


def show(kind: str, cost: Cost, expected: str | None) -> None:
    """Print a row of the table."""
    same = "" if expected is None else "yes" if cost.part == expected else "no"
    cells = (
        f"{kind}, {cost.rows:,} rows",
        f"{cost.opening:.1f} + {cost.learning:.1f}",
        f"{1e6 * cost.opening / cost.rows:.2f} + {1e6 * cost.learning / cost.rows:.2f}",
        f"{cost.wall:.0f}",
        f"{cost.peak >> 20:,}",
        f"{cost.peak / cost.rows:.0f}",
        f"{cost.rounds}",
        f"{cost.tables}",
        f"{cost.sent / 2**20:.1f}",
        same,
    )
    print(f"| {' | '.join(cells)} |", flush=True)


def predict(costs: list[Cost], rows: int) -> float:
    """Return the CPU seconds for so many rows, by the line through the last two costs."""
    slope, start = line_through(costs)
    return start + slope * rows


def line_through(costs: list[Cost]) -> tuple[float, float]:
    """Return the CPU seconds of a row, and those of no rows."""
    one, other = costs[-2:]
    slope = (other.cpu - one.cpu) / (other.rows - one.rows)
    return slope, other.cpu - slope * other.rows


def main() -> None:
    """Measure all sizes, and set the last beside its prediction."""
    if sys.argv[1:2] == ["--alone"]:
        path, kind = sys.argv[2:]
        print(json.dumps(learn_on_cluster(path) if kind == "dask" else learn_in_process(path, kind)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1_000_000,10_000_000,100_000_000")
    parser.add_argument("--kinds", default="memory,duckdb,dask", help="where the counts come from")
    parser.add_argument("--most-in-memory", type=int, default=10_000_000, help="larger tables are not read into memory")
    parser.add_argument("--folder", type=Path, default=Path("rows"))
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    sizes = [int(one) for one in given.rows.split(",")]
    paths = {rows: given.folder / f"alarm-{rows}.parquet" for rows in sizes}
    for rows, path in paths.items():
        write(rows, path, group=min(1 << 20, max(1, rows // 8)))
        print(f"{rows:,} rows: {path.stat().st_size / rows:.1f} bytes a row as Parquet, {COLUMNS} as codes", flush=True)
    print(
        "\n| run | CPU s, opening + learning | CPU µs a row | wall s | peak MiB | bytes a row | rounds | tables |",
        end="",
    )
    print(f" MiB sent | part of memory |\n|{'---|' * 10}", flush=True)
    measured: dict[str, list[Cost]] = {kind: [] for kind in given.kinds.split(",")}
    for rows, path in paths.items():
        expected = None
        for kind, costs in measured.items():
            if kind == "memory" and rows > given.most_in_memory:
                continue
            costs.append(measure(path, rows, kind))
            if kind == "memory":
                expected = costs[-1].part
            show(kind, costs[-1], expected if kind != "memory" else None)
    print()
    for kind, costs in measured.items():
        if len(costs) > 2:
            told, last = predict(costs[:-1], costs[-1].rows), costs[-1]
            share = last.cpu / told
            print(f"{kind}, {last.rows:,} rows: {told:.0f} s of CPU predicted, {last.cpu:.0f} s measured, {share:.2f}")
        if len(costs) > 1:
            slope, start = line_through(costs)
            print(f"{kind}, a billion rows: {start:.0f} s + {1e6 * slope:.2f} µs a row = {start + 1e9 * slope:,.0f} s")


if __name__ == "__main__":
    main()
