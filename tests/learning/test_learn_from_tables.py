"""Learning from tables: what goes in, what comes out, and what must not matter."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules import effect, learn, learn_many, network
from apsl_rules.data import Table, coded_table, table
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning import run
from apsl_rules.neighbours import symmetric
from apsl_rules.parts import load_part
from apsl_rules.parts.file import part_json
from apsl_rules.plugins import installed
from apsl_rules.rules import Mark, untested

LEARNERS = ["apsl", "apsl-fs"]


def frame(name: str, rows: int, seed: int) -> pd.DataFrame:
    """Draw a data frame with level names from a network."""
    drawn = sample(network(name), rows, seed=seed)
    columns = {node: np.array(drawn.levels[at])[drawn.codes[at]] for at, node in enumerate(drawn.names)}
    return pd.DataFrame(columns)


ASIA = frame("asia", 2000, 3)
CHILD = sample(network("child"), 600, seed=5)


def same(one: Any, other: Any) -> bool:
    """Return whether two parts have the same structure and the same proofs."""
    return (one.arrows, one.lines, one.layers) == (other.arrows, other.lines, other.layers) and all(
        str(one.why(*pair)) == str(other.why(*pair)) for pair in one.edges
    )


def test_every_kind_of_table_gives_the_same_part(tmp_path: Path) -> None:
    """pandas, polars, arrow, an encoded table, CSV and Parquet files all give the same part."""
    ASIA.to_csv(tmp_path / "asia.csv", index=False)
    ASIA.to_parquet(tmp_path / "asia.parquet")
    sources = [pl.from_pandas(ASIA), pa.Table.from_pandas(ASIA), coded_table(ASIA), tmp_path / "asia.csv"]
    sources += [str(tmp_path / "asia.parquet")]
    first = learn(ASIA, "either", depth=2)

    assert first.edges
    assert all(same(first, learn(source, "either", depth=2)) for source in sources)


def with_copy(*, numbers: bool) -> pd.DataFrame:
    """Draw a column with an effect, an exact copy of it, and a column apart."""
    rng = np.random.default_rng(8)
    x, z = rng.normal(size=(2, 800))
    drawn = pd.DataFrame({"x": x, "x2": 2 * x, "y": x + 0.5 * rng.normal(size=800), "z": z})
    return drawn if numbers else (drawn > 0).astype(str)


@pytest.mark.parametrize("learner", [offer.name for offer in installed().learners.values()])
def test_every_learner_notes_copies_and_none_is_proved_apart_by_them(learner: str) -> None:
    """A copy takes no edge away: y is adjacent to one of the two at least, or that is unknown; one note says why."""
    offer = installed().learners[learner]
    counts_alone = "counts" in offer.needs or offer.spec.neighbours.finder == "fcbf"
    for numbers in (False, True):
        if counts_alone if numbers else "moments" in offer.needs:
            continue
        part = learn(with_copy(numbers=numbers), "y", learner=learner)
        told = [note for note in part.notes if "'x', 'x2'" in note]
        assert told == ["duplicate columns: 'x', 'x2'; no data can tell which of them has an edge"]
        open_pairs = {frozenset(fact.nodes) for fact in part.store.facts(untested)}
        assert not (part.edges | open_pairs).isdisjoint([frozenset(("x", "y")), frozenset(("x2", "y"))])
        assert all(verdict.dof != 0 for finding in part.findings for verdict in finding.evidence.verdicts)


@pytest.mark.parametrize("learner", ["apsl", "apsl-fs", "cmb", "mmhc", "pcd-by-pcd"])
def test_tests_grow_with_the_number_of_copies_alone(learner: str) -> None:
    """Sixty copies of the target cost at most six times the tests of ten; one is looked at, and all are unknown."""
    rng = np.random.default_rng(8)
    x, noise = rng.normal(size=(2, 800)) > 0
    asked = []
    for copies in (10, 60):
        columns = {"x": x, "y": np.where(noise, x, rng.random(800) < 0.4), "z": noise}
        frame = pd.DataFrame(columns | {f"x{number:02d}": x for number in range(copies)}).astype(int)
        part = learn(frame, "x", learner=learner)
        asked.append(part.counts.asked)
        (told,) = [note for note in part.notes if "'x'" in note]
        assert told.startswith("duplicate columns: 'x', 'x00', 'x01'")
        assert part.edges == {frozenset("xy")}
        assert {part.mark(one, "x09") for one in "xy"} == {Mark.UNKNOWN}

    assert asked[1] <= 6 * asked[0]


def test_a_column_named_none_is_a_node() -> None:
    """A column may be called None; it is no column of weights because nobody named one."""
    x, noise = np.arange(400) % 2, np.arange(400) % 7 == 0
    named = pd.DataFrame(np.c_[x, x ^ noise, np.arange(400) % 3], columns=pd.Index([None, "y", "z"], dtype=object))

    assert frozenset((None, "y")) in learn(named, "y").edges
    assert None in coded_table(named).names


def test_a_lazy_frame_is_read_without_a_warning() -> None:
    """What asks a lazy frame of polars for its names has its schema worked out, which polars does not warn of."""
    x = np.arange(400) // 5 % 2
    frame = pl.DataFrame({"a": x, "b": x ^ (np.arange(400) % 5 == 0), "c": np.arange(400) % 3})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        part = learn(frame.lazy(), "b", depth=2)
        assert part_json(part) == part_json(learn(frame, "b", depth=2))
        assert str(effect(part, "a", "b", data=frame.lazy())) == str(effect(part, "a", "b", data=frame))


@pytest.mark.parametrize("learner", ["auto", *installed().learners])
def test_a_target_that_never_varies_has_an_empty_part(learner: str, tmp_path: Path) -> None:
    """A loop over all columns goes on: a constant and a column without values give a part that says why it is empty."""
    drawn = ASIA.assign(same="yes", gone=None)
    if "moments" in getattr(installed().learners.get(learner), "needs", ()):
        drawn["number"] = np.random.default_rng(1).normal(size=len(drawn))
    for target, why in (("same", "it has only one value"), ("gone", "all values are missing")):
        part = learn(drawn, target, depth=2, learner=learner)

        assert (part.edges, part.members, part.incomplete) == (frozenset(), (target,), None)
        assert f"the part is empty: nothing can be learned of {target!r}, since {why}" in part.notes
        part.save(tmp_path / "part.json")
        assert part_json(load_part(tmp_path / "part.json")) == part_json(part)


def test_many_targets_may_be_columns_that_never_vary(tmp_path: Path) -> None:
    """They have empty parts beside the others, also when a journal is taken up again."""
    drawn = ASIA.assign(same="yes")
    for _ in range(2):
        parts = learn_many(drawn, ["same", "either"], journal=tmp_path / "journal")

        assert {target: bool(part.edges) for target, part in parts.items()} == {"either": True, "same": False}
    assert learn(drawn, "same", counts="memory").notes


def test_a_proof_carries_the_figures() -> None:
    """The leaves of a proof name test, statistic, degrees of freedom, p, n and separator."""
    part = learn(sample(network("alarm"), 600, seed=1), "HR", depth=2)
    text = "\n".join(str(part.why(x, y)) for x, y in part.arrows)

    assert "G² = " in text
    assert "dof " in text
    assert "p = " in text
    assert "n = 600" in text


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=15)
@given(order=st.permutations(range(20)), turn=st.booleans(), target=st.sampled_from(CHILD.names))
def test_column_order_and_level_names_do_not_matter(learner: str, order: list[int], turn: bool, target: str) -> None:
    """Permuting the columns and renaming the levels leaves the part and its proofs as they were."""
    codes = CHILD.codes[order].astype(np.int64)
    if turn:
        codes = CHILD.cards[order][:, None] - 1 - codes
    permuted = coded_table(codes.T, names=[CHILD.names[at] for at in order])

    assert same(learn(CHILD, target, learner=learner), learn(permuted, target, learner=learner))


@pytest.mark.parametrize("learner", LEARNERS)
def test_threads_do_not_matter(learner: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One, two and four threads give the same bytes, counts included; a table of few rows has one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(symmetric, "Workers", None)  # nobody calls it
        learn(CHILD, "LungParench", learner=learner, threads=2)
    monkeypatch.setattr(run, "_ROWS_FOR_THREADS", 0)
    texts = {part_json(learn(CHILD, "LungParench", depth=2, learner=learner, threads=threads)) for threads in (1, 2, 4)}

    assert len(texts) == 1


def test_a_cache_changes_nothing_but_the_work(tmp_path: Path) -> None:
    """With a cache file, cold or warm, the part is the same; at another alpha it is that of a fresh run."""
    file = tmp_path / "verdicts.sqlite"
    plain, cold, warm = (learn(CHILD, "LungParench", depth=2, cache=cache) for cache in (None, file, file))
    other = learn(CHILD, "LungParench", depth=2, alpha=0.05, cache=file)

    assert same(plain, cold)
    assert part_json(cold) == part_json(warm)
    assert same(other, learn(CHILD, "LungParench", depth=2, alpha=0.05))


@pytest.mark.parametrize("oracle", ["gsquare", "chisquare"])
def test_large_samples_give_the_true_part(oracle: str) -> None:
    """From 20,000 rows of a network with strong tables the neighbours and arrows of Cancer's part are true."""
    rows = sample(network("child"), 20_000, seed=2)
    truth = network("child").cpdag
    part = learn(rows, "LungParench", depth=1, oracle=oracle)
    arrows, lines = truth.region("LungParench", 1)

    assert part.edges == {*map(frozenset, arrows), *lines}
    assert part.arrows <= arrows


