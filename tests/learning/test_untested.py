"""Pairs that cannot be tested are unknown, never absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Knowledge, blanket, learn, learn_graph, stability
from apsl_rules.parts import load_part
from apsl_rules.rules.engine import Mark
from apsl_rules.rules.vocabulary import gap, untested
from support.counted import essence

LEARNERS = ("apsl", "pcd-by-pcd", "cmb", "gs", "mmhc", "apsl-paper")
TOO_FEW = "could not be tested"


def copies(rows: int = 1000, levels: int = 15) -> pd.DataFrame:
    """Draw ``b``, a 95 % copy of ``a``, both with many labels, beside ``d``, an 80 % copy of ``c`` with three."""
    random = np.random.default_rng(1)
    a = random.integers(0, levels, rows)
    b = np.where(random.random(rows) < 0.95, a, random.integers(0, levels, rows))
    c = random.integers(0, 3, rows)
    d = np.where(random.random(rows) < 0.8, c, random.integers(0, 3, rows))
    words = np.array([f"level {number}" for number in range(levels)])
    return pd.DataFrame({"a": words[a], "b": words[b], "c": c, "d": d})


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_pair_with_too_few_rows_is_unknown(learner: str) -> None:
    """A near-copy with 15 levels is no gap at 1,000 rows; a pair that could be tested still is."""
    part = learn(copies(), "a", learner=learner, hidden="excluded")

    assert part.mark("a", "b") is Mark.UNKNOWN
    assert part.mark("a", "c") is Mark.GAP
    assert frozenset("ab") not in part.gaps


@pytest.mark.parametrize("learner", LEARNERS)
def test_why_says_that_it_could_not_be_tested(learner: str) -> None:
    """The proof names the test that lacked rows, how many it needs, and what would help."""
    said = str(learn(copies(), "a", learner=learner, hidden="excluded").why("b", "a"))

    assert TOO_FEW in said
    assert "too few rows to test a against b (n = 1000)" in said
    assert "225 cells need 1,125 rows" in said
    assert "discretize" in said


def births() -> pd.DataFrame:
    """Draw 189 birth weights in grams, and whether each is below 2,500."""
    weights = np.random.default_rng(4).normal(2945, 730, 189).round().astype(int)
    return pd.DataFrame({"weight": weights, "low": weights < 2500})


@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_a_cut_of_a_number_is_next_to_it(learner: str) -> None:
    """A number that is kept beside a cut of it is its neighbour."""
    part = learn(births(), "low", learner=learner, hidden="excluded", keep=["weight"])
    assert part.neighbours_of("low") == ("weight",)


@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_a_number_taken_for_a_category_is_unknown(learner: str) -> None:
    """Nothing is claimed of a number whose values are nearly all different."""
    part = learn(births(), "low", learner=learner, kinds={"weight": "category"}, hidden="excluded")

    assert part.mark("low", "weight") is Mark.UNKNOWN
    assert TOO_FEW in str(part.why("low", "weight"))


def test_enough_rows_make_the_pair_an_edge() -> None:
    """With the rows that the proof asks for the pair is tested and joined."""
    assert learn(copies(1200), "a", learner="apsl").mark("a", "b") is Mark.LINE


def test_a_note_names_the_candidates() -> None:
    """The note names the columns that could not be tested against the target, though they are no members."""
    part = learn(copies(), "a", learner="apsl")

    assert "b" not in part.members
    assert [note for note in part.notes if "'a' against 'b'" in note and "unknown" in note]
    assert not [note for note in learn(copies(), "c", learner="apsl").notes if "too few rows" in note]


def test_no_rule_builds_on_an_untested_pair() -> None:
    """Two parents of a child that cannot be tested against each other make no V-structure and no chain."""
    frame = copies(900)
    frame["child"] = (frame["a"].str[-1].astype(int) + frame["b"].str[-1].astype(int) > 8).astype(int)
    frame["leaf"] = np.where(np.random.default_rng(2).random(900) < 0.9, frame["child"], 1 - frame["child"])
    part = learn(frame, "child", depth="max", learner="apsl")

    assert {"a", "b"} <= {*part.neighbours_of("child")}
    assert part.mark("a", "b") is Mark.UNKNOWN
    assert not [firing for firing in part.trace for fact in firing.premises if {"a", "b"} <= {*fact.nodes}]


def test_a_climb_among_candidates_leaves_the_other_pairs_open() -> None:
    """A pair that could not be tested was no candidate, so the best graph without that edge says nothing of it."""
    frame = copies()
    frame["sum"] = (frame["a"].str[-1].astype(int) + frame["b"].str[-1].astype(int) > 8).astype(int)
    part = learn(frame, "a", depth="max", learner="mmhc")

    assert part.neighbours_of("sum") == ("a", "b")
    assert part.mark("a", "b") is Mark.UNKNOWN
    assert TOO_FEW in str(part.why("a", "b"))


def test_a_blanket_names_what_could_not_be_tested() -> None:
    """A blanket says which nodes may belong to it as well."""
    assert blanket(copies(), "a", learner="apsl").untested == ("b",)
    assert blanket(copies(), "c", learner="apsl").untested == ()


def test_a_score_that_compared_the_pair_decides_it() -> None:
    """Where the search by score had both nodes before it, their pair is known whatever the test could say."""
    assert learn(copies(), "a", hidden="excluded").mark("a", "b") is Mark.LINE
    frame = copies(900)
    frame["child"] = (frame["a"].str[-1].astype(int) + frame["b"].str[-1].astype(int) > 8).astype(int)
    part = learn(frame, "child", depth=2, hidden="excluded")

    assert part.learner == "apsl-score"
    assert {"a", "b"} <= {*part.members}
    assert part.mark("a", "b") is not Mark.UNKNOWN
    assert untested.fact("a", "b") not in part.store


def test_knowledge_decides_what_no_test_can() -> None:
    """Two columns known to be apart are a gap with the user's word as its proof."""
    part = learn(copies(), "a", learner="apsl", knowledge=Knowledge(apart=[("a", "b")]))

    assert part.mark("a", "b") is Mark.GAP
    assert part.why("a", "b").fact == gap.fact("a", "b")


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_counts_from_elsewhere_say_the_same(counts: str, tmp_path: Path) -> None:
    """DuckDB and Dask leave the same pairs untested, for the same reason."""
    copies().to_parquet(tmp_path / "copies.parquet")
    there = learn(tmp_path / "copies.parquet", "a", counts=counts, learner="apsl")
    here = learn(copies(), "a", learner="apsl")

    assert there.store.facts(untested) == here.store.facts(untested)
    assert str(there.why("a", "b")) == str(here.why("a", "b"))


