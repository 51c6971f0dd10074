"""Stability: resamples drawn as they should be, marks counted right, limits and threads without surprise."""

from __future__ import annotations

from pathlib import Path
from threading import get_ident
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import SeedSequence

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Interrupted, Knowledge, hookimpl, learn, network, stability
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import ApslError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.many import draw_rows
from apsl_rules.names import Node
from apsl_rules.parts import load_part
from apsl_rules.parts.file import part_json
from apsl_rules.parts.part import Part
from apsl_rules.parts.stability_result import Stability, count_support, tally
from apsl_rules.plugins.manager import Progress
from support.strategies import dags

CANCER = sample(network("cancer"), 20_000, seed=1)
ASIA = sample(network("asia"), 1500, seed=3)


def frame_of(drawn: Table) -> pd.DataFrame:
    """Return a coded table as a data frame with the names of its levels."""
    return pd.DataFrame(
        {
            name: pd.Series(drawn.levels[at], dtype=object)[drawn.codes[at]].to_numpy()
            for at, name in enumerate(drawn.names)
        }
    )


def same(one: Stability, other: Stability) -> bool:
    """Return whether two results are the same, part and shares."""
    return one.rows() == other.rows() and part_json(one.part) == part_json(other.part)


def test_true_edges_have_high_support_and_noise_has_none() -> None:
    """Four strong parents and children come back almost always; two columns of noise are never joined."""
    random = np.random.default_rng(5)
    a, b, c = random.integers(0, 2, (3, 3000))
    t = np.where(random.random(3000) < 0.1, 1 - (a | b), a | b)
    u = np.where(random.random(3000) < 0.1, 1 - t, t)
    frame = pd.DataFrame({"a": a, "b": b, "t": t, "u": u, "noise": c, "more noise": random.integers(0, 3, 3000)})

    found = stability(frame, "t", resamples=40, seed=2, hidden="excluded")

    assert found.part.arrows == {("a", "t"), ("b", "t"), ("t", "u")}
    supports = [found.of(*pair) for pair in found.part.arrows]
    assert all(one.gap == one.reversed == 0 and one.arrow >= 0.6 for one in supports)  # else a line
    assert all(share >= 0.6 for share in found.part.support.values())
    assert not any({"noise", "more noise"} & {one.source, one.target} and one.edge > 0.2 for one in found.supports)
    assert found.counted == 40
    assert found.incomplete is None


@pytest.mark.slow
@pytest.mark.parametrize("subsample", [None, 0.6])
def test_threads_change_nothing(subsample: float | None) -> None:
    """One, two and four threads: the same part, the same shares, the same bytes."""
    runs = [
        stability(
            ASIA, "either", depth=2, resamples=12, seed=4, subsample=subsample, threads=threads, hidden="excluded"
        )
        for threads in (1, 2, 4)
    ]

    assert runs[0].supports
    assert all(same(runs[0], other) for other in runs[1:])


def test_seeds_decide_the_rows() -> None:
    """The same seed gives the same result, another one another; the first resamples do not depend on their number."""
    first, again, other = (stability(ASIA, "either", resamples=8, seed=seed, hidden="excluded") for seed in (1, 1, 2))

    assert same(first, again)
    assert first.rows() != other.rows()
    few, many = (SeedSequence(9).spawn(number) for number in (3, 30))
    assert all(np.array_equal(draw_rows(50, x, None), draw_rows(50, y, None)) for x, y in zip(few, many, strict=False))


def test_rows_are_drawn_with_or_without_repetition() -> None:
    """The bootstrap repeats rows and draws all numbers alike; a subsample has each row at most once."""
    (seeds,) = SeedSequence(1).spawn(1)
    drawn = np.concatenate([draw_rows(100, one, None) for one in SeedSequence(2).spawn(400)])
    part = draw_rows(100, seeds, 30)

    assert len(draw_rows(100, seeds, None)) == 100
    assert len(set(part.tolist())) == len(part) == 30
    assert np.abs(np.bincount(drawn, minlength=100) - 400).max() < 5 * np.sqrt(400)


LEVELS = st.lists(st.sampled_from(["x", "y", "z", None]), min_size=6, max_size=6)


@given(st.lists(LEVELS, min_size=1, max_size=3), st.lists(st.integers(0, 5), min_size=2, max_size=8))
def test_a_drawn_table_is_the_table_of_the_drawn_rows(columns: list[list[str | None]], rows: list[int]) -> None:
    """Codes, levels and missing values are those that encoding the drawn rows anew would give."""
    frame = pd.DataFrame({f"c{at}": [*column, "x"] for at, column in enumerate(columns)})
    rows = [*rows, 6]

    drawn = coded_table(frame, missing="testwise").resampled(np.array(rows), declared=False)
    anew = coded_table(frame.iloc[rows], missing="testwise")

    assert drawn.codes.tolist() == anew.codes.tolist()
    assert (drawn.levels, drawn.cards.tolist()) == (anew.levels, anew.cards.tolist())
    assert drawn.incomplete.tolist() == anew.incomplete.tolist()
    assert drawn.codes.flags.c_contiguous


