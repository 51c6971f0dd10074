"""Background knowledge as a TOML file: lists of pairs, and lists of nodes for the tiers.

A label is text, a number, or ``{tuple = [...]}`` for a tuple of these::

    required = [["Smoking", "Cancer"]]
    forbidden = [["Cancer", "Age"]]
    apart = [["Age", "Sex"]]
    tiers = [["Age", "Sex"], ["Smoking"], ["Cancer"]]
    apart_within = [1]
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs

from apsl_rules._documents import DocumentError, file_text, label, node_of, toml_data
from apsl_rules.errors import InvalidArgumentError, KnowledgeError, PartFileError
from apsl_rules.names import Node, nearest
from apsl_rules.rules.knowledge import Knowledge

_KEYS = tuple(field.name for field in attrs.fields(Knowledge))


def read_knowledge(path: str | Path) -> Knowledge:
    """Read knowledge from a TOML file."""
    try:
        text = file_text(path)
    except DocumentError as error:
        message = f"the knowledge file {str(path)!r} cannot be read: {error}"
        raise KnowledgeError(message) from error
    return parse_knowledge(text, f"the knowledge file {str(path)!r}")


def parse_knowledge(text: str, origin: str) -> Knowledge:
    """Read knowledge from TOML text; ``origin`` names it in errors."""
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise KnowledgeError(message) from error
    for key in data:
        if key not in _KEYS:
            message = f"{origin} has the unknown key {key!r}{nearest(key, _KEYS)}; known are {', '.join(_KEYS)}"
            raise KnowledgeError(message)
    try:
        named = {key: _nodes(value, key) for key, value in data.items() if key != "apart_within"}
        return Knowledge(**named, apart_within=data.get("apart_within", ()))
    except (KnowledgeError, PartFileError, InvalidArgumentError, TypeError) as error:
        message = f"{origin}: {error}"
        raise KnowledgeError(message) from error


def _nodes(value: Any, key: str) -> list[list[Node]]:
    """Return the labels in a list of lists."""
    if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
        message = f"{key} is {value!r}; give a list of lists, such as [['a', 'b']]"
        raise KnowledgeError(message)
    return [[node_of(one) for one in entry] for entry in value]


def knowledge_text(knowledge: Knowledge) -> str:
    """Return knowledge as TOML text, without the keys that have nothing to say."""
    lines = [f"{key} = [{', '.join(map(_value, getattr(knowledge, key)))}]" for key in _KEYS if getattr(knowledge, key)]
    return "".join(f"{line}\n" for line in lines)


def _value(entry: int | tuple[Node, ...]) -> str:
    if isinstance(entry, int):
        return str(entry)
    return f"[{', '.join(_label(label(node)) for node in entry)}]"


def _label(data: Any) -> str:
    """Spell a label as TOML."""
    match data:
        case {"tuple": parts}:
            return f"{{tuple = [{', '.join(map(_label, parts))}]}}"
        case str() if not data.isascii() and any("\ud800" <= letter <= "\udfff" for letter in data):
            message = f"the label {data!r} is no valid text and cannot be written"
            raise KnowledgeError(message)
        case str():
            return json.dumps(data, ensure_ascii=False).replace("\x7f", "\\u007f")
        case None:
            message = "the label None cannot be written to a TOML file; rename the column"
            raise KnowledgeError(message)
        case _:
            return json.dumps(data)
