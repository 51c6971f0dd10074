"""Tables that are left where they are: which counts are chosen, what is said of it, and what is refused."""

from __future__ import annotations

import gzip
import logging
import os
import signal
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from distributed import Client, LocalCluster
from pyarrow import parquet as pq

from apsl_backends.engines import opener as opening
from apsl_backends.engines.dask import DaskEngine, ScatteredEngine
from apsl_backends.engines.duckdb import connect, translate_errors
from apsl_backends.engines.opening import counted, counted_table
from apsl_backends.independence.count_tests import GSquare
from apsl_rules import learn, network
from apsl_rules.data import count_levels, table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.files import FileTable
from apsl_rules.errors import ApslError, DataError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from support.counted import ODD_NAMES, duck_counts, essence, odd_frame, table_counts, written
from support.terminal import apsl_here

TARGET = ODD_NAMES[1]
SETTINGS: dict[str, Any] = {"missing": "level", "discretize": "quantile:3", "learner": "apsl"}


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    """Write the same rows as Parquet and as CSV."""
    return written(odd_frame(400, seed=3), tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_does_not_fit_into_memory_is_counted_by_duckdb(
    ending: str, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A path to more than the memory that is free is left in its file; the log and the part say so."""
    here = learn(paths[ending], TARGET, **SETTINGS)
    monkeypatch.setattr(opening, "available_memory", lambda: 1000)
    with caplog.at_level(logging.INFO, "apsl_rules"):
        there = learn(paths[ending], TARGET, **SETTINGS)

    assert "so DuckDB counts in the file" in caplog.text
    assert any("so DuckDB counted in the file" in note for note in there.notes)
    assert (there.arrows, there.lines, there.counts) == (here.arrows, here.lines, here.counts)
    with pytest.raises(ApslError, match="give counts='duckdb', which counts in the file"):
        learn(paths[ending], TARGET, counts="memory", **SETTINGS)


@pytest.mark.slow
def test_several_files_and_databases_are_one_table(tmp_path: Path) -> None:
    """A pattern, a folder of Parquet files, and a table of a database give the part of all rows in memory."""
    frame = odd_frame(600, seed=4).drop(columns=ODD_NAMES[4])  # a database takes 'a b' and 'A B' for one name
    for number, low in enumerate(range(0, 600, 200)):
        frame.iloc[low : low + 200].to_parquet(tmp_path / f"rows-{number}.parquet", index=False)
    with duckdb.connect(str(tmp_path / "all.duckdb")) as connection:
        connection.read_parquet(str(tmp_path / "rows-*.parquet")).create("odd")
        connection.execute('ALTER TABLE odd RENAME TO "odd ""table""; --"')
    here = learn(frame, TARGET, **SETTINGS)
    database = tmp_path / "all.duckdb"
    for path in (tmp_path / "rows-*.parquet", tmp_path, database, f'{database}#odd "table"; --'):
        assert essence(learn(path, TARGET, **SETTINGS)) == essence(here)
    assert essence(learn(tmp_path, TARGET, counts="dask", **SETTINGS)) == essence(here)


@pytest.mark.parametrize("kind", ["duckdb", "dask"])
def test_columns_of_several_files_go_by_name(kind: str, tmp_path: Path) -> None:
    """Files with their columns in other orders, with and without row labels, give the part of all rows in memory."""
    frame = odd_frame(600, seed=4)
    orders = [list(ODD_NAMES), list(ODD_NAMES[::-1]), [*ODD_NAMES[3:], *ODD_NAMES[:3]]]
    for number, order in enumerate([*orders, orders[0]]):
        rows = frame.iloc[150 * number : 150 * (number + 1)][order]
        if number == 2:
            rows = rows.astype({TARGET: "category"})
        rows.to_parquet(tmp_path / f"rows-{number}.parquet", index=number == 1)
    here = learn(frame, TARGET, depth="max", **SETTINGS)
    there = learn(tmp_path, TARGET, depth="max", counts=kind, **SETTINGS)

    assert here.edges
    assert essence(there) == essence(here)


@pytest.mark.parametrize("kind", ["duckdb", "dask"])
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"drop": "b"}, "second.parquet' has other columns than .*first.parquet': it lacks 'b'"),
        ({"add": "z"}, "second.parquet' has other columns than .*first.parquet': it has 'z' besides"),
        ({"to": "float64"}, "the column 'b' holds double in .*second.parquet' and int64 in .*first.parquet'"),
        ({"to": "str"}, "the column 'b' holds text in .*second.parquet' and int64 in .*first.parquet'"),
    ],
)
def test_files_with_other_columns_or_types_are_refused(
    kind: str, change: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    """A column that is missing, new or of another type in one file is named, with the file."""
    first = pd.DataFrame({"a": [0, 1] * 30, "b": [0, 1, 1] * 20, "c": [1, 0] * 30})
    match change:
        case {"drop": name}:
            second = first.drop(columns=name)
        case {"add": name}:
            second = first.assign(**{name: 1})
        case _:
            second = first.astype({"b": change["to"]})
    first.to_parquet(tmp_path / "first.parquet", index=False)
    second.to_parquet(tmp_path / "second.parquet", index=False)

    with pytest.raises(ApslError, match=sentence):
        learn(tmp_path / "*.parquet", "a", counts=kind, learner="apsl")


@pytest.mark.parametrize("kind", ["memory", "duckdb", "dask"])
def test_a_pattern_for_one_file_is_that_file(kind: str, paths: dict[str, Path]) -> None:
    """A pattern that only one file matches can be counted anywhere; several text files go nowhere."""
    folder = paths["csv"].parent
    here = learn(paths["csv"], TARGET, **SETTINGS)
    for pattern in ("row?.csv", "row?.parquet"):
        assert essence(learn(folder / pattern, TARGET, counts=kind, **SETTINGS)) == essence(here)
    (folder / "rowz.csv").write_bytes(paths["csv"].read_bytes())
    with pytest.raises(ApslError, match="stands for 2 files, and only Parquet files go together; give one file"):
        learn(folder / "row?.csv", TARGET, counts=kind, **SETTINGS)


@pytest.mark.parametrize("source", ["memory", "duckdb", "dask"])
@pytest.mark.parametrize("values", [[0, 1, 1, 0], [0.5, 1.25, 7.5, 3.75]])
def test_names_that_do_not_fit_are_refused(source: str, values: list[Any], tmp_path: Path) -> None:
    """There must be one name for each column, wherever the rows are counted or added up."""
    pq.write_table(pa.table(dict.fromkeys("abc", values * 20)), tmp_path / "rows.parquet")
    for names in (["x", "y"], ["x", "y", "z", "w"]):
        with pytest.raises(DataError, match=f"there are {len(names)} names for 3 columns"):
            learn(tmp_path / "rows.parquet", "x", counts=source, options={"names": names})


def test_names_that_duckdb_takes_for_one_are_kept_apart(paths: dict[str, Path]) -> None:
    """'a b' and 'A B' are two columns, as they are in memory."""
    counts = duck_counts(FileTable(paths["parquet"]), missing="level", discretize="quantile:3")

    assert counts.heading.names == ODD_NAMES


@pytest.mark.slow
def test_the_command_line_leaves_files_in_place(paths: dict[str, Path]) -> None:
    """--counts reaches the run, a pattern is a source, and the rounds are shown."""
    folder = paths["parquet"].parent
    words = ("-t", "Ж🎉", "--missing", "level", "--discretize", "quantile:3")
    by_pattern = apsl_here("learn", "row?.parquet", *words, "--notes", folder=folder)
    unknown = apsl_here("learn", "rows.csv", *words, "--counts", "duckbd", folder=folder)

    assert by_pattern.code == 0
    assert "counts came from duckdb in" in " ".join(by_pattern.out.split())
    assert unknown.code == 1
    assert "did you mean 'duckdb'?" in unknown.err


def test_figures_of_a_file_are_kept_in_a_cache(paths: dict[str, Path], tmp_path: Path) -> None:
    """With a cache a second run in the same file only looks for copies, and a changed file is another one."""
    cache = tmp_path / "verdicts.sqlite"
    first, second = (learn(paths["parquet"], TARGET, counts="duckdb", cache=cache, **SETTINGS) for _ in range(2))
    assert essence(first) == essence(second)
    assert "in 1 round," in second.notes[-1]
    other = written(odd_frame(400, seed=8), paths["parquet"].parent)["parquet"]
    again = learn(other, TARGET, counts="duckdb", cache=cache, **SETTINGS)
    assert again.arrows == learn(other, TARGET, **SETTINGS).arrows


@pytest.mark.parametrize(
    ("source", "how", "sentence"),
    [
        ("none.parquet", {"counts": "duckdb"}, "there is no file"),
        ("none-*.parquet", {}, "no file matches"),
        (".", {"counts": "memory"}, "is 2 files, counted where they lie; give counts='duckdb'"),
        ("rows.csv", {"counts": "spark"}, "give 'memory', 'duckdb', 'dask' or 'dask:ADDRESS'"),
        ("rows.csv", {"counts": "duckdb:here"}, "counts is 'duckdb:here'; did you mean 'duckdb'"),
        ("rows.csv", {"counts": 7}, "counts is 7"),
        pytest.param(
            "rows.csv",
            {"counts": "dask:tcp://127.0.0.1:1"},
            "no Dask scheduler answers at",
            marks=pytest.mark.slow,  # it waits for an answer
        ),
        ("rows.csv", {"counts": "duckdb", "options": {"memory_limit": "much"}}, "memory_limit is 'much'"),
        ("rows.csv", {"options": {"memory_limit": "1GiB"}}, "which only counts='duckdb' takes"),
        ("rows.csv", {"counts": "duckdb", "missing": "refuse"}, "values are missing in columns"),
        ("rows.csv", {"counts": "duckdb", "discretize": "none"}, "are numbers, with discretize='none'"),
        ("ragged.csv", {"counts": "duckdb"}, "line 3 of .* has 3 fields where the header has 2"),
        ("broken.parquet", {"counts": "duckdb"}, "cannot read the Parquet file"),
        ("broken.parquet", {"counts": "dask"}, "cannot read the Parquet file"),
        ("broken.duckdb", {}, "cannot open the database"),
        ("codes.txt", {"counts": "duckdb"}, "counted in memory only"),
    ],
)
def test_mistakes_get_one_sentence(
    source: str, how: dict[str, Any], sentence: str, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be counted is refused with what is wrong and what to do."""
    folder = paths["csv"].parent
    monkeypatch.chdir(folder)
    (folder / "ragged.csv").write_text("a,b\n1,2\n1,2,3\n0,1\n" * 3, "utf-8")
    (folder / "broken.parquet").write_bytes(b"PAR1 nothing PAR1")
    (folder / "broken.duckdb").write_bytes(b"nothing" * 1000)
    (folder / "codes.txt").write_text("1 2\n2 1\n", "utf-8")
    with pytest.raises(ApslError, match=sentence):
        learn(source, TARGET, **{**SETTINGS, **how})


def test_a_source_of_counts_stands_alone(paths: dict[str, Path]) -> None:
    """A source of counts is the source to learn from, under either name, and takes no options of tables."""
    counts = duck_counts(FileTable(paths["parquet"]), missing="level", discretize="quantile:3")

    assert learn(counts, TARGET).arrows == learn(None, TARGET, counts=counts).arrows
    with pytest.raises(ApslError, match="there is no need of PosixPath"):
        learn(paths["csv"], TARGET, counts=counts)
    with pytest.raises(ApslError, match="the option 'missing' cannot be given"):
        learn(counts, TARGET, missing="level")


@pytest.mark.slow
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
        sources = (
            counted(DaskEngine(FileTable(path), client=client)),
            counted_table(partial(ScatteredEngine, client=client), drawn),
        )
        before = [source.joints(asked, 1000) for source in sources]
        os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)
        after = [source.joints(asked, 1000) for source in sources]
        parts = [learn(GSquare(CachedCounts(source)), "either") for source in sources]

    expected = table_counts(drawn).joints(asked, 1000)
    for joints in (*before, *after):
        for one, other in zip(joints, expected, strict=True):
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
        with pytest.raises(ApslError, match=r"line \d of .* has \d fields? where the header has 2; make every line"):
            learn(file, "t", counts=counts)


LINES = ["a,b,t", *(f'{at % 3},{(at + (at % 7 == 0)) % 3},"x""{at % 2}, \n{at % 5 % 2}"' for at in range(120))]
ENDS = {
    "LF": "\n".join((*LINES, "")),
    "CRLF": "\r\n".join((*LINES, "")),
    "CR": "\r".join((*LINES, "")),
    "CRLF, the last line open": "\r\n".join(LINES),
    "CRLF, blank lines": "\r\n".join((*LINES[:50], "", "", *LINES[50:], "", "")),
    "CRLF, also within fields": "\n".join((*LINES, "")).replace("\n", "\r\n"),
    "CRLF after a mark of the byte order": "\ufeff" + "\r\n".join((*LINES, "")),
    "LF after CRLF": "\r\n".join(LINES[:60]) + "\r\n" + "\n".join((*LINES[60:], "")),
    "CRLF after LF": LINES[0] + "\n" + "\r\n".join((*LINES[1:], "")),
}


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_line_ends_of_every_kind_give_the_part_of_memory(ends: str, ending: str, tmp_path: Path) -> None:
    """DuckDB reads the same rows and levels as memory, however lines end."""
    text = ENDS[ends].replace(",", "\t") if ending == "tsv" else ENDS[ends]
    file = tmp_path / f"rows.{ending}"
    file.write_bytes(gzip.compress(text.encode()) if ending == "csv.gz" else text.encode())
    here = learn(file, "t", learner="apsl", counts="memory")
    there = learn(file, "t", learner="apsl", counts="duckdb")

    assert essence(there) == essence(here)
    assert duck_counts(FileTable(file)).heading.levels == count_levels(table(file)).levels
    assert table(file).rows == 120


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a;b\n1;2\n2;1;3\n", "write it with a comma between the fields"),
        ("\na,t\n1,2\n", "the first line of .* is blank; it must name the columns"),
        ("t,\n1,2\n2,1\n", "column 2 of .* has no name; give"),
        ("a,t\r\n1,2\r\n1\r\n", "line 3 of .* has 1 field where the header has 2"),
        ("a,t\n1,\0\n,\xe9\n", "is not UTF-8 text"),
    ],
)
def test_duckdb_refuses_a_file_in_the_words_of_memory(text: str, sentence: str, tmp_path: Path) -> None:
    """The sentence about a bad text file does not depend on who counts."""
    file = tmp_path / "bad.csv"
    file.write_bytes(text.encode("latin-1"))
    told = []
    for counts in ("memory", "duckdb"):
        with pytest.raises(DataError, match=sentence) as refused:
            learn(file, "t", counts=counts)
        told.append(str(refused.value))

    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("a;t\n1;2\n2;1\n", "or let it be counted in memory"), ("a,t\n1,2\n2,\xe9\n", "is not UTF-8 text")],
)
def test_duckdb_refuses_what_memory_alone_can_read(text: str, sentence: str, tmp_path: Path) -> None:
    """Other separators and encodings are found when a file is read into memory."""
    file = tmp_path / "odd.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=sentence):
        learn(file, "t", counts="duckdb")
    assert table(file).names == ("a", "t")


