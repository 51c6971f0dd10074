"""The effect of x on t by DoWhy, in an environment of its own; ``effects.py`` starts it."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd


def main() -> None:
    """Estimate in every table of a folder on the graph beside it; print a line of JSON for each."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("level", type=float)
    given = parser.parse_args()
    folder, level = given.folder, given.level
    from dowhy import CausalModel

    for path in sorted(folder.glob("*.csv")):
        frame, arrows = pd.read_csv(path), json.loads(path.with_suffix(".json").read_text("utf-8"))
        nodes = "".join(f"{one};" for one in frame.columns)
        graph = "digraph {" + nodes + "".join(f"{tail} -> {head};" for tail, head in arrows) + "}"
        begun, interval = process_time(), [0.0, 0.0]
        model = CausalModel(data=frame, treatment="x", outcome="t", graph=graph)
        selected = model.identify_effect(proceed_when_unidentifiable=True)
        if selected.get_backdoor_variables() is not None and not selected.no_directed_path:
            how = {"method_name": "backdoor.linear_regression", "test_significance": False}
            found = model.estimate_effect(selected, confidence_intervals=True, **how)
            limits = np.ravel(found.get_confidence_intervals(confidence_level=level)).tolist()
            interval = [min(limits), max(limits)]
        print(json.dumps({"name": path.stem, "interval": interval, "seconds": process_time() - begun}))


if __name__ == "__main__":
    main()
