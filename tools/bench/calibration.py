"""What the probabilities of an edge mean: of those around s, a share of about s should be right, on every network.

Fits the curves of ``apsl_rules/parts/probability.py``: for the existence of an edge, and for the direction of an
arrow whose edge exists. By default they are fitted on random networks of categories of many kinds, and on rows drawn
from published networks (``--files``, BIF or shipped ones), and checked on rows of other seeds from shipped networks.
Rows are drawn from each, some nodes are targets at depth 1, and each edge found is right if the true graph has it, each
direction if the CPDAG has the same arrow. Prints the curves, tables of reliability, and the expected calibration error
on each network: of the library's curves where they were checked, and of curves that were fitted without the network
wherever there are enough cases. ``--plot FILE`` draws the reliability on each network that was checked (SVG).

``--generator FILE.py:NAME`` takes tables from elsewhere: a function that returns, for a seed, a table (a data frame or
whatever ``learn`` takes) and its true graph, as ``Dag`` takes it. It is called with the seeds from 0 on for the
fit, and with those after them for the check.

``--stated alarm,b.bif.gz`` fits nothing: it prints what is stated on average and what is right on these networks.
Usage: python tools/bench/calibration.py [--learner apsl-score] [--plot FILE] [--fit N] [--check N]
[--files a.bif.gz,b.bif.gz] [--generator FILE.py:NAME] [--stated NAMES] [--quick]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from reliability import calibration_error, draw_panels, reliability

from apsl_rules import Dag, learn, network
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.bif import read_bif
from apsl_rules.graphs.networks.sampling import random_network, sample
from apsl_rules.names import in_order
from apsl_rules.parts.part import Part
from apsl_rules.parts.probability import CURVES, Curve, DirectionEvidence, EdgeEvidence, Grounds

CHECKED = ("alarm", "child", "insurance", "hailfinder", "win95pts")
SIZES = (500, 1000, 5000)
SAMPLES = 3
TARGETS = 20
FITTED = 16
#: Samples of each network for the fit, the seed of the first, and the cases from which on a network counts less.
FITTED_SAMPLES, FITTED_SEED, MOST_CASES = 2, 30_000_000, 200
KINDS = ("edge", "direction")
#: The names of networks that were not published begin with this; there are five groups of them.
RANDOM = "random"
#: Rows of what is stated on average, and how far apart that and what is right are at most.
STATED_SIZES, APART = (500, 2000), 0.07
#: Expected calibration error of fewer cases is mostly noise.
FEWEST = 60
#: The weight, in cases, with which the fit holds the weights of terms near 0.
RIDGE = 2.0

#: A table, whatever ``learn`` takes, and its true graph.
Drawn: TypeAlias = tuple[Any, Any]


class Case(NamedTuple):
    """An edge or its direction: where it was found, its score, the terms of its evidence, and whether it is right.

    ``places`` is how many duplicates share its probability.
    """

    kind: str
    network: str
    score: str
    terms: Mapping[str, float]
    probability: float
    right: bool
    places: int = 1


def cases(part: Part, name: str, arrows: frozenset[Any], lines: frozenset[Any]) -> Iterator[Case]:
    """Return the edges of a part, and the directions of those that exist."""
    grounds = Grounds(part.proofs)
    true = lines.union(map(frozenset, arrows))
    for pair in sorted(part.edges, key=lambda pair: list(map(str, in_order(pair)))):
        x, y = in_order(pair)
        yield from _case("edge", name, grounds.edge(x, y), right=pair in true)
        for tail, head in ((x, y), (y, x)):
            if (tail, head) in part.store.arrows and pair in true:
                yield from _case("direction", name, grounds.direction(tail, head), right=(tail, head) in arrows)


def _case(kind: str, name: str, known: EdgeEvidence | DirectionEvidence | None, *, right: bool) -> Iterator[Case]:
    if known is not None and known.probability is not None:
        is_shared = CURVES[known.lead.score].is_shared
        places = known.places if is_shared and isinstance(known, EdgeEvidence) else 1
        yield Case(kind, name, known.lead.score, known.terms, known.probability, right, places)


def gathered(name: str, drawn: Drawn, seed: int, learner: str, targets: int) -> list[Case]:
    """Learn from a table around some of its nodes."""
    table, graph = drawn
    dag = Dag(graph)
    truth = cpdag(dag)
    chosen = np.random.default_rng(seed).permutation(len(dag.nodes))[:targets]
    found: list[Case] = []
    for at in sorted(chosen.tolist()):
        target = dag.nodes[at]
        found += cases(learn(table, target, learner=learner, hidden="excluded"), name, *truth.region(target, 1))
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


def balanced(found: Sequence[Case]) -> npt.NDArray[np.float64]:
    """Return the weight of each case: a network with many counts as the root of their number."""
    count = Counter(case.network for case in found)
    return np.array([min(1.0, (MOST_CASES / count[case.network]) ** 0.5) for case in found])


def fitted(found: Sequence[Case], names: Sequence[str]) -> Curve:
    """Fit the probability of being right as a logistic curve of some terms, by Newton's method, without duplicates."""
    found = [case for case in found if case.places == 1]
    right = np.array([case.right for case in found], np.float64)
    weights = balanced(found)
    design = np.array([(1.0, *(case.terms[name] for name in names)) for case in found])
    ridge = RIDGE * np.eye(1 + len(names))
    ridge[0, 0] = 1e-3
    curve: npt.NDArray[np.float64] = np.zeros(1 + len(names))
    for _ in range(50):
        probability = 1 / (1 + np.exp(-design @ curve))
        slope = design.T @ (weights * (right - probability)) - ridge @ curve
        curvature = (design * (weights * probability * (1 - probability))[:, None]).T @ design + ridge
        curve = curve + np.linalg.solve(curvature, slope)
    return Curve(float(curve[0]), dict(zip(names, map(float, curve[1:]), strict=True)))