@pytest.mark.parametrize("row", ['"1"5,2', '1, "2"', '"1,2\n3,4'])
def test_quotation_marks_that_programs_read_in_two_ways_are_refused(row: str, tmp_path: Path) -> None:
    """DuckDB and pandas take these fields for different values, so that DuckDB is not asked."""
    file = tmp_path / "odd.csv"
    file.write_text(f"a,t\n1,2\n{row}\n2,1\n", "utf-8")

    with pytest.raises(DataError, match=r"line 3 of .*; put quotation marks around whole fields only"):
        learn(file, "t", counts="duckdb")


def test_a_field_beyond_any_size_is_refused(tmp_path: Path) -> None:
    """A field in quotation marks that the reader gives up on is told by its line."""
    file = tmp_path / "long.csv"
    file.write_text('a,t\n1,2\n"' + "x" * 200_000 + '",1\n2,1\n', "utf-8")

    with pytest.raises(DataError, match=r"line 3 of .* cannot be read \(field larger"):
        table(file)


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_a_changed_file_with_the_old_size_and_time_is_another_one(kind: str, tmp_path: Path) -> None:
    """What a cache has of a file counts for its content, not for its name, size and time."""
    random = np.random.default_rng(5)
    cause, noise = random.integers(0, 2, (2, 2000))
    file, cache = tmp_path / f"rows.{kind}", tmp_path / "verdicts.sqlite"
    times, sizes, parts = set(), set(), []
    for effect in (np.where(random.random(2000) < 0.1, noise, cause), noise):
        frame = pd.DataFrame({"a": cause, "b": effect, "c": random.integers(0, 2, 2000)})
        file.unlink(missing_ok=True)
        if kind == "csv":
            frame.to_csv(file, index=False)
        elif kind == "parquet":
            pq.write_table(
                pa.Table.from_pandas(frame), file, compression="none", use_dictionary=False, write_statistics=False
            )
        else:
            with duckdb.connect(str(file)) as connection:
                connection.from_df(frame).create("rows")
        os.utime(file, (1_000_000_000, 1_000_000_000))
        sizes.add(file.stat().st_size)
        times.add(file.stat().st_mtime_ns)
        parts.append(learn(file, "a", learner="apsl", counts="duckdb", cache=cache))

    assert len(sizes) == len(times) == 1
    assert [len(part.edges) for part in parts] == [1, 0]
    moved = file.rename(tmp_path / f"moved.{kind}")
    assert learn(moved, "a", learner="apsl", counts="duckdb", cache=cache).notes[-1].endswith("in 0 rounds")


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_cuts_that_are_spelt_alike_share_no_answers(counts: str, tmp_path: Path) -> None:
    """Limits of intervals are spelt with four digits; a cache tells them apart all the same."""
    random = np.random.default_rng(0)
    low, high = random.uniform(0, 9999.5, 700), random.uniform(10_001, 20_000, 500)
    number = np.concatenate([[0.0, 20_000.0], low, random.uniform(9999.6, 9999.9, 798), high])
    frame = pd.DataFrame({"number": number, "above": number > 10_000, "upper": number > 9999.6})
    file, cache = tmp_path / "rows.parquet", tmp_path / "verdicts.sqlite"
    frame.to_parquet(file)
    asked: dict[str, Any] = {"learner": "apsl", "counts": counts}
    cuts: tuple[dict[Node, str], ...] = ({"number": "width:2"}, {"number": "quantile:2"})
    levels = [count_levels(table(file, discretize=cut)).levels[0] for cut in cuts]
    kept = [learn(file, "number", cache=cache, discretize=cut, **asked) for cut in cuts]
    alone = [learn(file, "number", discretize=cut, **asked) for cut in cuts]

    assert levels[0] == levels[1]
    assert [str(part.why("number", "above")) for part in kept] == [str(part.why("number", "above")) for part in alone]
    assert kept[0].why("number", "above") != kept[1].why("number", "above")