def test_numbers_are_taken_as_they_are_or_cut() -> None:
    """Numbers stay numbers for tests on moments, are cut for a discrete test, and refused by it if nothing is cut."""
    random = np.random.default_rng(0)
    cause = random.normal(size=(500, 2))
    effect = cause.sum(axis=1) + 0.3 * random.normal(size=500)
    numbers = pd.DataFrame({"a": cause[:, 0], "b": cause[:, 1], "t": effect})

    with pytest.raises(ApslError, match="discretize"):
        learn(numbers, "t", oracle="gsquare", discretize="none")
    asked: list[tuple[Any, str, str]] = [
        ({}, "apsl-mixed", "moments"),
        ({"oracle": "fisherz"}, "apsl-mixed", "fisherz"),
        ({"oracle": "gsquare"}, "apsl-score", "gsquare"),
        ({"discretize": "none"}, "apsl-mixed", "moments"),
        ({"discretize": "quantile:3"}, "apsl-score", "gsquare"),
    ]
    for options, learner, oracle in asked:
        part = learn(numbers, "t", **options)
        assert (part.learner, part.oracle) == (learner, oracle)
        assert part.arrows == {("a", "t"), ("b", "t")}


def test_a_table_keeps_its_answers_apart_by_how_numbers_are_embedded() -> None:
    """What a table remembers of one embedding is no answer for another."""
    cause, noise = np.random.default_rng(1).normal(size=(2, 500))
    frame = pd.DataFrame({"cause": np.exp(cause), "effect": np.exp(cause + noise)})
    read = table(frame)
    found = []
    for numbers in ("values", "normal-scores"):
        here, anew = (learn(one, "cause", learner="apsl", options={"numbers": numbers}) for one in (read, frame))
        assert here.findings == anew.findings
        found.append(here.findings)
    assert found[0] != found[1]


