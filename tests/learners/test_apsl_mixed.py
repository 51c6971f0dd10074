"""The default learner on tables with numbers: right parts, proofs, limits, missing values, near-copies and hubs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.search import rounds
from apsl_rules import Knowledge, learn, learn_graph, learn_many, stability
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning import blanket
from apsl_rules.parts import Part, load_part
from apsl_rules.rules import Mark


def _frame(rows: int = 800, seed: int = 1) -> pd.DataFrame:
    """Draw age -> dose <- sex, dose -> pain, pain -> pill, and a column that matters to nothing."""
    random = np.random.default_rng(seed)
    age, sex = random.normal(50, 12, rows), random.choice(["f", "m"], rows)
    dose = age / 12 + 1.5 * (sex == "m") + random.normal(size=rows)
    pain = np.exp(-dose / 3 + 0.5 * random.normal(size=rows))
    pill = np.where(random.random(rows) < 1 / (1 + np.exp(-3 * (pain - np.median(pain)) / pain.std())), "yes", "no")
    return pd.DataFrame(
        {"age": age, "sex": sex, "dose": dose, "pain": pain, "pill": pill, "u": random.normal(size=rows)}
    )


#: What is likelier right than wrong, the last one only just.
ARROWS = {("age", "dose"), ("sex", "dose"), ("dose", "pain"), ("pain", "pill")}


def _marks(part: Part) -> tuple[object, ...]:
    return part.arrows, part.lines, part.conflicts


def test_the_default_learns_a_mixed_table() -> None:
    """Numbers and categories, skewed and logistic relations; the part says how it was learned."""
    part = learn(_frame(), "dose", depth="max", hidden="excluded")
    assert part.arrows == ARROWS
    assert part.lines == frozenset()
    assert (part.learner, part.oracle) == ("apsl-mixed", "moments")
    assert "learner 'auto' chose 'apsl-mixed': the source is a table with numbers" in part.notes
    assert {one.name: one.kind for one in part.columns}["pain"] == "number"


def test_proofs_have_leads_and_tests() -> None:
    """An arrow rests on a V-structure with its lead in nats, and on the test of its ends."""
    proof = learn(_frame(), "dose", hidden="excluded").why("age", "dose")
    (finding,) = [one for one in proof.findings if one.fact.relation == "collider"]
    assert finding.evidence.source == "BIC"
    assert finding.evidence.nats is not None
    assert finding.evidence.nats > 2
    (verdict,) = finding.evidence.verdicts
    assert (verdict.test, verdict.dof, verdict.n, verdict.rank) == ("LR", 1, 800, 0)
    assert proof.edge_probability is not None
    assert proof.direction_probability is not None


def test_graphs_many_targets_blankets_and_stability_agree() -> None:
    """Every front door learns from the same table."""
    frame = _frame()
    assert learn_graph(frame, hidden="excluded").arrows == ARROWS
    assert learn_many(frame, "all", hidden="excluded").union.arrows == ARROWS
    assert blanket(frame, "dose").neighbours == ("age", "pain", "sex")
    assert stability(frame, "pain", resamples=5, seed=1, hidden="excluded").of("dose", "pain").edge == 1.0


def test_column_and_row_order_change_nothing() -> None:
    """Columns and rows in another order give the same part."""
    frame = _frame(300)
    part = learn(frame, "dose", depth=2, hidden="excluded")
    assert _marks(learn(frame[frame.columns[::-1]], "dose", depth=2, hidden="excluded")) == _marks(part)
    assert _marks(learn(frame.sample(frac=1, random_state=1), "dose", depth=2, hidden="excluded")) == _marks(part)


def test_knowledge_is_honoured() -> None:
    """What is known enters the search, and what the data say against it becomes a conflict."""
    frame = _frame()
    tiers = learn(
        frame, "pain", knowledge=Knowledge(tiers=[["age", "sex"], ["pain"], ["dose", "pill", "u"]]), hidden="excluded"
    )
    assert ("dose", "pain") not in tiers.arrows
    apart = learn(frame, "pain", knowledge=Knowledge(apart=[("dose", "pain")]), hidden="excluded")
    assert apart.mark("dose", "pain") in {Mark.CONFLICT, Mark.GAP}
    required = learn(frame, "u", knowledge=Knowledge(required=[("u", "pill")]), hidden="excluded")
    assert ("u", "pill") in required.arrows


def test_limits_leave_an_incomplete_part() -> None:
    """A run without time says so."""
    part = learn(_frame(), "dose", max_seconds=0, hidden="excluded")
    assert part.incomplete is not None


def test_missing_values_are_answered() -> None:
    """A tenth of all values is missing: the part is nearly the same, and a note tells the columns."""
    frame = _frame(1500)
    holes = np.random.default_rng(2).random(frame.shape) < 0.1
    part = learn(frame.mask(holes), "dose", depth="max", hidden="excluded")
    assert part.edges == set(map(frozenset, ARROWS))
    assert any(note.startswith("values are missing in columns") for note in part.notes)
    complete = learn(frame.mask(holes), "dose", depth="max", missing="complete", hidden="excluded")
    assert complete.findings[-1].evidence is not None
    assert any("complete" in note for note in complete.notes)


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
@pytest.mark.slow
def test_the_part_is_the_same_from_elsewhere(counts: str, tmp_path: Path) -> None:
    """DuckDB and Dask give the part that memory gives."""
    frame = _frame()
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    part = learn(frame, "dose", depth=2, hidden="excluded")
    elsewhere = learn(path, "dose", depth=2, counts=counts, hidden="excluded")
    assert _marks(elsewhere) == _marks(part)
    assert any(note.startswith(f"moments came from {counts}") for note in elsewhere.notes)


def test_a_part_is_saved_and_loaded(tmp_path: Path) -> None:
    """A part file has everything, ranks of tests and kinds of columns too."""
    part = learn(_frame(300), "dose", depth=2, hidden="excluded")
    part.save(tmp_path / "part.json")
    assert load_part(tmp_path / "part.json") == part


def test_duplicates_do_not_hide_neighbours() -> None:
    """A number in other units is named as a duplicate of the target, whose neighbours are still found."""
    frame = _frame()
    frame["dose_mg"] = 1000 * frame["dose"] + 5
    part = learn(frame, "dose", hidden="excluded", keep="*")
    assert any("duplicate columns: 'dose', 'dose_mg'" in note for note in part.notes)
    assert {"age", "sex", "pain"} <= set(part.neighbours_of("dose"))
    assert part.neighbours_of("dose") == learn(frame, "dose_mg", hidden="excluded", keep="*").neighbours_of("dose_mg")


@pytest.mark.slow
@pytest.mark.parametrize("counts", ["duckdb", "dask"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_duplicates_are_found_elsewhere_too(counts: str, missing: float, tmp_path: Path) -> None:
    """The part is that of memory where columns are duplicates, with the same values missing: numbers and categories.

    A number is a duplicate in reverse and by a curve, too; one that differs in a single row is none.
    """
    frame = _frame()
    frame["stage"] = pd.cut(frame["age"], 3, labels=["i", "ii", "iii"]).astype(str)
    holes = np.random.default_rng(2).random((len(frame), 2)) < missing
    frame["dose"], frame["stage"] = frame["dose"].mask(holes[:, 0]), frame["stage"].mask(holes[:, 1])
    frame["dose_mg"], frame["log_dose"] = -1000 * frame["dose"], np.exp(frame["dose"])
    frame["near"] = frame["dose"].where(frame.index != frame["dose"].idxmax(), 0.0)
    frame["grade"] = frame["stage"].map({"i": "c", "ii": "a", "iii": "b"})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=300)
    for target in ("dose", "stage"):
        there, here = (
            learn(tmp_path / "rows.parquet", target, counts=counts, hidden="excluded", keep="*"),
            learn(frame, target, hidden="excluded", keep="*"),
        )
        assert _marks(there) == _marks(here)
        found = [[note for note in part.notes if note.startswith("duplicate")] for part in (there, here)]
        assert found[0] == found[1] != []


def test_other_learners_say_what_they_need() -> None:
    """A learner on counts refuses numbers with advice; tests alone work."""
    with pytest.raises(InvalidArgumentError, match=r"needs counts.*discretize='quantile:3'"):
        learn(_frame(), "dose", learner="mmhc")
    with pytest.raises(InvalidArgumentError, match=r"needs moments.*learner='apsl-score'"):
        learn(_frame()[["sex", "pill"]], "pill", learner="apsl-mixed")
    assert learn(_frame(), "dose", learner="apsl").neighbours_of("dose") == ("age", "pain", "sex")
    assert learn(_frame(), "dose", discretize="quantile:3", hidden="excluded").learner == "apsl-score"


def test_a_cache_is_not_used(tmp_path: Path) -> None:
    """Nothing is written, and a note says why."""
    part = learn(_frame(), "dose", cache=tmp_path / "answers", hidden="excluded")
    assert any("the cache was not used" in note for note in part.notes)
    assert not (tmp_path / "answers").exists()


def near_copies(count: int) -> pd.DataFrame:
    """Return a column of three levels and near-copies of it."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, 600)
    others = [np.where(random.random(600) < 0.02, random.integers(0, 3, 600), codes) for _ in range(count)]
    return pd.DataFrame({"t": codes, **{f"c{place:03}": other for place, other in enumerate(others)}}).astype(
        "category"
    )