def test_what_lies_in_the_log_of_a_database_belongs_to_it(tmp_path: Path) -> None:
    """Rows that a database has not yet moved from its log into its file change what it is."""
    file = tmp_path / "rows.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE rows AS SELECT range % 2 AS a FROM range(10)")
    before = FileTable(file).identity()
    (tmp_path / "rows.duckdb.wal").write_bytes(b"more")

    assert FileTable(file).identity() != before


def test_an_interrupted_query_is_an_interrupt() -> None:
    """What DuckDB says of a query that was interrupted is Python's KeyboardInterrupt, no failure of a test."""
    connection, ended = connect(), Event()

    def interrupt() -> None:
        while not ended.wait(0.1):
            connection.interrupt()

    thread = Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt), translate_errors("rows.parquet"):
            connection.sql("SELECT count(*) FROM range(1000000000000) AS t(i) WHERE hash(i) % 7 = 3").to_arrow_table()
    finally:
        ended.set()
        thread.join()


def test_a_question_mark_among_numbers_is_missing_in_a_file_too(tmp_path: Path) -> None:
    """DuckDB takes ? for a missing value where memory does, and leaves out the same rows."""
    random = np.random.default_rng(2)
    x = random.integers(0, 3, 300)
    y = np.where(random.random(300) < 0.8, x, 2 - x)
    fields = ["?" if at % 6 == 0 else str(one) for at, one in enumerate(x)]
    file = tmp_path / "unknown.csv"
    file.write_text("x,y\n" + "".join(f"{one},{other}\n" for one, other in zip(fields, y, strict=True)), "utf-8")
    here, there = learn(file, "y", learner="apsl"), learn(file, "y", learner="apsl", counts="duckdb")

    assert here.neighbours_of("y") == there.neighbours_of("y") == ("x",)
    assert [note for note in there.notes if "missing" in note] == [note for note in here.notes if "missing" in note]
