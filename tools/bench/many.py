"""Parts around every node: all at once with shared answers, against one by one, and against peers.

    python tools/bench/many.py [NETWORK.bif.gz ...] [--columns 1000,3000,10000] [--rows 1000] [--depth 1]
                               [--learner auto] [--alone 40] [--python PEERS] [--limit 600] [--quick]

Each source is drawn anew: a network, or a table of so many columns of independent Alarm tiles. All of its parts are
learned with a journal, in a process of its own; the parts of some targets, at even distances, are learned one by one on
a fresh copy of the table, and must be the same. Prints CPU times as multiples of one by one, the growth with the
columns, the memory above that of the table, and the size of the journal. With an environment of the peers also
pybnesian's MMPC, and where Rscript and bnlearn are installed ``si.hiton.pc``, each within so many CPU seconds: both
find a skeleton only.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import attrs
from peers import write_csv
from wide import memory, tiles

from apsl_rules import learn, learn_many, network
from apsl_rules.data import Table
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import part_json

PEER = Path(__file__).with_name("peer.py")
BNLEARN = """
suppressMessages(library(bnlearn))
rows <- read.csv(commandArgs(TRUE)[1], colClasses = "factor", check.names = FALSE)
rows <- rows[, sapply(rows, nlevels) > 1]
seconds <- system.time(si.hiton.pc(rows, undirected = TRUE, test = "mi", alpha = 0.01, max.sx = 3))
cat(seconds[["user.self"]] + seconds[["sys.self"]], "\\n")
"""


def rows_of(source: str, rows: int) -> Table:
    """Draw rows from a network, or a table of so many columns."""
    return tiles(int(source)) if source.isdigit() else sample(network(source), rows, seed=1)


def measure(source: str, given: argparse.Namespace) -> dict[str, Any]:
    """Learn all parts together and some one by one, in this process; return what that took."""
    rows = rows_of(source, given.rows)
    settings: dict[str, Any] = {"depth": given.depth, "learner": given.learner}
    learn(rows, rows.names[0], **settings, hidden="excluded")  # so that nothing is loaded while the clock runs
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # forget the highest so far
    before = memory("VmRSS")
    with tempfile.TemporaryDirectory() as name:
        journal = Path(name) / "parts.jsonl"
        begun = process_time()
        together = learn_many(attrs.evolve(rows), "all", journal=journal, **settings, hidden="excluded")
        shared = process_time() - begun
        begun = process_time()
        union = together.union
        joined = process_time() - begun
        highest = memory("VmHWM")
        some = rows.names[:: max(1, len(rows.names) // given.alone)]
        begun = process_time()
        alone = [learn(attrs.evolve(rows), node, **settings, hidden="excluded") for node in some]
        apart = (process_time() - begun) / len(alone) * len(rows.names)
        return {
            "targets": len(rows.names),
            "together": shared,
            "union": joined,
            "apart": apart,
            "same": sum(part_json(part) == part_json(together[part.target]) for part in alone) / len(alone),
            "tests": together.computed / together.asked,
            "memory": (highest - before) / 2**20,
            "journal": journal.stat().st_size / 2**20,
            "edges": len(union.arrows) + len(union.lines),
        }


def measure_peers(source: str, given: argparse.Namespace) -> dict[str, str | float]:
    """Return the CPU seconds of the peers on a table, or why there are none."""
    found: dict[str, str | float] = {}
    limit = (given.limit, given.limit)

    def stop_late() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, limit)

    with tempfile.TemporaryDirectory() as name:
        path, script = Path(name) / "rows.csv", Path(name) / "hiton.R"
        write_csv(rows_of(source, given.rows), path)
        script.write_text(BNLEARN, "utf-8")
        commands = {}
        if given.python:
            commands["pybnesian MMPC"] = [given.python, str(PEER), "pybnesian-mmpc", str(path), "1"]
        if rscript := shutil.which("Rscript"):
            commands["bnlearn si.hiton.pc"] = [rscript, str(script), str(path)]
        for peer, command in commands.items():
            done = subprocess.run(command, check=False, capture_output=True, text=True, preexec_fn=stop_late)
            if done.returncode:
                last = (done.stderr.strip().splitlines() or [""])[-1]
                found[peer] = last[:80] if done.returncode > 0 and last else f"more than {given.limit} s"
                continue
            told = done.stdout.splitlines()[-1]
            found[peer] = json.loads(told)["learning"][0] if peer.startswith("pybnesian") else float(told)
    return found


def main() -> None:
    """Measure each source in a process of its own, and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("networks", nargs="*", default=["alarm"])
    options.add_argument("--columns", default="", help="tables of so many columns, with commas between them")
    options.add_argument("--rows", type=int, default=1000)
    options.add_argument("--depth", type=int, default=1)
    options.add_argument("--learner", default="auto")
    options.add_argument("--alone", type=int, default=40, help="targets learned one by one")
    options.add_argument("--python", help="the Python of an environment with the peers")
    options.add_argument("--limit", type=int, default=600, help="CPU seconds that a peer may take")
    options.add_argument("--quick", action="store_true", help="few rows")
    options.add_argument("--single", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.single:
        print(json.dumps(measure(given.single, given)))
        return
    rows = 300 if given.quick else given.rows
    head = ("source", "targets", "together, CPU s", "of one by one", "the same parts", "tests computed", "union")
    print(f"| {' | '.join((*head, 'MiB above the table', 'journal, MiB', 'edges', 'peers, CPU as a multiple'))} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for source in [*given.networks, *filter(None, given.columns.split(","))]:
        words = [sys.executable, __file__, "--single", source, "--rows", str(rows), "--depth", str(given.depth)]
        words += ["--learner", given.learner, "--alone", str(given.alone)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        one = json.loads(done.stdout.splitlines()[-1])
        given.rows = rows
        peers = measure_peers(source, given) if given.python or shutil.which("Rscript") else {}
        told = [
            f"{peer} {seconds}" if isinstance(seconds, str) else f"{peer} {seconds / one['together']:.2f} ×"
            for peer, seconds in peers.items()
        ]
        print(
            f"| {Path(source).name.partition('.')[0]} | {one['targets']:,} | {one['together']:.1f}"
            f" | {one['together'] / one['apart']:.2f} | {one['same']:.0%} | {one['tests']:.1%}"
            f" | {one['union'] / one['together']:.2f} | {one['memory']:.0f} | {one['journal']:.1f} | {one['edges']:,}"
            f" | {'; '.join(told) or 'none'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
