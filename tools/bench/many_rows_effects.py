"""The effects of all neighbours of a target, from a Parquet file of many rows that DuckDB counts in one round.

Rows are made by DuckDB itself from a known graph of ten categories. The part around t is learned from the first million
of them; the effects along its edges are estimated from all. Printed are the time of opening the file (its levels are
read), that of the effects, the rounds of counting, the peak memory, and how far estimates are from the truth in
standard errors.

Usage: python tools/bench/many_rows_effects.py --folder /tmp/many [--rows 120000000] [--quick]
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path
from time import perf_counter

import duckdb

from apsl_rules import Knowledge, learn
from apsl_rules.learning import Request, open_data

LEARNED = 1_000_000
#: Each column with the probability of its level "yes", in the order in which they arise.
COLUMNS = {
    "a": "0.5",
    "b": "0.4",
    "c": "0.3",
    "x1": "0.2 + 0.3 * a + 0.3 * b",
    "x2": "0.1 + 0.4 * b + 0.3 * c",
    "x3": "0.3 + 0.4 * c",
    "t": "0.1 + 0.3 * x1 + 0.2 * x2 + 0.25 * x3",
    "u1": "0.2 + 0.5 * t",
    "u2": "0.1 + 0.4 * t + 0.3 * c",
    "w": "0.2 + 0.6 * u1",
}
TRUTH = {("x1", "t"): 0.3, ("x2", "t"): 0.2, ("x3", "t"): 0.25, ("t", "u1"): 0.5, ("t", "u2"): 0.4}
TIERS = [["a", "b", "c"], ["x1", "x2", "x3"], ["t"], ["u1", "u2"], ["w"]]


def write(path: Path, rows: int) -> float:
    """Make the rows, unless they are there; return the seconds that took."""
    if path.exists():
        return 0.0
    begun = perf_counter()
    query = f"SELECT i FROM range({rows}) AS numbers(i)"  # noqa: S608 - a number of our own
    for place, (name, chance) in enumerate(COLUMNS.items()):
        drawn = f"hash(i * 16 + {place}) % 1000003 / 1000003.0"
        query = f"SELECT *, ({drawn} < {chance})::INT AS {name} FROM ({query})"  # noqa: S608 - names of our own
    words = ", ".join(f"CASE {name} WHEN 1 THEN 'yes' ELSE 'no' END AS {name}" for name in COLUMNS)
    unfinished = path.with_suffix(".part")
    duckdb.sql(f"COPY (SELECT {words} FROM ({query})) TO '{unfinished}' (FORMAT parquet)")  # noqa: S608 - names of our own
    unfinished.rename(path)
    return perf_counter() - begun


def main() -> None:
    """Make the rows, learn the part from some, and estimate from all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=120_000_000)
    parser.add_argument("--quick", action="store_true", help="2,000,000 rows")
    given = parser.parse_args()
    rows = 2_000_000 if given.quick else given.rows
    given.folder.mkdir(parents=True, exist_ok=True)
    few, all_rows = given.folder / f"effects-{LEARNED}.parquet", given.folder / f"effects-{rows}.parquet"
    write(few, LEARNED)
    print(f"making {rows:,} rows: {write(all_rows, rows):.0f} s, {all_rows.stat().st_size >> 20:,} MiB")
    part = learn(few, "t", depth=2, knowledge=Knowledge(tiers=TIERS), hidden="excluded")
    begun = perf_counter()
    source = open_data(all_rows, Request.of({"counts": "duckdb"}))
    opened = perf_counter()
    found = part.effects(source)
    done = perf_counter()
    print(f"opening the file: {opened - begun:.1f} s")
    print(f"effects along {len(found)} edges: {done - opened:.1f} s, rounds of counting {source.traffic.rounds}")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MiB")
    print("\n| effect | estimate | truth | standard errors apart |\n|---|---|---|---|")
    for one in found:
        (only,) = one.possible
        interval = only.interval(one.main)
        if interval is not None:
            truth = TRUTH[str(one.cause), str(one.target)]
            error = (interval.high - interval.low) / 2 / 1.96
            apart = (interval.estimate - truth) / error
            print(f"| {one.cause} on {one.target} | {interval.estimate:.5f} | {truth} | {apart:+.1f} |")


if __name__ == "__main__":
    main()
