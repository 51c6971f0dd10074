"""Open the same odd tables in every engine, and compare what each column is taken for and what is set aside.

    python tools/faults/odd_tables.py [--tables 5000] [--first 0]

Each table is another: few or many rows, columns that are nearly of a kind, words among numbers, codes for missing
values, copies and functions of other columns, dates, constants, identifiers. It is read in memory, in DuckDB from
Parquet and from text, on a Dask cluster in this process, every fifth in SQLite and Polars. Kinds, levels, their rows,
notes and what is set aside for each target must be equal; tables that are refused must be refused in the same words.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from apsl_backends.engines.opener import open_dataset
from apsl_rules.data import Dataset, definitions
from apsl_rules.errors import ApslError

Random = np.random.Generator
Maker = Callable[[Random, int], Any]


def _numbers(random: Random, rows: int) -> Any:
    return np.round(random.normal(0, 10.0 ** random.integers(-3, 6), rows), int(random.integers(0, 5)))


def _scale(random: Random, rows: int) -> Any:
    low = int(random.choice([0, 1, 5, -2, 2001]))
    return random.integers(low, low + int(random.integers(2, 14)), rows)


def _whole_floats(random: Random, rows: int) -> Any:
    return _scale(random, rows).astype(float)


def _words(random: Random, rows: int) -> Any:
    words = np.array(["yes", "no", "No", " no", "ä", "NA?", "0", "1", "01", "1.0", "x" * 50, "", "a,b", 'q"q'], object)
    return random.choice(random.choice(words, int(random.integers(1, 6))), rows)


def _numbers_as_text(random: Random, rows: int) -> Any:
    made = _numbers(random, rows).astype(str).astype(object)
    return np.where(random.random(rows) < random.choice([0.0, 0.02, 0.5]), random.choice([".", "-", "refused"]), made)


def _codes_for_missing(random: Random, rows: int) -> Any:
    code = random.choice([99, 999, -1, -9, 9999])
    return np.where(random.random(rows) < 0.1, code, random.integers(0, int(random.choice([5, 60])), rows))


def _truth(random: Random, rows: int) -> Any:
    return random.random(rows) < random.random()


def _dates(random: Random, rows: int) -> Any:
    return pd.Timestamp("2020-02-28") + pd.to_timedelta(random.integers(0, 50, rows), unit="D")


def _date_text(random: Random, rows: int) -> Any:
    return pd.Series(_dates(random, rows)).dt.strftime("%Y-%m-%d").to_numpy(object)


def _row_numbers(random: Random, rows: int) -> Any:
    made = np.arange(rows) + int(random.integers(0, 3))
    return made if random.random() < 0.5 else random.permutation(made)


def _keys(random: Random, rows: int) -> Any:
    return np.array([f"k{one:05}" for one in random.permutation(rows)], object)


def _constant(random: Random, rows: int) -> Any:
    return np.full(rows, random.choice([0, 1, 7]))


def _large(random: Random, rows: int) -> Any:
    return random.integers(2**53, 2**62, rows)


MAKERS: tuple[Maker, ...] = (
    *(_numbers, _numbers, _numbers, _scale, _scale, _whole_floats, _words, _words, _numbers_as_text),
    *(_codes_for_missing, _truth, _dates, _date_text, _row_numbers, _keys, _constant, _large),
)
NAMES = ("x", "id", "time", "row", "a b", "A", "count", "customer_id", "Ж", "n,m", "is_yes", "y", "z*", "year", "q")


def odd_table(seed: int) -> pd.DataFrame:
    """Draw a table."""
    random = np.random.default_rng([seed, 34])
    rows = int(random.choice([2, 5, 25, 60, 200, 400]))
    width = int(random.integers(2, 7))
    frame = pd.DataFrame(index=range(rows))
    for name in random.choice(NAMES, width, replace=False):
        frame[str(name)] = MAKERS[random.integers(len(MAKERS))](random, rows)
        if random.random() < 0.25:
            frame[str(name)] = pd.Series(frame[str(name)]).mask(random.random(rows) < random.choice([0.02, 0.3, 1.0]))
    numbers = [name for name in frame if frame[name].dtype.kind == "f" and frame[name].abs().max() < 1e5]
    for number in random.permutation(np.array(numbers, object))[:2]:
        values = frame[number]
        how = int(random.integers(6))
        made = [np.exp(values / 1e4), values**2, 3 - 2 * values, values.rank(), values > values.median(), values][how]
        frame[f"of {number}"] = made
    if len(numbers) > 1:
        frame["sum"] = frame[numbers[0]] + frame[numbers[1]]
    return frame


def places_of(
    frame: pd.DataFrame, folder: Path, *, is_fifth: bool
) -> Iterator[tuple[str, Callable[[], Any], dict[str, Any], bool]]:
    """Yield the places where a table is read: a name, what makes the source, options, and whether its rows are text."""
    parquet, text = folder / "rows.parquet", folder / "rows.csv"
    frame.to_parquet(parquet, index=False)
    frame.to_csv(text, index=False)
    yield "memory", lambda: parquet, {"counts": "memory"}, False
    yield "duckdb", lambda: parquet, {"counts": "duckdb"}, False
    yield "dask", lambda: parquet, {"counts": "dask"}, False
    yield "text in memory", lambda: text, {"counts": "memory"}, True
    yield "text in duckdb", lambda: text, {"counts": "duckdb"}, True
    from support.databases import stored

    if is_fifth:
        yield "sqlite", lambda: stored(frame, "sqlite", folder, name="t"), {}, False
        yield "polars", lambda: stored(frame, "polars", folder, name="t"), {}, False


def told(source: Any, options: dict[str, Any]) -> Any:
    """Return what a table is taken for, or the sentence that refuses it."""
    try:
        data = open_dataset(source, options)
        return _told(data)
    except ApslError as error:
        return _without_place(str(error))


def _told(data: Dataset) -> Any:
    targets = {str(name): dict(definitions(data, name).told) for name in data.names}
    levels = None if "counts" not in data.can else [data.categories.levels_of(name) for name in data.names]
    rows = None if levels is None else [total.tolist() for total in data.categories.heading.totals]
    notes = [str(note) for note in data.notes if "looks like the number of rows" not in note]  # said in memory alone
    return data.names, data.columns, levels, rows, data.missing.tolist(), notes, targets


def _without_place(message: str) -> str:
    return message.partition("; give ")[0]


def main() -> int:
    """Compare tables, and say how many there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first table")
    given = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
    differing, refused, aside = 0, 0, 0
    for seed in range(given.first, given.first + given.tables):
        frame = odd_table(seed)
        with tempfile.TemporaryDirectory() as folder:
            found: dict[str, Any] = {}
            for place, source, options, is_text in places_of(frame, Path(folder), is_fifth=seed % 5 == 0):
                found[place] = told(source(), options)
                first = "text in memory" if is_text else "memory"
                if found[place] != found[first]:
                    differing += 1
                    print(
                        f"table {seed}: {place} differs from {first}: {_difference(found[place], found[first])}",
                        flush=True,
                    )
        refused += isinstance(found["memory"], str)
        aside += not isinstance(found["memory"], str) and any(found["memory"][-1].values())
        if seed % 500 == 499:
            print(f"{seed + 1} tables, {differing} differ", flush=True)
    print(
        f"{given.tables} tables, {refused} refused, in {aside} a target defines something; {differing} readings differ"
    )
    return 1 if differing else 0


def _difference(one: Any, other: Any) -> str:
    if isinstance(one, str) or isinstance(other, str):
        return f"{one if isinstance(one, str) else 'read'} | {other if isinstance(other, str) else 'read'}"
    at = next(at for at, pair in enumerate(zip(one, other, strict=True)) if pair[0] != pair[1])
    return f"{one[at]!r} | {other[at]!r}"[:600]


if __name__ == "__main__":
    sys.exit(main())
