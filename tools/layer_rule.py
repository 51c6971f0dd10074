"""Say which part of the code may import which, and find the imports that break it.

The rule is the data at the top of this file. Each contract is a function from the import graph to the sentences that
say what breaks it; no sentence means that the contract is kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from import_graph import BACKENDS, BASE, CORE, FRONT, PUBLISHED, Graph, Import

#: Each room of apsl_rules, lowest first, with the rooms that it may import.
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    BASE: (),
    "evidence": (BASE,),
    "data": (BASE,),
    "graphs": (BASE, "data"),
    "oracles": (BASE, "evidence"),
    "rules": (BASE, "evidence"),
    "environments": (BASE, "evidence", "data", "oracles"),
    "neighbours": (BASE, "evidence", "data", "graphs", "oracles", "rules"),
    "directions": (BASE, "evidence", "oracles", "rules"),
    "parts": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours"),
    "plugins": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts"),
    "learning": (BASE, "evidence", "data", "graphs", "oracles", "rules", "environments", "neighbours", "directions",
                 "parts", "plugins"),
    "effects": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts", "plugins", "learning"),
    "export": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts"),
    "asking": (BASE, "evidence", "graphs", "rules", "directions", "parts", "plugins", "learning"),
    "checking": (BASE, "evidence", "data", "graphs", "oracles", "rules", "parts", "plugins", "learning", "export"),
    "attribution": (BASE, "evidence", "data", "rules", "environments", "parts", "learning"),
    "views": (BASE, "evidence", "data", "graphs", "oracles", "rules", "environments", "neighbours", "parts", "plugins",
              "learning", "effects", "asking", "checking", "attribution"),
    "evaluation": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts", "plugins", "learning",
                   "effects"),
    "server": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts", "plugins", "learning",
               "effects", "asking", "checking"),
    "app": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts", "plugins", "learning",
            "effects", "asking", "checking", "views", "server"),
    "cli": (BASE, "evidence", "data", "graphs", "oracles", "rules", "neighbours", "parts", "plugins", "learning",
            "effects", "export", "asking", "checking", "attribution", "views", "evaluation", "server", "app"),
}  # fmt: skip
#: Modules that may import further rooms, but only inside functions or for type hints.
LAZILY = {
    "apsl_rules._renamed": ("graphs",),
    "apsl_rules.showing": ("views",),
    "apsl_rules.attribution.result": ("views",),
    "apsl_rules.checking.result": ("views",),
    "apsl_rules.parts.shortcuts": ("plugins", "effects", "export", "views", "asking"),
    "apsl_rules.rules.conflicts": ("parts",),
    "apsl_rules.effects.fitted": ("export",),
    "apsl_rules.effects.queries": ("views",),
}
#: The layers of apsl_backends, highest first. A room imports lower layers only, never its own.
BACKEND_LAYERS = (
    ("plugin",),
    ("learners",),
    ("search", "finders", "answers"),
    ("scores", "independence"),
    ("engines",),
    ("kernels",),
)
#: Rooms of apsl_backends that apsl_published imports.
FOR_PUBLISHED = ("finders", "scores", "search")
#: Rooms of apsl_rules that no backend imports.
NOT_FOR_BACKENDS = ("app", "cli", "evaluation", "server")
#: Rooms that import only the standard library and these, directly and through whatever they import.
PURE = {"rules": frozenset({"attrs"}), "evidence": frozenset({"attrs"})}
#: Libraries that only one room imports.
ONLY_IN = {
    "anyio": "server",
    "click": "cli",
    "ctypes": "kernels",
    "mcp": "server",
    "pluggy": "plugins",
    "pydantic": "server",
    "rich": "cli",
    "starlette": "app",
    "uvicorn": "app",
}
#: Modules that others import by themselves because their room does not load them: heavy ones, and tables of functions.
IMPORTED_BY_THEMSELVES = frozenset(
    {
        "apsl_rules.data.counts",
        "apsl_rules.data.duplicates",
        "apsl_rules.data.moments",
        "apsl_rules.export.formats",
        "apsl_rules.views.page",
        "apsl_rules.views.svg",
        "apsl_rules.app.serving",
        "apsl_rules.server.protocol",
    }
)
#: Private modules of apsl_rules that a backend uses, since both packages come in one distribution.
SHARED_PRIVATE = frozenset(
    {
        ("apsl_backends.answers.cached_oracle", "apsl_rules._files"),
        ("apsl_backends.answers.cached_oracle", "apsl_rules._documents"),
    }
)
#: The most files that may lie beside the rooms of apsl_rules, ``__init__.py`` included.
MOST_BESIDE = 16


def upward_imports(graph: Graph) -> Iterator[str]:
    """Find imports of a room of apsl_rules that the importing room may not use, and rooms without a rule."""
    yield from (f"room {room} has no rule" for room in graph.rooms(CORE) if room not in {FRONT, *MAY_IMPORT})
    for one in _inside(graph, CORE):
        room, other = graph.room(one.importer), graph.room(one.module)
        lazily = other in LAZILY.get(one.importer, ()) and one.kind != "eager"
        if room not in {FRONT, other} and other not in MAY_IMPORT.get(room, ()) and not lazily:
            yield _sentence(one, f"{room} may not import {other}")


def upward_backend_imports(graph: Graph) -> Iterator[str]:
    """Find imports of apsl_backends that do not lead to a lower layer, and rooms without a layer."""
    level = {room: -place for place, layer in enumerate(BACKEND_LAYERS) for room in layer}
    yield from (f"room {room} has no layer" for room in graph.rooms(BACKENDS) if room not in {FRONT, *level})
    for one in _inside(graph, BACKENDS):
        room, other = graph.room(one.importer), graph.room(one.module)
        if room not in {FRONT, other} and level.get(other, 0) >= level.get(room, 0):
            yield _sentence(one, f"{room} may not import {other}")


def imports_across_packages(graph: Graph) -> Iterator[str]:
    """Find imports of a plugin by apsl_rules or by another plugin, and of rooms that no plugin may use."""
    for one in graph.imports:
        importer, module = one.importer.partition(".")[0], one.module.partition(".")[0]
        if importer == CORE and module in {BACKENDS, PUBLISHED}:
            yield _sentence(one, "the core may not import a backend")
        if (importer, module) == (BACKENDS, PUBLISHED):
            yield _sentence(one, "the backends may not import the published algorithms")
        if one.module in graph.modules and importer != module:
            room = graph.room(one.module)
            if module == CORE and room in NOT_FOR_BACKENDS:
                yield _sentence(one, f"a backend may not import {room}")
            if (importer, module) == (PUBLISHED, BACKENDS) and room not in FOR_PUBLISHED:
                yield _sentence(one, f"the published algorithms may not import {room}")


def impure_imports(graph: Graph) -> Iterator[str]:
    """Find libraries that a pure room imports, or that come with what it imports.

    What ``LAZILY`` allows is not followed: it is loaded when a view is asked for, never by the room itself.
    """
    for room, allowed in PURE.items():
        reached = [name for name in graph.modules if name.startswith(CORE) and graph.room(name) == room]
        for name in reached:
            for one in (one for one in graph.imports if one.importer == name and one.kind != "typing"):
                if (
                    one.kind == "lazy"
                    and one.module in graph.modules
                    and graph.room(one.module) in LAZILY.get(name, ())
                ):
                    continue
                if one.module in graph.modules:
                    reached += [] if one.module in reached else [one.module]
                elif one.module.partition(".")[0] not in allowed | sys.stdlib_module_names:
                    yield _sentence(one, f"{room} is pure")


def libraries_elsewhere(graph: Graph) -> Iterator[str]:
    """Find libraries that belong to one room and are imported in another."""
    for one in graph.outer:
        library = one.module.partition(".")[0]
        if library in ONLY_IN and graph.room(one.importer) != ONLY_IN[library]:
            yield _sentence(one, f"only {ONLY_IN[library]} may import {library}")


def private_imports(graph: Graph) -> Iterator[str]:
    """Find private modules that are imported from outside their folder."""
    for one in graph.inner:
        module, folder = graph.modules[one.module], graph.modules[one.importer].folder
        inside = f"{folder}.".startswith(f"{module.folder}.")
        if module.is_private and not inside and (one.importer, one.module) not in SHARED_PRIVATE:
            yield _sentence(one, f"{one.module} is private to {module.folder}")


def crowded_front(graph: Graph) -> Iterator[str]:
    """Find whether too many files lie beside the rooms of apsl_rules."""
    rooms = graph.rooms(CORE)
    count = rooms.get(BASE, 0) + rooms.get(FRONT, 0)
    if count > MOST_BESIDE:
        yield f"{count} files lie beside the rooms of {CORE}; at most {MOST_BESIDE} may"


def unlisted_names(graph: Graph) -> Iterator[str]:
    """Find names that a room's ``__init__.py`` has, or others take from it, and that its ``__all__`` lacks."""
    doors = {name: door for name, door in graph.modules.items() if door.is_door and name.partition(".")[0] == CORE}
    for name, door in doors.items():
        yield from (f"__all__ of {name} lacks {one}, defined there" for one in door.defined if one not in door.public)
    for one in graph.inner:
        for name in (one.importer, one.module):
            is_kept = name == one.module or one.kind != "lazy"
            if name in doors and is_kept and one.name and one.name not in doors[name].public:
                yield _sentence(one, f"__all__ of {name} lacks {one.name}")