def test_a_saved_part_keeps_what_was_untested(tmp_path: Path) -> None:
    """A part from a file knows what could not be tested, and why."""
    part = learn(copies(), "a", learner="apsl")
    part.save(tmp_path / "part.json")
    loaded = load_part(tmp_path / "part.json")

    assert loaded.mark("a", "b") is Mark.UNKNOWN
    assert str(loaded.why("a", "b")) == str(part.why("a", "b"))


def test_a_cached_run_leaves_the_same_untested(tmp_path: Path) -> None:
    """Sweeps that come from a cache file name the same pairs."""
    first = learn(copies(), "a", learner="apsl", cache=tmp_path / "answers")
    again = learn(copies(), "a", learner="apsl", cache=tmp_path / "answers")

    assert again.store.facts(untested) == first.store.facts(untested) == (untested.fact("a", "b"),)


def test_whole_graphs_leave_it_open_too() -> None:
    """A learned graph marks the pair as unknown and gives the reason."""
    graph = learn_graph(copies(), learner="apsl")

    assert graph.mark("a", "b") is Mark.UNKNOWN
    assert TOO_FEW in str(graph.why("a", "b"))


def test_resamples_that_cannot_test_a_pair_do_not_count_as_gaps() -> None:
    """On resamples with too few rows for the pair its share of gaps is none."""
    counted = stability(copies(1200), "a", learner="apsl", resamples=4, subsample=0.5, seed=1)

    assert counted.of("a", "b").gap == 0
    assert counted.of("a", "b").edge == 0


