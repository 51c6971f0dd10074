"""What is drawn where hidden causes are possible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules import Dag, Knowledge, effect, learn, learn_graph, learn_many, load
from apsl_rules.cycles import cyclic_groups
from apsl_rules.errors import InvalidArgumentError, UnknownNodeError
from apsl_rules.evidence import SHAPES
from apsl_rules.rules import Finding, collider


def patients(seed: int = 3, rows: int = 900) -> pd.DataFrame:
    """Return a table of patients in which age, BMI and smoking raise the cost."""
    random = np.random.default_rng(seed)
    sex = random.choice(["f", "m"], rows)
    age = random.integers(18, 80, rows)
    smoker = np.where(random.random(rows) < np.where(sex == "m", 0.45, 0.2), "yes", "no")
    bmi = np.round(22 + 0.08 * age + random.normal(0, 3, rows), 1)
    cost = np.exp(6 + 0.02 * age + 0.9 * (smoker == "yes") + 0.04 * bmi + random.normal(0, 0.4, rows)).round()
    return pd.DataFrame({"sex": sex, "age": age, "smoker": smoker, "bmi": bmi, "cost": cost})


def test_names_and_shapes_draw_what_independence_alone_does_not() -> None:
    """Sex and age cause, by their names; the cost is an effect by the shapes of the columns."""
    part = learn(patients(), "cost", depth=2, hidden="possible")
    assert part.arrows == {("age", "bmi"), ("age", "cost"), ("bmi", "cost"), ("sex", "smoker"), ("smoker", "cost")}
    assert "nothing in a table causes a column of this name" in str(part.why("age", "cost"))
    assert "the effect in" in str(part.why("smoker", "cost"))
    assert part.ledger.rule_use() == {"Given-direction": 3}
    assert "The direction of age is assumed from its name" in part.summary()
    (note,) = [one for one in part.notes if one.code == "roots"]
    assert note.fields["columns"] == ["age", "sex"]


def test_without_names_and_likely_shapes_edges_are_lines() -> None:
    """Masked names and columns made alike leave nothing that tells a direction."""
    random = np.random.default_rng(0)
    x = random.normal(size=800)
    frame = pd.DataFrame({"a": x, "b": x + random.normal(size=800)})
    part = learn(frame, "a", hidden="possible")
    assert part.lines == {frozenset("ab")}
    assert part.suggested == {}


@pytest.mark.parametrize("roots", ["ignore", "note"])
def test_names_can_be_left_out(roots: str) -> None:
    """``roots`` takes the assumption back, or only names the columns."""
    part = learn(patients(), "cost", depth=2, hidden="possible", roots=roots)
    assert "Given-direction" not in {firing.rule for firing in part.trace}
    assert any(one.code == "roots" for one in part.notes) is (roots == "note")


def test_a_list_of_ones_own_is_taken(tmp_path: Path) -> None:
    """Names of the shipped list mean nothing then."""
    path = tmp_path / "names.toml"
    path.write_text('[[first]]\nwhat = "habit"\nreason = "habits are old"\nwhole.en = ["smoker"]\n', "utf-8")
    part = learn(patients(), "smoker", hidden="possible", roots=str(path))
    assert part.knowledge.assumed == (("smoker", "habits are old"),)


def test_columns_numbered_by_year_are_in_order() -> None:
    """An earlier year is no effect of a later one, unless the knowledge names one of the two."""
    random = np.random.default_rng(2)
    first = random.normal(size=500)
    frame = pd.DataFrame({"re74": first.round(2), "re75": (first + random.normal(size=500)).round(1)})
    part = learn(frame, "re75", hidden="possible")
    assert part.arrows == {("re74", "re75")}
    assert "by their names re74 comes before re75" in str(part.why("re74", "re75"))
    assert any("re74 before re75; roots='ignore' takes that back" in note for note in part.notes)
    assert part.knowledge.stages == (("re74", "re75"),)
    turned = learn(frame, "re75", hidden="possible", knowledge=Knowledge(tiers=[["re75"], ["re74"]]))
    assert turned.arrows == {("re75", "re74")}


def test_pairs_of_the_knowledge_take_patterns() -> None:
    """A pattern stands for every column that it fits, and one that fits none is refused."""
    known = Knowledge(forbidden=[("cost", "*")], required=[("smo*", "cost")])
    part = learn(patients(), "cost", hidden="possible", knowledge=known)
    assert ("smoker", "cost") in part.arrows
    assert not part.children_of("cost")
    with pytest.raises(UnknownNodeError, match="unknown node in the knowledge 'x\\*'"):
        learn(patients(), "cost", knowledge=Knowledge(apart=[("x*", "cost")]))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.data())
def test_what_is_given_is_never_contradicted_by_what_is_drawn(seed: int, data: st.DataObject) -> None:
    """Random knowledge on random tables and graphs, in every world without marks at both ends."""
    random = np.random.default_rng(seed)
    names = list("vwxyz")
    weights = np.triu(random.normal(size=(5, 5)) * (random.random((5, 5)) < 0.5), 1)
    order = data.draw(st.permutations(names))
    tiers = [order[:2], order[2:4]] if data.draw(st.booleans()) else []
    pairs = [(one, other) for at, one in enumerate(order) for other in order[at + 1 :]]
    chosen = data.draw(st.lists(st.sampled_from(pairs), max_size=4, unique=True))
    kinds = [data.draw(st.sampled_from(["required", "forbidden", "apart"])) for _ in chosen]
    told: dict[str, Any] = {
        kind: [pair for pair, one in zip(chosen, kinds, strict=True) if one == kind] for kind in kinds
    }
    told["forbidden"] = [(late, early) for early, late in told.get("forbidden", [])]
    known = Knowledge(tiers=tiers, **told)
    rows = np.zeros((300, 5))
    for place in range(5):
        rows[:, place] = rows @ weights[:, place] + random.normal(size=300)
    sources: tuple[tuple[Any, Any], ...] = (
        (pd.DataFrame(rows.round(2), columns=names), data.draw(st.sampled_from(["possible", "excluded"]))),
        (
            Dag({name: [names[at] for at in np.flatnonzero(weights[:, place])] for place, name in enumerate(names)}),
            "auto",
        ),
    )
    for source, hidden in sources:
        graph = learn_graph(source, knowledge=known, hidden=hidden)
        arrows = graph.arrows | graph.suggested.keys()
        assert set(known.required) <= graph.arrows
        assert not any(known.why_barred(*pair) is not None for pair in arrows)
        assert not any(frozenset(pair) in map(frozenset, (*arrows, *graph.lines)) for pair in known.apart)


def test_the_closed_world_without_names_draws_what_the_findings_give() -> None:
    """``hidden="excluded"`` and ``roots="ignore"`` leave nothing but rules on findings."""
    closed = learn(patients(), "cost", depth=2, hidden="excluded")
    same = learn(patients(), "cost", depth=2, hidden="excluded", roots="ignore")
    assert same.rows() == closed.rows()
    assert closed.all_arrows <= closed.store.arrows
    every = learn(patients(), "cost", depth=2, hidden="excluded", min_direction=0)
    assert every.all_arrows == every.store.arrows == closed.store.arrows
    assert not [one for one in closed.findings if one.evidence.source == SHAPES or one.evidence.is_given]


def test_what_the_user_says_of_a_column_counts_more_than_its_name() -> None:
    """A column that the knowledge names is not assumed to come first."""
    part = learn(patients(), "age", hidden="possible", knowledge=Knowledge(tiers=[["bmi"], ["age"]]))
    assert ("bmi", "age") in part.arrows
    assert [node for node, _ in part.knowledge.assumed] == ["sex"]


def test_marks_do_not_depend_on_depth_or_on_what_is_asked() -> None:
    """Parts of any depth and the whole graph draw an edge alike."""
    frame = patients()
    whole = learn_graph(frame, hidden="possible")
    for target in frame.columns:
        for depth in (1, 2, "max"):
            part = learn(frame, target, depth=depth, hidden="possible")
            for pair in part.edges:
                x, y = pair
                assert part.mark(x, y) is whole.mark(x, y)
            assert part.arrows <= whole.arrows


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.permutations(["age", "v", "w", "x", "year"]))
def test_drawn_arrows_are_acyclic_given_and_supported(seed: int, names: list[str]) -> None:
    """No cycle, no arrow into a column that comes first by name, no V-structure but those found or given."""
    random = np.random.default_rng(seed)
    weights = np.triu(random.normal(size=(5, 5)) * (random.random((5, 5)) < 0.5), 1)
    rows = np.zeros((300, 5))
    for place in range(5):
        rows[:, place] = rows @ weights[:, place] + random.normal(size=300)
    graph = learn_graph(pd.DataFrame(rows.round(2), columns=names), hidden="possible")
    assert not cyclic_groups(graph.arrows)
    first = {"age", "year"}
    assert all(tail in first or head not in first for tail, head in graph.arrows)
    found = {fact.nodes for part in graph.parts for fact in part.store.facts(collider)}
    shaped = {one.fact.nodes for part in graph.parts for one in part.findings if one.evidence.source == SHAPES}
    for tail, head in graph.arrows & shaped:
        for other, end in graph.arrows:
            if end == head and other != tail and graph.mark(other, tail) in ("gap", "unknown"):
                assert (tail, head, other) in found or (other, head, tail) in found


def test_renaming_columns_that_the_list_does_not_know_changes_nothing() -> None:
    """Only names of the list mean anything."""
    random = np.random.default_rng(5)
    a, b = random.integers(0, 2, 600), random.normal(size=600)
    c = np.round(a + b + random.normal(size=600), 2)
    frame = pd.DataFrame({"a": a, "b": b, "c": c})
    renamed: dict[Any, str] = {"a": "z", "b": "q", "c": "m"}
    here = learn_graph(frame, hidden="possible")
    there = learn_graph(frame.rename(columns=renamed), hidden="possible")
    assert {(renamed[x], renamed[y]) for x, y in here.arrows} == there.arrows


def test_a_part_is_saved_with_what_speaks_for_its_arrows(tmp_path: Path) -> None:
    """A saved part is read as it was."""
    part = learn(patients(), "cost", depth=2, hidden="possible")
    part.save(tmp_path / "part.json")
    again = load(tmp_path / "part.json")
    assert again == part
    assert again.arrows == part.arrows
    assert not [note for note in again.notes if "no rulebook" in note]
    assert str(again.why("smoker", "cost")) == str(part.why("smoker", "cost"))
    assert again.direction_probability("smoker", "cost") == pytest.approx(part.direction_probability("smoker", "cost"))


def test_the_number_on_an_arrow_is_that_of_the_arrow() -> None:
    """A drawn direction has a probability of .75 or more, a suggested one of .6 or more."""
    graph = learn_graph(patients(7, 250), hidden="possible")
    told = [one for part in graph.parts for one in part.findings if one.evidence.source == SHAPES]
    assert told
    for one in told:
        assert isinstance(one, Finding)
        share = graph.direction_probability(*one.fact.nodes)
        assert share is not None
        assert (one.fact.nodes in graph.arrows) is (share >= 0.75)


def test_effects_rest_on_what_is_given_and_on_v_structures() -> None:
    """An arrow that only the shapes of columns draw leaves both effects possible."""
    random = np.random.default_rng(1)
    x = random.integers(0, 2, 900)
    frame = pd.DataFrame({"x": x, "wage": np.round(x + random.normal(size=900), 2)})
    assert learn(frame, "x", hidden="possible").arrows == {("x", "wage")}
    found = effect(frame, "x", "wage", hidden="possible")
    assert len(found.possible) == 2
    sure = effect(frame, "x", "wage", hidden="possible", knowledge=Knowledge(tiers=[["x"], ["wage"]]))
    assert len(sure.possible) == 1


@pytest.mark.parametrize("value", ["maybe", True, None])
def test_another_world_is_refused(value: object) -> None:
    """The sentence names the three."""
    with pytest.raises(InvalidArgumentError, match="'possible'"):
        learn(patients(), "cost", hidden=value)  # type: ignore[arg-type]


def test_the_union_of_many_parts_has_the_arrows_of_the_whole_graph() -> None:
    """No rule of the closed world fires on what the parts found."""
    frame = patients()
    graph = learn_graph(frame, hidden="possible")
    union = learn_many(frame, "all", hidden="possible").union
    assert (union.arrows, union.lines) == (graph.arrows, graph.lines)


def test_learners_with_findings_of_another_kind_are_refused() -> None:
    """A sentence says what to leave out."""
    with pytest.raises(InvalidArgumentError, match="the findings of the learner 'apsl-hidden' are of another kind"):
        learn(patients(), "cost", hidden="possible", learner="apsl-hidden")


def test_numbers_whose_rows_stay_elsewhere_are_counted_there(tmp_path: Path) -> None:
    """Their distinct values are asked for where they are, so that the arrows are those of the table in memory."""
    frame = patients()
    with duckdb.connect(str(tmp_path / "t.duckdb")) as rows:
        rows.execute("create table t as select * from frame")
    there = learn(str(tmp_path / "t.duckdb"), "cost", hidden="possible")
    assert there.arrows == learn(frame, "cost", hidden="possible").arrows
