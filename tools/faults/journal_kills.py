"""Kill runs that keep a journal with SIGKILL at random moments, take them up again, and compare what they end with.

    python tools/faults/journal_kills.py [--kills 100] [--seed 1] [--only many]

The runs are those of many targets (``learn_many``), of resamples (``stability``) and of an experiment (``run`` of
``tools/reproduce``), a share of the kills each, every run in a process of its own that is forked from this one.
Each is first run without disturbance. For each kill it is started anew, killed at a random moment between the first
line of its journal and its end, and started again. All lines of the journal but the last must be whole after the kill,
and what the run ends with must equal the undisturbed outcome: parts, counts, union, supports, files, byte for byte.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pickle
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "reproduce"))  # the tools are scripts, not a package

from design import DrawnSamples, parse_experiment
from results import run

from apsl_rules import learn_many, network, stability
from apsl_rules.data import Table
from apsl_rules.graphs.networks import sample
from apsl_rules.names import in_order
from apsl_rules.parts import part_json

EXPERIMENT = """\
name = "tiny"
summary = "small enough to be killed often"

[[grids]]
networks = ["cancer"]
sizes = [50, 60]
sets = [1, 2, 3, 4]
learners = ["apsl", "apsl-paper"]
depths = [1, "max"]
"""
JOURNAL, OUTCOME = "log.jsonl", "outcome.pickle"


def many(rows: Table, folder: Path) -> object:
    """Learn the parts around all nodes."""
    parts = learn_many(rows, "all", journal=folder / JOURNAL, hidden="excluded")
    texts = {target: part_json(part) for target, part in parts.items()}
    union = parts.union
    return texts, parts.asked, parts.computed, in_order(union.arrows), in_order(map(in_order, union.lines))


def resamples(rows: Table, folder: Path) -> object:
    """Learn a part on many resamples."""
    found = stability(rows, "HR", resamples=12, seed=1, journal=folder / JOURNAL, hidden="excluded")
    return part_json(found.part), found.rows()


def experiment(_rows: Table, folder: Path) -> object:
    """Run an experiment."""
    run(parse_experiment(EXPERIMENT, "tiny"), DrawnSamples(1), folder)
    return {name: (folder / name).read_bytes() for name in ("results.csv", "about.json")}


TASKS: Mapping[str, Callable[[Table, Path], object]] = {
    "many": many,
    "stability": resamples,
    "experiment": experiment,
}


def work(task: str, rows: Table, folder: Path) -> None:
    """Carry out a task and leave what it ends with, as a forked process does."""
    (folder / OUTCOME).write_bytes(pickle.dumps(TASKS[task](rows, folder)))


def start(task: str, rows: Table, folder: Path) -> BaseProcess:
    """Start a task in a process of its own."""
    folder.mkdir(exist_ok=True)
    process = multiprocessing.get_context("fork").Process(target=work, args=(task, rows, folder))
    process.start()
    return process


def outcome_of(task: str, rows: Table, folder: Path) -> bytes:
    """Run a task to its end and return what it ends with."""
    process = start(task, rows, folder)
    process.join()
    if process.exitcode:
        sys.exit(f"{task} ended with {process.exitcode}")
    return (folder / OUTCOME).read_bytes()


def lines_of(process: BaseProcess, journal: Path) -> int:
    """Wait for the first line of a journal, or the end of the run; return how many lines there are."""
    while process.is_alive() and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.001)
    return journal.read_bytes().count(b"\n")


def is_whole(journal: Path) -> bool:
    """Return whether all lines of a journal but the last are whole."""
    try:
        return all("key" in json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1])
    except ValueError:
        return False


def kill(task: str, rows: Table, root: Path, kills: int, moments: random.Random) -> int:
    """Kill a task so many times; return how many kills left damage or changed the outcome."""
    expected = outcome_of(task, rows, root / "whole")
    process = start(task, rows, root / "timed")
    lines_of(process, root / "timed" / JOURNAL)
    begun = time.perf_counter()
    process.join()
    life = time.perf_counter() - begun
    late = damaged = different = kept = 0
    for number in range(kills):
        folder = root / f"{task}-{number}"
        process = start(task, rows, folder)
        lines_of(process, folder / JOURNAL)
        time.sleep(moments.uniform(0.0, life))
        process.kill()
        process.join()
        late += process.exitcode == 0
        damaged += not is_whole(folder / JOURNAL)
        kept += (folder / JOURNAL).read_bytes().count(b"\n")
        different += outcome_of(task, rows, folder) != expected
        shutil.rmtree(folder)
        told = f"\r{task}: {number + 1} kills, {damaged} damaged, {different} different"
        print(told, end="", file=sys.stderr, flush=True)
    whole = (root / "whole" / JOURNAL).read_bytes().count(b"\n")
    print(file=sys.stderr)
    print(
        f"{task}: {kills} kills, {late} after the end; {kept / max(kills, 1):.1f} of {whole} lines were written then, "
    )
    print(f"  on average; {damaged} left damage, {different} outcomes differ", flush=True)
    for name in ("whole", "timed"):
        shutil.rmtree(root / name)
    return damaged + different


def main() -> None:
    """Kill, take up again, compare, and print the count of each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kills", type=int, default=100)
    options.add_argument("--rows", type=int, default=500)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=list(TASKS))
    given = options.parse_args()
    moments = random.Random(given.seed)
    rows = sample(network("alarm"), given.rows, seed=1)
    tasks = [task for task in TASKS if given.only in (None, task)]
    faults = 0
    with tempfile.TemporaryDirectory() as name:
        for place, task in enumerate(tasks):
            faults += kill(task, rows, Path(name), len(range(place, given.kills, len(tasks))), moments)
    print(f"{given.kills} kills in all, {given.kills - faults} identical outcomes")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