# --- columns that are hardly seen in one row ------------------------------------------------------------------------


def halves(seed: int, common: int = 0, rows: int = 800) -> pd.DataFrame:
    """Draw z = x + y + noise, where x and y are seen in halves of the rows that share only the first few."""
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(2, rows))
    number = np.arange(rows)
    frame = pd.DataFrame({"x": x, "y": y, "z": x + y + 0.5 * random.normal(size=rows)})
    frame.loc[(number >= common) & (number % 2 == 0), "x"] = np.nan
    frame.loc[(number >= common) & (number % 2 == 1), "y"] = np.nan
    return frame


@pytest.mark.parametrize("common", [0, 8])
@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_numbers_hardly_seen_together_are_unknown(learner: str, common: int) -> None:
    """No covariance stands in for rows that are not there; a note names the pair, and no rule builds on it."""
    for seed in range(3):
        part = learn(halves(seed, common), "x", depth=2, learner=learner, hidden="excluded")

        assert part.mark("x", "y") is Mark.UNKNOWN
        assert part.neighbours_of("z") == ("x", "y")
        assert [note for note in part.notes if "'x' against 'y'" in note]
        assert not [firing for firing in part.trace for fact in firing.premises if {"x", "y"} <= {*fact.nodes}]
    if learner == "auto":
        assert f"seen together in {common} rows" in str(part.why("x", "y"))


def test_knowledge_joins_what_no_row_shows_together() -> None:
    """A required arrow stays, and the other pairs are as they were."""
    part = learn(halves(1), "x", knowledge=Knowledge(required=[("x", "y")]), hidden="excluded")

    assert ("x", "y") in part.arrows


@pytest.mark.parametrize("learner", ["auto", "mmhc", "sll+c", "sll+g", "ggsl", "ggsl-paper", "apsl", "apsl-fs"])
def test_categories_never_seen_together_are_unknown(learner: str) -> None:
    """Two copies of one column, seen in different rows, are neither adjacent nor apart."""
    random = np.random.default_rng(3)
    first = random.integers(0, 3, 800)
    noisy = [np.where(random.random(800) < 0.85, first, random.integers(0, 3, 800)) for _ in range(2)]
    words = np.array(["u", "v", "w"])
    odd = np.arange(800) % 2 == 1
    frame = pd.DataFrame({"a": words[noisy[0]], "b": words[noisy[1]], "c": words[first]})
    frame["a"], frame["b"] = frame["a"].where(odd), frame["b"].mask(odd)
    part = learn(frame, "a", depth="max", learner=learner, hidden="excluded")

    assert part.mark("a", "b") is Mark.UNKNOWN
    assert part.neighbours_of("a") == ("c",)
    assert [note for note in part.notes if "'a' against 'b'" in note]


@pytest.mark.parametrize("rows", [3, 5, 8, 14])
def test_a_handful_of_rows_gives_no_edge(rows: int) -> None:
    """Of so few rows nothing is known, whatever the columns hold: noise, copies, or the same order of the rows."""
    for seed in range(5):
        values = np.random.default_rng([seed, rows]).normal(size=(rows, 4))
        frame = pd.DataFrame(values, columns=list("abcd")).assign(e=values[:, 0], f=np.round(values[:, 1]).astype(str))
        part = learn(frame, "a", hidden="excluded")

        assert not part.edges
        assert all(part.mark("a", other) is Mark.UNKNOWN for other in part.nodes if other != "a")


