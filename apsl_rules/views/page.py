"""Write the page of a part: one file with its script and style."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from apsl_rules._files import write_text
from apsl_rules.names import shown
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.page_data import page_data

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


def write_report(part: Part, path: str | Path, figures: EdgeFigures | None = None, *, values: bool = True) -> None:
    """Write the report of a part to a file, whole or not at all; ``figures`` are what a table says of its edges."""
    write_text(path, report_html(part, figures, values=values))


def report_html(part: Part, figures: EdgeFigures | None = None, *, values: bool = True) -> str:
    """Return the report of a part as HTML text: the same text for the same run, every time."""
    style = _asset("base.css") + _asset("viewer.css")
    script = _script()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    fillings = {
        "policy": policy,
        "title": escape(f"{shown(part.target)} · part of depth {part.depth}"),
        "style": style,
        "data": _json(page_data(part, figures, values=values)),
        "script": script,
    }
    pieces = _asset("viewer.html").split("@@")
    return "".join(fillings[piece] if number % 2 else piece for number, piece in enumerate(pieces))


@cache
def _script() -> str:
    """Return the script of the page, joined from its modules."""
    folder = files("apsl_rules.views") / "viewer"
    modules = {file.name.removesuffix(".js"): file for file in folder.iterdir() if file.name.endswith(".js")}
    return join_modules({name: file.read_text("utf-8") for name, file in modules.items()}, "start")


def _asset(name: str) -> str:
    return (files("apsl_rules.views") / "viewer" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(data: dict[str, Any]) -> str:
    """Write data so that nothing in it can end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
