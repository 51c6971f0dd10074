"""Tables that are left where they are: which counts are chosen, what is said of it, and what is refused."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from distributed import Client, LocalCluster

from apsl_backends.gsquare import GSquare
from apsl_backends.sources import opening
from apsl_backends.sources.cluster import DaskCounts
from apsl_backends.sources.duck import DuckCounts
from apsl_backends.sources.tables import TableCounts
from apsl_rules import learn, network
from apsl_rules.errors import ApslError
from apsl_rules.filetable import FileTable
from apsl_rules.keeping import KeptCounts
from apsl_rules.sampling import sample
from counted import ODD_NAMES, essence, odd_frame, written
from terminal import apsl

TARGET = ODD_NAMES[1]
SETTINGS = {"missing": "level", "discretize": "quantile:3", "learner": "apsl"}


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    """Write the same rows as Parquet and as CSV."""
    return written(odd_frame(400, seed=3), tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_does_not_fit_into_memory_is_counted_by_duckdb(
    ending: str, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A path to more than the memory that is free is left in its file; the log and the part say so."""
    here = learn(paths[ending], TARGET, **SETTINGS)  # type: ignore[arg-type]
    monkeypatch.setattr(opening, "available_memory", lambda: 1000)
    with caplog.at_level(logging.INFO, "apsl_rules"):
        there = learn(paths[ending], TARGET, **SETTINGS)  # type: ignore[arg-type]

    assert "so DuckDB counts in the file" in caplog.text
    assert any("so DuckDB counted in the file" in note for note in there.notes)
    assert (there.arrows, there.lines, there.counts) == (here.arrows, here.lines, here.counts)
    with pytest.raises(ApslError, match="give counts='duckdb', which counts in the file"):
        learn(paths[ending], TARGET, counts="memory", **SETTINGS)  # type: ignore[arg-type]


def test_several_files_and_databases_are_one_table(tmp_path: Path) -> None:
    """A pattern, a folder of Parquet files, and a table of a database give the part of all rows in memory."""
    frame = odd_frame(600, seed=4).drop(columns=ODD_NAMES[4])  # a database takes 'a b' and 'A B' for one name
    for number, low in enumerate(range(0, 600, 200)):
        frame.iloc[low : low + 200].to_parquet(tmp_path / f"rows-{number}.parquet", index=False)
    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        connection.read_parquet(str(tmp_path / "rows-*.parquet")).create("odd")
        connection.execute('ALTER TABLE odd RENAME TO "odd ""table""; --"')
    here = learn(frame, TARGET, **SETTINGS)  # type: ignore[arg-type]
    database = tmp_path / "all.duckdb"
    for path in (tmp_path / "rows-*.parquet", tmp_path, database, f'{database}#odd "table"; --'):
        assert essence(learn(path, TARGET, **SETTINGS)) == essence(here)  # type: ignore[arg-type]
    assert essence(learn(tmp_path, TARGET, counts="dask", **SETTINGS)) == essence(here)  # type: ignore[arg-type]


def test_names_that_duckdb_takes_for_one_are_kept_apart(paths: dict[str, Path]) -> None:
    """'a b' and 'A B' are two columns, as they are in memory."""
    counts = DuckCounts.of_file(FileTable(paths["parquet"]), missing="level", discretize="quantile:3")

    assert counts.heading.names == ODD_NAMES


def test_the_command_line_leaves_files_in_place(paths: dict[str, Path]) -> None:
    """--counts reaches the run, a pattern is a source, and the rounds are shown."""
    folder = paths["parquet"].parent
    words = ("-t", "Ж🎉", "--missing", "level", "--discretize", "quantile:3")
    by_pattern = apsl("learn", "row?.parquet", *words, folder=folder)
    unknown = apsl("learn", "rows.csv", *words, "--counts", "duckbd", folder=folder)

    assert by_pattern.code == 0
    assert "counts came from duckdb in" in by_pattern.out
    assert unknown.code == 1
    assert "did you mean 'duckdb'?" in unknown.err


