"""What users wait for, beside the peer and beside another checkout of the project: CPU, one thread, best of a few runs.

Each job runs in a process of its own, warm, and opens its table anew each time, since a table keeps what it was asked;
the start of the command line and its memory are measured from outside. A ratio compares with the peer of the same run.
The peers live in .venv-peers, see ``peers.py``.
Usage: python tools/bench/speed.py [JOB ...] [--before CHECKOUT] [--shared FOLDER] [--repeats 5] [--quick]
"""

from __future__ import annotations

import argparse
import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # before numpy is loaded

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import attrs
from number_parts import chains
from peers import FOLDER, ROOT, alarm, peer, write_csv
from wide import tiles

from apsl_rules import learn, learn_graph, learn_many, network
from apsl_rules.data import Table
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.sampling import sample

#: Seconds after which a job is not repeated any more.
ENOUGH = 20.0
#: How often checkouts take turns, since other work on the machine slows all that runs at a time.
ROUNDS = 2
SETTINGS: dict[str, Any] = {"hidden": "excluded"}


@attrs.frozen
class Job:
    """What is learned from what: how rows come, what is run, which peer it is set against, and who runs it."""

    title: str
    rows: Callable[[argparse.Namespace], Any]
    run: Callable[[Any], Any]
    peer: str | None = None


def anew(rows: Any) -> Any:
    """Return a table that was asked nothing yet."""
    return attrs.evolve(rows) if isinstance(rows, Table) else rows


def benchmark_rows(given: argparse.Namespace) -> Table:
    """Return 1,000 rows of Alarm."""
    return alarm(given.shared)


