"""Figures 9 to 14: deeper parts around the nodes of Table IV, with the methods that learn whole graphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan
from typing import Any

import pandas as pd
from charts import Panel, chart
from document import Block, Heading, Picture, Table, Text
from ranking import DifferenceDiagram, published_ranks, rank
from stored import NETWORKS, RANKED_BY, Stored, one, rows_in_order, sets_of, short
from table3 import significant

LEARNERS = {
    "apsl-score": "apsl-score",
    "apsl": "apsl (sound)",
    "apsl-paper": "APSL",
    "apsl-fs-paper": "APSL-FS",
    "gs-authors": "GS",
    "mmhc-paper": "MMHC",
    "sll+c": "SLL+C",
    "sll+g": "SLL+G",
    "ggsl": "GGSL",
}
#: The four that the paper ranks in Figures 12 to 14.
RANKED = ("gs-authors", "mmhc-paper", "apsl-paper", "apsl-fs-paper")
FIGURES = {"3": ("9", "12"), "5": ("10", "13"), "max": ("11", "14")}


def deeper_blocks(stored: Stored) -> Iterator[Block]:
    """Return the section."""
    yield Heading("Figures 9 to 14: deeper parts")
    found = stored.of("depths", "quick", order="file", scoring="dag extension")
    found = found[found["depth"] != "1"]
    if found.empty:
        yield Text("Not run.")
        return
    yield Text(
        "Parts of depth 3, 5 and the largest around the five nodes of Table IV. Distance as in the paper: the true DAG "
        "against an extension, file order. CPU seconds are those of a part, and a method that learns the whole graph "
        "pays for all of it. The paper printed these results as pictures without figures, so only ranks can be "
        "compared. SLL and GGSL run on the small networks only, as in the paper, where memory ended. GS, MMHC "
        "and SLL run once for each sample, GGSL for each target. `apsl` is sound APSL; "
        f"`apsl-score` is our default on tables. Sets: {sets_of(stored.about[str(stored.first('depths', 'quick'))])}."
    )
    for depth, (figure, ranks) in FIGURES.items():
        rows = found[found["depth"] == depth]
        if rows.empty:
            continue
        yield Picture(f"figure{figure}", _drawn(rows), f"Figure {figure}: parts of depth {depth}")
        yield from _values(rows, figure)
        yield from _ranked(rows, depth, ranks)
    yield from _table(stored, found)


def _values(rows: pd.DataFrame, figure: str) -> Iterator[Block]:
    """Return the values behind a figure."""
    learners = {learner: name for learner, name in LEARNERS.items() if learner in set(rows["learner"])}
    cells, ours = [], 0
    for network, size in rows_in_order(rows):
        figures = [one(rows, network=network, size=size, learner=learner) for learner in learners]
        distances = {row["learner"]: round(row["distance"], 2) for row in figures if row is not None}
        ours += distances.get("apsl-score") == min(distances.values())
        told = ["–" if row is None else f"{short(row['distance'])} ({row['cpu']:.3f})" for row in figures]
        cells.append((f"{network}-{size}", *told))
    yield Text(
        f"The values behind Figure {figure}, CPU seconds in brackets. `apsl-score` has the smallest distance in {ours} "
        f"of {len(cells)} sets:"
    )
    yield Table(("set", *learners.values()), tuple(cells))


def _drawn(rows: pd.DataFrame) -> str:
    networks = [name for name in NETWORKS if name in set(rows["network"])]
    panels = []
    for size in sorted(set(rows["size"])):
        for column, told in (("distance", "Ar_Distance"), ("cpu", "CPU seconds")):
            lines = {}
            for learner, name in LEARNERS.items():
                figures = [one(rows, network=network, size=size, learner=learner) for network in networks]
                if any(figures):
                    lines[name] = [None if figure is None else max(figure[column], 1e-4) for figure in figures]
            places = tuple(_abbreviated(name) for name in networks)
            panels.append(Panel(f"{told}, {size} rows", places, lines, logarithmic=column == "cpu"))
    return chart(panels)


def _abbreviated(network: str) -> str:
    return network.capitalize().replace("Insurance", "Insur")


def _ranked(rows: pd.DataFrame, depth: str, figure: str) -> Iterator[Block]:
    tasks: list[dict[str, Mapping[str, Any]]] = []
    for network, size in rows_in_order(rows):
        asked = {name: one(rows, network=network, size=size, learner=name) for name in RANKED}
        found = {name: row for name, row in asked.items() if row is not None}
        if len(found) == len(RANKED):
            tasks.append(found)
    if len(tasks) < 2:
        return
    for measure, column, told in RANKED_BY:
        figures = {LEARNERS[name]: [task[name][column] for task in tasks] for name in RANKED}
        ranking = rank(figures, better="lower", decimals=2 if column == "distance" else None)
        diagram = DifferenceDiagram(ranking, title=f"{told}, depth {depth}, measured here")
        published = published_ranks(measure, "max" if depth == "max" else int(depth))
        spelt = ", ".join(f"{name} {ranking.ranks[name]:.2f} (paper {published[name]:.2f})" for name in ranking.order)
        yield Picture(f"figure{figure}-{column}", diagram.svg(), f"Figure {figure}, {told} at depth {depth}")
        yield Text(
            f"{told} at depth {depth}, mean ranks over {len(tasks)} sets, highest best: {spelt}. {significant(ranking)}"
        )


def _table(stored: Stored, found: pd.DataFrame) -> Iterator[Block]:
    """Return the figures behind the pictures, averaged over sizes and networks of a kind."""
    marks = stored.of("depths", "quick", order="file", scoring="cpdag marks")
    rows = []
    for kind, names in (("small", NETWORKS[:3]), ("tiled", NETWORKS[3:])):
        for depth in FIGURES:
            for learner, name in (*LEARNERS.items(), ("gs", "gs, mended"), ("mmhc", "mmhc, mended")):
                cells, arrows = [], []
                for frame in (found, marks):
                    mine = frame[
                        (frame["learner"] == learner) & (frame["depth"] == depth) & frame["network"].isin(names)
                    ]
                    cells += [mine["distance"].mean(), mine["shd"].mean()]
                    arrows = [short(mine[f"arrow_{share}"].mean()) for share in ("precision", "recall")]
                if not any(map(isnan, cells)):
                    costs = f"{mine['visits'].mean():.1f}", f"{mine['cpu'].mean():.3f}"
                    rows.append(
                        (
                            kind,
                            depth,
                            name,
                            short(cells[0]),
                            short(cells[2]),
                            f"{cells[3]:.1f}",
                            "/".join(arrows),
                            *costs,
                        )
                    )
    yield Text(
        "Means over networks and sizes, against the DAG (extension) and against the CPDAG (marks). *Arrows* are "
        "precision and recall of compelled arrows."
    )
    head = ("networks", "depth", "learner", "DAG distance", "CPDAG distance", "CPDAG SHD", "arrows", "visits", "CPU s")
    yield Table(head, tuple(rows))
