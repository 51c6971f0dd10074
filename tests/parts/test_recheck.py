"""``tools/recheck.py`` imports nothing of ours, accepts what we write, and refuses what does not follow."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from apsl_rules.parts.file import part_json, read_part
from support.golden import cases

TOOL = Path(__file__).parents[2] / "tools" / "recheck.py"
sys.path.insert(0, str(TOOL.parent))

import recheck  # noqa: E402

#: How many mutated files are tried.
TRIED = 300


def documents() -> Iterator[dict[str, Any]]:
    """Give some golden parts of the policies that the program knows, as files."""
    for number, case in enumerate(cases()):
        if number % 9 == 0 or "knowing wrong" in case.name:
            data = json.loads(part_json(case.learn()))
            if data["policy"] in ("given", "quarantine"):
                yield data


def mutated(data: dict[str, Any], random: Random) -> dict[str, Any] | None:
    """Turn a mark, drop a premise, a conclusion or a finding that matters, or change a conclusion."""
    data = deepcopy(data)
    said = data["conclusions"]
    marks = [one for key in ("arrows", "partial") for one in said[key]]
    lists = [one for key, one in said.items() if one and key != "suggested"]
    premises = [one["premises"] for one in said["facts"]]
    kind = random.choice(("turn", "drop", "premise", "copy", "distance", "rule"))
    if kind == "turn" and marks:
        random.choice(marks).reverse()
    elif kind == "drop":
        chosen = random.choice(lists)
        chosen.pop(random.randrange(len(chosen)))
    elif kind == "premise" and premises:
        random.choice(premises).pop()
    elif kind == "copy" and marks:
        said["lines"].append(sorted(random.choice(marks)))
    elif kind == "distance":
        random.choice(said["distances"])[1] += 1
    elif kind == "rule" and said["facts"]:
        random.choice(said["facts"])["rule"] += "!"
    else:
        return None
    return data


def test_it_is_short_and_imports_nothing_of_ours() -> None:
    """A stranger reads it in one sitting, and runs it with Python alone."""
    text = TOOL.read_text("utf-8")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {getattr(node, "module", None) or node.names[0].name for node in nodes}

    assert len(text.splitlines()) <= 250
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_golden_parts_are_accepted_and_mutated_ones_refused() -> None:
    """Every conclusion of what we write follows; after any change neither it nor our own reader accepts the file."""
    random, tried = Random(1), 0
    accepted = list(documents())
    assert len(accepted) > 20
    for data in accepted:
        assert recheck.faults(data) == []
    while tried < TRIED:
        changed = mutated(random.choice(accepted), random)
        if changed is not None:
            tried += 1
            assert recheck.faults(changed)
            assert read_part(changed, "part.json")[1]


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({}, 0, "every conclusion follows from the findings"),
        ({"policy": "last"}, 2, "not known here"),
        ({"version": 3}, 2, "not known here"),
        ({"nodes": []}, 1, "it cannot be read"),
    ],
)
def test_it_says_what_came_of_a_file(tmp_path: Path, change: dict[str, Any], code: int, words: str) -> None:
    """The exit code is 0, 1 or 2, and a sentence names the file; a bare interpreter runs it."""
    (tmp_path / "part.json").write_text(json.dumps({**next(documents()), **change}), "utf-8")
    command = [sys.executable, "-I", str(TOOL), str(tmp_path / "part.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == code
    assert words in done.stdout


def test_evidence_of_an_unknown_kind_is_refused() -> None:
    """A reader that does not know a kind of evidence does not guess what it means."""
    data = next(documents())
    data["visits"][0]["findings"][0]["evidence"]["kind"] = "dream"
    with pytest.raises(NotImplementedError, match="dream"):
        recheck.faults(data)
