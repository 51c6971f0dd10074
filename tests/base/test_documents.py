"""Documents that cannot be read get one sentence of our own, and the shape checker says where they are wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from design import experiment

from apsl_backends.answers.cached_oracle import ReplayOracle
from apsl_rules import Knowledge, learn, network
from apsl_rules._documents import DocumentError, Schema, fault, json_data, schema, toml_data
from apsl_rules.errors import ApslError
from apsl_rules.export.formats import read_graph
from apsl_rules.parts import load_part
from apsl_rules.parts.file import part_json
from support.terminal import apsl_here

READERS: dict[str, Callable[[Path], object]] = {
    "part.json": load_part,
    "recording.json": ReplayOracle,
    "mine.graph.json": read_graph,
    "known.toml": Knowledge.read,
    "spec.toml": lambda path: learn(network("cancer"), "Cancer", learner=path),
    "experiment.toml": experiment,
}
DIGITS = "9" * 5000
DEEP = "[" * 50_000
CONTENTS = {
    "long number": {"json": f'{{"format": {DIGITS}}}', "toml": f"seed = {DIGITS}\n"},
    "deep": {"json": DEEP, "toml": f"a = {DEEP}"},
    "deep by dots": {"json": '{"a":' * 50_000, "toml": "name" + ".a" * 50_000 + " = 1"},
    "a little too deep": {"json": "[" * 2_000, "toml": "name" + ".a" * 200 + " = 1"},
}


@pytest.mark.parametrize("content", CONTENTS)
@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_is_refused_in_words(name: str, content: str, tmp_path: Path) -> None:
    """Numbers of 5,000 digits and documents nested 50,000 deep end in a sentence."""
    (tmp_path / name).write_text(CONTENTS[content][name.rpartition(".")[2]], "utf-8")
    with pytest.raises(ApslError) as refused:
        READERS[name](tmp_path / name)

    said = str(refused.value)
    assert len(said.splitlines()) == 1
    assert ("more than 4,300 digits" if content == "long number" else "nested too deeply") in said


@pytest.mark.parametrize("name", READERS)
def test_what_is_not_utf8_is_refused_in_words(name: str, tmp_path: Path) -> None:
    """A file in another encoding is told by its first wrong byte, and what to do."""
    (tmp_path / name).write_bytes('name = "\xe9"\n'.encode("latin-1"))
    with pytest.raises(ApslError, match="byte 9 is not UTF-8 text; save the file as UTF-8"):
        READERS[name](tmp_path / name)


def test_numbers_in_a_part_that_no_float_holds_are_refused(tmp_path: Path) -> None:
    """A number of 400 digits where a fraction belongs is refused, not carried on to fail later."""
    learn(network("cancer"), "Cancer").save(tmp_path / "part.json")
    text = (tmp_path / "part.json").read_text("utf-8")
    (tmp_path / "part.json").write_text(text.replace('"statistic":1.0', f'"statistic":{10**400}'), "utf-8")

    with pytest.raises(ApslError, match="damaged part file"):
        load_part(tmp_path / "part.json")


@pytest.mark.slow
def test_the_command_line_says_it_too(tmp_path: Path) -> None:
    """No internal error comes of a spec, a config or a part that cannot be read."""
    (tmp_path / "spec.toml").write_bytes(b'name = "\xff"\n')
    (tmp_path / "run.toml").write_text(f"depth = {DIGITS}\n", "utf-8")
    (tmp_path / "part.json").write_text('{"format":"apsl_rules part","version":' + DIGITS + "}", "utf-8")
    for words, sentence in (
        (("learn", "asia", "-t", "lung", "-l", "spec.toml"), "byte 9 is not UTF-8 text"),
        (("learn", "asia", "-t", "lung", "--config", "run.toml"), "more than 4,300 digits"),
        (("show", "part.json"), "more than 4,300 digits"),
    ):
        done = apsl_here(*words, folder=tmp_path)
        assert (done.code, done.out) == (1, "")
        assert sentence in done.err
        assert "internal error" not in done.err


def test_documents_that_are_right_are_read() -> None:
    """What is a document is given as data, and 100 levels of it are not too many."""
    assert json_data("[" * 90 + "]" * 90)
    assert toml_data("a = " + "[" * 90 + "1" + "]" * 90)
    with pytest.raises(DocumentError, match="line 1"):
        json_data("{")


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
