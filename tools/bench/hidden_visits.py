"""Nodes visited and tests asked with hidden causes allowed, against a global FCI with the same perfect answers.

Random graphs of 20 to 200 nodes, a tenth of them hidden; parts of depth 1 around ten targets, each against the PAG. A
run follows all open edges, and in denser graphs these reach far. FCI is causal-learn's.
Usage: python tools/bench/hidden_visits.py [--quick]
"""

from __future__ import annotations

import argparse
import io
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from itertools import product
from random import Random
from statistics import mean
from time import process_time
from typing import Any

import numpy as np
from causallearn.search.ConstraintBased.FCI import fci
from causallearn.utils import cit

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, learn
from apsl_rules.evaluation.exactness import faults_of
from apsl_rules.graphs import DagWithHidden, pag
from apsl_rules.names import Node

SIZES, DEGREES, TARGETS = (20, 50, 100, 200), (1.6, 2.4), 10


def sparse_graph(random: Random, size: int, degree: float) -> DagWithHidden:
    """Draw a graph in a random order, and hide a tenth of its nodes."""
    names = [f"v{number:03d}" for number in range(size)]
    order = random.sample(names, size)
    parents: dict[Node, list[str]] = {name: [] for name in names}
    for _ in range(round(size * degree / 2)):
        early, late = sorted(random.sample(range(size), 2))
        if order[early] not in parents[order[late]]:
            parents[order[late]].append(order[early])
    return Dag(parents).hiding(*random.sample(names, size // 10))


def count_fci_tests(graph: DagWithHidden) -> tuple[int, float]:
    """Return how many different tests FCI asks for the whole graph, and its CPU seconds."""
    oracle = DSeparation(graph)
    names = sorted(map(str, graph.nodes))
    asked: set[tuple[frozenset[int], frozenset[int]]] = set()

    class Answers(cit.CIT_Base):  # type: ignore[misc]  # the package has no types
        method = "answers"

        def __call__(self, x: int, y: int, given: Sequence[int] | None = None) -> float:
            others = frozenset(map(int, given or ()))
            asked.add((frozenset((int(x), int(y))), others))
            verdict = oracle.verdict(names[int(x)], names[int(y)], [names[one] for one in sorted(others)])
            return float(verdict.independent)

    cit.register_ci_test(Answers.method, Answers)
    rows: Any = np.random.default_rng(0).normal(size=(10, len(names)))
    begun = process_time()
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):  # it speaks of its made-up rows
        fci(rows, Answers.method, 0.5, node_names=names, show_progress=False, verbose=False)
    return len(asked), process_time() - begun


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="20 and 50 nodes")
    words = parser.parse_args()
    print("| nodes | mean degree | mean visits | most visits | exact parts | tests | CPU s | tests of FCI | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for degree, size in product(DEGREES, SIZES[: 2 if words.quick else None]):
        random = Random(size)
        graph = sparse_graph(random, size, degree)
        truth = pag(graph)
        targets = random.sample(sorted(map(str, graph.nodes)), TARGETS)
        begun = process_time()
        parts = [learn(graph, target, hidden="allowed") for target in targets]
        seconds = (process_time() - begun) / TARGETS
        visits = [len(part.visited) for part in parts]
        exact = sum(not any(faults_of(part, truth)) for part in parts)
        tests = mean(part.counts.distinct for part in parts)
        theirs, cpu = count_fci_tests(graph)
        figures = f"{mean(visits):.1f} | {max(visits)} | {exact} of {TARGETS} | {tests:,.0f} | {seconds:.2f}"
        print(f"| {size} | {degree} | {figures} | {theirs:,} | {cpu:.1f} |", flush=True)


if __name__ == "__main__":
    main()