@pytest.mark.slow
def test_tests_at_near_copies_grow_with_their_square() -> None:
    """Each of k near-copies has k others to be tested against; notes that need the cube of k are left out and told."""
    for count in (30, 60):
        part = learn(near_copies(count), "t", hidden="excluded")
        assert part.counts.distinct < 10 * count**2
        assert len(part.edges) >= count - 1
    assert any("share a hidden cause; they were not made" in note for note in part.notes)


def test_an_ordinary_part_is_looked_at_for_hidden_causes() -> None:
    """Few neighbours need few tests, and nothing is left out."""
    assert not any("they were not made" in note for note in learn(near_copies(4), "t", hidden="excluded").notes)


@pytest.mark.parametrize(("core", "near", "moved"), [(1, 30, 30), (1, 300, 100), (7, 300, 100), (300, 300, 300)])
def test_a_hub_gets_no_more_kicks_than_a_hundred_nodes(core: int, near: int, moved: int) -> None:
    """Whole graphs, where all nodes are in the core, keep their kicks."""
    assert rounds.moved_nodes(near, core) == moved


@pytest.mark.parametrize(("rows", "hidden"), [(2_000, "excluded"), (2_000, "possible"), (20_000, "excluded")])
def test_columns_of_very_many_levels_are_told_and_take_few_tests(rows: int, hidden: Any) -> None:
    """No test can use them and no family may have them, so the part says so after few sweeps."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"t": random.integers(0, 2, rows), "u": random.integers(0, 2, rows)})
    for place in range(3):
        frame[f"c{place}"] = random.integers(0, rows // 3, rows)
    frame = frame.astype("category")

    part = learn(frame, "t", depth=2, hidden=hidden)

    assert part.edges == frozenset()
    assert part.counts.distinct <= 5 * 4
    assert any("too few rows to test 't' against 'c0', 'c1', 'c2'" in note for note in part.notes)
