"""Run all benchmarks and write their tables into one Markdown page, build/bench.md.

Usage: python tools/bench/suite.py [FOLDER]; the benchmark networks and samples are in FOLDER, ../shared unless given.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT.parent / "shared").resolve()
PAGES = (
    ("The rules: fixpoints fed visit by visit", "engine.py", None),
    ("Nodes visited on a sparse graph of 1,000 nodes", "visits.py", None),
    ("One G² test against a plain C row loop", "kernels.py", None),
    ("Whole graphs and parts against peers", "peers.py", "."),
    ("Wide tables", "wide.py", None),
    ("Drawing rows from networks", "simulate.py", None),
    ("Many targets", "many.py", None),
    ("Resamples", "stability.py", None),
    ("Start-up", "startup.py", None),
    ("Other names of the columns", "renaming.py", None),
    ("Accuracy on small samples", "accuracy.py", "data"),
    ("Every learner", "learners.py", "data"),
)


def main() -> None:
    """Run every script in turn; one that fails ends the run with its message."""
    lines = [f"# Benchmarks\n\n{platform.processor() or platform.machine()}, Python {platform.python_version()}\n"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "bench")}
    for title, script, folder in PAGES:
        command = [sys.executable, str(ROOT / "tools" / "bench" / script)]
        command += [] if folder is None else [str(FOLDER / folder)]
        print(f"## {title}\n", flush=True)
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
        print(done.stdout, flush=True)
        lines.append(f"## {title}\n\n`python tools/bench/{script}`\n\n{done.stdout}")
    page = ROOT / "build" / "bench.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(lines), "utf-8")
    print(f"written: {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
