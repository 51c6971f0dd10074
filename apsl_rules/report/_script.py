"""The modules of the page joined into one script, since a page that loads nothing can import nothing.

Each module becomes a function that is called once and returns what the module exports, so its other names stay its own.
Two forms are understood, one for each direction: ``import { a, b } from './other.js';`` and ``export const a = ...``.
Anything else is refused, rather than joined wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_IMPORT = re.compile(r"^import \{([\w\s,]*)\} from '\./([\w-]+)\.js';\n", re.MULTILINE)
_EXPORT = re.compile(r"^export const (\w+) =", re.MULTILINE)
_LEFT_OVER = re.compile(r"^\s*(?:import|export)\b.*", re.MULTILINE)


class ModuleError(ValueError):
    """A module of the page that cannot be joined with the others."""


def join_modules(sources: Mapping[str, str], first: str) -> str:
    """Return one script from modules by name: the first one, after all that it imports."""
    exports = {name: tuple(_EXPORT.findall(text)) for name, text in sources.items()}
    joined = [_wrap(name, sources[name], exports) for name in _in_order(sources, first)]
    return "(() => {\n'use strict';\n" + "".join(joined) + "})();\n"


def _in_order(sources: Mapping[str, str], first: str) -> list[str]:
    """Return the modules that one needs, each after those that it imports itself."""
    found: list[str] = []

    def add(name: str, importers: tuple[str, ...]) -> None:
        if name in importers:
            message = f"modules import each other: {' -> '.join((*importers[importers.index(name) :], name))}"
            raise ModuleError(message)
        if name not in sources:
            message = f"{importers[-1]}.js imports {name}.js, which is not there"
            raise ModuleError(message)
        if name not in found:
            for _, other in _IMPORT.findall(sources[name]):
                add(other, (*importers, name))
            found.append(name)

    add(first, ())
    return found


def _wrap(name: str, text: str, exports: Mapping[str, tuple[str, ...]]) -> str:
    """Return a module as a function call that gives what it exports."""

    def bind(found: re.Match[str]) -> str:
        names = [one.strip() for one in found[1].split(",") if one.strip()]
        for one in names:
            if one not in exports[found[2]]:
                message = f"{name}.js imports {one} from {found[2]}.js, which does not export it"
                raise ModuleError(message)
        return f"const {{ {', '.join(names)} }} = {_variable(found[2])};\n"

    body = _EXPORT.sub(r"const \1 =", _IMPORT.sub(bind, text))
    left_over = _LEFT_OVER.search(body)
    if left_over is not None:
        message = f"{name}.js has a form that is not joined: {left_over[0].strip()}"
        raise ModuleError(message)
    given = f"{{ {', '.join(exports[name])} }}" if exports[name] else "{}"
    return f"const {_variable(name)} = (() => {{\n{body.rstrip()}\nreturn {given};\n}})();\n"


def _variable(name: str) -> str:
    return f"module_{name.replace('-', '_')}"
