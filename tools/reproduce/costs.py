"""What parts cost: ratios of CPU time within one run, visits, and growth from a network to ten tiles of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from math import exp, log

from deeper import LEARNERS
from document import Block, Heading, Table, Text
from ranking import table3
from stored import PUBLISHED, Stored, one, rows_in_order


def cost_blocks(stored: Stored) -> Iterator[Block]:
    """Return the section."""
    yield Heading("What it costs")
    yield from _depth_one(stored)
    yield from _deeper(stored)
    yield from _growth(stored)


def _depth_one(stored: Stored) -> Iterator[Block]:
    found = stored.of("table3", "table3-short", "quick", order="file", depth="1", scoring="dag extension")
    if found.empty:
        return
    learners = {**PUBLISHED, "`apsl`": "apsl"}
    published = {(row.network.casefold(), row.size, row.algorithm): row.runtime_s for row in table3()}
    rows = []
    for network, size in rows_in_order(found):
        asked = {name: one(found, network=network, size=size, learner=learner) for name, learner in learners.items()}
        figures = {name: row for name, row in asked.items() if row is not None}
        if len(figures) == len(learners):
            yardstick = figures["APSL-FS"]["cpu"]
            cells = [f"{row['cpu'] / yardstick:.2f}" for row in figures.values()]
            if (network, size, "APSL-FS") in published:
                fastest = published[network, size, "APSL-FS"]
                ratios = [f" ({published[network, size, name] / fastest:.1f})" for name in PUBLISHED]
                cells = [cell + ratio for cell, ratio in zip_longest(cells, ratios, fillvalue="")]
            visits = " / ".join(f"{row['visits']:.1f}" for row in figures.values())
            tests = " / ".join(f"{row['tests']:.0f}" for row in figures.values())
            rows.append((f"{network}-{size}", *cells, visits, tests))
    yield Text(
        "CPU time of a part of depth 1 as a multiple of APSL-FS's, within one run. The same ratio in the paper is in "
        "brackets. Here all share one engine and one counting kernel, so tests are cheap and the number of visits "
        "decides. CMB follows open lines only, so it is not the slowest here. The last columns have the mean numbers "
        "of nodes visited and tests asked, in the same order."
    )
    yield Table(("set", *learners, "visits", "tests"), tuple(rows))


def _deeper(stored: Stored) -> Iterator[Block]:
    found = stored.of("depths", "quick", order="file", scoring="dag extension")
    rows = []
    for depth in ("3", "5", "max"):
        deep = found[found["depth"] == depth]
        cells = []
        for learner in LEARNERS:
            ratios = []
            for network, size in rows_in_order(deep):
                mine = one(deep, network=network, size=size, learner=learner)
                yardstick = one(deep, network=network, size=size, learner="apsl-fs-paper")
                if mine and yardstick and mine["cpu"] > 0 and yardstick["cpu"] > 0:
                    ratios.append(mine["cpu"] / yardstick["cpu"])
            cells.append(f"{exp(sum(map(log, ratios)) / len(ratios)):.2f} ({len(ratios)})" if ratios else "–")
        if any(cell != "–" for cell in cells):
            rows.append((depth, *cells))
    if rows:
        yield Text(
            "CPU time of a deeper part as a multiple of APSL-FS's: geometric means over the sets that both were run on "
            "(their number in brackets)."
        )
        yield Table(("depth", *LEARNERS.values()), tuple(rows))


def _growth(stored: Stored) -> Iterator[Block]:
    found = stored.of("growth", scoring="cpdag marks")
    if found.empty:
        return
    yield Heading("From Alarm to ten tiles of it", 3)
    rows = []
    for learner in dict.fromkeys(found["learner"]):
        small, large = (one(found, network=network, learner=learner) for network in ("alarm", "alarm10"))
        if small and large:
            cells = [
                f"{small[name]:.{places}f} → {large[name]:.{places}f} (× {large[name] / small[name]:.1f})"
                for name, places in (("visits", 1), ("tests", 0), ("cpu", 3))
            ]
            rows.append((f"`{learner}`", *cells))
    yield Text(
        "A part of depth 3 around 30 random nodes, 1,000 rows, two sets. `apsl` expands along open lines and stops "
        "when nothing can orient them. The published one expands layer by layer until all is oriented. One edge that "
        "no data can orient makes it visit the whole network."
    )
    yield Table(("learner", "visits", "tests", "CPU seconds"), tuple(rows))
