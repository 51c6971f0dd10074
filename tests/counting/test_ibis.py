"""Tables in databases through ibis: what engines take differently is read as a table in memory reads it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from apsl_backends.engines.ibis import IbisEngine
from apsl_backends.engines.opener import Need, open_dataset
from apsl_backends.engines.opening import counted, moments
from apsl_rules import learn
from apsl_rules.data import count_levels, table
from apsl_rules.data.counts import CachedCounts
from apsl_rules.data.databases import DatabaseTable
from apsl_rules.errors import ApslError, DataError
from apsl_rules.learning import dry_run
from support.counted import ODD_NAMES, odd_frame
from support.databases import DATAFUSION, EMBEDDED, TABLE, in_postgres, mixed_frame, stored
from support.postgres_server import PASSWORD, QUOTED, PostgresServer

ENGINES = (*EMBEDDED, DATAFUSION, pytest.param("postgres", marks=pytest.mark.slow))
Store = Callable[[Any], Any]


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Return a function that stores rows in an engine and says where they are."""
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        return lambda rows: in_postgres(rows, server)
    return lambda rows: stored(rows, request.param, tmp_path)


def assert_counted_alike(source: Any, frame: Any, **reading: Any) -> None:
    """Assert that a database gives levels, totals and pairs of columns as the table in memory does."""
    there = counted(IbisEngine.of(source), **reading)
    here = count_levels(table(frame, **reading), reading.get("discretize"))
    known = here.heading
    assert there.heading.names == known.names
    assert there.heading.levels == known.levels
    assert [one.tolist() for one in there.heading.totals] == [one.tolist() for one in known.totals]
    assert there.heading.notes == known.notes
    kept = CachedCounts(there)
    for x in range(len(known.names) - 1):
        joint = kept.joint((x, x + 1))
        spans = known.spans[[x, x + 1]].tolist()
        found = np.zeros(spans, np.int64)
        found[joint.codes[0], joint.codes[1]] = joint.weights
        expected = np.zeros(spans, np.int64)
        np.add.at(expected, (here.codes[x], here.codes[x + 1]), 1)
        assert found.tolist() == expected.tolist()
        whole = (here.codes[[x, x + 1]] < known.cards[[x, x + 1], None]).all(axis=0).sum()
        assert kept.rows_used((x, x + 1)) == whole


def test_odd_names_levels_and_missing_values(store: Store) -> None:
    """Hostile names of tables and columns, hostile levels, NULL, cut numbers: all as in memory."""
    frame = odd_frame(300, seed=3).drop(columns=ODD_NAMES[4])
    for reading in ({"missing": "level"}, {"missing": "testwise"}):
        assert_counted_alike(store(frame), frame, discretize="quantile:3", **reading)


def test_text_is_told_apart_letter_by_letter(store: Store) -> None:
    """Case, accents, blanks and the empty text make levels of their own, in an order that no locale changes."""
    words = ["a", "A", "ä", "Ä", "b", " b", "b ", "", "ß", "ss", "Z", "z", None, "NULL", "%s", "é"]
    frame = pd.DataFrame({"word": words * 3, "part": (["x", "y", "y"] * 16)})
    assert_counted_alike(store(frame), frame)


def test_collations_that_ignore_case_are_not_heeded(tmp_path: Path) -> None:
    """A column of SQLite for which 'a' equals 'A' has both levels, as it has in memory."""
    frame = pd.DataFrame({"word": ["a", "A", "b", "a"] * 5, "part": ["x", "y"] * 10})
    path = tmp_path / "rows.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (word TEXT COLLATE NOCASE, part TEXT)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", frame.to_numpy().tolist())
    connection.close()
    assert_counted_alike(f"sqlite://{path}#t", frame)


@pytest.mark.slow
def test_collations_of_postgres_that_ignore_case_are_not_heeded(postgres: PostgresServer) -> None:
    """Neither are nondeterministic collations of PostgreSQL, nor its padded types and its types for names."""
    with postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS loose")
        connection.execute(
            "CREATE COLLATION IF NOT EXISTS nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
        )
        connection.execute("CREATE TABLE loose (word TEXT COLLATE nocase, part TEXT, amount NUMERIC, one UUID)")
        rows = [["a", "x", "1.25"], ["A", "y", "2"], ["Ä", "x", "1.25"], [None, "y", "3"]] * 5
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO loose VALUES (%s, %s, %s, '00000000-0000-0000-0000-000000000001')", rows)
    frame = pd.DataFrame(rows, columns=["word", "part", "amount"]).astype({"amount": float})
    frame["one"] = "00000000-0000-0000-0000-000000000001"
    assert_counted_alike(postgres.address("loose"), frame, kinds={"amount": "category"})
    with postgres.connect() as connection:
        connection.execute("DROP TABLE loose")  # for other tables need not be read so


