"""Addresses of tables in databases: what they stand for, that their secrets are hidden, and what is refused."""

from __future__ import annotations

import pickle
import sqlite3
import subprocess
import sys
from pathlib import Path

import ibis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn, table
from apsl_rules.data.databases import (
    DatabaseTable,
    complete_rows,
    duckdb_path,
    group,
    is_database,
    is_ibis_table,
    select,
    shown_source,
    value_of,
)
from apsl_rules.errors import ApslError, DataError
from apsl_rules.learning import dry_run

ADDRESS = "postgres://ann:s3cr%40t@db.example:5432/sales?sslmode=require&sslpassword=hush#orders"


def test_an_address_has_a_database_and_a_table() -> None:
    """The last number sign parts the table from the database, and what is shown has no secrets."""
    found = DatabaseTable(ADDRESS)
    assert found.table == "orders"
    assert found.engine == "postgres"
    assert found.shown == "postgres://ann:***@db.example:5432/sales?sslmode=require&sslpassword=***#orders"
    assert str(found) == shown_source(ADDRESS) == found.shown
    assert repr(found) == f"DatabaseTable({found.shown!r})"
    assert DatabaseTable("sqlite://rows.sqlite").table is None
    assert duckdb_path(DatabaseTable("duckdb:///data/a b.duckdb#x%23y")) == "/data/a b.duckdb#x#y"
    assert duckdb_path(DatabaseTable("sqlite:///data/a.db#x")) is None
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - of our own


def test_only_addresses_are_databases() -> None:
    """Paths, names of networks and frames are none."""
    assert is_database("sqlite:///rows.db#t")
    assert is_database("snowflake://u@account/db#t")
    for other in ("rows.csv", "alarm", "people.duckdb#table", Path("rows.parquet"), {"a": [1]}, None):
        assert not is_database(other)
        assert not is_ibis_table(other)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=4, max_size=12))
def test_a_password_is_never_shown(password: str) -> None:
    """Whatever the password is, spelt as addresses spell it or as it is, no text that is shown has it."""
    from urllib.parse import quote

    spelt = quote(password, safe="")
    found = DatabaseTable(f"postgres://u:{spelt}@h/d#t")
    message = found.redact(f"no connection with {found.url} or pw='{password}' or {spelt}; {found.address}")
    for secret in (f":{spelt}@", f"'{password}'"):
        assert secret not in message
        assert secret not in repr(found) + str(found)


def test_a_text_that_is_redacted_twice_stays_as_it_is() -> None:
    """The address without secrets has none to take away, and names its table once."""
    for address in ("postgres://u@h/d#t", "postgres://u:hush@h/d#t", "sqlite:///rows.db"):
        found = DatabaseTable(address)
        once = found.redact(f"no rows in {found.address}")
        assert once == f"no rows in {found.shown}"
        assert found.redact(once) == once


WRONG = [
    ("postgress://u:hushhush@h/d#t", "did you mean 'postgres'"),
    ("nowhere://u:hushhush@h/d#t", "no database that ibis knows"),
    ("sqlite:///nowhere/rows.db#t", "there is no file '/nowhere/rows.db'"),
    ("postgres://u:hushhush@127.0.0.1:1/d#t", "cannot answer for"),
    ("postgres://u:hush[hush@h/d#t", "cannot"),
    ("postgres://u:hush/hush@h/d#t", "write '/' in a password as %2F"),
    ("postgres://u:hush#hush@h/d#t", "'#' as %23"),
    ("postgres://u:hush#hush@h/d", "'#' as %23"),
    ("postgres://u:hush?hush@h/d#t", "'?' as %3F"),
    ("postgres://u:12/hush@h/d#t", "write '/' in a password as %2F"),
    ("postgres://u:12?hush@h/d#t", "'?' as %3F"),
    ("postgres://u:12#hush@h/d#t", "'#' as %23"),
    ("postgres://u:12#hush@h/d", "'#' as %23"),
]


@pytest.mark.parametrize(
    "address",
    [
        "postgres://h:5432/d?user=me@firm.example#t",
        "postgres://[::1]:5432/d#t",
        "postgres://h:5432/d#t@x",
        "sqlite:///home/me@firm/rows.db#t",
        "sqlite://C:/rows.db#t",
    ],
)
def test_an_at_sign_that_belongs_to_no_password_is_no_mistake(address: str) -> None:
    """Users, paths and tables with an '@', ports, and hosts in brackets are read as they are."""
    assert DatabaseTable(address).parts.scheme == address.partition(":")[0]
    assert DatabaseTable(address).table in {"t", "t@x"}


