"""Notes are outcomes with codes and fields: no decision is made by reading their words."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Part, learn, network
from apsl_rules.evidence import Verdict
from apsl_rules.learning.notes import rows_to_settle
from apsl_rules.notes import OTHER, Note, note_of
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.parts.print_out import summarize
from support.golden import frames


def reworded(part: Part) -> Part:
    """Return a part from a file in which every note has other words."""
    data: dict[str, Any] = json.loads(part_json(part))
    for number, note in enumerate(data["notes"]):
        note["text"] = f"something else, {number}"
    return parse_part(json.dumps(data), "part.json")


def coins() -> pd.DataFrame:
    """Draw columns that have nothing to do with each other."""
    return pd.DataFrame(np.random.default_rng(3).integers(0, 2, (400, 3)), columns=list("abc")).astype(str)


@pytest.mark.parametrize("hidden", ["excluded", "allowed"])
def test_a_summary_does_not_depend_on_the_words_of_notes(hidden: Any) -> None:
    """What a part assumes is known from the part, whatever its notes say."""
    part = learn(frames()["asia"], "dysp", hidden=hidden)
    again = reworded(part)

    assert {"excluded": "Arrows assume that no", "allowed": "Common causes may be hidden"}[hidden] in summarize(part)
    assert summarize(again) == summarize(part)
    assert all(note.startswith("something else") for note in again.notes)


def test_an_empty_part_says_why_whatever_the_words_of_its_note() -> None:
    """The reason is a field of the note, and the summary has it."""
    part = learn(coins(), "a", hidden="excluded")
    (note,) = (one for one in part.notes if one.code == "empty")

    assert note == f"the part is empty: {note.fields['why']}"
    assert f"no column is kept: {note.fields['why']}" in summarize(part)
    assert summarize(reworded(part)) == summarize(part)


def test_a_part_knows_whether_it_is_from_data() -> None:
    """Perfect answers need no assumption about rows; data do."""
    assert learn(frames()["asia"], "dysp", hidden="excluded").is_from_data
    assert not learn(network("asia"), "dysp").is_from_data
    assert "ssume" not in summarize(learn(network("asia"), "dysp"))


def test_notes_of_tables_have_codes_and_fields() -> None:
    """Programs read the columns that a note is about from its fields."""
    frame = frames()["asia with copies"].assign(one="x", id=[f"n{row}" for row in range(2000)])
    notes = {note.code: note for note in learn(frame, "smoke", hidden="excluded").notes}

    assert notes["duplicates"].fields["columns"] in (["smoke", "smoke2"], ["either", "either2"])
    assert {note.severity for note in notes.values()} == {"info", "warning"}
    assert notes["learner"].fields["learner"] == "apsl-score"
    assert notes["set aside"].fields["columns"] in (["one"], ["id"])


def test_a_note_comes_through_files_and_copies() -> None:
    """Code, severity and fields are kept; nodes that are no text are, too; a bare sentence is a note of no code."""
    note = Note("two columns", "duplicates", "warning", columns=[("a", 1), 2, "x"], rows=3)

    for same in (note_of(json.loads(json.dumps(note.to_dict()))), deepcopy(note)):
        assert same == note
        assert (same.code, same.severity, same.fields) == (note.code, note.severity, note.fields)
    assert note_of("a sentence").code == OTHER
    assert json.dumps([note]) == '["two columns"]'


def test_an_empty_part_names_the_nearest_columns_and_what_would_settle_it() -> None:
    """Its note has their p; the summary says how many rows would do, or that test and score disagree; files keep it."""
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    weak = pd.DataFrame({"x": x, "y": 0.07 * x + random.normal(size=400), "u": random.normal(size=400)})
    part = learn(weak, "x")
    (note,) = (one for one in part.notes if one.code == "empty")

    assert note.fields["nearest"][0] == "y"
    assert note.fields["p"] == sorted(note.fields["p"])
    assert "nearest: y (p = " in part.summary()
    assert "too weakly for an edge: y (p = " in part.summary()
    assert " rows would settle it)." in part.summary()
    assert parse_part(part_json(part), "part.json").summary() == part.summary()
    coin = random.integers(0, 2, 400)
    near = np.where(random.random(400) < 0.53, coin, 1 - coin)
    told = learn(pd.DataFrame({"x": coin, "y": near}).astype(str), "x").summary()
    assert "The test of y finds a dependence, and the score does not pay for an edge: they disagree" in told


def test_so_many_rows_show_the_dependence_in_four_of_five_tables() -> None:
    """Drawn anew with the rows that are named, a correlation as strong as it appeared is found about so often."""
    random = np.random.default_rng(5)
    strength, n = 0.1, 150
    verdict = Verdict("x", "y", (), "independent", "LR", n * strength**2 + 1, 0.1, 1, n)
    rows = rows_to_settle(verdict, 0.05)
    assert rows is not None
    found = 0
    for _ in range(200):
        x = random.normal(size=rows)
        y = strength * x + np.sqrt(1 - strength**2) * random.normal(size=rows)
        found += rows * np.corrcoef(x, y)[0, 1] ** 2 > 3.84

    assert 0.7 < found / 200 < 0.9
    assert rows_to_settle(attrs.evolve(verdict, statistic=0.5), 0.05) is None