def shares(found: Sequence[Case], curve: Curve | None = None) -> list[tuple[float, bool]]:
    """Return the probability of each case, of the library or of another curve, and whether the case is right."""
    return [(case.probability if curve is None else curve.at(case.terms) / case.places, case.right) for case in found]


def of_network(found: Sequence[Case], name: str) -> list[Case]:
    """Return the cases of one network."""
    return [case for case in found if case.network == name]


def print_table(title: str, found: Sequence[tuple[float, bool]]) -> None:
    """Print a table of reliability and the expected calibration error."""
    print(f"\n{title}\n\n| probability | right | cases |\n|---|---|---|")
    for probability, right, count in reliability(found):
        print(f"| {probability:.2f} | {right:.2f} | {count} |")
    print(f"\nExpected calibration error {calibration_error(found):.3f}.", flush=True)


def print_networks(found: Sequence[Case], checked: Sequence[Case], names: Sequence[str]) -> None:
    """Print what is stated and right on each network, and the calibration error of curves not fitted on it."""
    print("\n| network | cases | stated | right | curve of the library | curve fitted without it |")
    print("|---|---|---|---|---|---|")
    everything = [*found, *checked]
    for name in sorted({case.network for case in everything}):
        inside = of_network(everything, name)
        if len(inside) < FEWEST:
            continue
        curve = fitted([case for case in everything if case.network != name], names)
        known = f"{calibration_error(shares(inside)):.3f}" if of_network(checked, name) else "used for the fit"
        right, stated = (
            float(np.mean(some)) for some in zip(*((one.right, one.probability) for one in inside), strict=True)
        )
        without = calibration_error(shares(inside, curve))
        print(f"| {name} | {len(inside)} | {stated:.3f} | {right:.3f} | {known} | {without:.3f} |", flush=True)


