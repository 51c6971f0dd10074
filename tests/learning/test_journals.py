"""Journals: a run that was cut short goes on from its journal and ends as if nothing had happened."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Interrupted, Knowledge, learn_many, network, stability
from apsl_rules.data import content_fingerprint
from apsl_rules.data.tables import Table
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts import load_parts
from apsl_rules.parts.file import part_json
from apsl_rules.parts.many_parts import Parts

TARGETS = ["BP", "CATECHOL", "CO", "HR", "TPR"]


class CutShortError(Exception):
    """What ends a run in these tests."""


def cut_after(units: int) -> Callable[[int, int], None]:
    """Return a function that ends a run once so many of its units are done."""

    def end(done: int, _of: int) -> None:
        if done == units:
            raise CutShortError

    return end


def essence(parts: Parts) -> dict[str, Any]:
    """Return all that a caller sees of parts."""
    texts = {target: part_json(part) for target, part in parts.items()}
    union = parts.union
    return {"texts": texts, "asked": parts.asked, "computed": parts.computed, "union": (union.arrows, union.lines)}


@pytest.fixture(scope="module")
def rows() -> Table:
    """Return 500 rows of ALARM."""
    return sample(network("alarm"), 500, seed=2)


@pytest.mark.parametrize("settings", [{}, {"learner": "apsl", "depth": 2}, {"threads": 2}])
def test_parts_from_a_journal_are_those_of_an_undisturbed_run(
    rows: Table, settings: dict[str, Any], tmp_path: Path
) -> None:
    """Cut short twice, with the last line torn once, the run ends with the same parts, counts and union.

    A table that is opened again has no graph yet that its parts are cut out of, so that more is computed.
    """
    undisturbed = learn_many(rows, TARGETS, **settings)
    journal = tmp_path / "parts.jsonl"
    for cut in (2, 4):
        with pytest.raises(CutShortError):
            learn_many(rows, TARGETS, journal=journal, progress=cut_after(cut), **settings)
        with journal.open("ab") as file:
            file.write(b'{"key": "\\"HR\\"", "part": "torn')
    told: list[tuple[int, int]] = []

    parts = learn_many(rows, TARGETS, journal=journal, progress=lambda *far: told.append(far), **settings)

    same = {} if "learner" in settings else {"computed": undisturbed.computed}
    assert essence(parts) | same == essence(undisturbed)
    assert dict(parts) == dict(undisturbed)
    assert told == [(4, 5), (5, 5)]
    assert {target: part_json(part) for target, part in load_parts(journal).items()} == essence(undisturbed)["texts"]


def test_a_journal_grows_with_the_targets(rows: Table, tmp_path: Path) -> None:
    """More targets may be asked for later, and a finished run is read from its journal without a test."""
    journal = tmp_path / "parts.jsonl"
    learn_many(rows, TARGETS[:2], journal=journal)
    told: list[tuple[int, int]] = []

    more = learn_many(rows, TARGETS, journal=journal, progress=lambda *far: told.append(far))

    assert told[0] == (2, 5)
    assert essence(more) == essence(learn_many(rows, TARGETS))
    size = journal.stat().st_size
    assert list(learn_many(rows, TARGETS[2:4], journal=journal)) == TARGETS[2:4]
    assert journal.stat().st_size == size


def test_a_part_that_met_a_limit_is_learned_again(rows: Table, tmp_path: Path) -> None:
    """A limit ends a run; the same call without it goes on and has no incomplete part."""
    journal = tmp_path / "parts.jsonl"
    first = learn_many(rows, TARGETS, journal=journal, learner="apsl", max_tests=400)
    assert first.incomplete is not None

    parts = learn_many(rows, TARGETS, journal=journal, learner="apsl")

    assert parts.incomplete is None
    assert [part_json(one) for one in parts.values()] == [
        part_json(one) for one in learn_many(rows, TARGETS, learner="apsl").values()
    ]


def test_an_interrupt_keeps_what_is_in_the_journal(rows: Table, tmp_path: Path) -> None:
    """The exception carries the parts learned so far, which are in the journal too."""

    def interrupt(done: int, _of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        learn_many(rows, TARGETS, journal=tmp_path / "parts.jsonl", progress=interrupt)

    assert list(stop.value.result) == TARGETS[:3]
    assert list(load_parts(tmp_path / "parts.jsonl")) == TARGETS[:3]


def test_a_journal_of_another_run_is_refused_in_a_sentence(rows: Table, tmp_path: Path) -> None:
    """Other data, settings, knowledge and kinds of runs are named; a file that is no journal stays as it is."""
    journal = tmp_path / "parts.jsonl"
    learn_many(rows, TARGETS[:1], journal=journal)
    others = sample(network("alarm"), 500, seed=3)
    known = Knowledge(forbidden=[("HR", "BP")])
    refused: list[tuple[str, Callable[[], Any]]] = [
        ("written for other data", lambda: learn_many(others, TARGETS, journal=journal)),
        ("depth is 2 now and was 1 then", lambda: learn_many(rows, TARGETS, depth=2, journal=journal)),
        ("alpha is 0.05 now and was not given then", lambda: learn_many(rows, TARGETS, alpha=0.05, journal=journal)),
        ("min_direction is 0.9 now", lambda: learn_many(rows, TARGETS, min_direction=0.9, journal=journal)),
        ("the background knowledge was another", lambda: learn_many(rows, TARGETS, knowledge=known, journal=journal)),
        ("had other settings", lambda: learn_many(rows, TARGETS, options={"reliability": "none"}, journal=journal)),
        ("no journal of this kind of run", lambda: stability(rows, "HR", resamples=2, journal=journal)),
    ]
    for words, run in refused:
        with pytest.raises(InvalidArgumentError, match=words):
            run()
    notes = tmp_path / "notes.txt"
    for text in ("hello\n", "hello", '{"format":"other"}'):
        notes.write_text(text)
        with pytest.raises(DataError, match="is no record of finished work"):
            learn_many(rows, TARGETS, journal=notes)
        with pytest.raises(DataError, match="is no record of finished work"):
            load_parts(notes)
        assert notes.read_text() == text
    with pytest.raises(InvalidArgumentError, match="give a path in a folder that exists and is writable"):
        learn_many(rows, TARGETS, journal=tmp_path)
    with pytest.raises(DataError, match="cannot read"):
        load_parts(tmp_path / "nowhere.jsonl")


def test_an_oracle_has_no_journal(tmp_path: Path) -> None:
    """Two oracles over the same nodes cannot be told apart, so neither gets the parts of the other; networks can."""
    oracle = DSeparation(Dag({"a": [], "b": ["a"]}))
    with pytest.raises(InvalidArgumentError, match="a journal is for tables and graphs"):
        learn_many(oracle, "all", journal=tmp_path / "parts.jsonl")
    assert not (tmp_path / "parts.jsonl").exists()
    for _ in range(2):
        assert len(learn_many(network("cancer"), "all", journal=tmp_path / "cancer.jsonl")) == 5
    other = Dag(dict.fromkeys(network("cancer").dag.nodes, ()))
    with pytest.raises(InvalidArgumentError, match="written for other data"):
        learn_many(other, "all", journal=tmp_path / "cancer.jsonl")


def test_stability_goes_on_from_its_journal(rows: Table, tmp_path: Path) -> None:
    """Cut short, the run counts the same resamples in the end; more of them may be asked for."""
    undisturbed = stability(rows, "HR", resamples=5, seed=4)
    journal = tmp_path / "resamples.jsonl"
    with pytest.raises(CutShortError):
        stability(rows, "HR", resamples=5, seed=4, journal=journal, progress=cut_after(3))
    lines = journal.read_bytes().splitlines()
    assert len(lines) == 1 + 3

    found = stability(rows, "HR", resamples=5, seed=4, journal=journal)

    assert found == undisturbed
    assert journal.read_bytes().splitlines()[:4] == lines
    more = stability(rows, "HR", resamples=7, seed=4, journal=journal, threads=2)
    assert more == stability(rows, "HR", resamples=7, seed=4)
    with pytest.raises(InvalidArgumentError, match="seed is 5 now and was 4 then"):
        stability(rows, "HR", resamples=5, seed=5, journal=journal)


def test_labels_knowledge_and_numbers_come_back(tmp_path: Path) -> None:
    """Nodes that are numbers and tuples, knowledge, and columns of a table with numbers are read as they were."""
    dag = Dag({1: [], ("b", 2): [], "c": [1, ("b", 2)]})
    known = Knowledge(tiers=[[1, ("b", 2)], ["c"]])
    alone = learn_many(dag, "all", knowledge=known)
    kept = learn_many(dag, "all", knowledge=known, journal=tmp_path / "dag.jsonl")
    assert essence(kept) == essence(alone)
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a": random.normal(size=300), "b": random.choice(["x", "y"], 300)})
    frame["c"] = frame["a"] + random.normal(size=300)
    kept = learn_many(frame, "all", journal=tmp_path / "numbers.jsonl")
    assert essence(kept) == essence(learn_many(frame, "all"))
    assert load_parts(tmp_path / "numbers.jsonl")["a"].columns == learn_many(frame, "all")["a"].columns


def test_the_hash_of_a_table_is_that_of_its_content(rows: Table) -> None:
    """The same rows have the same hash; another value, name or set of another order is told apart or not, as due."""
    again = sample(network("alarm"), 500, seed=2)
    assert content_fingerprint(rows) == content_fingerprint(again)
    assert content_fingerprint(rows) != content_fingerprint(sample(network("alarm"), 501, seed=2))
    assert content_fingerprint(np.array([1, 2])) != content_fingerprint(np.array([1, 3]))
    assert content_fingerprint({"b": 1, "a": 2}) == content_fingerprint({"a": 2, "b": 1})
    assert content_fingerprint(frozenset("abc")) == content_fingerprint(frozenset("cba"))


def test_other_rows_with_the_same_totals_are_other_data(tmp_path: Path) -> None:
    """Rows that DuckDB counts in a file are known by the file, so that a shuffled column is seen."""
    frame = pd.DataFrame({name: ["yes", "no"] * 100 for name in "abc"})
    file, journal = tmp_path / "rows.parquet", tmp_path / "parts.jsonl"
    frame.to_parquet(file, index=False)
    learn_many(file, ["a"], counts="duckdb", journal=journal)
    frame.assign(b=sorted(frame["b"])).to_parquet(file, index=False)

    with pytest.raises(InvalidArgumentError, match="written for other data"):
        learn_many(file, ["a"], counts="duckdb", journal=journal)


_FULL = """
import resource, sys
from apsl_rules import learn_many, network, stability
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample

rows = sample(network("alarm"), 200, seed=2)
run, path, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
try:
    if run == "many":
        learn_many(rows, ["BP", "HR", "TPR"], journal=path)
    else:
        stability(rows, "HR", resamples=6, journal=path)
except InvalidArgumentError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("most", [0, 2_000])
@pytest.mark.parametrize("run", ["many", "stability"])
def test_a_full_disk_ends_in_a_sentence_and_leaves_whole_records(run: str, most: int, tmp_path: Path) -> None:
    """A journal that cannot grow any more says so; what it has stays readable, and no empty file is left."""
    path = tmp_path / "journal.jsonl"
    command = [sys.executable, "-c", _FULL, run, str(path), str(most)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {str(path)!r}: File too large; allow larger files, or write less\n"
    assert done.stderr == ""
    assert path.exists() == (most > 0)
    if most:
        assert path.read_bytes().endswith(b"\n")
        rows = sample(network("alarm"), 200, seed=2)
        if run == "many":
            assert len(learn_many(rows, ["BP", "HR", "TPR"], journal=path)) == 3
        else:
            assert stability(rows, "HR", resamples=6, journal=path).resamples == 6
