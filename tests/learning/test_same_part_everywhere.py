"""The default learner gives the same part from the same rows wherever they are: to the last bit of every figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules import learn, learn_many, network
from apsl_rules.errors import DataError
from apsl_rules.graphs.networks import simulate
from apsl_rules.graphs.networks.sampling import sample
from support.counted import essence
from support.databases import DATAFUSION, EMBEDDED, in_postgres, mixed_frame, stored
from support.drawing import some_of
from support.everywhere import drawn_table, parts_of
from support.postgres_server import PostgresServer

ELSEWHERE = ("file in duckdb", *EMBEDDED, DATAFUSION, "postgres", "dask")


def categories() -> pd.DataFrame:
    """Return rows of ALARM around HR as text, with some values missing."""
    drawn = sample(network("alarm"), 600, seed=5)
    around = ["BP", "HREKG", "CO", "HR", "HRBP", "CATECHOL", "TPR", "STROKEVOLUME", "SAO2", "ERRCAUTER"]
    places = [drawn.place[name] for name in around]
    frame = pd.DataFrame({drawn.names[at]: np.array(drawn.levels[at])[drawn.codes[at]] for at in places})
    return frame.astype(object).mask(np.random.default_rng(3).random(frame.shape) < 0.01, None)


def learned(place: str, frame: pd.DataFrame, request: pytest.FixtureRequest, folder: Path) -> Callable[..., Any]:
    """Return the function that learns from a frame that is stored in some place."""
    if place in ("file in duckdb", "dask"):
        frame.to_parquet(folder / "rows.parquet")
        counts = place.rpartition(" ")[2]
        return lambda target, **how: learn(folder / "rows.parquet", target, counts=counts, **how)
    if place == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        address = in_postgres(frame, server)
        return lambda target, **how: learn(address, target, **how)
    source = stored(frame, place, folder)
    return lambda target, **how: learn(source, target, **how)


@pytest.mark.slow
@pytest.mark.parametrize("place", ELSEWHERE)
def test_categories_give_the_same_part(place: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Findings, proofs, figures and numbers of tests are those of memory; the note tells rounds and bytes."""
    frame = categories()
    part = learned(place, frame, request, tmp_path)("HR", depth=2)
    assert essence(part) == essence(learn(frame, "HR", depth=2))
    assert " rounds, " in part.notes[-1]
    assert part.notes[-1].endswith("KiB")


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("place", ELSEWHERE)
def test_numbers_give_the_same_part(place: str, missing: float, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """A table with numbers and missing values gives the part of memory too; from values as they are, its edges."""
    frame = mixed_frame(1500, 1, missing=missing)
    learn_there = learned(place, frame, request, tmp_path)
    here, there = learn(frame, "dose", depth=2), learn_there("dose", depth=2)
    assert essence(there) == essence(here)
    by_values: dict[str, Any] = {"learner": "apsl", "options": {"numbers": "values"}}
    assert learn_there("dose", **by_values).edges == learn(frame, "dose", **by_values).edges


@settings(max_examples=12)
@given(
    rows=st.integers(12, 60),
    seed=st.integers(0, 1000),
    with_numbers=st.booleans(),
    engine=st.sampled_from(EMBEDDED),
)
def test_small_tables_give_the_same_part(
    tmp_path_factory: pytest.TempPathFactory, rows: int, seed: int, engine: str, *, with_numbers: bool
) -> None:
    """Whatever small table is drawn, an engine gives the part, or the refusal, of memory."""
    random = np.random.default_rng(seed)
    base = random.integers(0, 3, rows)
    words = np.array(["b", "A", "a"])
    columns: dict[str, Any] = {
        "x": words[base],
        "y": np.where(random.random(rows) < 0.3, None, words[(base + random.integers(0, 2, rows)) % 3]),
        "z": random.integers(-1, 2, rows) * (1 << 54),
        "same": np.full(rows, "s"),
    }
    if with_numbers:
        columns["n"] = np.where(random.random(rows) < 0.1, np.nan, np.round(base + random.normal(size=rows), 1))
    frame = pd.DataFrame(columns)

    def told(source: Any) -> Any:
        try:
            return essence(learn(source, "x", depth="max"))
        except DataError as error:
            return str(error)

    assert told(stored(frame, engine, tmp_path_factory.mktemp("rows"))) == told(frame)


def test_many_targets_share_a_database(tmp_path: Path) -> None:
    """Several parts from one address are those from the frame."""
    frame = mixed_frame(300, 7)
    address = stored(frame, "sqlite", tmp_path)
    there, here = learn_many(address, ["pain", "dose"]), learn_many(frame, ["pain", "dose"])
    assert [there[node].edges for node in there] == [here[node].edges for node in here]


@pytest.mark.parametrize("counts", ["duckdb", "dask"])
def test_levels_in_any_order_give_the_same_part(tmp_path: Path, counts: str) -> None:
    """A file that declares the levels of its categories gives the part of one that has them as text."""
    path = tmp_path / "child.parquet"
    simulate(network("child"), 1000, path, seed=23)
    here = learn(path, "LungParench", depth=2)
    assert essence(learn(path, "LungParench", depth=2, counts=counts)) == essence(here)
    assert essence(learn(pd.read_parquet(path).astype(str), "LungParench", depth=2)) == essence(here)


@pytest.mark.parametrize("with_numbers", [False, True])
def test_a_cluster_learns_from_a_text_file(tmp_path: Path, *, with_numbers: bool) -> None:
    """Workers read no text; the file goes to them through memory, and gives the part of memory."""
    frame = mixed_frame(200, 4) if with_numbers else mixed_frame(200, 4)[["Group", "pain"]]
    frame.to_csv(tmp_path / "rows.csv", index=False)
    there = learn(tmp_path / "rows.csv", "pain", counts="dask")
    assert essence(there) == essence(learn(frame, "pain"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(some_of(9, one_in=3)), 5000])
def test_every_kind_of_table_gives_the_same_part(tmp_path: Path, seed: int) -> None:
    """Kinds, missing values, weights and orders of levels make no difference; tools/faults/sources.py draws more."""
    parts = dict(parts_of(drawn_table(seed), tmp_path))
    assert [place for place, part in parts.items() if part != parts["memory"]] == []


@pytest.mark.parametrize("oracle", [None, "gsquare"])
@pytest.mark.parametrize("frame", [mixed_frame(300, 1, missing=0.05), categories()], ids=["numbers", "categories"])
def test_the_data_has_the_same_fingerprint(frame: pd.DataFrame, oracle: str | None, tmp_path: Path) -> None:
    """A part names its data by the same hash, whether the rows are a frame, a file, in DuckDB or in a database."""
    frame.to_parquet(tmp_path / "rows.parquet")
    how: dict[str, Any] = {"oracle": oracle, "learner": "apsl"}
    target = frame.columns[0]
    sources: list[tuple[Any, dict[str, Any]]] = [
        (frame, {}),
        (frame, {"counts": "duckdb"}),
        (tmp_path / "rows.parquet", {}),
        (tmp_path / "rows.parquet", {"counts": "duckdb"}),
        (stored(frame, "sqlite", tmp_path), {}),
    ]
    found = {learn(source, target, **how, **further).data for source, further in sources}
    changed = frame.assign(**{target: frame[target].iloc[::-1].to_numpy()[0]})
    assert len(found) == 1
    assert learn(changed, frame.columns[1], **how).data not in found