def test_few_rows_of_many_columns_have_no_duplicates() -> None:
    """Among 200 columns some put 5 rows in the same order by chance."""
    frame = pd.DataFrame(np.random.default_rng(8).normal(size=(5, 200))).add_prefix("c")
    part = learn(frame, "c0", hidden="excluded")

    assert not part.edges
    assert not [note for note in part.notes if "duplicate" in note]


@pytest.mark.parametrize(("rows", "kind"), [(15, "numbers"), (20, "categories")])
def test_few_complete_rows_show_a_strong_edge(rows: int, kind: str) -> None:
    """As many rows as a test needs: 15 for two numbers, 20 for two columns of two levels."""
    x, noise = np.random.default_rng(1).normal(size=(2, rows))
    frame = pd.DataFrame({"x": x, "y": x + 0.1 * noise})

    assert learn(frame if kind == "numbers" else (frame > 0).astype(str), "x", hidden="excluded").neighbours_of(
        "x"
    ) == ("y",)


def noise(kind: str, seed: int, rows: int = 3000, missing: float = 0.7) -> pd.DataFrame:
    """Draw independent columns with holes: numbers, categories, or both in turn."""
    random = np.random.default_rng([seed, rows])
    columns = {}
    for place, values in enumerate(random.normal(size=(6, rows))):
        is_category = kind == "categories" or (kind == "mixed" and place % 2 == 1)
        cut = np.array(["low", "mid", "high"])[np.digitize(values, [-0.5, 0.5])]
        columns[f"c{place}"] = pd.Series(cut if is_category else values).mask(random.random(rows) < missing)
    return pd.DataFrame(columns)


@pytest.mark.parametrize("kind", ["numbers", "categories", "mixed"])
def test_values_missing_at_random_invent_no_edges(kind: str) -> None:
    """Filled-in and estimated values are no rows: independent columns stay apart, however much is missing."""
    edges = sum(len(learn(noise(kind, seed), "c0", hidden="excluded").neighbours_of("c0")) for seed in range(12))

    assert edges == 0


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_an_edge_that_its_rows_do_not_pay_for_is_unknown(kind: str) -> None:
    """A weak dependence in 40 of 2,000 rows is no edge, however many rows the other columns have."""
    frame = noise(kind, 1, rows=2000, missing=0.0)
    first = frame["c0"].iloc[:40]
    if kind == "numbers":
        x = (first - first.mean()) / first.std()
        e = pd.Series(np.random.default_rng(9).normal(size=40))
        e -= e.mean() + x * (x * e).mean() / (x * x).mean()
        frame["w"] = 0.42 * x + 0.9 * e / e.std()
        frame["c1"] += frame["c0"]
    else:
        is_other = np.resize([False, False, False, True], 40)
        frame["c1"] = frame["c0"].where(frame["c2"] == "mid", frame["c1"])
        frame["w"] = pd.Series(np.where((first == "low") ^ is_other, "yes", "no"))
    part = learn(frame, "c0", hidden="excluded")

    assert part.mark("c0", "w") is Mark.UNKNOWN
    assert "the 40 rows that speak for an edge are too few" in str(part.why("c0", "w"))
    assert [note for note in part.notes if "'c0' against 'w'" in note]


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_every_source_counts_the_rows_of_a_pair_alike(kind: str, counts: str, tmp_path: Path) -> None:
    """Where values are missing, DuckDB and Dask give the part of memory, with the same pairs unknown."""
    frame = noise(kind, 4, rows=300, missing=0.3)
    shifted = frame["c0"] + np.random.default_rng(5).normal(size=300) if kind == "numbers" else frame["c0"]
    frame["w"], frame["v"] = (shifted.where(np.arange(300) % 2 == half) for half in (0, 1))
    frame.to_parquet(tmp_path / "rows.parquet")
    here, there = (
        learn(frame, "w", depth=2, hidden="excluded"),
        learn(tmp_path / "rows.parquet", "w", depth=2, counts=counts, hidden="excluded"),
    )

    assert here.mark("w", "v") is Mark.UNKNOWN
    assert essence(there) == essence(here)
