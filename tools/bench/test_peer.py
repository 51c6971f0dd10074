"""One peer's test of x against y given z, on all tables of a folder, run in the peers' own environment.

Usage: python test_peer.py NAME FOLDER

Columns of strings are categories, all others numbers. For each table, by name, a line of JSON: "p" and the CPU
"seconds" of the test; what it is given before, such as a table in its own form, is not counted. The first table is
tested once more before, so that nothing is loaded while the clock runs. Tetrad needs Java 17 or newer.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import TypeAlias

import pandas as pd
from mixed_peer import data_set, tetrad

Test: TypeAlias = Callable[[], float]


def pgmpy_pillai() -> Callable[[pd.DataFrame], Test]:
    """Pgmpy's Pillai trace at its defaults."""
    from pgmpy.ci_tests import PillaiTrace

    def made(frame: pd.DataFrame) -> Test:
        test = PillaiTrace(frame)

        def run() -> float:
            test("x", "y", ["z"])
            return float(test.p_value_)

        return run

    return made


def tetrad_degenerate_gaussian() -> Callable[[pd.DataFrame], Test]:
    """Tetrad's likelihood ratio test of degenerate Gaussians."""
    package = tetrad()

    def made(frame: pd.DataFrame) -> Test:
        test = package.search.test.IndTestDegenerateGaussianLrt(data_set(package, frame))
        x, y, z = (test.getVariable(name) for name in ("x", "y", "z"))
        return lambda: float(test.checkIndependence(x, y, z).getPValue())

    return made


PEERS = {"pgmpy-pillai": pgmpy_pillai, "tetrad-degenerate": tetrad_degenerate_gaussian}


def main() -> None:
    """Test each table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("folder", type=Path)
    words = parser.parse_args()
    made = PEERS[words.name]()
    frames = [pd.read_csv(path) for path in sorted(words.folder.glob("*.csv"))]
    made(frames[0])()
    for frame in frames:
        test = made(frame)
        begun = process_time()
        p = test()
        print(json.dumps({"p": p, "seconds": process_time() - begun}), flush=True)


if __name__ == "__main__":
    main()
