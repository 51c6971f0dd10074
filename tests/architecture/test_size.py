"""The size of the house in figures: none may rise above what was reached, so that it does not creep back.

Lower a limit when a figure falls.
"""

from __future__ import annotations

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (ROOT / "apsl_rules", ROOT / "backends" / "apsl_backends", ROOT / "backends" / "apsl_published")
#: The limits; what the architecture aims at stands behind each.
LIMITS = {
    "files": 322,  # 205
    "lines": 67_350,  # 41,000
    "lines of the longest file": 555,  # 450
    "modules with one importer": 52,  # 40
    "modules hidden by a function of their name": 0,  # 0
}


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


def figures() -> dict[str, int]:
    """Return the figures of the code as it is."""
    lines = [len(path.read_text("utf-8").splitlines()) for path in sources().values()]
    return {
        "files": len(lines),
        "lines": sum(lines),
        "lines of the longest file": max(lines),
        "modules with one importer": len(with_one_importer()),
        "modules hidden by a function of their name": len(hidden()),
    }


@pytest.mark.parametrize("what", LIMITS)
def test_the_house_does_not_grow(what: str) -> None:
    """What was reached is kept."""
    assert figures()[what] <= LIMITS[what]
