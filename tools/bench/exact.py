"""Ten million rows in memory: every figure against a reference in integers of any size and decimals of fifty digits.

    python tools/bench/exact.py [ROWS]

The reference counts with Python's own integers and takes G² = 2 Σ O ln(O·N/(R·C)) in decimals, so that neither the
sums of the kernels nor their terms n·ln(n), kept as whole numbers of a small unit, can have lost anything unseen.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, getcontext
from itertools import combinations
from time import perf_counter

import numpy as np

from apsl_backends.independence.count_tests import GSquare
from apsl_rules import network
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node

NODES = ("HR", "CATECHOL", "CO", "HRBP", "HRSAT", "ARTCO2", "SAO2", "INSUFFANESTH")
ALPHA = 0.01


def counted(table: Table) -> dict[tuple[int, ...], int]:
    """Count the combinations of all nodes looked at, in Python's integers."""
    keys = np.zeros(table.rows, np.int64)
    cards = [int(table.cards[table.place[node]]) for node in NODES]
    for node, card in zip(NODES, cards, strict=True):
        keys = keys * card + table.codes[table.place[node]]
    cells: dict[tuple[int, ...], int] = {}
    for key, count in enumerate(np.bincount(keys).tolist()):
        if count:
            rest, codes = key, []
            for card in reversed(cards):
                rest, code = divmod(rest, card)
                codes.append(code)
            cells[tuple(reversed(codes))] = count
    return cells


def summed(cells: dict[tuple[int, ...], int], nodes: Sequence[Node]) -> dict[tuple[int, ...], int]:
    """Sum the combinations of all nodes up to those of some of them."""
    places = [NODES.index(str(node)) for node in nodes]
    sums: Counter[tuple[int, ...]] = Counter()
    for codes, count in cells.items():
        sums[tuple(codes[place] for place in places)] += count
    return dict(sums)


def reference(cells: dict[tuple[int, ...], int]) -> tuple[Decimal, int]:
    """Return G² and its degrees of freedom."""
    of_x: Counter[tuple[int, ...]] = Counter()
    of_y: Counter[tuple[int, ...]] = Counter()
    of_all: Counter[tuple[int, ...]] = Counter()
    for (x, y, *z), count in cells.items():
        of_x[x, *z] += count
        of_y[y, *z] += count
        of_all[tuple(z)] += count
    total = Decimal(0)
    for (x, y, *z), count in cells.items():
        total += count * (Decimal(count * of_all[tuple(z)]) / Decimal(of_x[x, *z] * of_y[y, *z])).ln()
    levels_x, levels_y = (Counter(z for _, *rest in of for z in [tuple(rest)]) for of in (of_x, of_y))
    return 2 * total, sum((levels_x[z] - 1) * (levels_y[z] - 1) for z in of_all)


def main() -> None:
    """Compare statistics, degrees of freedom and decisions, and print the largest difference."""
    from scipy.special import chdtrc

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="?", type=int, default=10_000_000)
    rows = parser.parse_args().rows

    getcontext().prec = 50
    table = sample(network("alarm"), rows, seed=7)
    begun = perf_counter()
    oracle = GSquare(table, alpha=ALPHA)
    tests = [(x, y, z) for x, y in combinations(NODES, 2) for size in range(3) for z in combinations(NODES, size)]
    queries = [(x, y, z) for x, y, z in tests if x not in z and y not in z]
    verdicts = oracle.verdicts(queries)
    took = perf_counter() - begun
    cells = counted(table)
    largest = Decimal(0)
    wrong = 0
    for verdict in verdicts:
        statistic, dof = reference(summed(cells, [verdict.x, verdict.y, *verdict.given]))
        decision = "independent" if dof == 0 or chdtrc(dof, float(statistic)) > ALPHA else "dependent"
        wrong += (verdict.decision, verdict.dof, verdict.n) != (decision, dof, rows)
        largest = max(largest, abs(Decimal(verdict.statistic or 0.0) - statistic))
    independent = sum(verdict.independent for verdict in verdicts)
    print(
        f"{rows:,} rows, {len(verdicts)} tests with up to two given ({independent} independent), "
        f"{took:.1f} s in the kernels: {wrong} differ from the reference in decision, degrees of freedom or rows; "
        f"largest difference of a statistic {float(largest):.2g}"
    )


if __name__ == "__main__":
    main()
