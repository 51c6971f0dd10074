"""A part of a table far larger than the memory that the process may take, counted by DuckDB in its Parquet file.

    python tools/bench/bigdata.py --rows 200_000_000 --folder /tmp/big --target HR --depth 2

Rows of ALARM are drawn block by block into one Parquet file (kept in the folder and used again). A process of its own
learns the part; the system allows it only so much memory (RLIMIT_DATA), and DuckDB half of that. Time, peak memory and
rounds are printed. The same goes before on fewer rows, with DuckDB and in memory: is the part the same, and how many
times as long does DuckDB take?
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np


def write(rows: int, path: Path, *, group: int = 1 << 20) -> float:
    """Draw rows of ALARM into a Parquet file, unless it is there; return the seconds that took."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from apsl_rules import network
    from apsl_rules.graphs.networks.sampling import blocks

    if path.exists():
        return 0.0
    begun = perf_counter()
    net = network("alarm")
    nodes = net.dag.nodes
    names = [pa.array([str(level) for level in net.levels[node]]) for node in nodes]
    schema = pa.schema([(str(node), pa.dictionary(pa.int8(), pa.string())) for node in nodes])
    unfinished = path.with_suffix(".part")
    held: list[Any] = []
    with pq.ParquetWriter(unfinished, schema) as writer:
        for block in blocks(net, rows, seed=7):
            columns = zip(block.astype(np.int8), names, strict=True)
            held.append(pa.table([pa.DictionaryArray.from_arrays(codes, known) for codes, known in columns], schema))
            if len(held) == 16:
                writer.write_table(pa.concat_tables(held).combine_chunks(), row_group_size=group)
                held = []
        if held:
            writer.write_table(pa.concat_tables(held).combine_chunks(), row_group_size=group)
    unfinished.rename(path)
    return perf_counter() - begun


def learn_here(path: str, counts: str, target: str, depth: int, limit: int) -> dict[str, Any]:
    """Learn a part in this process and say what it cost and what it is."""
    from apsl_rules import learn

    if counts == "duckdb":
        resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20))
    options = {"memory_limit": f"{limit // 2}MiB"} if counts == "duckdb" else {}
    wall, cpu = perf_counter(), process_time()
    part = learn(path, target, depth=depth, learner="apsl", counts=counts, options=options)
    return {
        "wall": perf_counter() - wall,
        "cpu": process_time() - cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10,
        "tests": part.counts.distinct,
        "notes": list(part.notes),
        "visited": len(part.visited),
        "arrows": sorted(map(list, part.arrows)),
        "lines": sorted(sorted(map(str, line)) for line in part.lines),
        "proofs": [str(part.why(x, y)) for x, y in sorted(part.arrows)],
    }


def learn_apart(path: Path, counts: str, target: str, depth: int, limit: int) -> dict[str, Any]:
    """Learn a part in a process of its own."""
    words = [sys.executable, __file__, "--alone", str(path), counts, target, str(depth), str(limit)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def show(title: str, told: dict[str, Any]) -> None:
    """Print what a run cost."""
    print(
        f"{title}: {told['wall']:.1f} s ({told['cpu']:.1f} s of CPU), peak {told['peak'] / 2**20:.0f} MiB, "
        f"{told['visited']} visits, {told['tests']} tests, {len(told['arrows'])} arrows, {len(told['lines'])} lines; "
        f"{'; '.join(told['notes'])}",
        flush=True,
    )


def main() -> None:
    """Write, learn within the limit, and compare with memory where both can."""
    if sys.argv[1:2] == ["--alone"]:
        path, counts, target, depth, limit = sys.argv[2:]
        print(json.dumps(learn_here(path, counts, target, int(depth), int(limit))))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--small", type=int, default=2_000_000, help="rows of the file that fits into memory")
    parser.add_argument("--folder", type=Path, default=Path("bigdata"))
    parser.add_argument("--target", default="HR")
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--limit", type=int, default=2048, help="MiB of memory that the process may take")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    small, large = (given.folder / f"alarm-{rows}.parquet" for rows in (given.small, given.rows))
    for rows, path in ((given.small, small), (given.rows, large)):
        seconds = write(rows, path)
        codes = rows * 37 / 2**20
        print(f"{rows:,} rows: {path.stat().st_size / 2**20:.0f} MiB as Parquet, {codes:.0f} MiB as codes", end="")
        print(f", written in {seconds:.0f} s" if seconds else ", written before", flush=True)
    asked = given.target, given.depth, given.limit
    there, here = (learn_apart(small, counts, *asked) for counts in ("duckdb", "memory"))
    show(f"memory, {given.small:,} rows", here)
    show(f"duckdb, {given.small:,} rows", there)
    same = all(there[name] == here[name] for name in ("arrows", "lines", "proofs", "tests", "visited"))
    print(f"the same part: {same}; duckdb / memory: {there['wall'] / here['wall']:.1f} (reading and encoding included)")
    show(f"duckdb, {given.rows:,} rows within {given.limit} MiB", learn_apart(large, "duckdb", *asked))


if __name__ == "__main__":
    main()
