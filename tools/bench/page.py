"""How soon the page that one works on can be used, beside the command that learns the same part.

Usage: python tools/bench/page.py [--quick]. For each table: seconds of ``apsl learn``, of ``apsl open`` until its
columns can be looked at, and until the part is drawn. Then for a large table: until the first word of progress, and
from Stop to the part so far. Each command is started anew, all in one run; the least of some repetitions counts.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any

import attrs
import numpy as np
import pyarrow as pa
from pyarrow import csv

from apsl_rules.data import example_table

APSL = str(Path(sys.executable).with_name("apsl"))
_PATIENCE = 600.0


@attrs.frozen
class Served:
    """A page that is served, and when its command was given."""

    port: int
    token: str
    begun: float

    def ask(self, path: str, data: Any = None) -> Any:
        """Return what the server answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_PATIENCE)
        body = None if data is None else json.dumps(data)
        told = {"authorization": f"Bearer {self.token}"}
        connection.request("GET" if body is None else "POST", path, body, told)
        found = json.loads(connection.getresponse().read())
        connection.close()
        return found

    def until(self, is_so: Callable[[dict[str, Any]], Any]) -> float:
        """Return the seconds from the command until the page shows something."""
        while not is_so(self.ask("/api/state")):
            if perf_counter() - self.begun > _PATIENCE:
                sys.exit(f"the page never showed it: {self.ask('/api/state')}")
            sleep(0.01)
        return perf_counter() - self.begun


@contextmanager
def served(folder: Path, *words: str) -> Iterator[Served]:
    """Serve a page."""
    begun = perf_counter()
    process = subprocess.Popen([APSL, "open", "--no-browser", *words], cwd=folder, stdout=subprocess.PIPE, text=True)
    line = "" if process.stdout is None else process.stdout.readline()
    found = re.search(r"127\.0\.0\.1:(\d+)/#(\S+)", line)
    if found is None:
        sys.exit("the page was not served")
    try:
        yield Served(int(found[1]), found[2], begun)
    finally:
        process.terminate()
        process.wait(30)


def drawn(rows: int, columns: int) -> pa.Table:
    """Return a table whose columns hang together in a chain, every third a number."""
    draw = np.random.default_rng(3)
    before = draw.integers(0, 3, rows)
    made: dict[str, Any] = {}
    for place in range(columns):
        before = np.where(draw.random(rows) < 0.6, before, draw.integers(0, 3, rows))
        made[f"c{place}"] = np.round(before + draw.normal(0, 1, rows), 2) if place % 3 == 2 else before
    return pa.table(made)


def compared(folder: Path, name: str, target: str, times: int) -> dict[str, float]:
    """Return the seconds of the command and of the page for one table."""
    least: dict[str, float] = {}
    for _ in range(times):
        begun = perf_counter()
        subprocess.run(
            [APSL, "learn", name, "--target", target, "--quiet"], cwd=folder, check=True, capture_output=True
        )
        found = {"learn": perf_counter() - begun}
        with served(folder, name) as page:
            found["columns"] = page.until(lambda state: state["columns"]["of"])
        with served(folder, name, "--target", target) as page:
            found["part"] = page.until(lambda state: state["report"] and not state["busy"])
        least = {what: min(seconds, least.get(what, seconds)) for what, seconds in found.items()}
    return least


def stopped(folder: Path, name: str, target: str) -> tuple[float, float]:
    """Return the seconds until the first progress, and those from Stop until nothing runs."""
    with served(folder, name) as page:
        page.until(lambda state: state["columns"]["of"])
        begun = perf_counter()
        page.ask("/api/change", {"what": "depth", "depth": "max"})
        page.ask("/api/change", {"what": "target", "column": target})
        first = page.until(lambda state: (state["busy"] or {}).get("what") in {"learning", "nodes visited"})
        first -= begun - page.begun
        sleep(1)
        begun = perf_counter()
        page.ask("/api/stop", {})
        page.until(lambda state: state["part"] or state["error"])
        return first, perf_counter() - begun


def main() -> None:
    """Print a row for each table."""
    reading = argparse.ArgumentParser(description=__doc__)
    reading.add_argument("--quick", action="store_true", help="smaller tables, once")
    quick = reading.parse_args().quick
    print("| table | `apsl learn` s | columns s | part s | columns / learn | part / learn |")
    print("| --- | --- | --- | --- | --- | --- |")
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "clinic.csv").write_bytes(example_table().read_bytes())
        tables = [("2,000 x 8", "clinic.csv", "either")]
        sizes = [(5_000, 100)] if quick else [(20_000, 40), (5_000, 500)]
        for rows, columns in sizes:
            csv.write_csv(drawn(rows, columns), str(folder / f"{rows}.{columns}.csv"))
            tables.append((f"{rows:,} x {columns}", f"{rows}.{columns}.csv", "c3"))
        rows = 100_000 if quick else 1_000_000
        csv.write_csv(drawn(rows, 40), str(folder / "large.csv"))
        tables.append((f"{rows:,} x 40", "large.csv", "c3"))
        for words, name, target in tables:
            found = compared(folder, name, target, 1 if quick or name == "large.csv" else 3)
            ratios = [f"{found[one] / found['learn']:.2f}" for one in ("columns", "part")]
            print(
                f"| {words} | {' | '.join(f'{one:.2f}' for one in found.values())} | {' | '.join(ratios)} |", flush=True
            )
        first, end = stopped(folder, "large.csv", "c3")
        print(
            f"\n{rows:,} x 40: {first:.2f} s from the question to the first progress, {end:.2f} s from Stop to the end"
        )


if __name__ == "__main__":
    main()