def test_fractions_are_levels_as_in_memory(store: Store) -> None:
    """Floats as levels: -0.0 is 0.0, 0.1 + 0.2 is not 0.3, NaN is missing, infinity is a number."""
    values = [0.0, -0.0, 0.1 + 0.2, 0.3, float("nan"), 1e300, 5e-324, -1.5]
    frame = pd.DataFrame({"x": values * 4, "y": ["u", "v", "v", "u"] * 8})
    assert_counted_alike(store(frame), frame, kinds={"x": "category"})


def test_moments_in_time_do_not_depend_on_the_zone(store: Store) -> None:
    """Times with and without a zone, and days, are the values that they are in memory."""
    at = [datetime(2024, 3, 10, hour, 30, tzinfo=UTC) for hour in (0, 6, 7, 8)] * 5
    plain = [one.replace(tzinfo=None) for one in at]
    rows = pa.table(
        {
            "at": pa.array(at, pa.timestamp("us", "UTC")),
            "plain": pa.array(plain, pa.timestamp("us")),
            "day": pa.array([one.date() for one in at], pa.date32()),
            "y": ["u", "v", "v", "u"] * 5,
        }
    )
    kinds = {"at": "category", "plain": "category", "day": "category"}
    assert_counted_alike(store(rows), rows, kinds=kinds)


def test_a_database_without_rows_is_refused(store: Store) -> None:
    """A table without rows, or with one, is refused as in memory."""
    empty = pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], pa.string())})
    for rows, words in ((empty, "the table has 0 rows"), (pa.table({"x": [1], "y": ["a"]}), "the table has 1 row;")):
        source = store(rows)
        needs: tuple[Need, ...] = ("counts", "either")
        for need in needs:
            with pytest.raises(DataError, match=words):
                open_dataset(source, {}, need=need)


def test_columns_without_levels_are_set_aside() -> None:
    """Lists and bytes get a sentence that names the column, and the others are learned from; memory takes none."""
    rows = ibis.memtable(pa.table({"x": [[1], [2], [1]], "y": ["a", "b", "a"], "z": ["u", "v", "u"]}))
    noted = open_dataset(rows, {}, need="counts")
    assert isinstance(noted, CachedCounts)
    assert noted.heading.names == ("y", "z")
    assert "column 'x' is set aside: it holds values of the type array" in noted.heading.notes[0]
    with pytest.raises(DataError, match=r"column 'x' holds array<int64>, which has no levels .*leave it out"):
        open_dataset(rows, {"counts": "memory"}, need="counts")
    found = open_dataset(rows, {"drop": ["x"]}, need="counts")
    assert isinstance(found, CachedCounts)
    assert found.heading.names == ("y", "z")


# --- a table that changes ------------------------------------------------------------------------------------------


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[tuple[str, sqlite3.Connection]]:
    """Return a table of SQLite and a connection that writes to it."""
    address = stored(mixed_frame(300, 1), "sqlite", tmp_path, name="t")
    connection = sqlite3.connect(tmp_path / "rows.sqlite")
    yield address, connection
    connection.close()


