"""PCMCI+ of tigramite on series, on one thread, run in the peers' own environment.

The last line is JSON: for each array of the file the links [cause, effect, lag] that it draws with a direction, those
without one, and its CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
from time import process_time
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import numpy as np  # noqa: E402 - see above

ALPHA, LAGS = 0.01, 1


def drawn(values: Any) -> dict[str, Any]:
    """Return the graph that PCMCI+ draws, and its CPU seconds."""
    from tigramite.data_processing import DataFrame
    from tigramite.independence_tests.parcorr import ParCorr
    from tigramite.pcmci import PCMCI

    begun = process_time()
    found = PCMCI(dataframe=DataFrame(values), cond_ind_test=ParCorr(), verbosity=0).run_pcmciplus(
        tau_min=0, tau_max=LAGS, pc_alpha=ALPHA
    )
    spent = process_time() - begun
    arrows, lines = [], []
    for cause, effect, lag in np.argwhere(found["graph"] != "").tolist():
        mark = found["graph"][cause, effect, lag]
        if mark == "-->":
            arrows.append([cause, effect, lag])
        elif mark in ("o-o", "x-x") and cause < effect:
            lines.append([cause, effect, lag])
    return {"arrows": arrows, "lines": lines, "cpu": spent}


def main(path: str) -> None:
    """Run all series of a file."""
    with np.load(path) as series:
        drawn(np.random.default_rng(0).normal(size=(60, 3)))  # loads what it needs
        print(json.dumps({name: drawn(series[name]) for name in series.files}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("series", metavar="SERIES.npz")
    main(parser.parse_args().series)
