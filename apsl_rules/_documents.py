"""Documents in JSON and TOML: labels of nodes, schemas, and sentences on what is wrong in them."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from math import isfinite
from numbers import Integral
from pathlib import Path
from sys import float_info
from typing import Any, TypeAlias

from apsl_rules.errors import InvalidArgumentError, PartFileError
from apsl_rules.names import Node, near_file, path_text


def label(node: Any) -> Any:
    """Return a label as JSON data.

    >>> label(("a", 1))
    {'tuple': ['a', 1]}
    """
    if isinstance(node, tuple):
        return {"tuple": [label(part) for part in node]}
    if node is None or isinstance(node, str | bool) or (isinstance(node, float) and isfinite(node)):
        return node
    if isinstance(node, Integral):
        return int(node)
    message = f"the label {node!r} is a {type(node).__name__}; only text, numbers and tuples of these can be saved"
    raise InvalidArgumentError(message)


def node_of(data: Any) -> Node:
    """Return the label that JSON data stands for.

    >>> node_of({'tuple': ['a', 1]})
    ('a', 1)
    """
    if isinstance(data, dict) and list(data) == ["tuple"] and isinstance(data["tuple"], list):
        return tuple(node_of(part) for part in data["tuple"])
    if data is None or isinstance(data, str | int | float):
        return data
    message = f"{data!r} is no node label; labels are text, numbers or {{'tuple': [...]}}"
    raise PartFileError(message)


Schema: TypeAlias = dict[str, Any]

_KINDS: dict[str, Any] = {
    "null": lambda one: one is None,
    "boolean": lambda one: isinstance(one, bool),
    "integer": lambda one: isinstance(one, int) and not isinstance(one, bool),
    "number": lambda one: isinstance(one, int | float) and not isinstance(one, bool) and abs(one) <= float_info.max,
    "string": lambda one: isinstance(one, str),
    "array": lambda one: isinstance(one, list),
    "object": lambda one: isinstance(one, dict),
}


@lru_cache
def schema(name: str) -> Schema:
    """Read one of our schemas by name."""
    read: Schema = json.loads((files("apsl_specs") / "schemas" / f"{name}.json").read_text("utf-8"))
    return read


def fault(data: Any, rules: Schema, root: Schema | None = None, place: str = "") -> str | None:
    """Return what is wrong with a document and where, or None if it satisfies the schema.

    >>> fault({"a": [1, "x"]}, {"type": "object", "properties": {"a": {"items": {"type": "integer"}}}})
    "a.1 is 'x', not an integer"
    """
    root = root or rules
    if "$ref" in rules:
        return fault(data, root["$defs"][rules["$ref"].rpartition("/")[2]], root, place)
    if "anyOf" in rules:
        faults = [fault(data, one, root, place) for one in rules["anyOf"]]
        return None if None in faults else faults[-1]
    return _wrong_kind(data, rules, place) or _wrong_branch(data, rules, root, place)


def _wrong_kind(data: Any, rules: Schema, place: str) -> str | None:
    """Compare a value by itself: its kind, the values allowed, its size."""
    here, seen = place or "the document", repr(data)[:60]
    kinds = rules.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_KINDS[kind](data) for kind in kinds):
        article = "an" if kinds[0][0] in "aeiou" else "a"
        return f"{here} is {seen}, not {article} {' or '.join(kinds)}"
    allowed = rules["enum"] if "enum" in rules else [rules["const"]] if "const" in rules else None
    if allowed is not None and not any(type(data) is type(one) and data == one for one in allowed):
        return f"{here} is {seen}, not {' or '.join(map(repr, allowed))}"
    if "minimum" in rules and data < rules["minimum"]:
        return f"{here} is {seen}, below {rules['minimum']}"
    if isinstance(data, list) and not rules.get("minItems", 0) <= len(data) <= rules.get("maxItems", len(data)):
        return f"{here} has {len(data)} items"
    return None


def _wrong_branch(data: Any, rules: Schema, root: Schema, place: str) -> str | None:
    """Compare the branches of an array or an object."""
    branches: list[tuple[Any, Schema]] = []
    if isinstance(data, list) and "items" in rules:
        branches = [(at, rules["items"]) for at in range(len(data))]
    if isinstance(data, dict):
        missing = [key for key in rules.get("required", ()) if key not in data]
        if missing:
            return f"{place or 'the document'} has no {missing[0]!r}"
        known, further = rules.get("properties", {}), rules.get("additionalProperties", True)
        strange = [key for key in data if key not in known]
        if strange and further is False:
            return f"{place or 'the document'} has an unknown {strange[0]!r}"
        branches = [(key, known[key]) for key in data if key in known]
        branches += [(key, further) for key in strange if isinstance(further, dict)]
    for key, expected in branches:
        found = fault(data[key], expected, root, f"{place}.{key}" if place else str(key))
        if found is not None:
            return found
    return None


_DEEPEST = 100
_TOO_DEEP = "it is nested too deeply"
_MANY_DOTS = re.compile(r"(?:\.[A-Za-z0-9_-]+){1000}")


class DocumentError(ValueError):
    """A text is not what it should be; the message is the reason alone, without the name of the file."""


def json_data(text: str) -> Any:
    """Read JSON text.

    >>> json_data('{"a": [1, null]}')
    {'a': [1, None]}
    """
    return _read(json.loads, text)


def toml_data(text: str) -> dict[str, Any]:
    """Read TOML text.

    >>> toml_data("a = [1, 2]")
    {'a': [1, 2]}
    """
    if _MANY_DOTS.search(text):  # the parser would take minutes over it
        raise DocumentError(_TOO_DEEP)
    data: dict[str, Any] = _read(tomllib.loads, text)
    level: list[Any] = [data]
    for _ in range(_DEEPEST):
        level = [one for outer in level for one in (outer.values() if isinstance(outer, dict) else outer)]
        level = [one for one in level if isinstance(one, dict | list)]
    if level:  # keys with many dots nest without end
        raise DocumentError(_TOO_DEEP)
    return data


def file_text(path: str | Path) -> str:
    """Read a file of UTF-8 text."""
    try:
        return Path(path_text(path, "the file to read")).read_text("utf-8")
    except UnicodeDecodeError as error:
        message = f"byte {error.start + 1} is not UTF-8 text; save the file as UTF-8"
        raise DocumentError(message) from error
    except FileNotFoundError as error:
        message = f"{error.strerror}{near_file(Path(path))}"
        raise DocumentError(message) from error
    except OSError as error:
        raise DocumentError(error.strerror or str(error)) from error


def _read(parse: Callable[[str], Any], text: str) -> Any:
    try:
        return parse(text)
    except RecursionError as error:
        raise DocumentError(_TOO_DEEP) from error
    except (json.JSONDecodeError, tomllib.TOMLDecodeError) as error:
        raise DocumentError(str(error)) from error
    except ValueError as error:  # the only other one is that of Python's limit on digits
        message = f"a whole number has more than {sys.get_int_max_str_digits():,} digits"
        raise DocumentError(message) from error
