"""The report: one HTML file with a part, its run and its proofs, which loads nothing.

The file carries its own policy: no address may be loaded, and no script or style may run but ours, known by its hash.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from apsl_rules._files import write_text
from apsl_rules.names import shown
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.report._script import join_modules
from apsl_rules.report.data import page_data


def write_report(part: Part, path: str | Path, figures: EdgeFigures | None = None) -> None:
    """Write the report of a part to a file, whole or not at all; ``figures`` are what a table says of its edges."""
    write_text(path, report_html(part, figures))


def report_html(part: Part, figures: EdgeFigures | None = None) -> str:
    """Return the report of a part as HTML text: the same text for the same run, every time."""
    style = _asset("viewer.css")
    script = _script()
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    )
    fillings = {
        "policy": policy,
        "title": escape(f"{shown(part.target)} · part of depth {part.depth}"),
        "style": style,
        "data": _json(page_data(part, figures)),
        "script": script,
    }
    pieces = _asset("viewer.html").split("@@")
    return "".join(fillings[piece] if number % 2 else piece for number, piece in enumerate(pieces))


@cache
def _script() -> str:
    """Return the script of the page, joined from its modules."""
    folder = files("apsl_rules.report") / "viewer"
    modules = {file.name.removesuffix(".js"): file for file in folder.iterdir() if file.name.endswith(".js")}
    return join_modules({name: file.read_text("utf-8") for name, file in modules.items()}, "start")


def _asset(name: str) -> str:
    return (files("apsl_rules.report") / "viewer" / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _json(data: dict[str, Any]) -> str:
    """Write data so that nothing in it can end the element it stands in."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
