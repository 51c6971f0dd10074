"""Part files of version 1, as the last release wrote them, are still read: marks, run, proofs and conflicts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apsl_rules import learn, network
from apsl_rules.errors import PartFileError
from apsl_rules.parts import load_part
from apsl_rules.parts.file import parse_part, part_json
from support.canonical import canonical_hash

FILES = Path(__file__).with_name("version_1")
HASHES: dict[str, str] = json.loads((FILES / "hashes.json").read_text("utf-8"))


@pytest.mark.parametrize("name", sorted(HASHES))
def test_a_file_of_version_1_gives_the_part_that_was_saved(name: str) -> None:
    """The canonical form is that of the part which was written: learners, knowledge, hidden causes, conflicts."""
    assert canonical_hash(load_part(FILES / f"{name}.json")) == HASHES[name]


@pytest.mark.parametrize("name", sorted(HASHES))
def test_a_part_of_version_1_is_saved_as_version_2(name: str) -> None:
    """Nothing is lost on the way from the old file to the new one."""
    part = load_part(FILES / f"{name}.json")
    assert canonical_hash(parse_part(part_json(part), "new")) == HASHES[name]


def _plain() -> dict[str, Any]:
    data: dict[str, Any] = json.loads((FILES / "oracle.json").read_text("utf-8"))
    return data


def _firing(data: dict[str, Any]) -> dict[str, Any]:
    return next(entry for entry in data["history"] if "rule" in entry)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda data: data.update(arrows=[]), "the arrows are not those"),
        (lambda data: data["visits"].pop(1), "the visits do not make up the history"),
        (lambda data: data["visits"][0].update(end=0), "the visits"),
        (lambda data: data["distances"].pop(), "the distances are not those"),
        (lambda data: _firing(data)["premises"].pop(), "do not follow from its findings"),
        (lambda data: data["proofs"].pop(), "do not follow from its findings"),
        (lambda data: data["history"][0].update(evidence={"source": "", "note": "", "verdicts": [
            {"x": "ghost", "y": "tub", "given": [], "decision": "dependent", "test": "G"}]}), "no nodes of the part"),
    ],
)  # fmt: skip
def test_a_spoilt_file_of_version_1_is_refused(spoil: Callable[[dict[str, Any]], object], message: str) -> None:
    """What does not follow in an old file is refused too."""
    data = _plain()
    spoil(data)
    with pytest.raises(PartFileError, match=message):
        parse_part(json.dumps(data), "part.json")


def test_an_old_part_of_unknown_rules_is_refused() -> None:
    """A file of version 1 does not have its rules, so nobody can say what follows; the sentence says what helps."""
    data = _plain()
    data["rule_use"] = {f"my {name}": times for name, times in data["rule_use"].items()}
    with pytest.raises(PartFileError, match="no rulebook that is installed; install the plugin that has them"):
        parse_part(json.dumps(data), "part.json")


def test_a_file_of_version_2_may_name_rules_as_they_were_called() -> None:
    """Old names, and other words for a reason, are those of the same rules; the part is checked and has no note."""
    part = learn(network("cancer"), "Xray")
    text = part_json(part).replace("V-from-middle", "V-collider").replace("V-from-spouse", "V-non-collider")
    text = text.replace("# no new V-structure", "# in other words")

    again = parse_part(text, "old.json")

    assert "V-collider" in text
    assert again == part
    assert again.notes == part.notes
    assert set(again.ledger.rule_use()) == set(part.ledger.rule_use())
