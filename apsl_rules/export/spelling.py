"""Spell labels for other programs, and import those programs."""

from __future__ import annotations

import importlib
import json
import re
from typing import Any

from apsl_rules._documents import DocumentError, json_data, label, node_of
from apsl_rules.errors import ApslError, MissingPackageError
from apsl_rules.names import Node

_PREFIX = "json:"
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff"
_PACKED = re.compile("(?:%[0-9A-Fa-f]{2})+")


def spell_label(node: Node) -> str:
    """Return the name of a label.

    >>> spell_label("a b"), spell_label(3), spell_label("json:3")
    ('a b', 'json:3', 'json:"json:3"')
    """
    if isinstance(node, str) and not node.startswith(_PREFIX) and _is_unicode(node):
        return node
    return _PREFIX + json.dumps(label(node))


def read_label(name: str) -> Node:
    """Return the label of a name; a name that only looks like JSON is a text label.

    >>> read_label("a b"), read_label("json:3"), read_label("json:?")
    ('a b', 3, 'json:?')
    """
    if not name.startswith(_PREFIX):
        return name
    try:
        return node_of(json_data(name.removeprefix(_PREFIX)))
    except (DocumentError, ApslError):
        return name


def escape_signs(name: str, unsafe: str = "") -> str:
    r"""Escape control characters and the ``unsafe`` signs (a regular expression's set), reversibly.

    >>> escape_signs("a b\n", " "), escape_signs("100% b"), escape_signs("%41"), escape_signs("")
    ('a%20b%0A', '100% b', '%2541', '%')
    """
    if name in {"", "%"}:
        return "%25" if name else "%"
    signs = re.compile(f"[{_CONTROLS}{unsafe}]|%(?=[0-9A-Fa-f]{{2}})")
    return signs.sub(lambda sign: "".join(f"%{byte:02X}" for byte in sign.group().encode("utf-8")), name)


def unescape_signs(name: str) -> str:
    """Return the name that was packed.

    >>> unescape_signs("a%20b"), unescape_signs("100% b"), unescape_signs("%")
    ('a b', '100% b', '')
    """
    return "" if name == "%" else _PACKED.sub(_signs, name)


def _signs(run: re.Match[str]) -> str:
    try:
        return bytes.fromhex(run.group().replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return run.group()


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def peer(module: str, package: str) -> Any:
    """Import a module of another package, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        message = f"{package} is not installed; install it with: pip install {package}"
        raise MissingPackageError(message) from error
