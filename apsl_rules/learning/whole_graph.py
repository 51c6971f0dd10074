"""The whole graph: at once, or as the part of depth "max" around one node after the other until all are visited."""

from __future__ import annotations

from typing import Any, Unpack

from apsl_rules.errors import Interrupted
from apsl_rules.learning.budget import Budget
from apsl_rules.learning.choose import choose_learner
from apsl_rules.learning.request import Request, Settings
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import open_data
from apsl_rules.names import in_order
from apsl_rules.parts import LearnedGraph, Part
from apsl_rules.stopping import interruptible


@interruptible
def learn_graph(source: Any, **settings: Unpack[Settings]) -> LearnedGraph:
    """Learn the structure of all nodes.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    settings
        The settings of ``learn``. Learners that search by score or learn whole networks run once; others learn one
        connected piece after another, and limits hold for all pieces together. A search over all nodes has nothing to
        return before its end. An interrupt raises ``Interrupted``, whose ``result`` is the graph so far.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> graph = learn_graph(known_dag({"a": [], "b": [], "c": ["a", "b"], "d": ["e"], "e": []}))
    >>> sorted(graph.arrows), [sorted(line) for line in graph.lines]
    ([('a', 'c'), ('b', 'c')], [['d', 'e']])
    """
    request = Request.of(settings, "learn_graph")
    opened = open_data(source, request)
    offer, _ = choose_learner(request, opened.gives)
    nodes = opened.oracle(offer.spec.tests.alpha, request.threads).nodes
    budget = Budget.of(request)
    parts: list[Part] = []
    unvisited = dict.fromkeys(in_order(nodes))
    stopped: str | None = None
    while unvisited and stopped is None:
        left = f"before {len(unvisited)} of {len(nodes)} nodes were visited"
        tests = sum(part.counts.distinct for part in parts)
        if parts and budget.is_spent(tests):
            stopped = f"stopped at the limit {left}"
            break
        try:
            part = run_once(budget.left(request, tests), opened, next(iter(unvisited)), "max", whole=True)
        except KeyboardInterrupt as stop:
            so_far = getattr(stop, "part", None)
            parts += [] if so_far is None else [so_far]
            told = f"stopped at an interrupt {left}"
            graph = LearnedGraph(offer.name, nodes, tuple(parts), told) if parts else None
            raise Interrupted(part=so_far, result=graph) from None
        parts.append(part)
        stopped = part.incomplete
        for node in part.visited:
            unvisited.pop(node, None)
    return LearnedGraph(offer.name, nodes, tuple(parts), stopped)
