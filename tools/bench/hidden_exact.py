"""Whether parts with hidden causes allowed are exact: all classes of maximal ancestral graphs on four and five nodes.

For each of the 248 and 24,259 classes a graph with hidden nodes answers by d-separation; every target, depths 1, 2 and
"max", against the PAG by brute force. Usage: python tools/bench/hidden_exact.py [--quick] [--share PLACE/OF]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from time import process_time

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from apsl_rules import learn
from apsl_rules.evaluation.exactness import faults_of
from apsl_rules.names import Depth
from support.mag_classes import mag_classes

DEPTHS: tuple[Depth, ...] = (1, 2, "max")
FEW = 200


def main() -> None:
    """Print how many runs there were, and how many differ."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=f"{FEW} classes of five nodes")
    parser.add_argument("--share", default="1/1", help="only each OFth class of five nodes, from PLACE on")
    words = parser.parse_args()
    place, of = map(int, words.share.split("/"))
    print("| nodes | classes | runs | runs that differ | mean visits | CPU s |")
    print("|---|---|---|---|---|---|")
    for nodes in (4, 5):
        classes = mag_classes(nodes)
        chosen: Sequence[int] = range(len(classes)) if nodes < 5 else range(place - 1, len(classes), of)
        if words.quick and len(chosen) > FEW:
            chosen = sorted(Random(1).sample(chosen, FEW))
        begun = process_time()
        runs = visits = wrong = 0
        for at in chosen:
            graph, truth = classes[at]
            source = graph.canonical()
            for target in graph.nodes:
                for depth in DEPTHS:
                    part = learn(source, target, depth=depth, hidden="allowed")
                    faults = list(faults_of(part, truth))
                    runs += 1
                    visits += len(part.visited)
                    wrong += bool(faults)
                    if faults:
                        print(f"class {at} of {nodes} nodes, target {target}, depth {depth}: {'; '.join(faults)}")
        seconds = process_time() - begun
        print(f"| {nodes} | {len(chosen)} | {runs:,} | {wrong} | {visits / runs:.2f} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
