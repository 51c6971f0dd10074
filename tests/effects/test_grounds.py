"""What an effect rests on, the table of effects at a target, and categories with several levels."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, causes, effect, learn, network
from apsl_rules.errors import ApslError


def draw(rows: int = 3000) -> pd.DataFrame:
    """Draw a table: a and z cause x, x and z cause t, t causes u."""
    rng = np.random.default_rng(1)
    a, z = rng.random(rows) < 0.5, rng.random(rows) < 0.5
    x = rng.random(rows) < np.where(z, 0.8, 0.3) * np.where(a, 1, 0.3)
    t = rng.random(rows) < 0.1 + 0.4 * x + 0.4 * z
    u = rng.random(rows) < 0.2 + 0.6 * t
    frame = pd.DataFrame({"a": a, "z": z, "x": x, "t": t, "u": u}).replace({True: "yes", False: "no"})
    return frame.assign(flat="same", code=range(rows))


def test_grounds_name_arrows_adjustment_and_assumptions() -> None:
    """The text has the proofs of the arrows at the cause, what is held, and hidden causes; the JSON has the same."""
    grounds = effect(draw(), "x", "t", graphs="drawn", hidden="excluded").why()
    text, data = str(grounds), json.loads(grounds.to_json())

    assert "adjusted for a, z" in text
    assert "a -> x   [V-from-middle]" in text
    assert "x -> t   [Meek-R1]" in text
    assert "no hidden common cause of x and t" in text
    assert [one["proves"] for one in data["arrows"]] == ["a -> x", "x -> t", "z -> x"]
    assert data["effect"]["possible"][0]["adjustment"] == ["a", "z"]
    assert data["assumptions"] == list(grounds.assumptions)


def test_effects_rest_on_probable_directions_only() -> None:
    """An arrow that is drawn but not probable enough is open to an effect, and the grounds say what was suggested."""
    frame = draw(250)
    part = learn(frame, "x", min_direction=0, hidden="excluded")
    rash, careful = (
        effect(part, "x", "t", data=frame, min_direction=least, graphs="drawn", hidden="excluded")
        for least in (0, 0.999)
    )

    assert part.arrows
    assert {arrow for one in rash.possible for arrow in one.orientation.arrows}.isdisjoint(part.arrows)
    assert {arrow for one in careful.possible for arrow in one.orientation.arrows} >= part.arrows
    assert "is suggested, 0." in str(careful.why())


def test_open_lines_say_what_they_would_change() -> None:
    """For a chain each line has the effects for both of its directions."""
    frame = draw()[["x", "t", "u"]]
    grounds = effect(learn(network_of_chain(), "t", hidden="excluded"), "t", "u", data=frame, hidden="excluded").why()
    turned = {one.other: one for one in grounds.turned}

    assert turned["u"].into_cause == (0.0,)
    assert len(turned["u"].out_of_cause) == 2
    assert "u -> t: 0; t -> u: " in str(grounds)


def network_of_chain() -> Any:
    """Return the class of x - t - u, whose lines are open, as an oracle that knows no arrow."""
    from apsl_backends.independence.d_separation import DSeparation

    return DSeparation(Dag({"x": [], "t": ["x"], "u": ["t"]}))


def test_effects_along_all_edges_at_the_target() -> None:
    """Arrows give the effect in their direction; for drawn graphs a part of depth 1 is learned again, to depth 2."""
    frame = draw()
    part = learn(frame, "t", hidden="excluded")
    found = part.effects(frame)
    rows = {(row["cause"], row["target"]): row for row in found.rows()}

    assert rows.keys() == {("x", "t"), ("z", "t"), ("t", "u")}
    assert part.effects(frame, graphs="drawn").part.depth == 2
    assert rows["x", "t"]["none"] == pytest.approx(0.03, abs=0.01)
    assert {row["basis"] for row in rows.values()} <= {"V-structure", "rows"}
    assert rows["x", "t"]["low"] < 0.4 < rows["x", "t"]["high"]
    assert rows["t", "u"]["low"] < 0.6 < rows["t", "u"]["high"]
    assert list(found.to_frame().columns) == [*rows["x", "t"]]


def test_one_round_counts_all_effects() -> None:
    """Whatever the number of neighbours, the counts come in one round."""
    frame = draw()
    part = learn(frame, "t", depth=2, hidden="excluded")
    from apsl_rules.data import coded_table
    from apsl_rules.data.counts import CachedCounts
    from support.counted import thrifty_counts

    counted = CachedCounts(thrifty_counts(coded_table(frame.drop(columns=["flat", "code"]))))
    from apsl_rules.learning.settings import Request
    from apsl_rules.learning.source import open_data

    source = open_data(counted.source, Request.of({}))
    found = part.effects(source)

    assert len(found) == 3
    assert source.traffic.rounds == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "the same node": ({"cause": "x", "target": "x"}, "'x' is named as cause and as target; name two different nodes"),
    "an unknown cause": ({"cause": "Xx"}, "unknown cause 'Xx'; did you mean 'x'"),
    "an unknown target": ({"target": "tt"}, "unknown target 'tt'; did you mean 't'"),
    "a constant": ({"cause": "flat"}, "the cause 'flat' cannot be used: column 'flat' was set aside: it has only one"),
    "an identifier": ({"target": "code"}, "the target 'code' cannot be used: column 'code' was set aside"),
    "a column left out": ({"cause": "x", "drop": ["x"]}, "column 'x' was left out as asked"),
    "an unknown strategy": ({"adjust": "optimum"}, "adjust is 'optimum'; did you mean 'optimal'"),
    "an unknown column to hold": ({"adjust": ["zz"]}, "unknown node 'zz' in adjust"),
    "the target held": ({"adjust": ["t"]}, "adjust names 't', which is the target; leave it out"),
    "a mediator held": (
        {"target": "u", "adjust": ["t"], "graphs": "drawn", "depth": "max"},
        "adjusting for 't' is wrong",
    ),
    "too little held": (
        {"adjust": ["a"], "graphs": "drawn", "depth": "max"},
        "leaves a path open between 'x' and 't' that is no effect",
    ),
    "no confidence": ({"confidence": 95}, "confidence is 95; give a number between 0 and 1"),
    "no such setting": ({"alfa": 0.1}, "effect has no setting 'alfa'; did you mean 'alpha'"),
    "no such choice": ({"empty": "drop"}, "empty is 'drop'; give 'borrow' or 'refuse' or 'leave-out'"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_question_gets_one_sentence(name: str) -> None:
    """The sentence says what is wrong, and what to do."""
    asked, sentence = WRONG[name]
    settings = {"cause": "x", "target": "t", **asked}
    with pytest.raises(ApslError) as caught:
        effect(draw(), settings.pop("cause"), settings.pop("target"), **settings, hidden="excluded")

    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "data", "sentence"),
    [
        ("part", None, "a part has no rows to estimate from; give the table that it was learned from as data="),
        ("graph", None, "has no rows to estimate from; give a table as data="),
        ("part", "part", "data is a part, which has no rows"),
    ],
)
def test_rows_are_needed(source: str, data: str | None, sentence: str) -> None:
    """A part and a graph say what is missing."""
    part = learn(network("asia"), "lung")
    made = {"part": part, "graph": network("asia")}
    with pytest.raises(ApslError, match=sentence):
        effect(made[source], "lung", "either", data=None if data is None else made[data], hidden="excluded")


def test_a_part_that_does_not_reach_is_refused() -> None:
    """What to hold is not known where the edges of the cause are not."""
    frame = draw()
    with pytest.raises(ApslError, match="does not have all edges of 'x'"):
        effect(learn(frame, "u", hidden="excluded"), "x", "t", data=frame, graphs="drawn", hidden="excluded")


def test_no_path_means_no_effect() -> None:
    """A node that no path leads to has the effect 0, and the reason is told."""
    frame = draw()
    graph = Dag({"x": [], "t": ["x"], "a": []})

    assert effect(graph, "t", "x", data=frame, hidden="excluded").bounds == (0.0, 0.0)
    assert "since no arrow leads away from t" in str(effect(graph, "t", "a", data=frame, hidden="excluded"))
    assert "since no directed path leads from x to a" in str(
        effect(graph, "x", "a", data=frame, adjust="optimal", hidden="excluded")
    )


def test_a_zero_from_rows_is_told_to_be_no_estimate() -> None:
    """An arrow that was not found may have been missed; one of a known graph, or one turned round, was not."""
    random = np.random.default_rng(2)
    frame = pd.DataFrame({"x": random.normal(size=60), "t": random.normal(size=60)})
    missed = "0 is no estimate: no arrow was found, and a weak effect may be missed"

    (note,) = effect(frame, "x", "t", graphs="drawn", hidden="excluded").notes
    assert note.startswith(missed)
    assert f"  note: {missed}" in str(effect(frame, "x", "t", graphs="drawn", hidden="excluded"))
    assert effect(frame, "x", "t").notes == ()
    assert effect(Dag({"x": [], "t": []}), "x", "t", data=frame).notes == ()
    assert (
        effect(draw(), "t", "x", knowledge=Knowledge(tiers=[["a", "x", "z"], ["t"], ["u"]]), hidden="excluded").notes
        == ()
    )


def test_causes_say_which_tests_decide() -> None:
    """On data the answer has its tests; "never" says that tests may miss a weak effect."""
    frame = draw()
    always, never = (
        causes(frame, "a", "u", hidden="excluded"),
        causes(frame, "u", "a", min_direction=0.25, hidden="excluded"),
    )

    assert (always.answer, never.answer) == ("always", "never")
    assert always.tests[0].dependent
    assert "they may miss a weak effect" in str(never)
    assert always.to_dict()["cases"][0]["test"]["decision"] == "dependent"
    assert json.loads(always.to_json()) == always.to_dict()


def test_an_untestable_cause_is_unknown() -> None:
    """With too few rows for the test nothing is said of the cause."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.integers(0, 9, 60), "m": rng.integers(0, 9, 60), "t": rng.integers(0, 9, 60)})
    graph = Dag({"x": [], "m": ["x"], "t": ["m"]})
    found = causes(graph, "x", "t", data=frame.astype(str), hidden="excluded")

    assert found.answer == "unknown"
    assert "too few rows" in str(found)


