"""The shape of JSON documents: the few words of JSON Schema that our schemas use, checked with a path to the fault."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from sys import float_info
from typing import Any, TypeAlias

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