@pytest.mark.parametrize(
    ("columns", "asked", "sentence"),
    [
        ([0, 1], {"oracle": "fisherz", "options": {"degree": 2}}, "'fisherz' has no option 'degree'"),
        ([0, 1], {"oracle": "fisherz", "options": {"numbers": "values"}}, "'fisherz' has no option 'numbers'"),
        ([0, 1], {"options": {"dof": "adjusted"}}, "'moments' has no option 'dof'"),
        ([2, 3], {"options": {"degree": 2}}, "'gsquare' has no option 'degree'"),
        ([0, 1], {"options": {"degree": 4}}, "degree is 4; give 1, 2 or 3"),
        ([0, 1], {"options": {"numbers": "ranks"}}, "ranks"),
    ],
)
def test_options_that_a_test_would_ignore_are_refused(columns: list[int], asked: Any, sentence: str) -> None:
    """Whichever test a table gets, it refuses the options of others."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(np.hstack([random.normal(size=(90, 2)), random.integers(0, 2, (90, 2))])).iloc[:, columns]
    with pytest.raises(InvalidArgumentError, match=sentence):
        learn(frame, columns[0], **asked)


def test_missing_values_are_refused_or_handled() -> None:
    """Missing values are left out test by test with a note, made a level, or refused with the columns named."""
    holes = ASIA.mask(np.random.default_rng(1).random(ASIA.shape) < 0.02)

    with pytest.raises(ApslError, match="missing"):
        learn(holes, "either", missing="refuse")
    assert any("values are missing in columns" in note for note in learn(holes, "either").notes)
    for rule in ("testwise", "level"):
        assert "either" in learn(holes, "either", missing=rule).members


def test_a_constant_is_adjacent_to_nothing_and_said_so() -> None:
    """A constant is set aside, or has no neighbours if asked for; it and copies of a column are noted in the part."""
    odd = ASIA.assign(same="x", copy=ASIA["either"].map({"yes": "1", "no": "0"}))

    kept = learn(odd, "same", kinds={"same": "category"})
    assert not kept.edges
    assert any("never vary" in note and "'same'" in note for note in kept.notes)
    notes = learn(odd, "either").notes
    assert any("column 'same' is set aside: it has only one value" in note for note in notes)
    assert any("'copy', 'either'" in note for note in notes)


def test_labels_of_any_kind_survive() -> None:
    """Integer, tuple, spaced and non-ASCII column labels come back as they were."""
    labels: list[Any] = [7, ("a", 1), "two words", "é", "", "x", 12, ("a", 2)]
    renamed: Table = coded_table(ASIA.set_axis(labels, axis=1))
    part = learn(renamed, labels[5], depth="max")

    assert set(part.members) <= set(labels)
    assert same(part, learn(renamed, labels[5], depth="max"))


def test_unknown_options_are_refused() -> None:
    """An option that the oracle does not have is refused with the nearest one."""
    with pytest.raises(InvalidArgumentError, match="did you mean 'reliability'"):
        learn(ASIA, "either", options={"reliabilty": "none"})


def test_limits_give_an_incomplete_part() -> None:
    """A part that met its limit says so and keeps what is settled."""
    part = learn(CHILD, "LungParench", depth="max", max_tests=100)

    assert part.incomplete is not None
    assert "stopped at 100 tests" in part.incomplete