def _visible() -> dict[str, list[str]]:
    """Return a graph in which a -> x <- b shows that x -> t has no hidden common cause; h is hidden behind u and v."""
    return {"a": [], "b": [], "x": ["a", "b"], "t": ["x"], "h": [], "u": ["t", "h"], "v": ["h"]}


def test_effects_need_arrows_that_hide_no_common_cause() -> None:
    """With hidden causes allowed, an edge that may hide one is refused; visible arrows alone give the effect."""
    part = learn(Dag(_visible()).hiding("h"), "x", depth=3, hidden="allowed")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 2, 400).astype(str) for name in "abxtuv"})
    assert part.is_visible("x", "t")
    with pytest.raises(ApslError, match=r"'x' may share a hidden common cause with 'a', 'b', and then no column"):
        effect(part, "x", "t", data=frame, hidden="excluded")
    with pytest.raises(ApslError, match=r"'u' may share a hidden common cause with"):
        effect(part, "u", "v", data=frame, hidden="excluded")
    assert part.hidden_causes_at("t") == ()
    grounds = effect(part, "t", "x", data=frame, hidden="excluded").why()
    assert "hidden common causes were allowed, and the arrows at t show that none acts there" in str(grounds)


def test_a_duplicate_of_the_cause_decides_nothing() -> None:
    """Given a duplicate of the cause nothing varies any more, so that it is never held."""
    frame = draw()
    frame["twin"] = frame["x"].map({"yes": "1", "no": "0"})
    given = Knowledge(required=[("twin", "x"), ("x", "u")])
    found = causes(frame[["x", "twin", "u", "t"]], "x", "t", knowledge=given, hidden="excluded")
    assert found.answer != "never"
    assert {case.is_cause: case.reason for case in found.cases} == {
        True: "the line would be an arrow",
        False: "t is a cause of x",
    }