CHANGES = [
    "INSERT INTO t SELECT * FROM t LIMIT 1",
    "DELETE FROM t WHERE rowid = 7",
    "UPDATE t SET pain = 'other'",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_between_rounds_ends_with_a_sentence(changing: tuple[str, sqlite3.Connection], change: str) -> None:
    """Rows that appear, disappear or change between two statements are noticed, by counts and by moments."""
    address, writer = changing
    words = r"changed while it was read|it did not have when it was opened"
    counts = counted(IbisEngine.of(address), only=["Group", "pain", "visits"], kinds={"visits": "category"})
    source = moments(IbisEngine.of(DatabaseTable(address)))
    writer.execute(change)
    writer.commit()
    with pytest.raises(DataError, match=words):
        CachedCounts(counts).joint((0, 1))
    with pytest.raises(DataError, match=words):
        source.covariance(range(5))


def test_the_same_number_of_other_rows_is_noticed(changing: tuple[str, sqlite3.Connection]) -> None:
    """One row less and another more keep the number of rows, but not the counts of levels."""
    address, writer = changing
    counts = counted(IbisEngine.of(address), only=["Group", "pain"])
    writer.execute("UPDATE t SET \"Group\" = 'old'")
    writer.commit()
    with pytest.raises(DataError, match="changed while it was read: column 'Group' had other values than before"):
        CachedCounts(counts).joint((0, 1))


@pytest.mark.slow
def test_postgres_shows_one_state_of_a_table(postgres: PostgresServer) -> None:
    """Rows that others write during a run are not seen: the part is that of the rows at its start."""
    frame = mixed_frame(400, 2)
    address = in_postgres(frame, postgres, name="busy")
    counts = counted(IbisEngine.of(address), only=["Group", "pain"])
    source = moments(IbisEngine.of(DatabaseTable(address)))
    before = moments(IbisEngine.of(DatabaseTable(address))).covariance(range(5))
    with postgres.connect() as connection:
        connection.execute("INSERT INTO busy SELECT * FROM busy LIMIT 50")
        connection.execute("UPDATE busy SET pain = 'other'")
    assert CachedCounts(counts).joint((0, 1)).weights.sum() == 400
    assert source.covariance(range(5)).tobytes() == before.tobytes()
    assert IbisEngine.of(address).rows() == 450


@pytest.mark.slow
def test_rows_of_postgres_begin_at_the_first_while_others_read(postgres: PostgresServer) -> None:
    """A large table that another session is reading comes in its own order, by an address and by a table of ibis."""
    filler = "SELECT number, repeat('x', 400) AS filler FROM generate_series(0, 59999) AS number"
    with postgres.connect() as other:
        other.execute("DROP TABLE IF EXISTS large")
        other.execute(f"CREATE TABLE large AS {filler}")
        backend = ibis.postgres.connect(
            host="127.0.0.1", port=postgres.port, user="apsl", password=PASSWORD, database="postgres"
        )
        for source in (backend.table("large"), postgres.address("large")):
            with other.transaction(), other.cursor(name="half") as cursor:
                cursor.execute("SELECT number FROM large")
                cursor.fetchmany(30_000)
                first = next(IbisEngine.of(source).batches([0]))
                assert first.column(0)[0].as_py() == 0
        backend.disconnect()


# --- reading only, and secrets -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_written_to_postgres(postgres: PostgresServer) -> None:
    """Sessions only read: a statement that writes is refused by the server, and no object is left behind."""
    address = in_postgres(mixed_frame(300, 2), postgres, name="quiet")
    objects = "SELECT relname FROM pg_class ORDER BY oid"
    with postgres.connect() as connection:
        before = connection.execute(objects).fetchall()
        learn(address, "pain", depth=2)
        assert connection.execute(objects).fetchall() == before
    opened = DatabaseTable(address).opened
    for statement in ("INSERT INTO quiet VALUES (1)", "CREATE TABLE other (a INT)", "DROP TABLE quiet"):
        with pytest.raises(Exception, match="read-only transaction"), opened.backend.con.transaction():
            opened.backend.con.execute(statement)


def test_nothing_is_written_to_sqlite(tmp_path: Path) -> None:
    """The file keeps every byte, no file appears beside it, and a statement that writes is refused."""
    address = stored(mixed_frame(300, 2), "sqlite", tmp_path)
    path = tmp_path / "rows.sqlite"
    before, beside = path.read_bytes(), sorted(tmp_path.iterdir())
    learn(address, "pain")
    assert path.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == beside
    opened = DatabaseTable(address).opened
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        opened.backend.con.execute("CREATE TABLE x (a INTEGER)")


@pytest.mark.slow
def test_the_password_is_nowhere(postgres: PostgresServer, tmp_path: Path) -> None:
    """Neither the part file nor notes, repr, sentences or the exceptions behind them tell the password."""
    address = in_postgres(mixed_frame(300, 2), postgres, name="people")
    part = learn(address, "pain", depth=2)
    part.save(tmp_path / "part.json")
    part.report(tmp_path / "part.html")
    shown = [(tmp_path / name).read_text("utf-8") for name in ("part.json", "part.html")]
    shown += [repr(part), str(part), *part.notes]
    shown += [str(dry_run(address, "pain")), repr(DatabaseTable(address).opened)]
    wrong = (address.replace(QUOTED, f"{QUOTED}x"), address + "x", address.replace("/postgres#", "/nowhere#"))
    for one in wrong:
        with pytest.raises(ApslError) as caught:
            learn(one, "pain")
        error: BaseException | None = caught.value
        while error is not None:
            shown.append(repr(error))
            error = error.__cause__ or error.__context__
    for text in shown:
        assert PASSWORD not in text
        assert QUOTED not in text


# --- what is refused, and the dry run ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"counts": "dask"}, r"is counted where it lies, not by 'dask'; leave counts out"),
        ({"weights": "visits"}, "weights='visits' needs the table in memory"),
        ({"missing": "complete"}, "missing='complete' needs the table in memory"),
        ({"cache": "answers.sqlite", "only": ["pain", "Group"]}, "a cache needs a fingerprint"),
        ({"options": {"memory_limit": "1GiB"}}, "memory_limit"),
    ],
)
def test_settings_that_need_the_rows_here_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], words: str
) -> None:
    """What a database cannot do is refused in a sentence, and no file is begun."""
    address = stored(mixed_frame(100, 2), "sqlite", tmp_path, name="t")
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(ApslError, match=words):
        learn(address, "pain", **settings)
    assert not list(here.iterdir())


