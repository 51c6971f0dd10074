"""Tables of every kind, each in all places where rows can be, and whether all of them give the same part."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules import learn, network
from apsl_rules.errors import DataError
from apsl_rules.graphs.networks import sample
from support.counted import essence
from support.databases import stored

KINDS = ("categories", "numbers", "mixed")


@attrs.frozen(eq=False)
class Drawn:
    """A table to learn from: whole numbers in ``weights``, if it has them, say how often each row counts."""

    frame: pd.DataFrame
    target: str
    depth: int
    weights: str | None
    told: str

    @property
    def repeated(self) -> pd.DataFrame:
        """Return the rows as often as they count."""
        if self.weights is None:
            return self.frame
        return self.frame.loc[self.frame.index.repeat(self.frame[self.weights])].drop(columns=self.weights)


def drawn_table(seed: int) -> Drawn:
    """Draw a table: its kind, missing values, weights, and the order in which its categories declare their levels."""
    random = np.random.default_rng([seed, 30])
    kind = KINDS[seed % 3]
    missing = float(random.choice([0.0, 0.0, 0.02, 0.1]))
    frame = _categories(random, seed) if kind == "categories" else _numbers(random, with_labels=kind == "mixed")
    target = str(random.choice(frame.columns))
    frame = frame.mask(random.random(frame.shape) < missing)
    order = str(random.choice(["none", "text", "reversed", "shuffled", "unseen"]))
    for name in frame.columns:
        if frame[name].dtype.kind not in "if":
            frame[name] = _declared(frame[name], order, random)
    weights = None
    if random.random() < 0.3:
        weights = "times"
        frame[weights] = random.integers(1, 4, len(frame))
    rows = f"{len(frame)} rows of {kind}, {missing:.0%} missing"
    return Drawn(frame, target, int(random.integers(1, 3)), weights, f"{rows}, weights {weights}, levels {order}")


def _categories(random: np.random.Generator, seed: int) -> pd.DataFrame:
    name = str(random.choice(["asia", "sachs", "child", "insurance", "alarm"]))
    table = sample(network(name), int(random.integers(100, 1200)), seed=seed)
    columns = zip(table.names, table.levels, table.codes, strict=True)
    return pd.DataFrame({node: np.array(levels, object)[codes] for node, levels, codes in columns})


def _numbers(random: np.random.Generator, *, with_labels: bool) -> pd.DataFrame:
    """Draw numbers that depend on earlier ones; of some only the level in which they fall is kept."""
    rows, width = int(random.integers(100, 1200)), int(random.integers(4, 10))
    columns: dict[str, Any] = {}
    values = np.empty((width, rows))
    for at in range(width):
        slopes = random.choice([0.0, 0.8, -1.0], at, p=[0.6, 0.2, 0.2])
        values[at] = slopes @ values[:at] + random.normal(size=rows)
        columns[f"x{at}"] = np.round(values[at], int(random.integers(1, 6)))
        if with_labels and random.random() < 0.5:
            labels = np.array(["mid", "low", "High", "none"], object)[: int(random.integers(2, 5))]
            limits = np.quantile(values[at], np.arange(1, len(labels)) / len(labels))
            columns[f"x{at}"] = labels[np.searchsorted(limits, values[at])]
    return pd.DataFrame(columns)


def _declared(column: pd.Series[Any], order: str, random: np.random.Generator) -> Any:
    """Return a column of labels as a category that declares its levels in some order, or as text."""
    seen = sorted(column.dropna().unique())
    orders = {
        "text": seen,
        "reversed": seen[::-1],
        "shuffled": random.permutation(np.array(seen, object)).tolist(),
        "unseen": ["~", *seen[::-1], "!"],
    }
    return column if order == "none" else pd.Categorical(column, categories=orders[order])


def parts_of(table: Drawn, folder: Path) -> Iterator[tuple[str, Any]]:
    """Learn from a table in every place, and tell each part, or the sentence that refuses the table."""
    how: dict[str, Any] = {"depth": table.depth}
    weighted = how if table.weights is None else {**how, "weights": table.weights}
    yield "memory", _told(table.frame, table.target, weighted)
    repeated = table.repeated
    path = folder / "rows.parquet"
    repeated.to_parquet(path, index=False)
    text = folder / "rows.csv"
    repeated.to_csv(text, index=False)
    yield "Parquet in memory", _told(path, table.target, how)
    yield "CSV in memory", _told(text, table.target, how)
    for counts in ("duckdb", "dask"):
        yield f"frame, {counts}", _told(table.frame, table.target, {**weighted, "counts": counts})
        yield f"Parquet, {counts}", _told(path, table.target, {**how, "counts": counts})
        yield f"CSV, {counts}", _told(text, table.target, {**how, "counts": counts})
    labels = repeated.apply(lambda one: one if one.dtype.kind in "if" else one.astype(object).where(one.notna(), None))
    yield "sqlite", _told(stored(labels, "sqlite", folder), table.target, how)


def _told(source: Any, target: str, how: dict[str, Any]) -> Any:
    try:
        told = essence(learn(source, target, **how))
    except DataError as error:
        return str(error)
    told["settings"].pop("weights", None)
    told["columns"] = [column for column in told["columns"] if column["name"] != how.get("weights")]
    return told
