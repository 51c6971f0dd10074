"""The figures that the paper published, as data: Table III, Table IV and the mean ranks of its figures.

>>> rows = table3()
>>> len(rows), rows[0].network, rows[0].size, rows[0].algorithm, rows[0].ar_distance
(48, 'Child', 500, 'PCD-by-PCD', 0.57)
>>> table4()["Alarm"]
(13, 14, 21, 22, 29)
>>> published_ranks("ar_distance", 1)["APSL-FS"]
3.25
"""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import Literal, TypeAlias, get_args

import attrs

from apsl_rules.errors import UnknownNameError
from apsl_rules.names import Depth, listing, nearest

Measure: TypeAlias = Literal["ar_distance", "ar_precision", "ar_recall", "runtime_s"]


@attrs.frozen
class Published:
    """A row of Table III: mean and standard deviation of each measure for one network, size and algorithm."""

    network: str
    size: int = attrs.field(converter=int)
    algorithm: str
    ar_distance: float = attrs.field(converter=float)
    ar_distance_sd: float = attrs.field(converter=float)
    ar_precision: float = attrs.field(converter=float)
    ar_precision_sd: float = attrs.field(converter=float)
    ar_recall: float = attrs.field(converter=float)
    ar_recall_sd: float = attrs.field(converter=float)
    runtime_s: float = attrs.field(converter=float)
    runtime_s_sd: float = attrs.field(converter=float)


def table3() -> tuple[Published, ...]:
    """Return the rows of Table III: depth 1, six networks, two sizes, four algorithms."""
    return tuple(Published(**row) for row in _rows("table3.csv"))


def table3_columns(measure: Measure) -> dict[str, list[float]]:
    """Return one measure of Table III for each algorithm, its twelve rows in one order, ready to be ranked."""
    if measure not in get_args(Measure):
        message = (
            f"Table III has no {measure!r}{nearest(measure, get_args(Measure))}; it has {listing(get_args(Measure))}"
        )
        raise UnknownNameError(message)
    columns: dict[str, list[float]] = {}
    for row in table3():
        columns.setdefault(row.algorithm, []).append(getattr(row, measure))
    return columns


def table4() -> dict[str, tuple[int, ...]]:
    """Return the five nodes of each network that the deeper parts are learned around, counted from 1 in file order."""
    nodes: dict[str, tuple[int, ...]] = {}
    for row in _rows("table4.csv"):
        nodes[row["network"]] = (*nodes.get(row["network"], ()), int(row["node"]))
    return nodes


def published_ranks(measure: Literal["ar_distance", "runtime_s"], depth: Depth) -> dict[str, float]:
    """Return the mean ranks of depth 1 (Figure 8), 3, 5 or "max" (Figures 12 to 14); the highest is best."""
    found = {
        row["algorithm"]: float(row["mean_rank"])
        for row in _rows("ranks.csv")
        if (row["measure"], row["depth"]) == (measure, str(depth))
    }
    if not found:
        message = (
            f"the paper has no ranks of {measure!r} at depth {depth!r}; "
            "there are 'ar_distance' and 'runtime_s' at the depths 1, 3, 5 and 'max'"
        )
        raise UnknownNameError(message)
    return found


def _rows(name: str) -> list[dict[str, str]]:
    text = (files("apsl_specs") / "paper" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