def drawn_for(words: argparse.Namespace) -> tuple[list[Case], list[Case]]:
    """Return the cases to fit on and those to check on."""
    fit, check = (2, 1) if words.quick else (words.fit, words.check)
    draw = generator_named(words.generator) if words.generator else categories
    learner: str = words.learner
    for_fit = [
        case for seed in range(fit) for case in gathered(f"{RANDOM} {seed % 5}", draw(seed), seed, learner, FITTED)
    ]
    for given in filter(None, words.files.split(",")):
        made, name = network_named(given)
        for rows, number in product(STATED_SIZES, range(FITTED_SAMPLES)):
            seed = FITTED_SEED + 100_000 * number + len(name) + rows
            for_fit += gathered(name, rows_of(made, rows, seed), seed, learner, TARGETS)
    if words.generator:
        seeds = range(fit, fit + check)
        return for_fit, [
            case
            for seed in seeds
            for case in gathered(f"{RANDOM} {seed % 5}, checked", draw(seed), seed, learner, TARGETS)
        ]
    shipped, sizes, samples = (CHECKED[:1], SIZES[:1], 1) if words.quick else (CHECKED, SIZES, SAMPLES)
    seeded = [
        (name, rows, 100_000 * number + len(name) + rows)
        for name in shipped
        for rows in sizes
        for number in range(samples)
    ]
    return for_fit, [
        case
        for name, rows, seed in seeded
        for case in gathered(name, rows_of(network(name), rows, seed), seed, learner, TARGETS)
    ]


def network_named(name: str) -> tuple[Network, str]:
    """Return a network, shipped or in a file, and its short name."""
    made = read_bif(Path(name)) if name.endswith((".bif", ".bif.gz")) else network(name)
    return made, Path(name).name.partition(".")[0]


def print_stated(names: Sequence[str], learner: str) -> None:
    """Print what is stated on average and what is right on some networks, shipped ones or in files."""
    print("| network | edges: stated | right | of | directions: stated | right | of |\n|---|---|---|---|---|---|---|")
    for name in names:
        made, short = network_named(name)
        seeds = [(rows, 100_000 * number + len(short) + rows) for rows in STATED_SIZES for number in range(SAMPLES)]
        found = [
            case for rows, seed in seeds for case in gathered(short, rows_of(made, rows, seed), seed, learner, TARGETS)
        ]
        cells = [short]
        for kind in KINDS:
            some = [case for case in found if case.kind == kind]
            stated, right = (
                float(np.mean(part)) for part in zip(*((one.probability, one.right) for one in some), strict=True)
            )
            bold = "**" if abs(stated - right) > APART else ""
            cells += [f"{bold}{stated:.2f}{bold}", f"{bold}{right:.2f}{bold}", str(len(some))]
        print(f"| {' | '.join(cells)} |", flush=True)


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
    parser.add_argument("--stated", default="", help="networks to print means of, with commas between them")
    words = parser.parse_args()
    if words.stated:
        print_stated(words.stated.split(","), words.learner)
        return
    for_fit, checked = drawn_for(words)
    for kind in KINDS:
        some, others = ([case for case in found if case.kind == kind] for found in (for_fit, checked))
        if not some or not others:
            print(f"{kind}: no cases")
            continue
        names = list(getattr(CURVES[some[0].score], kind).weights)
        curve = fitted(some, names)
        scores = ", ".join(sorted({case.score for case in some}))
        print(f"\n## {kind} ({scores}): {len(some)} cases, {np.mean([case.right for case in some]):.3f} right")
        weights = "".join(f" {weight:+.2f} {name}" for name, weight in curve.weights.items())
        print(f"\nlogit = {curve.first:.2f}{weights}")
        print_table("The fitted curve, on what it was fitted on", shares(some, curve))
        print_table("The fitted curve, on what was not used for the fit", shares(others, curve))
        print_table("The curve of the library, on what was not used for the fit", shares(others))
        print_networks(some, others, names)
    if words.plot:
        draw_panels(
            {
                name: {
                    f"{kind}s": shares([case for case in of_network(checked, name) if case.kind == kind])
                    for kind in KINDS
                }
                for name in dict.fromkeys(case.network for case in checked)
            },
            words.plot,
        )


if __name__ == "__main__":
    main()
