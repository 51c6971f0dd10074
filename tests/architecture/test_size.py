"""The size of the house in figures: none may rise above what was reached, so that it does not creep back.

Lower a limit when a figure falls.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType, ModuleType

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "apsl_rules", ROOT / "backends" / "apsl_backends", ROOT / "backends" / "apsl_published")
#: The limits; what the architecture aims at stands behind each.
LIMITS = {
    "files": 295,  # 205
    "lines": 67_960,  # 41,000
    "lines of the longest file": 558,  # 450
    "modules with one importer": 42,  # 40
    "modules hidden by a function of their name": 0,  # 0
    "questions of which class data are, outside": 19,  # 15
    "questions of which class data are, inside": 56,  # 40
    "files that one call enters": 58,  # 42
}
#: The rooms that hold data: their classes are asked about.
HOLDING = {"data", "engines"}


@cache
def sources() -> dict[str, Path]:
    """Return the file of each module of all packages."""
    found = {}
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imported(name: str) -> Iterator[str]:
    """Give the modules of all packages that a module imports, at whatever time."""
    for node in ast.walk(ast.parse(sources()[name].read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{one.name}" for one in node.names))


def with_one_importer() -> list[str]:
    """Return the modules that one other module imports, and not the room that they lie in."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name in sources():
        for other in imported(name):
            if other in sources() and other != name:
                importers[other].add(name)
    inner = [name for name, path in sources().items() if path.name != "__init__.py"]
    return [name for name in inner if len(importers[name]) == 1 and name.rpartition(".")[0] not in importers[name]]


def hidden() -> list[str]:
    """Return the modules whose room has a function or a class of their name, which takes their place."""
    found = []
    for name in sources():
        room, _, leaf = name.rpartition(".")
        if room and name != "apsl_rules.server.__main__":
            importlib.import_module(name)
            value = getattr(importlib.import_module(room), leaf)
            found += [] if isinstance(value, ModuleType) else [name]
    return found


def asked_for_class(*, inside: bool) -> int:
    """Count where code asks of which class of the rooms that hold data something is, in these rooms or outside."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sources().values()}
    holding = [path for path in trees if HOLDING.intersection(path.relative_to(ROOT).parts[:-1])]
    known = {one.name for path in holding for one in ast.walk(trees[path]) if isinstance(one, ast.ClassDef)}
    calls = (one for path in trees if (path in holding) is inside for one in ast.walk(trees[path]))
    return sum(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Name)
        and one.func.id == "isinstance"
        and any(isinstance(name, ast.Name) and name.id in known for name in ast.walk(one.args[1]))
        for one in calls
    )


def entered() -> int:
    """Count the files of all packages in which a function runs while a part is learned from a frame once more.

    What other tests left in a process counts too, so a new one is asked.
    """
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 600)
    columns = {"a": cause, "b": cause ^ (rng.random(600) < 0.1), "c": rng.integers(0, 3, 600)}
    frame = pd.DataFrame(columns | {"d": rng.integers(0, 2, 600)}).astype(str)
    learn(frame, "b", depth=2)
    seen = set[str]()

    def note(called: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add(called.f_code.co_filename)

    sys.setprofile(note)
    try:
        learn(frame, "b", depth=2)
    finally:
        sys.setprofile(None)
    return len(seen & {str(path) for path in sources().values()})


@cache
def figures() -> dict[str, int]:
    """Return the figures of the code as it is."""
    lines = [len(path.read_text("utf-8").splitlines()) for path in sources().values()]
    return {
        "files": len(lines),
        "lines": sum(lines),
        "lines of the longest file": max(lines),
        "modules with one importer": len(with_one_importer()),
        "modules hidden by a function of their name": len(hidden()),
        "questions of which class data are, outside": asked_for_class(inside=False),
        "questions of which class data are, inside": asked_for_class(inside=True),
        "files that one call enters": int(subprocess.check_output([sys.executable, __file__])),
    }


@pytest.mark.parametrize("what", LIMITS)
def test_the_house_does_not_grow(what: str) -> None:
    """What was reached is kept."""
    assert figures()[what] <= LIMITS[what]


if __name__ == "__main__":
    sys.stdout.write(str(entered()))
