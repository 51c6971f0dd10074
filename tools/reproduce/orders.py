"""What the order of columns does, and our learners against the paper's four where it cannot help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
from document import Block, Heading, Points, Table, Text
from stored import Stored, one, rows_in_order, short

ORDERS = ("file", "permuted", "reversed")
#: Our default on tables of categories and sound APSL; the first that was run is compared with the others.
OURS = ("apsl-score", "apsl")
RIVALS = {
    "pcd-by-pcd-paper": "PCD-by-PCD",
    "cmb-authors": "CMB",
    "apsl-paper": "APSL (text)",
    "apsl-authors": "APSL (program)",
    "apsl-fs-paper": "APSL-FS",
}


def leak_blocks(stored: Stored) -> Iterator[Block]:
    """Return the section on the leak."""
    yield Heading("The order of columns leaks into the published scores")
    found = stored.of("leak", "quick", depth="1")
    found = found[found["network"].isin(found[found["order"] == "reversed"]["network"])]
    found = found[found["size"].isin(found[found["order"] == "reversed"]["size"])]
    rows = []
    for network, size in rows_in_order(found):
        for learner in dict.fromkeys(found["learner"]):
            figures = [
                one(found, network=network, size=size, learner=learner, order=order, scoring=scoring)
                for scoring in ("dag extension", "cpdag marks")
                for order in ORDERS
            ]
            if all(figures):
                cells = [short(figure["distance"]) for figure in figures if figure]
                rows.append((f"{network}-{size}", f"`{learner}`", *cells))
    if not rows:
        yield Text("Not run.")
        return
    yield Text(
        "Ar_Distance at depth 1 with the columns as in the file, in random order, and reversed. Scored as in the paper "
        "(DAG, extension) the same learner on the same rows gets better or worse with the order alone. The reason is "
        "the extension, which turns open edges away from the first column. Child's file lists causes first, Alarm's "
        "effects. Against the CPDAG, mark for mark, the order means nothing to `apsl`. The published learners visit "
        "and overwrite in that order, so they still depend on it."
    )
    heads = [f"{kind}: {order}" for kind in ("DAG", "CPDAG") for order in ORDERS]
    yield Table(("set", "learner", *heads), tuple(rows))


def ours_in(found: pd.DataFrame) -> tuple[str, ...]:
    """Return those of our learners that some rows are about."""
    return tuple(name for name in OURS if name in set(found["learner"]))


def permuted_blocks(stored: Stored) -> Iterator[Block]:
    """Return the section on our learners against the paper's four."""
    yield Heading("Ours against the paper's four")
    found = stored.of("permuted", "quick", order="permuted", depth="1", scoring="cpdag marks")
    if found.empty:
        yield Text("Not run.")
        return
    yield Text(
        "Depth 1, columns in random order, compared with the CPDAG mark for mark: what data can tell, and nothing that "
        "the order gives away. SHD is the number of wrong edges for each part; distance in brackets. Lower is better "
        "for both. The best SHD and the best distance of each row are bold."
    )
    ours = ours_in(found)
    learners = (*ours, *RIVALS)
    rows: list[tuple[str, ...]] = []
    behind: list[str] = []
    tasks = rows_in_order(found)
    for network, size in tasks:
        figures = {name: one(found, network=network, size=size, learner=name) for name in learners}
        known = {name: row for name, row in figures.items() if row is not None}
        least = {figure: min(round(row[figure], 2) for row in known.values()) for figure in ("shd", "distance")}
        cells = []
        for name in learners:
            if name not in known:
                cells.append("–")
                continue
            shd, distance = round(known[name]["shd"], 2), round(known[name]["distance"], 2)
            first = f"**{shd:.2f}**" if shd == least["shd"] else f"{shd:.2f}"
            second = f"**{short(distance)}**" if distance == least["distance"] else short(distance)
            cells.append(f"{first} ({second})")
        rows.append((f"{network}-{size}", *cells))
        behind += _behind(f"{network}-{size}", ours[0], known, least)
    yield Table(("set", *(f"`{name}`" for name in ours), *RIVALS.values()), tuple(rows))
    if behind:
        yield Text(f"Rows in which `{ours[0]}` is not the best:")
        yield Points(tuple(behind))
    else:
        yield Text(f"`{ours[0]}` is the best in every row.")
    yield from _arrows(stored)


def _behind(name: str, ours: str, known: Mapping[str, Mapping[str, Any]], least: Mapping[str, float]) -> Iterator[str]:
    """Say by which figures one of ours is not the best."""
    said = []
    for figure, told in (("shd", "SHD"), ("distance", "distance")):
        mine = round(known[ours][figure], 2)
        if mine > least[figure]:
            best = next(rival for rival, row in known.items() if round(row[figure], 2) == least[figure])
            called = RIVALS.get(best, f"`{best}`")
            said.append(f"{told} {mine:.2f} against {least[figure]:.2f} of {called}")
    if said:
        yield f"{name}: {'; '.join(said)}"


def _arrows(stored: Stored) -> Iterator[Block]:
    """Show how far the arrows that are drawn can be believed."""
    found = stored.of("permuted", "quick", order="permuted", depth="1", scoring="cpdag marks")
    rows = []
    for learner in (*ours_in(found), *RIVALS):
        mine = found[found["learner"] == learner]
        if not mine.empty:
            means = mine[["arrow_precision", "arrow_recall", "skeleton_f1", "shd", "distance", "visits"]].mean()
            cells = [short(means[name]) for name in ("arrow_precision", "arrow_recall", "skeleton_f1")]
            rows.append(
                (f"`{learner}`", *cells, f"{means['shd']:.2f}", short(means["distance"]), f"{means['visits']:.1f}")
            )
    yield Text(
        "Means over these sets. An arrow is right if it is compelled; arrows are counted over all parts of a set."
    )
    head = ("learner", "arrow precision", "arrow recall", "edges F1", "SHD", "distance", "visits")
    yield Table(head, tuple(rows))