def test_a_column_that_is_missing_in_a_resample_never_varies() -> None:
    """All values of a drawn column missing: it has one level, and learning from it works."""
    frame = pd.DataFrame({"a": ["x", "y", None, None], "b": [0, 1, 0, 1]})

    drawn = coded_table(frame, missing="testwise").resampled(np.array([2, 3, 3]), declared=False)

    assert (drawn.cards.tolist(), drawn.incomplete.tolist()) == ([1, 2], [True, False])
    assert not learn(drawn, "b", hidden="excluded").edges


def test_declared_levels_stay() -> None:
    """With declared levels those below the largest one seen stay levels of a resample."""
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0, 1, 0, 1]})

    drawn = coded_table(frame, levels="declared").resampled(np.array([0, 2, 2]), declared=True)

    assert (drawn.cards.tolist(), drawn.codes[0].tolist()) == ([3, 1], [0, 2, 2])


def test_resamples_are_learned_as_tables_of_their_own() -> None:
    """The shares are those of learning from each resampled frame by itself."""
    frame = frame_of(sample(network("asia"), 400, seed=8))
    found = stability(frame, "either", depth=2, resamples=10, seed=3, hidden="excluded")
    parts = [
        learn(frame.iloc[draw_rows(400, one, None)], "either", depth=2, hidden="excluded")
        for one in SeedSequence(3).spawn(10)
    ]

    assert found.supports
    for one in found.supports:
        pair = (one.source, one.target)
        assert one.arrow == sum(pair in part.arrows for part in parts) / 10
        assert one.reversed == sum(pair[::-1] in part.arrows for part in parts) / 10
        assert one.line == sum(frozenset(pair) in part.lines for part in parts) / 10
        assert one.edge == sum(frozenset(pair) in part.edges for part in parts) / 10


@settings(max_examples=30)
@given(st.lists(dags(min_nodes=4, max_nodes=4), min_size=1, max_size=5), st.integers(0, 3))
def test_every_mark_is_counted_once(graphs: list[Dag], target: int) -> None:
    """Parts of different graphs on the same nodes: the shares are plain counts and never exceed one."""
    parts = [_part(graph, target) for graph in graphs]

    supports, support = count_support(parts[0], [tally(part) for part in parts])

    assert {frozenset((one.source, one.target)) for one in supports} == {pair for part in parts for pair in part.edges}
    assert support.keys() == parts[0].edges
    for one in supports:
        pair = frozenset((one.source, one.target))
        shares = {
            "arrow": [(one.source, one.target) in part.arrows for part in parts],
            "reversed": [(one.target, one.source) in part.arrows for part in parts],
            "line": [pair in part.lines for part in parts],
            "gap": [pair not in part.edges and str(part.mark(*pair)) == "gap" for part in parts],
        }
        for name, seen in shares.items():
            assert getattr(one, name) == sum(seen) / len(parts)
        assert one.edge + one.gap <= 1 + 1e-9
        assert one.swap().swap() == one
    assert all(share >= 1 / len(parts) for share in support.values())


def _part(graph: Dag, target: int) -> Part:
    """Learn from a graph whose nodes are renamed to letters."""
    name = dict(zip(graph.nodes, "abcd", strict=True))
    parents = {name[node]: [name[one] for one in graph.parents_of(node)] for node in graph.nodes}
    return learn(Dag(parents), "abcd"[target], depth=2)


def test_support_is_saved_with_the_part(tmp_path: Path) -> None:
    """The part from all rows carries the support of its marks, also when saved and loaded."""
    found = stability(CANCER, "Cancer", resamples=6, seed=1, hidden="excluded")
    found.part.save(tmp_path / "part.json")
    again = load_part(tmp_path / "part.json")

    assert again.support == found.part.support
    assert again.support.keys() == again.edges
    assert again.settings["resamples"] == 6
    assert [row["support"] for row in again.rows()] == [row["support"] for row in found.part.rows()]
    assert found.part.arrows == learn(CANCER, "Cancer", hidden="excluded").arrows
    frame = found.to_frame()
    assert frame["edge"].tolist() == sorted(frame["edge"], reverse=True)
    assert str(found).splitlines()[0].split() == list(frame.columns)
    assert repr(found).startswith("Stability(target='Cancer', depth=1, ")


def test_pairs_are_asked_by_name() -> None:
    """``of`` reads a pair in either order, and refuses strangers and pairs that no run joins."""
    found = stability(CANCER, "Cancer", resamples=4, seed=1, hidden="excluded")
    one = found.of("Cancer", "Xray")

    assert found.of("Xray", "Cancer") == one.swap()
    with pytest.raises(UnknownNodeError, match="did you mean 'Xray'"):
        found.of("Cancer", "Xra")
    with pytest.raises(InvalidArgumentError, match="no run shows an edge between 'Smoker' and 'Pollution'"):
        found.of("Smoker", "Pollution")


