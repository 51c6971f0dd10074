"""Questions: few, in bulk, best first, and none on what is known."""

from __future__ import annotations

import json
from functools import partial

import pandas as pd
import pytest

from apsl_rules import Knowledge, Part, network
from apsl_rules import learn as learn_so
from apsl_rules.graphs.networks import sample

#: All that is found is drawn.
learn = partial(learn_so, hidden="excluded")
ROWS = sample(network("asia"), 2000, seed=1)


@pytest.fixture(scope="module")
def part() -> Part:
    """Return a part of depth 2."""
    return learn(ROWS, "either", depth=2)


def test_the_first_question_sorts_the_neighbours(part: Part) -> None:
    """Each says how many edges it would settle and why it is asked; single pairs are only those open at the target."""
    asked = part.questions()
    first = asked[0]

    assert [one.kind for one in asked] == ["sort", "outcome", "roots"]
    assert (first.items, first.value, first.target) == (("dysp", "lung", "tub", "xray"), 4, "either")
    assert first.choices == ("before", "after", "neither", "don't know")
    assert first.because == "it would settle up to 4 edges at either"
    assert asked[2].value == 6
    assert json.loads(json.dumps([one.to_dict() for one in asked]))[0]["items"] == ["dysp", "lung", "tub", "xray"]
    assert str(first).splitlines()[0].startswith("[sort] Which of these come before either")


def test_what_is_answered_or_given_is_not_asked_again(part: Part) -> None:
    """Neither an answer nor knowledge is asked about twice."""
    told = part.answer("sort", {"tub": "before", "xray": "after"}, by="Ann")
    given = learn(ROWS, "either", depth=1, knowledge=Knowledge(forbidden=[("either", "tub")]))

    assert told.questions()[0].items == ("dysp", "lung")
    assert "tub" not in given.questions()[0].items
    sorted_all = part.answer("sort", dict.fromkeys(part.questions()[0].items, "before"), by="Ann")
    assert [one.kind for one in sorted_all.questions()] == ["roots"]


def test_names_fill_in_a_guess() -> None:
    """A column that comes first by its name is guessed to; nothing is drawn from a guess."""
    rows = sample(network("asia"), 2000, seed=1)
    frame = pd.DataFrame({str(node): rows.codes_of(node) for node in rows.names}).rename(columns={"tub": "sex"})
    part = learn(frame.astype(str), "either")

    assert part.questions()[0].guess == {"sex": "before"}


def test_open_pairs_at_the_target_are_asked_one_by_one() -> None:
    """A line at the target is a question of its own, for who knows of one pair only."""
    part = learn(sample(network("asia"), 4000, seed=3), "smoke")
    pairs = [one for one in part.questions() if one.kind == "pair"]

    assert {one.items[0] for one in pairs} == {node for pair in part.lines for node in pair} - {"smoke"}
    assert ("bronc", "smoke") in part.answer("pair:bronc:smoke", "before").arrows


def test_a_part_without_edges_has_no_questions() -> None:
    """There is nothing to ask."""
    assert learn(pd.DataFrame({"a": list("xy") * 50, "b": list("xxyy") * 25}), "a").questions() == ()