def test_a_refused_effect_is_named_the_way_its_arrow_points() -> None:
    """The cause of a refused effect is the tail of the arrow, also if that is the target of the part."""
    part = learn(Dag(_visible()).hiding("h"), "x", depth=2, hidden="allowed")
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: rng.integers(0, 2, 400).astype(str) for name in "abxtuv"})
    assert ("x", "t") in part.effects(frame).refused


def test_paths_at_duplicates_are_no_ground_for_the_optimal_set() -> None:
    """Which of two duplicates has an edge is unknown, so no set that needs the paths is given."""
    frame = draw()
    frame["twin"] = frame["t"].map({"yes": "1", "no": "0"})
    with pytest.raises(ApslError, match="no data can tell which edges are at"):
        effect(frame, "x", "t", adjust="optimal", depth="max", hidden="excluded")


GRAPH = Dag({"sex": [], "dose": ["sex"], "pain": ["dose", "sex"]})


def frame() -> pd.DataFrame:
    """Return a table in which the dose of three levels acts on the pain, which has three levels, too."""
    random = np.random.default_rng(1)
    sex, dose = random.choice(["f", "m"], 600), random.choice(["a", "b", "c"], 600)
    strong = random.random(600) < np.where(dose == "a", 0.6, 0.2)
    return pd.DataFrame(
        {"sex": sex, "dose": dose, "pain": np.where(strong, "strong", random.choice(["mild", "none"], 600))}
    )


