"""What DoWhy's falsify_graph and pgmpy's ImpliedCIs say of the cases in a folder; run by the Python that has them.

Usage: python check_peer.py FOLDER LIMIT [PEER ...]. It reads cases.json and the tables beside it, and prints a line of
JSON for each case: whether each peer objects to the graph, the pair that is worst by pgmpy, and the CPU seconds; null
for a peer that was not asked or took more than LIMIT CPU seconds. DoWhy is given quick tests (G² for categories,
partial correlation for numbers, none for both) and its default of 20 permutations: with its own kernel tests one case
takes minutes. pgmpy gives p values only, so Bonferroni's bound is added.
"""

from __future__ import annotations

import json
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from math import atanh, sqrt
from pathlib import Path
from time import process_time
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

_LEVEL = 0.05


def g_test(x: Any, y: Any, given: Any = None) -> float:
    """Return p of a G² test of codes."""
    x, y = (np.unique(one, return_inverse=True)[1].ravel() for one in (x, y))
    strata = np.zeros(len(x), int) if given is None else np.unique(np.asarray(given), axis=0, return_inverse=True)[1]
    shape = (int(strata.max()) + 1, int(x.max()) + 1, int(y.max()) + 1)
    seen = np.bincount(np.ravel_multi_index((strata.ravel(), x, y), shape), minlength=int(np.prod(shape)))
    seen = seen.reshape(shape).astype(float)
    across, down = seen.sum(2, keepdims=True), seen.sum(1, keepdims=True)
    full = seen > 0
    expected = across * down / seen.sum((1, 2), keepdims=True)
    statistic = 2 * float((seen[full] * np.log(seen[full] / expected[full])).sum())
    dof = int((((across > 0).sum((1, 2)) - 1) * ((down > 0).sum((1, 2)) - 1)).sum())
    return float(chi2.sf(statistic, dof)) if dof else 1.0


def z_test(x: Any, y: Any, given: Any = None) -> float:
    """Return p of a partial correlation."""
    rest = np.ones((len(x), 1)) if given is None else np.column_stack([np.ones(len(x)), given])
    left = [column - rest @ np.linalg.lstsq(rest, column, rcond=None)[0] for column in (np.ravel(x), np.ravel(y))]
    r = float(np.clip(np.corrcoef(left[0], left[1])[0, 1], -0.999999, 0.999999))
    return float(2 * norm.sf(abs(atanh(r)) * sqrt(max(1, len(x) - rest.shape[1] - 2))))


def by_dowhy(data: pd.DataFrame, arrows: Sequence[Sequence[str]], kind: str) -> tuple[bool, list[str]]:
    """Return whether DoWhy falsifies a graph, which names no pair."""
    from dowhy.gcm.falsify import falsify_graph

    graph = nx.DiGraph()
    graph.add_nodes_from(data.columns)
    graph.add_edges_from(map(tuple, arrows))
    test = z_test if kind == "numbers" else g_test
    np.random.seed(1)  # noqa: NPY002 - what DoWhy draws from
    found = falsify_graph(
        graph,
        data,
        independence_test=test,
        conditional_independence_test=test,
        show_progress_bar=False,
        n_jobs=1,
    )
    return bool(found.falsified), []


def by_pgmpy(data: pd.DataFrame, arrows: Sequence[Sequence[str]], kind: str) -> tuple[bool, list[str]]:
    """Return whether an implied independence fails by Bonferroni's bound, and the pair with the least p."""
    from pgmpy.base import DAG
    from pgmpy.metrics import ImpliedCIs

    graph = DAG()
    graph.add_nodes_from(data.columns)
    graph.add_edges_from(map(tuple, arrows))
    test = {"numbers": "pearsonr", "categories": "g_sq", "mixed": "pillai"}[kind]
    found = ImpliedCIs(ci_test=test, show_progress=False).evaluate(X=data, causal_graph=graph)
    worst = found.iloc[found["p-value"].to_numpy().argmin()]
    fails = float(worst["p-value"]) <= _LEVEL / len(found)
    return fails, [str(worst["u"]), str(worst["v"])]


Peer = Callable[[pd.DataFrame, Sequence[Sequence[str]], str], tuple[bool, list[str]]]
PEERS: dict[str, Peer] = {"dowhy": by_dowhy, "pgmpy": by_pgmpy}


class OutOfTimeError(BaseException):
    """A case took more CPU seconds than allowed."""


def _stop(_signal: int, _frame: Any) -> None:
    raise OutOfTimeError


def asked(peer: Peer, case: dict[str, Any], data: pd.DataFrame, limit: float) -> dict[str, Any] | None:
    """Return what a peer says of a case, and what it cost; None if it takes too long."""
    begun = process_time()
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        fails, pair = peer(data, case["arrows"], case["columns"])
    except OutOfTimeError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {"objects": fails, "pair": pair, "seconds": process_time() - begun}


def main() -> None:
    """Answer every case."""
    warnings.simplefilter("ignore")
    if len(sys.argv) < 3:
        print(__doc__)
        return
    folder, limit, wanted = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    signal.signal(signal.SIGPROF, _stop)
    cases = json.loads((folder / "cases.json").read_text("utf-8"))
    late: Counter[str] = Counter()
    for at, case in enumerate(cases):
        codes = pd.read_csv(folder / case["table"])
        tables = {"dowhy": codes, "pgmpy": codes.astype(dict.fromkeys(case["levels"], "category"))}
        answers = {}
        for name in wanted:
            if at == 0:  # modules are loaded
                late[name] += asked(PEERS[name], case, tables[name], limit) is None
            answers[name] = None if late[name] > 1 else asked(PEERS[name], case, tables[name], limit)
            late[name] += answers[name] is None
        print(json.dumps(answers), flush=True)


if __name__ == "__main__":
    main()