def test_figures_of_a_file_are_kept_in_a_cache(paths: dict[str, Path], tmp_path: Path) -> None:
    """With a cache a second run in the same file needs no tests, and a changed file is another one."""
    cache = tmp_path / "verdicts.sqlite"
    first, second = (
        learn(paths["parquet"], TARGET, counts="duckdb", cache=cache, **SETTINGS)  # type: ignore[arg-type]
        for _ in range(2)
    )
    assert essence(first) == essence(second)
    assert second.notes[-1].endswith("in 0 rounds")
    other = written(odd_frame(400, seed=8), paths["parquet"].parent)["parquet"]
    again = learn(other, TARGET, counts="duckdb", cache=cache, **SETTINGS)  # type: ignore[arg-type]
    assert again.arrows == learn(other, TARGET, **SETTINGS).arrows  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("source", "how", "sentence"),
    [
        ("none.parquet", {"counts": "duckdb"}, "there is no file"),
        ("none-*.parquet", {}, "no file matches"),
        ("rows.csv", {"counts": "spark"}, "give 'memory', 'duckdb', 'dask' or 'dask:ADDRESS'"),
        ("rows.csv", {"counts": "duckdb:here"}, "give 'memory', 'duckdb', 'dask' or 'dask:ADDRESS'"),
        ("rows.csv", {"counts": 7}, "counts is 7"),
        ("rows.csv", {"counts": "dask:tcp://127.0.0.1:1"}, "no Dask scheduler answers at"),
        ("rows.csv", {"counts": "duckdb", "options": {"memory_limit": "much"}}, "memory_limit is 'much'"),
        ("rows.csv", {"options": {"memory_limit": "1GiB"}}, "which only counts='duckdb' heeds"),
        ("rows.csv", {"counts": "duckdb", "missing": "refuse"}, "values are missing in columns"),
        ("rows.csv", {"counts": "duckdb", "discretize": None}, "looks continuous"),
        ("ragged.csv", {"counts": "duckdb"}, "cannot count in"),
        ("broken.parquet", {"counts": "duckdb"}, "cannot read the Parquet file"),
        ("broken.parquet", {"counts": "dask"}, "cannot read the Parquet file"),
        ("broken.duckdb", {}, "cannot open the database"),
        ("codes.txt", {"counts": "duckdb"}, "counted in memory only"),
    ],
)
def test_mistakes_get_one_sentence(
    source: str, how: dict[str, object], sentence: str, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be counted is refused with what is wrong and what to do."""
    folder = paths["csv"].parent
    monkeypatch.chdir(folder)
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n0,1\n" * 3, "utf-8")
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing PAR1")
    (folder / "broken.duckdb").write_bytes(b"nothing" * 1000)
    (folder / "codes.txt").write_text("1 2\n2 1\n", "utf-8")
    with pytest.raises(ApslError, match=sentence):
        learn(source, TARGET, **{**SETTINGS, **how})  # type: ignore[arg-type]


def test_a_source_of_counts_stands_alone(paths: dict[str, Path]) -> None:
    """A source of counts is the source to learn from, under either name, and takes no options of tables."""
    counts = DuckCounts.of_file(FileTable(paths["parquet"]), missing="level", discretize="quantile:3")

    assert learn(counts, TARGET).arrows == learn(None, TARGET, counts=counts).arrows
    with pytest.raises(ApslError, match="there is no need of PosixPath"):
        learn(paths["csv"], TARGET, counts=counts)
    with pytest.raises(ApslError, match="the option 'missing' cannot be given"):
        learn(counts, TARGET, missing="level")


def test_a_killed_worker_changes_nothing(tmp_path: Path) -> None:
    """When a worker process dies, its rows are read or sent again, and every count is as before."""
    drawn = sample(network("asia"), 200_000, seed=1)
    path = tmp_path / "asia.parquet"
    pd.DataFrame(dict(zip(drawn.names, drawn.codes, strict=True))).to_parquet(path, row_group_size=50_000)
    asked = [(0, 1, 2), (3, 4)]
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        sources = DaskCounts.of_files(FileTable(path), client=client), DaskCounts.of_table(drawn, client=client)
        before = [source.joints(asked, 1000) for source in sources]
        os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
        after = [source.joints(asked, 1000) for source in sources]
        parts = [learn(GSquare(KeptCounts(source)), "either") for source in sources]

    expected = TableCounts(drawn).joints(asked, 1000)
    for counted in (*before, *after):
        for one, other in zip(counted, expected, strict=True):
            assert one is not None
            assert other is not None
            assert (one.codes.tolist(), one.weights.tolist()) == (other.codes.tolist(), other.weights.tolist())
    assert {part.arrows for part in parts} == {learn(drawn, "either", learner="apsl").arrows}


@pytest.mark.parametrize(
    "rows",
    [
        ["#1,a", "7,b", "#1,a", "7,b"] * 30,
        ['"x,y",a', "z,b", "# no comment,b"] * 30,
    ],
)
def test_rows_that_begin_with_a_hash_are_rows(rows: list[str], tmp_path: Path) -> None:
    """What other tools take for comments is data here, in the file as in memory."""
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(["code,t", *rows, ""]), "utf-8")

    assert learn(file, "t", counts="duckdb", learner="apsl").edges == learn(file, "t", learner="apsl").edges


@pytest.mark.parametrize("text", ["a,t\n1,0,1\n0,1,0\n", "a,t\n1,2\n1\n3,4,5\n"])
def test_ragged_rows_are_refused_in_the_file_too(text: str, tmp_path: Path) -> None:
    """Rows with other numbers of fields than the head are refused, wherever they are counted."""
    file = tmp_path / "ragged.csv"
    file.write_text(text, "utf-8")
    for counts in ("memory", "duckdb"):
        with pytest.raises(ApslError):
            learn(file, "t", counts=counts)
