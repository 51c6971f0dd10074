"""What a probability means: of the edges with a probability around s, a share of about s should be right.

Fits the curves of ``apsl_rules/parts/edge_probability.py`` on random networks of many kinds and on rows drawn from
published networks (``--files``, BIF), then checks them on shipped networks, none of which was used for the fit: rows
are drawn from each, some nodes are targets at depth 1, and each edge found is right if the CPDAG has it with the same
mark. Prints the curves, and a table of reliability; ``--plot FILE`` draws it.
Usage: python tools/bench/calibration.py [--learner apsl-score] [--plot FILE] [--fit N] [--files a.bif.gz,b.bif.gz]
[--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from apsl_rules import learn, network
from apsl_rules.graphs.cpdag import cpdag
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.random import random_network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts.edge_probability import lead_of, probability_of
from apsl_rules.parts.part import Part
from apsl_rules.rules.store import Mark

CHECKED = ("alarm", "child", "insurance", "hailfinder", "win95pts")
SIZES = (500, 1000, 5000)
TARGETS = 40
FITTED = 20
BINS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0001)


class Case(NamedTuple):
    """An edge that was found: mark, lead in nats, number of findings, probability, and whether it is right."""

    mark: Mark
    lead: float
    findings: int
    probability: float
    right: bool


def cases(part: Part, arrows: frozenset[object], lines: frozenset[object]) -> Iterable[Case]:
    """Return the edges of a part."""
    for pair in [*part.arrows, *map(tuple, part.lines)]:
        x, y = pair
        proof = part.why(x, y)
        lead = lead_of(proof)
        mark = part.mark(x, y)
        known = probability_of(mark, proof)
        if lead is not None and known is not None:
            right = (x, y) in arrows if mark is Mark.ARROW else frozenset(pair) in lines
            yield Case(mark, lead, len(proof.findings), known, right)


def gathered(made: Network, rows: int, seed: int, learner: str, targets: int = TARGETS) -> list[Case]:
    """Learn from rows of a network around some of its nodes."""
    truth, table = cpdag(made.dag), sample(made, rows, seed=seed)
    chosen = np.random.default_rng(seed).permutation(len(table.names))[:targets]
    found: list[Case] = []
    for at in sorted(chosen.tolist()):
        target = table.names[at]
        found += cases(learn(table, target, learner=learner), *truth.region(target, 1))
    return found


def simulated(count: int, learner: str) -> list[Case]:
    """Gather edges from random networks of many kinds."""
    found: list[Case] = []
    for seed in range(count):
        random = np.random.default_rng(seed)
        made = random_network(
            int(random.integers(20, 61)),
            mean_parents=float(random.uniform(0.9, 1.9)),
            levels=(2, int(random.integers(2, 5))),
            strength=float(random.uniform(1.0, 4.0)),
            seed=seed,
        )
        found += gathered(made, int(random.choice([200, 500, 1000, 2000, 5000])), seed, learner, FITTED)
    return found


def drawn(files: Sequence[Path], learner: str) -> list[Case]:
    """Gather edges from rows of published networks."""
    return [
        case for file in files for rows in SIZES for case in gathered(read_bif(file), rows, rows + 1, learner, FITTED)
    ]


def fitted(found: Sequence[Case]) -> list[float]:
    """Fit the probability of being right as a logistic curve of ln(1 + lead) and ln(findings), by Newton's method."""
    right = np.array([case.right for case in found], np.float64)
    design = np.array([(1.0, np.log1p(case.lead), np.log(case.findings)) for case in found])
    curve: npt.NDArray[np.float64] = np.zeros(3)
    for _ in range(50):
        probability = 1 / (1 + np.exp(-design @ curve))
        slope = design.T @ (right - probability) - 1e-2 * curve
        curvature = (design * (probability * (1 - probability))[:, None]).T @ design + 1e-2 * np.eye(3)
        curve = curve + np.linalg.solve(curvature, slope)
    return [float(one) for one in curve]


def reliability(found: Sequence[Case]) -> list[tuple[float, float, int]]:
    """Return the mean probability, the share that is right and the number of edges, by ranges of probability."""
    rows = []
    for low, high in pairwise(BINS):
        inside = [case for case in found if low <= case.probability < high]
        if inside:
            rows.append(
                (
                    float(np.mean([case.probability for case in inside])),
                    float(np.mean([case.right for case in inside])),
                    len(inside),
                )
            )
    return rows


def table(title: str, found: Sequence[Case]) -> None:
    """Print a table of reliability."""
    print(f"\n{title}\n\n| probability | right | edges |\n|---|---|---|")
    for probability, right, count in reliability(found):
        print(f"| {probability:.2f} | {right:.2f} | {count} |")
    gap = np.average(
        [abs(probability - right) for probability, right, _ in reliability(found)],
        weights=[count for _, _, count in reliability(found)],
    )
    print(f"\nMean difference {gap:.3f}.", flush=True)


def plot(found: Sequence[Case], path: Path) -> None:
    """Draw the diagram of reliability."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "apsl"
    figure, axes = plt.subplots(figsize=(3.6, 3.6))
    axes.plot([0.3, 1], [0.3, 1], color="0.7", linewidth=1)
    for mark, sign in ((Mark.ARROW, "o-"), (Mark.LINE, "s--")):
        rows = reliability([case for case in found if case.mark is mark])
        axes.plot([row[0] for row in rows], [row[1] for row in rows], sign, markersize=4, label=f"{mark}s")
    axes.set(xlabel="probability", ylabel="share that is right", xlim=(0.3, 1), ylim=(0.3, 1))
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Fit the curves, check them, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learner", default="apsl-score")
    parser.add_argument("--fit", type=int, default=60, help="how many random networks to fit on")
    parser.add_argument("--files", default="", help="published networks to fit on, with commas between them")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--quick", action="store_true", help="two random networks and one shipped network")
    words = parser.parse_args()
    for_fit = simulated(2 if words.quick else words.fit, words.learner)
    for_fit += drawn([Path(one) for one in words.files.split(",") if one], words.learner)
    for mark in (Mark.ARROW, Mark.LINE):
        some = [case for case in for_fit if case.mark is mark]
        first, growth, loss = fitted(some)
        print(f"{mark}: {len(some)} edges, {np.mean([case.right for case in some]):.3f} right; ", end="")
        print(f"logit = {first:.2f} + {growth:.2f} ln(1 + nats) + {loss:.2f} ln(findings)")
    table("Networks that the curves were fitted on", for_fit)
    shipped, sizes = (CHECKED[:1], SIZES[:1]) if words.quick else (CHECKED, SIZES)
    checked = [
        case
        for name in shipped
        for rows in sizes
        for case in gathered(network(name), rows, len(name) + rows, words.learner)
    ]
    table(f"Networks not used for the fit: {', '.join(shipped)}", checked)
    if words.plot:
        plot(checked, words.plot)


if __name__ == "__main__":
    main()
