"""One unit of work: learn all its parts and score them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from time import process_time
from typing import Any, TypeVar

import attrs

from apsl_rules.data import Table
from apsl_rules.evaluation.experiments.design import SCORINGS, Scoring
from apsl_rules.evaluation.experiments.plan import Unit, order_columns
from apsl_rules.evaluation.experiments.samples import Samples
from apsl_rules.evaluation.scoring import Score, score
from apsl_rules.graphs import Dag
from apsl_rules.learning import WARMING, learn, learn_graph
from apsl_rules.names import Depth, Node, shown
from apsl_rules.parts import LearnedGraph, Part

Learned = TypeVar("Learned")

#: What is counted of a score; all its figures follow from these.
COUNTED = tuple(field.name for field in attrs.fields(Score) if field.name not in ("against", "scored"))


def work(unit: Unit, samples: Samples) -> dict[str, Any]:
    """Learn and score all parts of a unit; the CPU seconds stand apart, since no two runs agree on them."""
    dag = samples.dag(unit.network)
    table = order_columns(samples.table(unit.network, unit.size, unit.number), unit.permutation)
    _warm(unit.learner, table.rows)
    parts, seconds = [], []
    for target, depth, learned, spent in _learn_parts(unit, dag, table):
        node = dag.nodes[target - 1]
        parts.append(
            {
                "target": target,
                "node": shown(node),
                "depth": depth,
                **_cost(learned),
                "scores": {one: _counts(learned, dag, one, table.names, around=(node, depth)) for one in unit.scoring},
            }
        )
        seconds.append(spent)
    return {"key": unit.key, "parts": parts, "seconds": seconds}


def _learn_parts(unit: Unit, dag: Dag, table: Table) -> Iterator[tuple[int, Depth, Part | LearnedGraph, float]]:
    """Return for each target and depth what was learned, and the CPU seconds that the learner took for it."""
    whole = _time(lambda: learn_graph(table, learner=unit.learner)) if unit.learned == "once" else None
    for target in unit.targets:
        node = dag.nodes[target - 1]
        kept = _time(partial(_graph_from, table, node, unit.learner)) if unit.learned == "each target" else whole
        for depth in unit.depths:
            if kept is None:
                yield target, depth, *_time(partial(learn, table, node, depth=depth, learner=unit.learner))
            else:
                yield target, depth, *kept


def _graph_from(table: Table, node: Node, learner: str) -> LearnedGraph:
    """Learn the whole graph, beginning at a node."""
    part = learn(table, node, depth="max", learner=learner)
    return LearnedGraph(part.learner, part.nodes, (part,), part.incomplete)


def _time(learning: Callable[[], Learned]) -> tuple[Learned, float]:
    begun = process_time()
    learned = learning()
    return learned, process_time() - begun


def _cost(learned: Part | LearnedGraph) -> dict[str, int]:
    runs = (learned,) if isinstance(learned, Part) else learned.parts
    return {
        "visits": sum(len(part.visited) for part in runs),
        "tests": sum(part.counts.asked for part in runs),
        "computed": sum(part.counts.distinct for part in runs),
    }


def _counts(
    learned: Part | LearnedGraph, dag: Dag, scoring: Scoring, names: tuple[Node, ...], *, around: tuple[Node, Depth]
) -> list[int]:
    against, scored = SCORINGS[scoring]
    target, depth = (None, None) if isinstance(learned, Part) else around
    columns = names if scored == "extension" else None
    found = score(learned, dag, against=against, scored=scored, columns=columns, target=target, depth=depth)
    return [getattr(found, count) for count in COUNTED]


@lru_cache(maxsize=64)
def _warm(learner: str, rows: int) -> None:
    """Let a learner run on a few columns first, so that no time counts the loading of code."""
    from apsl_rules.graphs.networks import network, sample

    table = sample(network("asia"), rows, seed=1)
    learn(table, table.names[0], learner=learner, max_tests=WARMING)
