"""The same part from every engine: what each takes of the processor, and in how many rounds, relative to memory.

    python tools/bench/engines.py --rows 100000 1000000 10000000 --folder /tmp/engines

Rows of ASIA (8 categories as text), of ALARM (37) and of a table with numbers (5 columns, 2 of them categories) are
written as Parquet, and into SQLite and PostgreSQL. Memory, DuckDB by hand-written statements, Dask in this process, and
ibis over DuckDB, Polars, DataFusion, SQLite and PostgreSQL each learn the part of depth 2, reading included. The
processor time is that of this process and, for PostgreSQL, of the server. Each engine has learned from a small table
before, so that nothing is imported or compiled in the time that is measured.
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import sqlite3
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests"))  # the server for PostgreSQL is that of the tests

from support.postgres_server import PostgresServer, running_server, server_programs  # noqa: E402

TARGETS = {"asia": "either", "alarm": "HR", "numbers": "dose"}
WARMING = 2_000
_BLOCK = 1 << 19


def draw(kind: str, rows: int, seed: int) -> Any:
    """Draw rows as an Arrow table."""
    import pyarrow as pa

    if kind != "numbers":
        from apsl_rules import network
        from apsl_rules.graphs.networks.sampling import sample

        drawn = sample(network(kind), rows, seed=seed)
        columns = zip(drawn.names, drawn.levels, drawn.codes, strict=True)
        texts = {str(name): pa.array(np.array(levels, str)).take(pa.array(codes)) for name, levels, codes in columns}
        return pa.table(texts)
    random = np.random.default_rng(seed)
    age = np.round(random.normal(50, 12, rows), 1)
    group = np.where(age + random.normal(0, 8, rows) > 50, "old", "young")
    dose = np.round(np.exp(0.03 * age + random.normal(0, 0.4, rows)), 3)
    pain = np.array(["none", "some", "much"])[np.clip((dose + random.normal(0, 2, rows)) // 3, 0, 2).astype(int)]
    visits = random.poisson(1 + (pain == "much") * 3, rows)
    return pa.table({"age": age, "group": group, "dose": dose, "pain": pain, "visits": visits})


def write(kind: str, rows: int, folder: Path, server: PostgresServer | None, skipped: Sequence[str]) -> dict[str, str]:
    """Write rows as Parquet, and into SQLite and PostgreSQL, unless they are there; return where they are."""
    import pyarrow.parquet as pq

    name = f"{kind}{rows}"
    parquet, database = folder / f"{name}.parquet", folder / f"{name}.sqlite"
    if not parquet.exists():
        pq.write_table(draw(kind, rows, seed=7), parquet)
    places = {"parquet": str(parquet), "sqlite": f"sqlite://{database}#t"}
    if "ibis, SQLite" not in skipped and not database.exists():
        _fill_sqlite(parquet, database)
    if server is not None and "ibis, PostgreSQL" not in skipped:
        _fill_postgres(parquet, server, name)
        places["postgres"] = server.address(name)
    return places


def _declared(schema: Any) -> str:
    """Return columns as SQL declares them."""
    types = {"string": "TEXT", "int64": "BIGINT", "double": "DOUBLE PRECISION"}
    return ", ".join(f'"{field.name}" {types[str(field.type)]}' for field in schema)


def _fill_sqlite(parquet: Path, database: Path) -> None:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(parquet)
    names = file.schema_arrow.names
    types = _declared(file.schema_arrow)
    with sqlite3.connect(database, isolation_level=None) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(f"CREATE TABLE t ({types})")
        connection.execute("BEGIN")
        marks = ", ".join("?" for _ in names)
        for batch in file.iter_batches(_BLOCK):
            values = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            connection.executemany(f"INSERT INTO t VALUES ({marks})", values)  # noqa: S608 - of our own
        connection.execute("COMMIT")
    connection.close()


def _fill_postgres(parquet: Path, server: PostgresServer, name: str) -> None:
    import io

    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    file = pq.ParquetFile(parquet)
    columns = _declared(file.schema_arrow)
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE UNLOGGED TABLE {name} ({columns})")
        with cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)") as copy:
            for batch in file.iter_batches(_BLOCK):
                text = io.BytesIO()
                pc.write_csv(batch, text, pc.WriteOptions(include_header=False))
                copy.write(text.getvalue())
        cursor.execute(f"ANALYZE {name}")


def open_places(places: dict[str, str]) -> dict[str, Callable[[], tuple[Any, dict[str, Any]]]]:
    """Return for each engine how to open the rows, and further settings of ``learn``."""
    import ibis

    parquet = places["parquet"]

    def through(engine: str) -> Callable[[], tuple[Any, dict[str, Any]]]:
        return lambda: (getattr(ibis, engine).connect().read_parquet(parquet), {})

    found: dict[str, Callable[[], tuple[Any, dict[str, Any]]]] = {
        "memory": lambda: (parquet, {"counts": "memory"}),
        "DuckDB, hand-written": lambda: (parquet, {"counts": "duckdb"}),
        "Dask": lambda: (parquet, {"counts": "dask"}),
        "ibis, DuckDB": through("duckdb"),
        "ibis, Polars": through("polars"),
        "ibis, DataFusion": through("datafusion"),
        "ibis, SQLite": lambda: (places["sqlite"], {}),
    }
    if "postgres" in places:
        found["ibis, PostgreSQL"] = lambda: (places["postgres"], {})
    return found


def processor_seconds(server: PostgresServer | None) -> float:
    """Return the processor time of this process, and of a server with all its sessions, in seconds."""
    import os

    own = process_time()
    if server is None:
        return own
    root = int((server.data / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(stat.parent.name) == root:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == root:
            ticks += sum(map(int, fields[11:13]))
    return own + ticks / os.sysconf("SC_CLK_TCK")


def told(part: Any) -> dict[str, Any]:
    """Return all that a part tells but where figures came from."""
    found: dict[str, Any] = json.loads(part.to_json()) if hasattr(part, "to_json") else _as_data(part)
    found["settings"].pop("counts", None)
    found["notes"] = [one for one in found["notes"] if not one.startswith(("counts came", "moments came"))]
    return found


def _as_data(part: Any) -> dict[str, Any]:
    from apsl_rules.parts import part_json

    data: dict[str, Any] = json.loads(part_json(part))
    return data


def measure(kind: str, rows: int, folder: Path, server: PostgresServer | None, skipped: Sequence[str]) -> None:
    """Learn the part of some rows from every engine, and print a line for each."""
    from apsl_rules import learn

    target = TARGETS[kind]
    small = open_places(write(kind, WARMING, folder, server, skipped))
    places = open_places(write(kind, rows, folder, server, skipped))
    known: dict[str, Any] | None = None
    edges: Any = None
    base = 1.0
    for engine, opening in places.items():
        if engine in skipped:
            continue
        source, how = small[engine]()
        learn(source, target, depth=2, **how, hidden="excluded")
        del source
        gc.collect()
        before, begun = processor_seconds(server), perf_counter()
        source, how = opening()
        part = learn(source, target, depth=2, **how, hidden="excluded")
        del source
        gc.collect()
        spent, wall = processor_seconds(server) - before, perf_counter() - begun
        if known is None:
            known, edges, base = told(part), part.edges, spent
        same = "same part" if told(part) == known else "same edges" if part.edges == edges else "ANOTHER PART"
        came = re.search(r"came from .* (in [\d,]+ rounds?(?:, [\d.,]+ \w+)?)$", part.notes[-1])
        rounds = came[1].removeprefix("in ") if came else ""
        print(
            f"| {kind} | {rows:,} | {engine} | {spent:.2f} | {spent / base:.2f} | {wall:.1f} | {rounds} | {same} |",
            flush=True,
        )


def main() -> None:
    """Measure every engine on every number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=list(TARGETS), choices=list(TARGETS))
    parser.add_argument("--skip", nargs="*", default=[], help="Engines to leave out.")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="20,000 rows only.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    programs = server_programs()
    print("| table | rows | engine | CPU seconds | CPU relative to memory | wall seconds | rounds, bytes | part |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with nullcontext(None) if programs is None else running_server(programs) as server:
        for rows in [20_000] if given.quick else given.rows:
            for kind in given.kinds:
                measure(kind, rows, given.folder, server, given.skip)


if __name__ == "__main__":
    main()
