"""``apsl why --repairs``: what would have to be wrong for a contradiction to vanish."""

from __future__ import annotations

import json
from pathlib import Path

from apsl_rules import Dag, learn
from support.contradictory import Contradictory
from support.terminal import apsl_here


def test_each_contradiction_has_its_repairs(tmp_path: Path) -> None:
    """Text and JSON have the conflicts of the part and the repairs that the library finds."""
    part = learn(Contradictory(), "a", learner="apsl")
    part.save(tmp_path / "part.json")
    text = apsl_here("why", str(tmp_path / "part.json"), "--repairs")
    data = json.loads(apsl_here("why", str(tmp_path / "part.json"), "--repairs", "--json").out)

    assert text.out.count("conflict: ") == len(part.conflicts) > 0
    for conflict, shown in zip(part.conflicts, data, strict=True):
        found = conflict.repairs(part.findings)
        assert [len(one) for one in shown["repairs"]] == [len(one.findings) for one in found]
        assert str(conflict) in text.out
        assert len(shown["proofs"]) == len(conflict.proofs)
    assert "  repair 1, " in text.out
    x, y = part.conflicts[0].pair
    assert apsl_here("why", str(tmp_path / "part.json"), str(x), str(y), "--repairs").out.count("conflict: ") == 1


def test_a_part_without_contradiction_says_so(tmp_path: Path) -> None:
    """There is nothing to repair."""
    learn(Dag({"a": [], "b": ["a"]}), "b").save(tmp_path / "part.json")
    done = apsl_here("why", str(tmp_path / "part.json"), "--repairs")
    assert done.out == "no contradiction in this part: there is nothing to repair\n"


def test_the_old_command_still_works_and_names_the_new_one(tmp_path: Path) -> None:
    """`apsl repairs` warns on standard error."""
    learn(Dag({"a": [], "b": ["a"]}), "b").save(tmp_path / "part.json")
    done = apsl_here("repairs", str(tmp_path / "part.json"))
    assert done.out.startswith("no contradiction")
    assert done.err == "apsl: 'apsl repairs' is now 'apsl why --repairs'; the old name goes with 0.3\n"
