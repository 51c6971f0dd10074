"""Read who imports whom in our packages from the source text, without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

#: "eager" imports run when a file is imported, "lazy" ones inside a function, "typing" ones never.
Kind: TypeAlias = Literal["eager", "lazy", "typing"]
CORE, BACKENDS, PUBLISHED = "apsl_rules", "apsl_backends", "apsl_published"
#: The room of the files that lie beside the rooms, and that of a package's own ``__init__.py``.
BASE, FRONT = "base", "front"


@attrs.frozen
class Module:
    """A source file: its dotted name, where it is, its ``__all__``, names that it defines, and what it says it is."""

    name: str
    path: Path
    public: frozenset[str]
    defined: tuple[str, ...]
    summary: str

    @property
    def is_door(self) -> bool:
        """Return whether this is the ``__init__.py`` of a folder."""
        return self.path.name == "__init__.py"

    @property
    def folder(self) -> str:
        """Return the dotted name of the folder that the file lies in."""
        return self.name if self.is_door else self.name.rpartition(".")[0]

    @property
    def is_private(self) -> bool:
        """Return whether the name begins with an underscore."""
        return self.name.rpartition(".")[2].startswith("_")


@attrs.frozen
class Import:
    """One name that a file imports: from which module, at which line, and when."""

    importer: str
    module: str
    name: str
    line: int
    kind: Kind


@attrs.frozen
class Graph:
    """All modules of our packages by name, and all their imports in the order of the text."""

    modules: dict[str, Module]
    imports: tuple[Import, ...]

    @property
    def inner(self) -> Iterator[Import]:
        """Return the imports of our own modules."""
        return (one for one in self.imports if one.module in self.modules)

    @property
    def outer(self) -> Iterator[Import]:
        """Return the imports of other libraries."""
        return (one for one in self.imports if one.module not in self.modules)

    def room(self, module: str) -> str:
        """Return the room that a module lies in."""
        package, _, rest = module.partition(".")
        first = rest.partition(".")[0]
        if not rest:
            return FRONT
        has_room = self.modules[f"{package}.{first}"].is_door
        return first if has_room or package != CORE else BASE

    def rooms(self, package: str) -> dict[str, int]:
        """Return the rooms of a package, each with the number of its files."""
        inside = [self.room(name) for name in sorted(self.modules) if name.partition(".")[0] == package]
        return {room: inside.count(room) for room in dict.fromkeys(inside)}

    def between(self, package: str) -> set[tuple[str, str]]:
        """Return which room of a package imports which other one, at whatever time."""
        ends = [(one.importer, one.module) for one in self.inner]
        pairs = {(self.room(x), self.room(y)) for x, y in ends if _package(x) == _package(y) == package}
        return {(x, y) for x, y in pairs if x != y}


def read_graph(root: Path) -> Graph:
    """Read all packages of a checkout."""
    modules, trees = {}, {}
    for folder in (root / CORE, root / "backends" / BACKENDS, root / "backends" / PUBLISHED):
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            tree = ast.parse(path.read_text("utf-8"))
            summary = (ast.get_docstring(tree) or "").partition("\n")[0]
            modules[name], trees[name] = Module(name, path, _public(tree), _defined(tree), summary), tree
    found = (one for name, tree in trees.items() for one in _imports(modules, name, tree.body, "eager"))
    return Graph(modules, tuple(found))


def _package(module: str) -> str:
    return module.partition(".")[0]


def _public(tree: ast.Module) -> frozenset[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(x, ast.Name) and x.id == "__all__" for x in node.targets):
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def _defined(tree: ast.Module) -> tuple[str, ...]:
    """Return the functions, classes and constants that a file defines for others."""
    named = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    names = [*named, *(target.id for target in targets if isinstance(target, ast.Name))]
    return tuple(name for name in names if not name.startswith("_"))


def _imports(modules: dict[str, Module], importer: str, body: Iterable[ast.AST], kind: Kind) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            yield from (Import(importer, alias.name, "", node.lineno, kind) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(modules[importer], node)
            for alias in node.names:
                yield Import(importer, _home(modules, module, alias.name), alias.name, node.lineno, kind)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _imports(modules, importer, node.body, "typing" if kind == "eager" else kind)
            yield from _imports(modules, importer, node.orelse, kind)
        else:
            inner: Kind = "lazy" if kind == "eager" and isinstance(node, _FUNCTIONS) else kind
            yield from _imports(modules, importer, ast.iter_child_nodes(node), inner)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _absolute(importer: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = importer.folder.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])])


def _home(modules: dict[str, Module], module: str, name: str) -> str:
    """Return the module that a name comes from: a public name hides a file of the same name."""
    door = modules.get(module)
    is_public = door is not None and name in door.public
    return module if is_public or f"{module}.{name}" not in modules else f"{module}.{name}"


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
