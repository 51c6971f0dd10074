"""What the filter of APSL-FS costs in exactness: parts of known networks, with perfect tests and exact uncertainties.

    python tools/bench/filter_exact.py [--quick]

Every node is a target, at depths 1, 2 and "max". Sound APSL is exact everywhere; what is lacking to that is the filter,
since all else that the two learners do is the same. `apsl-fs-paper` is Algorithms 1 to 3 as printed.
"""

from __future__ import annotations

import argparse

from apsl_rules import network
from apsl_rules.evaluation.exactness import verify
from apsl_rules.names import Depth

LEARNERS = ("apsl", "apsl-fs", "apsl-fs-paper")
DEPTHS: tuple[Depth, ...] = (1, 2, "max")
NETWORKS = ("asia", "cancer", "sachs", "child", "insurance", "alarm")


def main() -> None:
    """Print the share of exact parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="three networks")
    names = NETWORKS[:3] if parser.parse_args().quick else NETWORKS
    heads = [f"`{learner}`, depth {depth}" for learner in LEARNERS for depth in DEPTHS]
    print(f"| network | {' | '.join(heads)} |")
    print("|---|" + "---|" * len(heads))
    for name in names:
        print(f"| {name} | {' | '.join(exact_shares(name))} |", flush=True)


def exact_shares(name: str) -> list[str]:
    """Return how many parts of a network are exact, for each learner and depth."""
    found = [verify(network(name), depth=depth, learner=learner) for learner in LEARNERS for depth in DEPTHS]
    return [f"{one.runs - len(one.differences)} of {one.runs}" for one in found]


if __name__ == "__main__":
    main()
