"""What starting costs in CPU seconds, beside importing numpy and pandas: the first command and later ones.

The package is installed by pip into a fresh environment, and every command runs there, with an empty home and no
compiler on the path. Later commands are the least of several runs, taken in turn with the yardstick.

Usage: python tools/bench/startup.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from apsl_rules import network
from apsl_rules.graphs.networks.sampling import sample

ROOT = Path(__file__).parents[2]
YARDSTICK = ("python", "-c", "import numpy, pandas")


def install(folder: Path) -> Path:
    """Install the package as a wheel into a fresh environment; return the folder of its programs."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    pip = [str(programs / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    subprocess.run([*pip, "--constraint", str(ROOT / "constraints.txt"), str(ROOT)], check=True)
    return programs


def cpu_seconds(program: Path, *words: str, **environment: str) -> float:
    """Run a program and return the CPU seconds that it took."""
    process = subprocess.Popen([str(program), *words], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{program.name} {' '.join(words)} failed")
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="three runs of each command instead of ten")
    given = parser.parse_args()
    times = 3 if given.quick else 10
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = sample(network("alarm"), 1000, seed=7)
        lines = [",".join(map(str, rows.names)), *(",".join(map(str, row)) for row in rows.codes.T.tolist())]
        (folder / "alarm.csv").write_text("\n".join(lines) + "\n", "utf-8")
        programs = install(folder)
        (folder / "home").mkdir()
        empty = {"PATH": str(programs), "HOME": str(folder / "home")}
        learn = ("apsl", "learn", str(folder / "alarm.csv"), "--target", "HR")
        commands = (YARDSTICK, ("apsl", "--help"), learn, (*learn, "--depth", "2"))
        first = cpu_seconds(programs / learn[0], *learn[1:], "--depth", "2", **empty)
        least = [float("inf")] * len(commands)
        for _ in range(times):
            for place, command in enumerate(commands):
                least[place] = min(least[place], cpu_seconds(programs / command[0], *command[1:], **empty))
        unit = least[0]
        print("| command | CPU seconds | of importing numpy and pandas |\n|---|---|---|")
        print(f"| apsl learn --depth 2, the first after installing | {first:.2f} | {first / unit:.2f} |")
        for words, seconds in zip(commands, least, strict=True):
            print(f"| {' '.join(words).replace(str(folder), '')} | {seconds:.2f} | {seconds / unit:.2f} |")


if __name__ == "__main__":
    main()
