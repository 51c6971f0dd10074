"""What starting costs: the command line, a first run that compiles the kernels, and a second one that does not.

Usage: python tools/bench/startup.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from apsl_rules import network
from apsl_rules.graphs.networks.sampling import sample

APSL = [sys.executable, "-c", "from apsl_rules.cli.entry import main; main()"]


def run(*words: str, **environment: str) -> tuple[float, str]:
    """Run the command line; return its seconds and what it said on standard error."""
    begun = perf_counter()
    done = subprocess.run(
        [*APSL, *words], check=True, capture_output=True, text=True, env={**os.environ, **environment}
    )
    return perf_counter() - begun, done.stderr.strip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no run that compiles: take the kernels that are stored")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = sample(network("alarm"), 1000, seed=7)
        lines = [",".join(map(str, rows.names)), *(",".join(map(str, row)) for row in rows.codes.T.tolist())]
        (folder / "alarm.csv").write_text("\n".join(lines) + "\n", "utf-8")
        learn = ("learn", str(folder / "alarm.csv"), "--target", "HR", "--depth", "2")
        cache = {} if given.quick else {"NUMBA_CACHE_DIR": str(folder / "kernels")}
        first = () if given.quick else (("apsl learn, first run", learn),)
        print("| command | seconds | says on standard error |\n|---|---|---|")
        for what, words in (("apsl --help", ("--help",)), *first, ("apsl learn, kernels compiled", learn)):
            seconds, said = run(*words, **cache)
            print(f"| {what} | {seconds:.1f} | {said or '-'} |", flush=True)


if __name__ == "__main__":
    main()