def test_progress_is_told_in_order_and_only_the_whole_run_is_watched() -> None:
    """The hook hears every resample in order from the calling thread; plugins hear the run on all rows."""
    visits: list[Node] = []
    told: list[tuple[int, int]] = []
    threads: set[int] = set()

    class Watcher:
        @hookimpl
        def apsl_progress(self, progress: Progress) -> None:
            visits.append(progress.node)

    def progress(done: int, of: int) -> None:
        told.append((done, of))
        threads.add(get_ident())

    watched = [Watcher()]
    found = stability(ASIA, "either", resamples=5, threads=2, progress=progress, plugins=watched, learner="apsl")

    assert told == [(number, 5) for number in range(1, 6)]
    assert threads == {get_ident()}
    assert tuple(visits) == found.part.visited


@pytest.mark.parametrize("threads", [1, 3])
def test_limits_leave_out_resamples_and_say_so(threads: int) -> None:
    """A limit on tests counts the resamples that fit, the same for any threads; no time at all counts none."""
    whole = stability(ASIA, "either", resamples=6, learner="apsl")
    tests = 3 * whole.part.counts.distinct

    some = stability(ASIA, "either", resamples=6, max_tests=tests, threads=threads, learner="apsl")
    none = stability(ASIA, "either", resamples=6, max_seconds=0, threads=threads, hidden="excluded")

    assert 0 < some.counted < 6
    assert some.incomplete == f"{some.counted} of 6 resamples counted: stopped at {tests} tests"
    assert some.rows() == stability(ASIA, "either", resamples=some.counted, learner="apsl").rows()
    assert (none.counted, none.supports, none.rows()) == (0, (), [])
    assert none.incomplete is not None
    assert not none.part.support


def test_an_interrupt_gives_what_was_counted() -> None:
    """Control-C between two resamples is raised, and brings what was counted."""

    def interrupt(done: int, _of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        stability(ASIA, "either", resamples=50, threads=2, progress=interrupt, hidden="excluded")

    found = stop.value.result
    assert found.part == stop.value.part
    assert found.counted == 3
    assert found.incomplete == "3 of 50 resamples counted: stopped at an interrupt"


def test_settings_go_to_every_run(tmp_path: Path) -> None:
    """Cuts, missing values, other tests, learners and knowledge hold for all runs."""
    random = np.random.default_rng(1)
    x = random.normal(size=500)
    frame = pd.DataFrame({"x": x, "y": x + random.normal(size=500), "z": random.normal(size=500)})
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    holes = frame_of(ASIA).astype(object)
    holes.iloc[:50, 0] = None

    normal = stability(frame, "x", resamples=5, oracle="fisherz", hidden="excluded")
    cut = stability(tmp_path / "numbers.csv", "x", resamples=5, discretize="quantile:3", alpha=0.001, hidden="excluded")
    knowing = stability(
        CANCER, "Cancer", resamples=4, knowledge=Knowledge(forbidden=[("Xray", "Cancer")]), hidden="excluded"
    )
    testwise = stability(holes, "either", resamples=4, missing="testwise", options={"dof": "full"}, hidden="excluded")
    climbed = stability(CANCER, "Cancer", resamples=3, learner="mmhc")

    assert (normal.of("x", "y").edge, cut.of("x", "y").edge) == (1.0, 1.0)
    assert cut.part.settings["alpha"] == 0.001
    assert knowing.of("Cancer", "Xray").arrow == 1.0
    assert testwise.supports
    assert climbed.part.learner == "mmhc"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"resamples": 0}, "resamples is 0; give a whole number from 1 on"),
        ({"seed": -1}, "seed is -1; give a whole number from 0 on"),
        ({"subsample": 1.5}, "subsample is 1.5; give a share between 0 and 1"),
        ({"subsample": 0.0001}, "has 0 of 1500 rows; at least 2 are needed"),
        ({"threads": 0}, "threads is 0; give at least 1"),
        ({"cache": "some.file"}, "a cache keeps the figures of one table"),
        ({"alfa": 0.1}, "stability has no setting 'alfa'; did you mean 'alpha'"),
        ({"depth": 0}, "depth"),
    ],
)
def test_mistakes_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    """One sentence says what is wrong."""
    with pytest.raises(ApslError, match=sentence):
        stability(ASIA, "either", **{"resamples": 2, **wrong}, hidden="excluded")


def test_what_has_no_rows_cannot_be_resampled() -> None:
    """A network, a known graph and an oracle are refused."""
    asia = network("asia")
    for source in (asia, asia.dag, DSeparation(asia.dag)):
        with pytest.raises(InvalidArgumentError, match="stability draws rows from a table, but a"):
            stability(source, "either", hidden="excluded")
