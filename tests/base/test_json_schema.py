"""The shape checker: what it accepts, and where it says a document is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from apsl_rules import learn, network
from apsl_rules._documents import Schema, fault, schema
from apsl_rules.parts.file import part_json

LIST: Schema = {"type": "array", "items": {"$ref": "#/$defs/one"}, "$defs": {"one": {"type": "integer", "minimum": 0}}}
THING: Schema = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "size": {"anyOf": [{"type": "number"}, {"const": "max"}]}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(("data", "rules"), [([], LIST), ([0, 3], LIST), ({"name": "x", "size": "max"}, THING)])
def test_a_proper_document_has_no_fault(data: Any, rules: Schema) -> None:
    """What a schema allows passes."""
    assert fault(data, rules) is None


@pytest.mark.parametrize(
    ("data", "rules", "said"),
    [
        ({}, LIST, "the document is {}, not an array"),
        ([1, -2], LIST, "1 is -2, below 0"),
        ([True], LIST, "0 is True, not an integer"),
        ({}, THING, "the document has no 'name'"),
        ({"name": 3}, THING, "name is 3, not a string"),
        ({"name": "x", "size": "min"}, THING, "size is 'min', not 'max'"),
        ({"name": "x", "size": float("nan")}, THING, "size is nan, not 'max'"),
        ({"name": "x", "other": 1}, THING, "the document has an unknown 'other'"),
    ],
)
def test_a_fault_is_told_with_its_place(data: Any, rules: Schema, said: str) -> None:
    """The first fault is told, with the path to it."""
    assert fault(data, rules) == said


def test_saved_parts_keep_to_the_schema() -> None:
    """What is written today has the shape that is written down."""
    saved = json.loads(part_json(learn(network("asia"), "either", depth=2)))

    assert fault(saved, schema("part")) is None


def test_the_schema_uses_only_words_that_are_checked() -> None:
    """A word that the checker does not know would be a rule that nobody enforces."""
    known = {"type", "const", "enum", "minimum", "minItems", "maxItems", "items", "properties", "required"}
    known |= {"additionalProperties", "anyOf", "$ref", "$defs", "$schema", "title", "description"}

    def words(rules: Any) -> set[str]:
        if not isinstance(rules, dict):
            return set()
        inner = [*rules.get("properties", {}).values(), *rules.get("$defs", {}).values(), *rules.get("anyOf", ())]
        inner += [rules.get("items"), rules.get("additionalProperties")]
        return set(rules).union(*map(words, inner))

    assert words(schema("part")) <= known