def test_every_level_of_the_target_is_printed() -> None:
    """A line for each level, and the first line says what is set to what; the estimates sum to zero."""
    found = effect(GRAPH, "sex", "pain", data=frame(), hidden="excluded")
    first, *lines = str(found).split("\n")

    assert first == "effect of sex on pain: sex = m against f"
    assert [line.partition(":")[0] for line in lines] == ["  P(pain = mild)", "  P(pain = none)", "  P(pain = strong)"]
    assert sum(found.values_of(change)[0] for change in found.changes) == pytest.approx(0)


def test_levels_of_cause_and_target_are_told_apart() -> None:
    """Where the cause has several levels as well, each line names both."""
    first, *lines = str(effect(GRAPH, "dose", "pain", data=frame(), hidden="excluded")).split("\n")

    assert first == "effect of dose on pain: dose = b or c against a"
    assert len(lines) == 6
    assert lines[0].startswith("  P(pain = mild), b: ")
    assert lines[-1].startswith("  P(pain = strong), c: ")


def test_bounds_are_told_for_every_level() -> None:
    """Where a line is open, each level of the target has its own bounds."""
    drawn, weighed = (str(effect(frame(), "dose", "pain", graphs=graphs)) for graphs in ("drawn", "weighed"))

    assert drawn.count("whatever the open lines are") == 6
    assert "P(pain = strong), b: between -" in drawn
    assert weighed.count("between") == 6
    assert "P(pain = strong), b: between -" in weighed


def test_two_levels_are_told_once() -> None:
    """Of a target with two levels the last is enough, as before."""
    two = frame().assign(pain=lambda table: table["pain"].where(table["pain"] == "strong", "no"))
    first, *lines = str(effect(GRAPH, "sex", "pain", data=two, hidden="excluded")).split("\n")

    assert first == "effect of sex on pain: P(pain = strong), sex = m against f"
    assert len(lines) == 1