def test_a_small_table_is_read_into_memory_on_request(store: Store) -> None:
    """counts='memory' reads the table once, and then all is as with a frame."""
    frame = mixed_frame(200, 4)
    there, here = learn(store(frame), "pain", counts="memory"), learn(frame, "pain")
    assert there.edges == here.edges
    assert there.notes == here.notes


@pytest.mark.parametrize("engine", [*EMBEDDED, DATAFUSION])
def test_a_dry_run_reads_nothing(engine: str, tmp_path: Path) -> None:
    """It names the columns and the statements, with every name quoted, and sends none of them."""
    source = stored(mixed_frame(200, 4), engine, tmp_path)
    plan = dry_run(source, "pain", drop=["age"])
    assert [name for name, _ in plan.columns] == ["Group", "dose", "pain", "visits"]
    assert len(plan.statements) == 5
    assert plan.engine == engine
    assert "Nothing was read of" in str(plan)
    if engine in ("sqlite", "duckdb"):
        assert all(f'"{TABLE.replace(chr(34), 2 * chr(34))}"' in one for one in plan.statements)
    if engine == "sqlite":
        assert plan.size == (tmp_path / "rows.sqlite").stat().st_size
    with pytest.raises(ApslError, match="target"):
        dry_run(source, "nobody")


@pytest.mark.slow
def test_a_dry_run_tells_what_the_catalogue_knows(postgres: PostgresServer) -> None:
    """PostgreSQL tells rows and bytes, and has run no statement that reads the table."""
    address = in_postgres(mixed_frame(5000, 4), postgres, name="planned")
    with postgres.connect() as connection:
        connection.execute("ANALYZE planned")
    plan = dry_run(address, "pain")
    assert plan.rows == 5000
    assert plan.size is not None
    assert plan.size > 5000 * 5
    assert "about 5,000 rows, 5 columns" in str(plan)


def test_a_column_that_has_neither_levels_nor_numbers_is_set_aside(postgres: PostgresServer) -> None:
    """A jsonb column, an array and bytes are noted, and the others are learned from as if these were not there."""
    with postgres.connect() as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS odd")
        cursor.execute(
            "CREATE TABLE odd AS SELECT i % 3 AS a, (i % 3 + i % 2) % 3 AS b, (i * 1.5 % 7.7)::float8 AS x, "
            "jsonb_build_object('k', i) AS doc, ARRAY[i] AS list, 'x'::bytea AS raw FROM generate_series(1, 300) AS i"
        )
    part = learn(postgres.address("odd"), "a")
    plain = learn(postgres.address("odd"), "a", drop=["doc", "list", "raw"])
    assert part.edges == plain.edges
    said = [note for note in part.notes if "set aside" in note]
    assert said == [
        "column 'doc' is set aside: it holds values of the type json, which are neither levels nor numbers",
        "column 'list' is set aside: it holds values of the type array, which are neither levels nor numbers",
        "column 'raw' is set aside: it holds values of the type binary, which are neither levels nor numbers",
    ]
    assert [name for name, _ in dry_run(postgres.address("odd"), "a").columns] == ["a", "b", "x"]
