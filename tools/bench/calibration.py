"""What the probabilities of an edge mean: of those around s, a share of about s should be right.

Fits the curves of ``apsl_rules/parts/edge_probability.py``: for the existence of an edge, and for the direction of an
arrow whose edge exists. By default they are fitted on random networks of categories of many kinds and on rows drawn
from published networks (``--files``, BIF), and checked on shipped networks, none of which was used for the fit. Rows
are drawn from each, some nodes are targets at depth 1, and each edge found is right if the true graph has it, each
direction if the CPDAG has the same arrow. Prints the curves and tables of reliability; ``--plot FILE`` draws them.

``--generator FILE.py:NAME`` takes tables from elsewhere: a function that returns, for a seed, a table (a data frame or
whatever ``learn`` takes) and its true graph, as ``known_dag`` takes it. It is called with the seeds from 0 on for the
fit, and with those after them for the check.
Usage: python tools/bench/calibration.py [--learner apsl-score] [--plot FILE] [--fit N] [--check N]
[--files a.bif.gz,b.bif.gz] [--generator FILE.py:NAME] [--quick]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules import known_dag, learn, network
from apsl_rules.graphs.cpdag import cpdag
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.random import random_network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import in_order
from apsl_rules.parts.edge_probability import Grounds, direction_probability, edge_probability, lead_of
from apsl_rules.parts.part import Part
from apsl_rules.rules import Finding

CHECKED = ("alarm", "child", "insurance", "hailfinder", "win95pts")
SIZES = (500, 1000, 5000)
TARGETS = 40
FITTED = 20
BINS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0001)
KINDS = ("edge", "direction")

#: A table, whatever ``learn`` takes, and its true graph.
Drawn: TypeAlias = tuple[Any, Any]


class Case(NamedTuple):
    """An edge or its direction: the score, its lead, its findings, its probability, and whether it is right."""

    kind: str
    score: str
    lead: float
    findings: int
    probability: float
    right: bool


def cases(part: Part, arrows: frozenset[Any], lines: frozenset[Any]) -> Iterator[Case]:
    """Return the edges of a part, and the directions of those that exist."""
    grounds = Grounds(part.proofs)
    true = lines.union(map(frozenset, arrows))
    for pair in sorted(part.edges, key=lambda pair: list(map(str, in_order(pair)))):
        x, y = in_order(pair)
        behind = grounds.of_edge(x, y)
        yield from _case("edge", behind, edge_probability(behind), right=pair in true)
        for tail, head in ((x, y), (y, x)):
            if (tail, head) in part.store.arrows and pair in true:
                behind = grounds.of_direction(tail, head)
                yield from _case("direction", behind, direction_probability(behind), right=(tail, head) in arrows)


def _case(kind: str, behind: Sequence[Finding], known: float | None, *, right: bool) -> Iterator[Case]:
    lead = lead_of(behind)
    if lead is not None and known is not None:
        yield Case(kind, lead.score, lead.nats, lead.findings, known, right)


def gathered(drawn: Drawn, seed: int, learner: str, targets: int) -> list[Case]:
    """Learn from a table around some of its nodes."""
    table, graph = drawn
    dag = known_dag(graph)
    truth = cpdag(dag)
    chosen = np.random.default_rng(seed).permutation(len(dag.nodes))[:targets]
    found: list[Case] = []
    for at in sorted(chosen.tolist()):
        target = dag.nodes[at]
        found += cases(learn(table, target, learner=learner), *truth.region(target, 1))
    return found


def rows_of(made: Network, rows: int, seed: int) -> Drawn:
    """Draw rows from a network."""
    return sample(made, rows, seed=seed), made.dag


def categories(seed: int) -> Drawn:
    """Draw a table of categories from a random network; the seed chooses its kind and size."""
    random = np.random.default_rng(seed)
    made = random_network(
        int(random.integers(20, 61)),
        mean_parents=float(random.uniform(0.9, 1.9)),
        levels=(2, int(random.integers(2, 5))),
        strength=float(random.uniform(1.0, 4.0)),
        seed=seed,
    )
    return rows_of(made, int(random.choice([100, 200, 500, 1000, 2000, 5000])), seed)


def generator_named(text: str) -> Callable[[int], Drawn]:
    """Load a function from a file."""
    path, _, name = text.rpartition(":")
    spec = spec_from_file_location("generator", path)
    if spec is None or spec.loader is None:
        message = f"{path!r} is no Python file; give FILE.py:NAME"
        raise SystemExit(message)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    made: Callable[[int], Drawn] = getattr(module, name)
    return made


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


def with_curve(found: Iterable[Case], curve: Sequence[float]) -> list[Case]:
    """Return cases with the probability of a curve."""
    first, growth, loss = curve
    logits = ((case, first + growth * np.log1p(case.lead) + loss * np.log(case.findings)) for case in found)
    return [case._replace(probability=float(1 / (1 + np.exp(-logit)))) for case, logit in logits]


def reliability(found: Sequence[Case]) -> list[tuple[float, float, int]]:
    """Return the mean probability, the share that is right and the number of cases, by ranges of probability."""
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
    """Print a table of reliability and the expected calibration error."""
    print(f"\n{title}\n\n| probability | right | cases |\n|---|---|---|")
    rows = reliability(found)
    for probability, right, count in rows:
        print(f"| {probability:.2f} | {right:.2f} | {count} |")
    if rows:
        gaps, counts = [abs(probability - right) for probability, right, _ in rows], [count for _, _, count in rows]
        print(f"\nExpected calibration error {np.average(gaps, weights=counts):.3f}.", flush=True)


def plot(found: Sequence[Case], path: Path) -> None:
    """Draw the diagram of reliability."""
    import matplotlib as mpl

    mpl.use("svg")
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "apsl"
    figure, axes = plt.subplots(figsize=(3.6, 3.6))
    axes.plot([0.2, 1], [0.2, 1], color="0.7", linewidth=1)
    for kind, sign in zip(KINDS, ("o-", "s--"), strict=True):
        rows = reliability([case for case in found if case.kind == kind])
        axes.plot([row[0] for row in rows], [row[1] for row in rows], sign, markersize=4, label=f"{kind}s")
    axes.set(xlabel="probability", ylabel="share that is right", xlim=(0.2, 1), ylim=(0.2, 1))
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Fit the curves, check them, and print both."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learner", default="apsl-score")
    parser.add_argument("--fit", type=int, default=60, help="how many generated tables to fit on")
    parser.add_argument("--check", type=int, default=20, help="how many tables of --generator to check on")
    parser.add_argument("--files", default="", help="published networks to fit on, with commas between them")
    parser.add_argument("--generator", default="", help="a function that draws tables, as FILE.py:NAME")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--quick", action="store_true", help="two tables to fit on and one to check on")
    words = parser.parse_args()
    fit, check = (2, 1) if words.quick else (words.fit, words.check)
    draw = generator_named(words.generator) if words.generator else categories
    for_fit = [case for seed in range(fit) for case in gathered(draw(seed), seed, words.learner, FITTED)]
    for path in filter(None, words.files.split(",")):
        for rows in SIZES:
            for_fit += gathered(rows_of(read_bif(Path(path)), rows, rows + 1), rows + 1, words.learner, FITTED)
    if words.generator:
        seeds = range(fit, fit + check)
        checked = [case for seed in seeds for case in gathered(draw(seed), seed, words.learner, TARGETS)]
    else:
        shipped, sizes = (CHECKED[:1], SIZES[:1]) if words.quick else (CHECKED, SIZES)
        seeded = [(name, rows, len(name) + rows) for name in shipped for rows in sizes]
        checked = [
            case
            for name, rows, seed in seeded
            for case in gathered(rows_of(network(name), rows, seed), seed, words.learner, TARGETS)
        ]
    for kind in KINDS:
        some, others = ([case for case in found if case.kind == kind] for found in (for_fit, checked))
        if not some:
            print(f"{kind}: no cases")
            continue
        curve = fitted(some)
        first, growth, loss = curve
        scores = ", ".join(sorted({case.score for case in some}))
        print(f"\n## {kind} ({scores}): {len(some)} cases, {np.mean([case.right for case in some]):.3f} right")
        print(f"\nlogit = {first:.2f} + {growth:.2f} ln(1 + nats) + {loss:.2f} ln(findings)")
        table("The fitted curve, on what it was fitted on", with_curve(some, curve))
        table("The fitted curve, on what was not used for the fit", with_curve(others, curve))
        table("The curve of the library, on what was not used for the fit", others)
    if words.plot:
        plot(checked, words.plot)


if __name__ == "__main__":
    main()