def imports_past_the_door(graph: Graph) -> Iterator[str]:
    """Find modules of a room of apsl_rules that others import instead of the room or one of its inner folders.

    The package's own ``__init__.py`` and ``parts/shortcuts.py`` load single files when they are first needed.
    """
    for one in graph.inner:
        module, room = graph.modules[one.module], graph.room(one.module)
        is_inner = not module.is_door and module.name.startswith(CORE) and room != BASE
        is_at_home = one.importer.startswith(CORE) and room == graph.room(one.importer)
        is_exempt = one.importer == CORE or room in LAZILY.get(one.importer, ()) or one.module in IMPORTED_BY_THEMSELVES
        if is_inner and not is_at_home and not is_exempt:
            yield _sentence(one, f"import from {module.folder} instead of {one.module}")


CONTRACTS: tuple[Callable[[Graph], Iterator[str]], ...] = (
    upward_imports,
    upward_backend_imports,
    imports_across_packages,
    impure_imports,
    libraries_elsewhere,
    private_imports,
    crowded_front,
    unlisted_names,
    imports_past_the_door,
)


def _inside(graph: Graph, package: str) -> Iterator[Import]:
    """Return the imports from one module of a package to another one of it."""
    return (one for one in graph.inner if {one.importer.partition(".")[0], one.module.partition(".")[0]} == {package})


def _sentence(one: Import, rule: str) -> str:
    return f"{one.importer}:{one.line} imports {one.module} ({one.kind}): {rule}"