@pytest.mark.parametrize(("address", "words"), WRONG)
def test_what_is_wrong_is_said_in_a_sentence_without_the_password(address: str, words: str) -> None:
    """No database, no file, no server: one sentence, and no exception behind it tells more."""
    with pytest.raises(ApslError) as caught:
        learn(address, "x")
    assert words in str(caught.value)
    assert "hush" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_database_is_not_read_as_a_file() -> None:
    """A function that takes rows says so, without the password."""
    with pytest.raises(ApslError, match=r"'postgres://u:\*\*\*@h/d#t' is a table of a database"):
        table("postgres://u:hushhush@h/d#t")
    with pytest.raises(ApslError, match="a dry run is for tables in databases"):
        dry_run("rows.csv", "x")


def test_a_table_must_be_there(tmp_path: Path) -> None:
    """A name that is none gets the nearest, and without a name the only table is taken."""
    path = tmp_path / "rows.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE orders (a INTEGER, b INTEGER)")
    connection.close()
    for slashes in ("//", "///"):  # and then that of the absolute path
        assert DatabaseTable(f"sqlite:{slashes}{path}").columns == ("a", "b")
    with pytest.raises(ApslError, match=r"there is no table 'order' .*did you mean 'orders'"):
        DatabaseTable(f"sqlite://{path}#order").opened  # noqa: B018 - it opens
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (a INTEGER)")
    connection.close()
    with pytest.raises(ApslError, match=r"no table of .* was named .*; add #TABLE"):
        DatabaseTable(f"sqlite://{path}").opened  # noqa: B018 - it opens


@pytest.mark.parametrize(
    "engine", ["athena", "bigquery", "clickhouse", "databricks", "mysql", "oracle", "snowflake", "trino"]
)
def test_statements_are_written_for_engines_that_are_not_at_hand(engine: str) -> None:
    """Ibis writes all that is ever asked for them, and quotes the names of tables and columns."""
    rows = ibis.table({"a b": "string", "x": "float64", "d": "decimal(10, 2)", "at": "timestamp"}, name='t"; --')
    values = {place: value_of(rows, name) for place, name in enumerate(rows.columns)}
    missing = {0: rows["a b"].isnull() | rows["a b"].isin(["?"]), 1: rows["x"].isnull() | rows["x"].isnan()}
    cut = ibis.cases((missing[1], ibis.null("int64")), (rows["x"] <= 0.5, 0), else_=1)
    asked = (
        group(rows, values, 100),
        group(rows, {0: cut}),
        select(rows, values).order_by(["c0", "c1"]),
        complete_rows(rows, missing, [(0,), (0, 1)]),
    )
    for one in asked:
        statement = str(ibis.to_sql(one, dialect=engine))
        assert statement.lstrip().startswith("SELECT")
        assert any(f"{mark}t{quoted}; --{mark}" in statement for mark, quoted in (("`", '"'), ('"', '""')))


def test_nothing_heavy_is_loaded_for_files() -> None:
    """Ibis is imported when a database is opened, not before."""
    code = "import sys, apsl_rules.learning; print(any(m in sys.modules for m in ('ibis', 'sqlglot', 'sqlite3')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_dry_run_takes_a_duckdb_file_as_it_is_named(tmp_path: Path) -> None:
    """By its path or its address, what would be read is said from the catalogue."""
    import duckdb

    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 3 AS a, [i] AS list, i * 0.5::DOUBLE AS x FROM range(90) r(i)")
    for source in (f"{path}#t", f"duckdb://{path}#t", path):
        plan = dry_run(source, "a")
        assert (plan.engine, plan.rows) == ("duckdb", 90)
        assert [name for name, _ in plan.columns] == ["a", "x"]
        assert all("SELECT" in statement for statement in plan.statements)


def test_a_duckdb_address_with_parameters_is_opened_or_refused_in_one_sentence_without_its_password(
    tmp_path: Path,
) -> None:
    """DuckDB gets the parameters; whatever it says, no name of a method and no secret is in it."""
    import duckdb

    path = tmp_path / "rows"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 3 AS a, i % 2 AS b FROM range(90) r(i)")
        connection.execute("CREATE SCHEMA s")
        connection.execute("CREATE TABLE s.u AS SELECT i % 5 AS c FROM range(90) r(i)")
    assert DatabaseTable(f"duckdb://{path}?password=s3cret").columns == ("a", "b")
    assert DatabaseTable(f"duckdb://{path}?password=s3cret#s.u").columns == ("c",)
    for address in (
        f"duckdb://{path}?password=s3cret#v",
        f"duckdb://{path}-2?password=s3cret",
        f"duckdb://{path}?k=s3cret",
    ):
        with pytest.raises(DataError) as told:
            learn(address, "a")
        assert "s3cret" not in str(told.value)
        assert "attribute" not in str(told.value)
        assert "***" in str(told.value)