def drawn(name: str, rows: int) -> Callable[[argparse.Namespace], Table]:
    """Return how rows of a network are drawn, a hundredth of them in a quick run."""

    def draw(given: argparse.Namespace) -> Table:
        file = given.shared / "networks" / f"{name}.bif.gz"
        known = read_bif(file) if file.exists() else network(name)
        return sample(known, max(1000, rows // 100) if given.quick else rows, seed=7)

    return draw


def numbers(rows: int) -> Callable[[argparse.Namespace], Any]:
    """Return how 37 columns of numbers are drawn."""
    return lambda given: chains(rows // 100 if given.quick else rows, 37, 4)


def columns(count: int) -> Callable[[argparse.Namespace], Table]:
    """Return how tables of so many columns are drawn."""
    return lambda _: tiles(count)


def each_target(rows: Table, **settings: Any) -> list[Any]:
    """Learn around each column, one by one."""
    return [learn(rows, target, **settings) for target in rows.names]


by_tests = partial(learn_graph, learner="apsl")
JOBS = {
    "tests": Job("ALARM whole by tests", benchmark_rows, by_tests, "pyagrum-pc"),
    "targets": Job(
        "ALARM, 37 targets by learn, by tests", benchmark_rows, partial(each_target, learner="apsl"), "pyagrum-pc"
    ),
    "many": Job(
        "ALARM, 37 targets by learn_many, by tests",
        benchmark_rows,
        lambda rows: learn_many(rows, "all", learner="apsl"),
        "pyagrum-pc",
    ),
    "pigs": Job("pigs whole by tests", drawn("pigs", 1000), by_tests, "pybnesian-mmpc"),
    "default": Job(
        "ALARM whole, default, no hidden causes", benchmark_rows, partial(learn_graph, **SETTINGS), "pyagrum-greedy"
    ),
    "possible": Job("ALARM whole, default", benchmark_rows, learn_graph, "pyagrum-greedy"),
    "default-targets": Job(
        "ALARM, 37 targets by learn, default", benchmark_rows, partial(each_target, **SETTINGS), "pyagrum-greedy"
    ),
    "rows": Job(
        "ALARM, depth 1 at 10⁶ rows, default", drawn("alarm", 1_000_000), lambda rows: learn(rows, "HR", **SETTINGS)
    ),
    "rows-tests": Job(
        "ALARM, depth 1 at 10⁶ rows, by tests",
        drawn("alarm", 1_000_000),
        lambda rows: learn(rows, "HR", learner="apsl"),
    ),
    "numbers": Job(
        "37 numbers × 10⁶ rows, depth 2, default",
        numbers(10**6),
        lambda rows: learn(rows, "X20", 2, **SETTINGS),
        "product",
    ),
    "numbers-7": Job(
        "37 numbers × 10⁷ rows, depth 2, default",
        numbers(10**7),
        lambda rows: learn(rows, "X20", 2, **SETTINGS),
        "product",
    ),
    **{
        f"columns-{power}": Job(
            f"depth 2 in 10{mark} columns, default", columns(10**power), lambda rows: learn(rows, "HR.0", 2, **SETTINGS)
        )
        for power, mark in ((2, "²"), (3, "³"), (4, "⁴"), (5, "⁵"))
    },
}
#: What is measured from outside: the command, and the program that it is set against.
START = "apsl learn on a CSV with words, depth 2"
CALL = "from apsl_rules.cli.entry import main; main()"
YARDSTICK = ("-c", "import numpy, pandas")


def measure(job: Job, given: argparse.Namespace) -> dict[str, float]:
    """Return the least CPU seconds of a job, and of numpy's product where that is its peer."""
    rows = job.rows(given)
    if not job.title.count("10⁷"):
        job.run(anew(rows))
    seconds: list[float] = []
    while len(seconds) < given.repeats and sum(seconds) < ENOUGH:
        fresh = anew(rows)
        begun = process_time()
        job.run(fresh)
        seconds.append(process_time() - begun)
    found = {"seconds": min(seconds)}
    if job.peer == "product":
        begun = process_time()
        rows.T @ rows
        found["peer"] = process_time() - begun
    return found


def in_checkout(checkout: Path) -> dict[str, str]:
    """Return the environment in which programs import the project from a checkout."""
    paths = [checkout, checkout / "backends", checkout / "specs"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


def run_in(checkout: Path, name: str, given: argparse.Namespace) -> dict[str, float]:
    """Run a job in a process that imports the project from a checkout."""
    words = [sys.executable, __file__, name, "--alone", "--shared", str(given.shared), "--repeats", str(given.repeats)]
    words += ["--quick"] if given.quick else []
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=in_checkout(checkout))
    return dict(json.loads(done.stdout.splitlines()[-1]))


def used_by(words: tuple[str, ...], checkout: Path, repeats: int) -> tuple[float, float]:
    """Return the least CPU seconds of a program and the MiB that it took at the highest."""
    seconds, highest = [], []
    for _ in range(repeats + 1):
        process = subprocess.Popen(
            [sys.executable, *words], stdout=subprocess.DEVNULL, env=in_checkout(checkout), cwd=checkout
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{' '.join(words)} failed")
        seconds.append(used.ru_utime + used.ru_stime)
        highest.append(used.ru_maxrss / 1024)
    return min(seconds), min(highest)


def write_words(rows: Table, path: Path) -> None:
    """Write a table whose levels are words, as users have them."""
    words = ("low", "normal", "high", "very high", "none", "other")
    lines = [",".join(map(str, rows.names)), *(",".join(words[code] for code in row) for row in rows.codes.T.tolist())]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def print_row(title: str, unit: str, figures: list[float], reference: float | None) -> None:
    """Print what each checkout took, the peer, and the ratios."""
    cells = [f"{one:.3g}" for one in figures] + ["" if reference is None else f"{reference:.3g}"]
    cells += ["" if reference is None else f"{one / reference:.2f}" for one in figures]
    cells += [f"{figures[1] / figures[0]:.2f}"] if figures[1:] else []
    print(f"| {title}, {unit} | {' | '.join(cells)} |", flush=True)


def print_jobs(names: list[str], checkouts: list[Path], given: argparse.Namespace) -> None:
    """Run each job in each checkout, and its peer."""
    with tempfile.TemporaryDirectory() as folder:
        rows = {"alarm": Path(folder) / "alarm.csv", "pigs": Path(folder) / "pigs.csv"}
        write_csv(alarm(given.shared), rows["alarm"])
        known: dict[str, float] = {}
        for name in names:
            job = JOBS[name]
            runs = [[run_in(one, name, given) for one in checkouts] for _ in range(ROUNDS if given.before else 1)]
            found = [{what: min(run[at][what] for run in runs) for what in runs[0][at]} for at in range(len(checkouts))]
            reference = found[-1].get("peer")
            if job.peer in {"pyagrum-pc", "pyagrum-greedy", "pybnesian-mmpc"}:
                path = rows["pigs" if name == "pigs" else "alarm"]
                if not path.exists():
                    write_csv(job.rows(given), path)
                if job.peer not in known:
                    known[job.peer] = peer(job.peer, path, 1 if given.quick else given.repeats).learning
                reference = known[job.peer]
            print_row(
                f"{job.title} / {job.peer}" if job.peer else job.title,
                "CPU s",
                [one["seconds"] for one in found],
                reference,
            )


def print_start(checkouts: list[Path], given: argparse.Namespace) -> None:
    """Measure the command line on a CSV beside an import of numpy and pandas."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.csv"
        write_words(alarm(given.shared), path)
        command = ("-c", CALL, "learn", str(path), "--target", "HR", "--depth", "2")
        yardstick = used_by(YARDSTICK, checkouts[-1], given.repeats)
        found = [used_by(command, one, given.repeats) for one in checkouts]
        for unit, place in (("CPU s", 0), ("MiB", 1)):
            print_row(f"{START} / import numpy, pandas", unit, [one[place] for one in found], yardstick[place])


def main() -> None:
    """Print the table, or run one job and print its seconds as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"start, {', '.join(JOBS)}; all unless some are given")
    parser.add_argument("--before", type=Path, help="another checkout, which is measured as well")
    parser.add_argument("--shared", type=Path, default=FOLDER, help="the folder with the benchmark rows and networks")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a hundredth of many rows, and no wide or long tables")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        print(json.dumps(measure(JOBS[given.jobs[0]], given)))
        return
    slow = ("pigs", "columns-4", "columns-5", "numbers-7") if given.quick else ()
    names = given.jobs or ["start", *(name for name in JOBS if name not in slow)]
    checkouts = [*([given.before] if given.before else []), ROOT]
    heads = ["before", "now"][-len(checkouts) :]
    heads = [*heads, "peer", *(f"{one} / peer" for one in heads), *(["now / before"] if given.before else [])]
    print(f"| job | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}")
    if "start" in names:
        print_start(checkouts, given)
    print_jobs([name for name in names if name != "start"], checkouts, given)


if __name__ == "__main__":
    main()
