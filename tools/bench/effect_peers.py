"""Effects beside those of DoWhy: the same graph, the same adjustment set, the same rows.

DoWhy estimates from a graph that is given, by linear regression on what its back-door criterion selects. For each table
the largest difference between its estimate and ours is printed, and the CPU time of both once all is loaded. DoWhy is
run in an environment of its own: python -m venv .venv-dowhy && .venv-dowhy/bin/pip install dowhy.

Usage: python tools/bench/effect_peers.py --python .venv-dowhy/bin/python [--quick]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

EDGES = (("a", "x"), ("b", "x"), ("a", "t"), ("b", "t"), ("x", "t"), ("t", "m"))


def draw(seed: int, rows: int, *, is_mixed: bool) -> pd.DataFrame:
    """Draw a confounded table of numbers; in a mixed one the cause has two values."""
    random = np.random.default_rng(seed)
    a, b = random.normal(size=rows), random.normal(size=rows)
    x = 0.6 * a - 0.5 * b + random.normal(size=rows)
    if is_mixed:
        x = (x > 0).astype(float)
    t = 0.5 * x + 0.7 * a + 0.4 * b + random.normal(size=rows)
    return pd.DataFrame({"a": a, "b": b, "x": x, "t": t, "m": t + random.normal(size=rows)})


def theirs(folder: Path) -> None:
    """Estimate the effect of x on t in every table of a folder with DoWhy; print a line of JSON for each."""
    warnings.simplefilter("ignore")
    from dowhy import CausalModel

    graph = "digraph {" + " ".join(f"{tail} -> {head};" for tail, head in EDGES) + "}"
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path)
        begun = process_time()
        model = CausalModel(data=frame, treatment="x", outcome="t", graph=graph)
        selected = model.identify_effect(proceed_when_unidentifiable=True)
        found = model.estimate_effect(selected, method_name="backdoor.linear_regression", test_significance=False)
        seconds = process_time() - begun
        held = sorted(selected.get_backdoor_variables())
        print(json.dumps({"name": path.stem, "estimate": float(found.value), "held": held, "seconds": seconds}))


def ours(folder: Path) -> list[dict[str, Any]]:
    """Estimate the same effects."""
    from apsl_rules import Dag, effect

    nodes = ("a", "b", "x", "t", "m")
    graph = Dag({node: [tail for tail, head in EDGES if head == node] for node in nodes})
    rows = []
    for path in sorted(folder.glob("*.csv")):
        frame = pd.read_csv(path)
        begun = process_time()
        found = effect(graph, "x", "t", data=frame)
        seconds = process_time() - begun
        (one,) = found.possible
        interval = one.interval(found.main)
        estimate = None if interval is None else interval.estimate
        rows.append({"name": path.stem, "estimate": estimate, "held": list(one.adjustment), "seconds": seconds})
    return rows


def main() -> None:
    """Write the tables, ask both, and print the largest difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", help="that of an environment with dowhy")
    parser.add_argument("--quick", action="store_true", help="2 tables of each kind instead of 10")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone is not None:
        theirs(given.alone)
        return
    if given.python is None:
        parser.error("give --python .venv-dowhy/bin/python, of an environment with dowhy")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for kind, seed in ((kind, seed) for kind in ("mixed", "numbers") for seed in range(2 if given.quick else 10)):
            draw(seed, 2000, is_mixed=kind == "mixed").to_csv(folder / f"{kind}-{seed}.csv", index=False)
        words = [given.python, __file__, "--alone", str(folder)]
        done = subprocess.run(words, check=True, capture_output=True, text=True)
        their_rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        our_rows = ours(folder)
    differences: dict[str, list[float]] = {}
    for one, other in zip(our_rows, their_rows, strict=True):
        if (one["name"], one["held"]) != (other["name"], other["held"]):
            sys.exit(f"{one['name']}: {one['held']} is held here and {other['held']} there")
        differences.setdefault(one["name"].partition("-")[0], []).append(abs(one["estimate"] - other["estimate"]))
    seconds = [sorted(row["seconds"] for row in rows)[len(rows) // 2] for rows in (our_rows, their_rows)]
    for kind, found in differences.items():
        print(f"{kind}, {len(found)} tables of 2,000 rows, largest difference from DoWhy: {max(found):.1e}")
    print(f"CPU time for an effect against DoWhy, median: {seconds[0] / seconds[1]:.2g} ×")


if __name__ == "__main__":
    main()
