"""What DoWhy's falsify_graph and pgmpy's ImpliedCIs say of the cases in a folder; run by the Python that has them.

Usage: python check_peer.py FOLDER. It reads cases.json and the tables beside it, and prints JSON: for each case whether
each peer objects to the graph, the pair that is worst by pgmpy, and the CPU seconds. DoWhy is given quick tests (G² for
categories, partial correlation for numbers) and 50 permutations: with its own kernel tests one case takes minutes.
pgmpy gives p values only, so Bonferroni's bound is added.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from math import atanh, sqrt
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

_LEVEL = 0.05


def g_test(x: Any, y: Any, given: Any = None) -> float:
    """Return p of a G² test of codes."""
    from scipy.stats import chi2

    strata = np.zeros(len(x), int) if given is None else np.unique(np.asarray(given), axis=0, return_inverse=True)[1]
    statistic, dof = 0.0, 0
    for stratum in range(strata.max() + 1):
        inside = strata.ravel() == stratum
        seen = pd.crosstab(np.ravel(x)[inside], np.ravel(y)[inside]).to_numpy(float)
        expected = seen.sum(1, keepdims=True) * seen.sum(0, keepdims=True) / seen.sum()
        full = seen > 0
        statistic += 2 * float((seen[full] * np.log(seen[full] / expected[full])).sum())
        dof += (seen.shape[0] - 1) * (seen.shape[1] - 1)
    return float(chi2.sf(statistic, dof)) if dof else 1.0


def z_test(x: Any, y: Any, given: Any = None) -> float:
    """Return p of a partial correlation."""
    from scipy.stats import norm

    rest = np.ones((len(x), 1)) if given is None else np.column_stack([np.ones(len(x)), given])
    left = [column - rest @ np.linalg.lstsq(rest, column, rcond=None)[0] for column in (np.ravel(x), np.ravel(y))]
    r = float(np.clip(np.corrcoef(left[0], left[1])[0, 1], -0.999999, 0.999999))
    return float(2 * norm.sf(abs(atanh(r)) * sqrt(max(1, len(x) - rest.shape[1] - 2))))


def by_dowhy(data: pd.DataFrame, arrows: Sequence[Sequence[str]], *, numbers: bool) -> bool:
    """Return whether DoWhy falsifies a graph."""
    import networkx as nx
    from dowhy.gcm.falsify import falsify_graph

    graph = nx.DiGraph()
    graph.add_nodes_from(data.columns)
    graph.add_edges_from(map(tuple, arrows))
    test = z_test if numbers else g_test
    np.random.seed(1)  # noqa: NPY002 - what DoWhy draws from
    found = falsify_graph(
        graph,
        data,
        independence_test=test,
        conditional_independence_test=test,
        n_permutations=50,
        show_progress_bar=False,
        n_jobs=1,
    )
    return bool(found.falsified)


def by_pgmpy(data: pd.DataFrame, arrows: Sequence[Sequence[str]], *, numbers: bool) -> tuple[bool, list[str]]:
    """Return whether an implied independence fails by Bonferroni's bound, and the pair with the least p."""
    from pgmpy.base import DAG
    from pgmpy.metrics import ImpliedCIs

    graph = DAG()
    graph.add_nodes_from(data.columns)
    graph.add_edges_from(map(tuple, arrows))
    test = "pearsonr" if numbers else "g_sq"
    table = data if numbers else data.astype("category")
    found = ImpliedCIs(ci_test=test, show_progress=False).evaluate(X=table, causal_graph=graph)
    worst = found.iloc[found["p-value"].to_numpy().argmin()]
    fails = float(worst["p-value"]) <= _LEVEL / len(found)
    return fails, [str(worst["u"]), str(worst["v"])]


def main() -> None:
    """Answer every case."""
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    if not folder.is_dir():
        print(__doc__)
        return
    answers = []
    for case in json.loads((folder / "cases.json").read_text("utf-8")):
        data = pd.read_csv(folder / case["table"])
        begun = process_time()
        dowhy = by_dowhy(data, case["arrows"], numbers=case["numbers"])
        middle = process_time()
        fails, worst = by_pgmpy(data, case["arrows"], numbers=case["numbers"])
        seconds = {"dowhy": middle - begun, "pgmpy": process_time() - middle}
        answers.append({"dowhy": dowhy, "pgmpy": fails, "worst": worst, "seconds": seconds})
    sys.stdout.write(json.dumps(answers))


if __name__ == "__main__":
    main()
