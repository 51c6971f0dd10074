"""Fit what the shapes of columns say of directions, on real tables with known directions.

    python tools/column_shapes.py learn LIST --out build/directions.jsonl   # learns each table of the list
    python tools/column_shapes.py fit build/directions.jsonl                # prints weights, and figures by table

LIST is a Python file with ``TABLES``, each with ``name``, ``frame()`` and ``truth(columns)``: pairs (u, v) of which v
is no cause of u. The fit is judged on tables that it did not see, ten folds by table.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules import learn_graph
from apsl_rules.data import table as read_table
from apsl_rules.directions.hints import WEIGHTS, Shapes, shipped_names
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import open_data
from apsl_rules.rules import adjacent, arrow

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
TERMS = tuple(WEIGHTS)
#: How much the weights are drawn to 0, the number of folds, and of resamples of tables.
RIDGE, FOLDS, RESAMPLES = 5.0, 10, 400


@attrs.frozen
class FrameColumns:
    """Distinct and missing values of a frame."""

    frame: Any

    def distinct(self, node: Any) -> int:
        """Return how many distinct values a column has."""
        return int(self.frame[node].nunique())

    def missing_share(self, node: Any) -> float:
        """Return the share of missing values of a column."""
        return float(self.frame[node].isna().mean())


@attrs.frozen
class Known:
    """An edge of a real table whose direction u -> v is known: what the graph drew, and what speaks for it."""

    table: str
    u: str
    v: str
    rows: int
    drawn: int
    stated: float | None
    named: int
    terms: Mapping[str, float]


def known_edges(name: str, frame: Any, truth: Iterable[tuple[str, str]]) -> Iterator[Known]:
    """Learn a table and yield the edges whose direction is known."""
    graph = learn_graph(frame, hidden="excluded")
    opened = open_data(frame, Request(hidden="excluded"))
    names = shipped_names()
    kinds = {column.name: column.kind for column in read_table(frame).columns}
    edges: dict[frozenset[Any], Shapes] = {}
    for part in graph.parts:
        facts = {frozenset(fact.nodes) for kind in (adjacent, arrow) for fact in part.store.facts(kind)}
        shapes = Shapes(FrameColumns(frame), opened.oracle(0.05), part.store, names)
        edges |= dict.fromkeys(facts, shapes)

    def is_named(node: str) -> bool:
        levels = None if kinds[node] == "number" else frame[node].nunique()
        return names.group_of(node, levels) is not None

    for u, v in sorted(truth):
        found = edges.get(frozenset((u, v)))
        if found is None:
            continue
        arrows = {*graph.arrows, *graph.suggested}
        drawn = ((u, v) in arrows) - ((v, u) in arrows)
        stated = graph.direction_probability(*((u, v) if drawn > 0 else (v, u))) if drawn else None
        yield Known(name, u, v, len(frame), drawn, stated, is_named(u) - is_named(v), dict(found.support(u, v).terms))


def learn_list(path: Path, out: Path) -> None:
    """Learn the tables of a list, and write their known edges."""
    spec = spec_from_file_location("listed", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    with out.open("w", encoding="utf-8") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table in module.TABLES:
            frame = table.frame()
            found = list(known_edges(table.name, frame, table.truth(list(frame.columns))))
            file.writelines(json.dumps(attrs.asdict(one)) + "\n" for one in found)
            file.flush()
            print(f"{table.name}: {len(found)} known edges", flush=True)


def _matrix(edges: Sequence[Known], terms: Sequence[str]) -> Floats:
    return np.array([[edge.terms.get(term, 0.0) for term in terms] for edge in edges], np.float64)


def fit(edges: Sequence[Known], terms: Sequence[str] = TERMS, ridge: float = RIDGE) -> Floats:
    """Return the weights of a logistic curve without a constant; a table counts as the root of its edges."""
    rows = _matrix(edges, terms)
    share = Counter(edge.table for edge in edges)
    counts = np.array([share[edge.table] ** -0.5 for edge in edges])
    spread = np.sqrt((rows**2).mean(0)) + 1e-9
    scaled, weights = rows / spread, np.zeros(len(terms))
    for _ in range(50):
        right = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (counts * (1 - right)) - ridge * weights
        bend = (scaled * (counts * right * (1 - right))[:, None]).T @ scaled + ridge * np.eye(len(terms))
        weights = weights + np.linalg.solve(bend, slope)
    fitted: Floats = weights / spread
    return fitted


def cross_fitted(edges: Sequence[Known], terms: Sequence[str], ridge: float, seed: int) -> Floats:
    """Return the probability of each known direction by weights from other tables."""
    tables = sorted({edge.table for edge in edges})
    np.random.default_rng(seed).shuffle(tables)
    fold = {table: place % FOLDS for place, table in enumerate(tables)}
    found = np.zeros(len(edges))
    for one in range(FOLDS):
        weights = fit([edge for edge in edges if fold[edge.table] != one], terms, ridge)
        here = [place for place, edge in enumerate(edges) if fold[edge.table] == one]
        found[here] = 1 / (1 + np.exp(-_matrix([edges[place] for place in here], terms) @ weights))
    return found


def share_right(edges: Sequence[Known], decided: Bools, right: Bools) -> str:
    """Return the share that is right of those decided, with 95 % of resamples of tables, and the share decided."""
    by_table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for edge, is_decided, is_right in zip(edges, decided.tolist(), right.tolist(), strict=True):
        by_table[edge.table][2] += 1
        if is_decided:
            by_table[edge.table][0 if is_right else 1] += 1
    counts = np.array(list(by_table.values()), float)
    drawn = np.random.default_rng(0).integers(0, len(counts), (RESAMPLES, len(counts)))
    sums = counts[drawn].sum(1)
    shares = sums[:, 0] / np.maximum(1, sums[:, 0] + sums[:, 1])
    hit, missed, every = counts.sum(0)
    low, high = np.quantile(shares, [0.025, 0.975])
    return f"{hit / max(1, hit + missed):.0%} [{low:.0%}-{high:.0%}] of {(hit + missed) / every:.0%}"


def report(edges: Sequence[Known]) -> None:
    """Print how often directions are right, as drawn and by names and shapes."""
    drawn = np.array([edge.drawn for edge in edges])
    named = np.array([edge.named for edge in edges])
    sure = np.array([edge.stated is not None and edge.stated > 0.9 for edge in edges])
    print(f"{len(edges)} known edges of {len({edge.table for edge in edges})} tables")
    print("arrows of the graph      ", share_right(edges, drawn != 0, drawn > 0))
    print("... stated above .9      ", share_right(edges, sure, drawn > 0))
    print("names                    ", share_right(edges, named != 0, named > 0))
    others = [edge for edge in edges if not edge.named]
    print(f"{len(others)} edges that no name decides")
    here = np.array([edge.drawn for edge in others])
    print("arrows of the graph      ", share_right(others, here != 0, here > 0))
    for title, terms in (("shapes", TERMS), ("shapes, names masked", tuple(t for t in TERMS if t != "outcome"))):
        print(title, {name: round(float(one), 2) for name, one in zip(terms, fit(others, terms), strict=True)})
        found = np.mean([cross_fitted(others, terms, RIDGE, seed) for seed in range(5)], axis=0)
        sureness = np.maximum(found, 1 - found)
        for least in (0.5, 0.6, 0.7, 0.75, 0.8, 0.9):
            print(f"  from {least}:            ", share_right(others, sureness >= least, found > 0.5))
        for low, high in ((0.5, 0.6), (0.6, 0.75), (0.75, 0.85), (0.85, 0.95), (0.95, 1.01)):
            inside = (sureness >= low) & (sureness < high)
            if inside.any():
                right = (found[inside] > 0.5).mean()
                print(f"  stated {sureness[inside].mean():.2f}, right {right:.2f} ({inside.sum()} edges)")


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    learning = commands.add_parser("learn")
    learning.add_argument("list", type=Path)
    learning.add_argument("--out", type=Path, required=True)
    fitting = commands.add_parser("fit")
    fitting.add_argument("edges", type=Path)
    given = parser.parse_args()
    if given.command == "learn":
        learn_list(given.list, given.out)
    else:
        report([Known(**json.loads(line)) for line in given.edges.read_text("utf-8").splitlines()])


if __name__ == "__main__":
    main()
