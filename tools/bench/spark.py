"""The same part from Spark as from memory: Spark on this machine, reached through ibis, without code of ours for it.

    python tools/bench/spark.py --rows 100_000,1_000_000 --folder rows

Rows of ASIA are drawn into Parquet files (kept in the folder and used again), and the part of depth 2 around ``either``
is learned in memory and through ``ibis.pyspark``. CPU is that of this process and of Spark's; each has learned from a
few rows before. What a statement costs that counts one column is told apart, since Spark takes it for every set of
columns. Spark needs Java 17; pyspark lives in .venv-spark, which is made on first use.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from apsl_rules import learn, network
from apsl_rules.graphs.networks.sampling import simulate
from apsl_rules.parts.part import Part

ROOT = Path(__file__).parents[2]
SPARK = ROOT / ".venv-spark"
#: Spark by itself: all else that it needs is in this environment.
REQUIREMENTS = ("pyspark==4.0.5", "py4j==0.10.9.9")
TARGET, DEPTH, WARMING, STATEMENTS = "either", 2, 500, 10


class Cost(NamedTuple):
    """A part, and the seconds that it took."""

    part: Part
    cpu: float
    wall: float


def find_spark() -> None:
    """Make pyspark importable; it is installed on first use."""
    if not SPARK.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(SPARK)]
        subprocess.run([*command, *REQUIREMENTS], check=True)
    sys.path.append(str(SPARK))
    os.environ["PYSPARK_PYTHON"], os.environ["SPARK_LOCAL_IP"] = sys.executable, "127.0.0.1"


def start_spark() -> Any:
    """Return a session on two threads of this machine."""
    builder = (
        import_module("pyspark.sql")
        .SparkSession.builder.master("local[2]")
        .appName("bench")
        .config("spark.ui.enabled", "false")
    )
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def processor_of(session: Any) -> Callable[[], float]:
    """Return a clock of the CPU seconds of this process and of Spark's."""
    pid = session.sparkContext._gateway.proc.pid  # noqa: SLF001 - nothing else tells it
    tick = os.sysconf("SC_CLK_TCK")

    def clock() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return process_time() + (int(fields[11]) + int(fields[12])) / tick

    return clock


def measure(run: Callable[[], Part], clock: Callable[[], float]) -> Cost:
    """Learn, and say what it took."""
    cpu, wall = clock(), perf_counter()
    part = run()
    return Cost(part, clock() - cpu, perf_counter() - wall)


def rounds_of(part: Part) -> int:
    """Return the rounds that a part tells in its notes."""
    found = [re.search(r"in (\d+) round", note) for note in part.notes if note.startswith("counts came from")]
    return sum(int(one[1]) for one in found if one)


def is_same(one: Part, other: Part) -> bool:
    """Return whether two parts have the same marks and the same proofs."""
    told = [(part.arrows, part.lines, part.gaps, [str(part.why(*arrow)) for arrow in sorted(part.arrows)])
            for part in (one, other)]  # fmt: skip
    return told[0] == told[1]


def compare(rows: int, folder: Path, connection: Any, clock: Callable[[], float]) -> tuple[str, ...]:
    """Learn from both, and return the cells of a row of the table."""
    path = folder / f"asia-{rows}.parquet"
    if not path.exists():
        simulate(network("asia"), rows, path, seed=7)
    table = connection.read_parquet(str(path))
    here = measure(partial(learn, path, TARGET, depth=DEPTH, counts="memory"), process_time)
    there = measure(partial(learn, table, TARGET, depth=DEPTH), clock)
    begun = clock()
    for _ in range(STATEMENTS):
        table.group_by(table.columns[:1]).agg(n=table.count()).to_pyarrow()
    statement = (clock() - begun) / STATEMENTS
    return (
        f"{rows:,}",
        f"{here.cpu:.1f}",
        f"{there.cpu:.1f}",
        f"{there.cpu / here.cpu:.1f}",
        f"{there.wall:.0f}",
        f"{rounds_of(there.part)}",
        "yes" if is_same(there.part, here.part) else "no",
        f"{1000 * statement:.0f}",
    )


def main() -> None:
    """Learn all sizes from memory and from Spark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="100_000,1_000_000")
    parser.add_argument("--folder", type=Path, default=Path("rows"))
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    find_spark()
    import ibis

    session = start_spark()
    try:
        connection, clock = ibis.pyspark.connect(session), processor_of(session)
        compare(WARMING, given.folder, connection, clock)
        head = (
            "rows",
            "memory, CPU s",
            "Spark, CPU s",
            "Spark / memory",
            "wall s",
            "rounds",
            "same part",
            "statement, ms",
        )
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
        for rows in given.rows.split(","):
            print(f"| {' | '.join(compare(int(rows), given.folder, connection, clock))} |", flush=True)
    finally:
        session.stop()


if __name__ == "__main__":
    main()
