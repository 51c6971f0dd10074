"""The same rows in every engine that ibis reaches here, each with the rows in the order of the frame."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from support.postgres_server import PostgresServer

#: Engines that run within the process of the tests.
EMBEDDED = ("duckdb", "sqlite", "polars")
#: One more, which only the extra ``release`` installs.
DATAFUSION = pytest.param("datafusion", marks=pytest.mark.release)
TABLE = 'rows "of"; DROP TABLE x; --'


def arrow(frame: pd.DataFrame) -> Any:
    """Return a frame as Arrow has it, with NaN kept apart from missing values."""
    columns = []
    for place in range(frame.shape[1]):
        values = frame.iloc[:, place]
        kept = pa.array(values.to_numpy()) if values.dtype.kind == "f" else pa.Array.from_pandas(values)
        columns.append(kept)
    return pa.table(columns, names=[str(name) for name in frame.columns])


def stored(frame: pd.DataFrame | pa.Table, engine: str, folder: Path, *, name: str = TABLE) -> Any:
    """Store a frame in an engine that needs no server, and return what to learn from: an address or an ibis table."""
    import ibis

    rows = frame if isinstance(frame, pa.Table) else arrow(frame)
    if engine == "sqlite":
        path = folder / "rows.sqlite"
        with sqlite3.connect(path) as connection:
            _fill(connection, rows, name)
        connection.close()
        return f"sqlite://{path}#{name}"
    backend = getattr(ibis, engine).connect()
    return backend.create_table(name, rows)


def in_postgres(frame: pd.DataFrame | pa.Table, server: PostgresServer, *, name: str = TABLE) -> str:
    """Store a frame in a server, and return the address of the table."""
    rows = frame if isinstance(frame, pa.Table) else arrow(frame)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
        cursor.execute(_create(rows, name, {}))
        with cursor.copy(f"COPY {_quoted(name)} FROM STDIN") as copy:
            for row in _python_rows(rows):
                copy.write_row(row)
    return server.address(name)


def _fill(connection: Any, rows: Any, name: str) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
    connection.execute(_create(rows, name, {"DOUBLE PRECISION": "REAL"}))
    marks = ", ".join("?" for _ in rows.column_names)
    values = [[_plain(value) for value in row] for row in _python_rows(rows)]
    connection.executemany(f"INSERT INTO {_quoted(name)} VALUES ({marks})", values)  # noqa: S608 - of our own


def _plain(value: Any) -> Any:
    """Return a value as SQLite takes it: dates as text."""
    return value.isoformat(sep=" ") if hasattr(value, "hour") else value.isoformat() if hasattr(value, "day") else value


def _python_rows(rows: Any) -> Sequence[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _create(rows: Any, name: str, types: dict[str, str]) -> str:
    columns = (
        f"{_quoted(field.name)} {types.get(_declared(field.type), _declared(field.type))}" for field in rows.schema
    )
    return f"CREATE TABLE {_quoted(name)} ({', '.join(columns)})"


def _declared(kind: Any) -> str:
    """Return the type of a column as SQL declares it."""
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMPTZ"
    names = ((pa.types.is_integer, "BIGINT"), (pa.types.is_floating, "DOUBLE PRECISION"),
             (pa.types.is_boolean, "BOOLEAN"), (pa.types.is_date, "DATE"))  # fmt: skip
    return next((declared for is_kind, declared in names if is_kind(kind)), "TEXT")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def mixed_frame(rows: int, seed: int, *, missing: float = 0.0) -> pd.DataFrame:
    """Draw a frame of categories and numbers that depend on each other, some values missing."""
    random = np.random.default_rng(seed)
    age = np.round(random.normal(50, 12, rows), 1)
    group = np.where(age + random.normal(0, 8, rows) > 50, "old", "Young")
    dose = np.exp(0.03 * age + random.normal(0, 0.4, rows))
    pain = np.array(["none", "some", "much"])[np.clip((dose + random.normal(0, 2, rows)) // 3, 0, 2).astype(int)]
    visits = random.poisson(1 + (pain == "much") * 3, rows)
    frame = pd.DataFrame({"age": age, "Group": group, "dose": dose, "pain": pain, "visits": visits})
    if missing:
        holes = random.random((rows, 2)) < missing
        frame["pain"] = frame["pain"].where(~holes[:, 0], None)
        frame["dose"] = frame["dose"].where(~holes[:, 1], np.nan)
    return frame
