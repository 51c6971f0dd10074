"""Node labels as JSON and back: strings, numbers and booleans as they are, tuples as tagged lists."""

from __future__ import annotations

from math import isfinite
from numbers import Integral
from typing import Any

from apsl_rules.errors import InvalidArgumentError, PartFileError
from apsl_rules.names import Node


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
