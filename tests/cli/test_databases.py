"""The command line on tables in databases: learning, a dry run, what is wrong, and no secret in what is printed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import duckdb
import pytest

from apsl_rules import learn
from apsl_rules.parts import load_part
from support.counted import essence
from support.databases import in_postgres, mixed_frame, stored
from support.postgres_server import PASSWORD, QUOTED, PostgresServer
from support.terminal import apsl_here

pytestmark = pytest.mark.slow

#: For tests, distinct values, rows to look at, and scores: by ranks alone, and with values.
ROUNDS = 5


def test_a_table_of_sqlite_is_learned_from(tmp_path: Path) -> None:
    """A relative path with two slashes or three works, the part is that of memory, and rounds and bytes are shown."""
    frame = mixed_frame(400, 3)
    stored(frame, "sqlite", tmp_path, name="t")
    for address in ("sqlite:///rows.sqlite#t", "sqlite://rows.sqlite#t", "sqlite://rows.sqlite"):
        done = apsl_here("learn", address, "-t", "dose", "--notes", "--out", "part.json", folder=tmp_path)
        assert done.code == 0, done.err
        assert f"moments came from sqlite through ibis in {ROUNDS} rounds, " in " ".join(done.out.split())
    assert essence(load_part(tmp_path / "part.json")) == essence(learn(frame, "dose"))


def test_a_table_of_duckdb_is_learned_from(tmp_path: Path) -> None:
    """By its path or its address; a file of SQLite that is taken for one gets the address to give."""
    frame = mixed_frame(200, 3)
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE t AS SELECT * FROM given")
    stored(frame, "sqlite", tmp_path, name="t")
    (tmp_path / "rows.sqlite").rename(tmp_path / "rows.db")
    for address in ("rows.duckdb#t", "duckdb://rows.duckdb#t", "rows.duckdb"):
        done = apsl_here("learn", address, "-t", "dose", "--notes", folder=tmp_path)
        assert done.code == 0, done.err
        assert f"moments came from duckdb in {ROUNDS} rounds, " in " ".join(done.out.split())
    assert "did you mean 'dose'?" in apsl_here("learn", "rows.duckdb#t", "-t", "doze", folder=tmp_path).err
    assert "give sqlite://rows.db#t" in apsl_here("learn", "rows.db#t", "-t", "dose", folder=tmp_path).err


def test_a_dry_run_says_what_would_be_read(tmp_path: Path) -> None:
    """It shows the columns and statements, writes no part, and needs a target and a database."""
    stored(mixed_frame(100, 3), "sqlite", tmp_path, name="t")
    done = apsl_here(
        "learn", "sqlite://rows.sqlite#t", "-t", "dose", "--drop", "age", "--dry-run", "--out", "p.json",
        folder=tmp_path,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Nothing was read of sqlite://rows.sqlite#t" in done.out
    assert "GROUP BY" in done.out
    assert '"age"' not in done.out
    assert not (tmp_path / "p.json").exists()
    for words in (("sqlite://rows.sqlite#t", "--dry-run"), ("rows.csv", "-t", "x", "--dry-run")):
        wrong = apsl_here("learn", *words, folder=tmp_path)
        assert wrong.code == 1
        assert "Traceback" not in wrong.err


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    """No file, no table, no column, no such engine: one sentence each, and exit code 1."""
    stored(mixed_frame(100, 3), "sqlite", tmp_path, name="people")
    cases = {
        ("sqlite://nowhere.db#t", "dose"): "there is no file 'nowhere.db'",
        ("sqlite://rows.sqlite#peple", "dose"): "did you mean 'people'?",
        ("sqlite://rows.sqlite#people", "doze"): "did you mean 'dose'?",
        ("sqlit://rows.sqlite#people", "dose"): "did you mean 'sqlite'?",
        ("mysql://u:hushhush@127.0.0.1:1/d#t", "dose"): "mysql",
    }
    for (address, target), words in cases.items():
        done = apsl_here("learn", address, "-t", target, folder=tmp_path)
        assert done.code == 1
        assert words in done.err
        assert "Traceback" not in done.err
        assert "hush" not in done.err + done.out


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    """A file that is no database is refused in a sentence."""
    (tmp_path / "rows.sqlite").write_bytes(b"no database at all" * 100)
    done = apsl_here("learn", "sqlite://rows.sqlite#t", "-t", "x", folder=tmp_path)
    assert done.code == 1
    assert "file is not a database" in done.err


def test_no_password_is_printed(postgres: PostgresServer, tmp_path: Path) -> None:
    """Neither results nor sentences about what is wrong tell the password, whatever command is given the address."""
    address = in_postgres(mixed_frame(200, 3), postgres, name="people")
    wrong = address.replace(QUOTED, f"{QUOTED}x")
    commands = [
        ("learn", address, "-t", "dose", "--out", "part.json"),
        ("learn", address, "-t", "dose", "--dry-run"),
        ("learn", address),
        ("learn", wrong, "-t", "dose"),
        ("describe", address),
        ("compare", address),
        ("stability", address, "-t", "dose", "--repeats", "2"),
        ("learn", address.replace("postgres:", "postgress:"), "-t", "dose"),
        ("show", address),
        ("why", address, "dose", "age"),
        ("effect", address, "age", "dose"),
    ]
    for words in commands:
        done = apsl_here(*words, folder=tmp_path)
        for text in (done.out, done.err):
            assert "Traceback" not in text, words
            for secret in (PASSWORD, QUOTED):
                assert secret not in text, words
    assert QUOTED not in (tmp_path / "part.json").read_text("utf-8")


def test_a_read_of_sqlite_leaves_writers_alone(tmp_path: Path) -> None:
    """Nothing is locked after a run."""
    stored(mixed_frame(100, 3), "sqlite", tmp_path, name="t")
    assert apsl_here("learn", "sqlite://rows.sqlite#t", "-t", "dose", folder=tmp_path).code == 0
    with sqlite3.connect(tmp_path / "rows.sqlite") as connection:
        connection.execute("DELETE FROM t")
    connection.close()


def test_a_table_in_a_database_is_described_by_its_first_rows(tmp_path: Path) -> None:
    """The catalogue and a sample are enough: kinds, histograms, and a note that says of how many rows."""
    frame = mixed_frame(12_000, 3)
    stored(frame, "sqlite", tmp_path, name="t")
    done = apsl_here("describe", "sqlite://rows.sqlite#t", "--json", folder=tmp_path)
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["rows"] == 10_000
    assert "the first 10,000 rows" in found["notes"][0]
    assert {one["name"] for one in found["columns"]} == set(frame.columns)
    assert all(one["bars"] for one in found["columns"] if one["kind"] != "set aside")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("asia", "'asia' is a network, which has no rows; give a CSV"),
    ],
)
def test_only_a_table_in_memory_is_described(source: str, sentence: str) -> None:
    """What has no rows here is told apart from what is too large, and the secret of an address is not shown."""
    done = apsl_here("describe", source)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"apsl: {sentence}")
