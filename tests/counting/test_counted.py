"""Counts from elsewhere: DuckDB, a cluster and the kernels in memory say the same, to the last bit."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import apsl_rules.data.counts
from apsl_backends.independence.count_tests import ChiSquare, GSquare, SymmetricalUncertainty
from apsl_backends.scores.bde import BDeu
from apsl_backends.scores.bde_from_counts import CountedBDeu
from apsl_rules import learn, learn_graph, network
from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.oracles.protocol import Search
from apsl_rules.parts.file import part_json
from support.counted import ODD_NAMES, SOURCES, essence, odd_frame, table_counts, written
from support.counting import by_loops, coded, tables

EXAMPLES = settings(max_examples=6, deadline=None)


@pytest.fixture(scope="module")
def alarm() -> Table:
    """Return 1,000 rows of ALARM."""
    return sample(network("alarm"), 1000, seed=11)


def agree(counts: CountSource, drawn: Table, kind: type[GSquare | ChiSquare]) -> None:
    """Check sweeps, tests, searches and eliminations against those on the table in memory, and against plain loops."""
    there, here = kind(CachedCounts(counts)), kind(drawn)
    nodes = drawn.names
    for x in nodes:
        swept, known = there.associations(x), here.associations(x)
        assert list(swept) == list(known)
        done, expected = (
            one.eliminate(sweep, unreliable="dependent", cut=None, max_size=2)
            for one, sweep in ((there, swept), (here, known))
        )
        assert (done.members, done.tests) == (expected.members, expected.tests)
        assert dict(done.weakest) == dict(expected.weakest)
        assert dict(done.separations) == dict(expected.separations)
    searches = [
        Search(x, y, tuple(node for node in nodes if node not in (x, y)), must_include, 3)
        for x, y in combinations(nodes, 2)
        for must_include in ((), tuple(node for node in nodes if node not in (x, y))[:1])
    ]
    assert there.separators(searches) == here.separators(searches)
    queries = [(x, y, tuple(z)) for x, y in combinations(nodes[:3], 2) for z in combinations(nodes[3:], 2)]
    for verdict in there.verdicts(queries):
        x, y, *given = (drawn.place[node] for node in (verdict.x, verdict.y, *verdict.given))
        statistic, dof, rows = by_loops(drawn, x, y, given, chi=kind is ChiSquare)
        if verdict.decision != "unreliable":
            assert (verdict.dof, verdict.n) == (dof, rows)
            assert verdict.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-6)


@EXAMPLES
@given(drawn=tables(max_rows=300), chi=st.booleans(), most=st.sampled_from([1 << 20, 12]))
@pytest.mark.parametrize("name", ["table", "thrifty", "misled", "duckdb", "dask"])
def test_verdicts_are_those_of_memory(name: str, drawn: Table, chi: bool, most: int) -> None:
    """Every verdict, search and elimination is the same whoever counts, with missing values and many levels too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apsl_rules.data.counts, "MOST", most)
        agree(SOURCES[name](drawn), drawn, ChiSquare if chi else GSquare)


@pytest.mark.slow
@EXAMPLES
@given(drawn=tables(max_rows=200, missing=False))
@pytest.mark.parametrize("name", ["table", "duckdb", "dask"])
def test_scores_and_uncertainties_are_those_of_memory(name: str, drawn: Table) -> None:
    """BDeu of families, gains and all subsets, and symmetrical uncertainty, are equal to the last bit."""
    there, here = CountedBDeu(CachedCounts(SOURCES[name](drawn))), BDeu(drawn)
    nodes = np.arange(len(drawn.names))
    for node in nodes.tolist():
        others = nodes[nodes != node]
        parents = tuple(others[:2].tolist())
        assert there.local(node, parents) == here.local(node, parents)
        assert there.gains(node, parents, others).tolist() == here.gains(node, parents, others).tolist()
    assert there.joints((0, 1, 3)).tolist() == here.joints((0, 1, 3)).tolist()
    told, known = SymmetricalUncertainty(CachedCounts(SOURCES[name](drawn))), SymmetricalUncertainty(drawn)
    for x in drawn.names:
        assert told.against_all(x).tolist() == known.against_all(x).tolist()
        assert told.pairs(x, drawn.names) == known.pairs(x, drawn.names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("apsl", {}),
        ("apsl", {"oracle": "chisquare", "fdr": 0.05}),
        ("apsl", {"finder": "mmpc"}),
        ("apsl", {"finder": "pcsimple", "max_conditioning": 2}),
        ("apsl-fs", {}),
        ("apsl-paper", {}),
        ("pcd-by-pcd", {}),
        ("cmb", {"max_conditioning": 2}),
        ("gs", {}),
        ("mmhc", {}),
    ],
)
def test_parts_are_those_of_memory(learner: str, settings: dict[str, Any], alarm: Table) -> None:
    """Learners and finders of every kind give the same part: findings, proofs, figures, and even counts of tests."""
    here = learn(alarm, "HR", depth=2, learner=learner, **settings)
    there = learn(table_counts(alarm), "HR", depth=2, learner=learner, **settings)

    assert essence(there) == essence(here)


