"""Trace one real run of ``learn`` and say which files of our packages it enters, in which order.

Run it as ``python tools/call_walk.py``. With PYTHONPATH set to another checkout it traces the code there, so that two
versions are measured by one tool on one table.

A file counts as entered when one of its functions runs; importing a file does not count. A hop is a pair of files
(caller, callee): some function of the first calls one of the second, at whatever call that first happens. Calls through
other libraries (pluggy, attrs, functools) count as calls of ours.
Compiled kernels run outside Python and are not seen.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import attrs

PACKAGES = ("apsl_rules", "apsl_backends", "apsl_published")
#: The call that is walked: a table of 2,000 rows drawn from ALARM with a fixed seed.
CALL = 'learn(df, "HR", depth=2)'
NETWORK, ROWS, SEED, TARGET, DEPTH = "alarm", 2000, 1, "HR", 2


@attrs.frozen
class Walk:
    """The files that a run entered in their order, each with the function entered first, and the hops between them."""

    entered: dict[str, str]
    hops: frozenset[tuple[str, str]]
    crossings: int

    @property
    def summary(self) -> str:
        """Return the figures in one line."""
        return f"{len(self.entered)} files, {len(self.hops)} hops between files, {self.crossings:,} calls across files"


@attrs.define(eq=False)
class Tracer:
    """Notes calls between files that lie in the folders of some packages."""

    folders: dict[str, Path]
    entered: dict[str, str] = attrs.field(factory=dict)
    hops: set[tuple[str, str]] = attrs.field(factory=set)
    crossings: int = 0
    _names: dict[str, str | None] = attrs.field(factory=dict)
    _importing: int = 0

    def trace(self, call: Callable[[], object]) -> Walk:
        """Run a call and return where it went."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return Walk(self.entered, frozenset(self.hops), self.crossings)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        if event not in {"call", "return"}:
            return
        code = frame.f_code
        if code.co_name == "<module>":
            self._importing += 1 if event == "call" else -1
        elif event == "call" and not self._importing and (file := self._name(code.co_filename)):
            self._enter(frame, file)

    def _enter(self, frame: FrameType, file: str) -> None:
        above = [one.f_code.co_filename for one in _frames_above(frame)]
        caller = next((name for one in above if (name := self._name(one))), None)
        self.entered.setdefault(file, frame.f_code.co_qualname)
        if caller is not None and caller != file:
            self.hops.add((caller, file))
            self.crossings += 1

    def _name(self, file: str) -> str | None:
        """Return the path of a file within our packages, or None for one of others."""
        if file not in self._names:
            inside = [(name, folder) for name, folder in self.folders.items() if Path(file).is_relative_to(folder)]
            self._names[file] = next((f"{n}/{Path(file).relative_to(f).as_posix()}" for n, f in inside), None)
        return self._names[file]


def _frames_above(frame: FrameType) -> Iterator[FrameType]:
    """Return the frames that a frame was called from, the nearest first."""
    above = frame.f_back
    while above is not None:
        yield above
        above = above.f_back


def walk() -> Walk:
    """Trace the run that the documentation shows."""
    import pandas as pd

    from apsl_rules import learn

    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _draw(path)
        frame = pd.read_csv(path)
    return Tracer(_folders()).trace(lambda: learn(frame, TARGET, depth=DEPTH, hidden="excluded"))


def _draw(path: Path) -> None:
    """Draw the table in a process of its own, through the command line, which is the same in all versions."""
    program = [sys.executable, "-P", "-c", "import sys; from apsl_rules.cli.main import run; sys.exit(run())"]
    words = ["simulate", NETWORK, "--rows", str(ROWS), "--seed", str(SEED), "--quiet", "--out", str(path)]
    subprocess.run([*program, *words], check=True, stdout=subprocess.DEVNULL)


def _folders() -> dict[str, Path]:
    specs = {name: find_spec(name) for name in PACKAGES}
    return {name: Path(spec.origin).parent for name, spec in specs.items() if spec is not None and spec.origin}


def main() -> int:
    """Print the walk."""
    seen = walk()
    for file, function in seen.entered.items():
        print(f"{file}  {function}")
    print(seen.summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