@pytest.mark.parametrize("finder", ["hiton", "mmpc"])
def test_parts_are_the_same_test_by_test(finder: str, alarm: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search whose columns have too many combinations to be counted together is made test by test."""
    here = learn(alarm, "HR", finder=finder, learner="apsl")
    monkeypatch.setattr(apsl_rules.data.counts, "MOST", 12)

    assert essence(learn(table_counts(alarm), "HR", finder=finder, learner="apsl")) == essence(here)


LEARNED = [("duckdb", "apsl"), ("dask", "apsl"), ("duckdb", "mmhc"), ("dask", "apsl-fs")]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "learner"), LEARNED)
def test_named_sources_give_the_part_of_memory(kind: str, learner: str, alarm: Table) -> None:
    """counts="duckdb" and counts="dask" change who counts, and nothing else."""
    here = learn(alarm, "HR", depth=2, learner=learner)
    there = learn(alarm, "HR", depth=2, learner=learner, counts=kind)

    assert essence(there) == essence(here)
    assert there.settings["counts"] == kind
    assert there.notes[-1].startswith(f"counts came from {kind} in ")


@pytest.mark.parametrize("kind", ["duckdb", "dask"])
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("missing", ["testwise", "level"])
def test_files_with_odd_names_and_gaps(kind: str, ending: str, missing: str, tmp_path: Path) -> None:
    """Quotes, keywords, emoji, names that differ in case, missing values and cut numbers are all as in memory."""
    path = written(odd_frame(900, seed=5), tmp_path)[ending]
    settings: dict[str, Any] = {"missing": missing, "discretize": "quantile:3", "depth": "max", "learner": "apsl"}
    here = learn(path, ODD_NAMES[1], **settings)
    there = learn(path, ODD_NAMES[1], counts=kind, **settings)

    assert here.arrows | {tuple(line) for line in here.lines}
    assert essence(there) == essence(here)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["memory", "duckdb", "dask"])
def test_threads_columns_and_repetition_change_nothing(kind: str) -> None:
    """One, two or four threads and every order of columns give the same part; the same run gives the same bytes."""
    drawn = sample(network("child"), 600, seed=2)
    turned = np.random.default_rng(0).permutation(len(drawn.names)).tolist()
    other = Table(
        tuple(drawn.names[place] for place in turned),
        drawn.codes[turned],
        drawn.cards[turned],
        tuple(drawn.levels[place] for place in turned),
        drawn.incomplete[turned],
    )
    first = learn(drawn, "Disease", depth=2, counts=kind)
    assert part_json(learn(drawn, "Disease", depth=2, counts=kind)) == part_json(first)
    for threads in (2, 4):
        assert part_json(learn(drawn, "Disease", depth=2, counts=kind, threads=threads)) == part_json(first)
    turned_round = learn(other, "Disease", depth=2, counts=kind)
    assert (turned_round.arrows, turned_round.lines) == (first.arrows, first.lines)
    assert (turned_round.gaps, turned_round.counts) == (first.gaps, first.counts)
    for x, y in sorted(first.arrows):
        assert str(turned_round.why(x, y)) == str(first.why(x, y))


def test_rounds_are_far_fewer_than_tests(alarm: Table) -> None:
    """A source that is far away is asked a few times for each node, not once for each test."""
    kept = CachedCounts(SOURCES["thrifty"](alarm))
    part = learn(GSquare(kept), "HR", depth=2)

    assert part.counts.distinct > 20 * kept.rounds
    assert kept.rounds <= 4 * part.counts.sweeps


def test_a_whole_graph_is_learned_in_duckdb(tmp_path: Path) -> None:
    """learn_graph asks one source for all pieces, and tells its rounds."""
    path = written(odd_frame(500, seed=1), tmp_path)["parquet"]
    settings: dict[str, Any] = {"missing": "level", "discretize": "quantile:3", "learner": "apsl"}
    here, there = (learn_graph(path, counts=counts, **settings) for counts in ("memory", "duckdb"))

    assert (there.arrows, there.lines) == (here.arrows, here.lines)


def test_copies_and_constants_are_noted() -> None:
    """What stands out in a table is told from counts as from rows; missing values must go together too."""
    codes = np.array([[0, 1, 2, 1, 0, 3], [2, 0, 1, 0, 2, 3], [2, 0, 1, 0, 2, 1], [0] * 6, [1, 0, 1, 0, 1, 0]])
    drawn = coded(np.tile(codes, 5), [3, 3, 3, 1, 2])
    here, there = (learn_graph(source, learner="apsl").notes for source in (drawn, table_counts(drawn)))

    told = [note for note in here if note.startswith(("duplicate", "columns that never vary"))]
    assert len(told) == 2
    assert set(there).issuperset(told)
