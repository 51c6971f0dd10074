"""Slow searches to check the fast ones against: every graph, and a climb that scores everything at each step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Any

from apsl_backends.kernels.bindings.scores import ScoreHandle
from apsl_backends.search.local_score import LocalBde
from apsl_rules.data.tables import Table
from support.graphs import all_dags

Parents = dict[int, tuple[int, ...]]
Local = Callable[[int, tuple[int, ...]], int]


@cache
def _all_parents(width: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    return tuple(
        tuple(tuple(sorted(int(str(one)) for one in before)) for before in dag.parents) for dag in all_dags(width)
    )


def every_graph(members: Collection[int]) -> Iterator[Parents]:
    """Enumerate all graphs over some numbered nodes."""
    nodes = sorted(members)
    for graph in _all_parents(len(nodes)):
        yield {nodes[at]: tuple(nodes[one] for one in before) for at, before in enumerate(graph)}


def is_acyclic(parents: Mapping[int, tuple[int, ...]]) -> bool:
    """Return whether a graph has no directed cycle."""
    left = dict(parents)
    while left:
        roots = [node for node, before in left.items() if not set(before) & left.keys()]
        if not roots:
            return False
        for node in roots:
            del left[node]
    return True


def naive_climb(
    local: Local,
    members: Collection[int],
    candidates: Collection[tuple[int, int]],
    start: Mapping[int, tuple[int, ...]],
    *,
    tabu: int,
    patience: int,
    max_parents: int,
    turn_any: bool,
) -> tuple[Parents, int, int]:
    """Climb by scoring every neighbouring graph as a whole at each step; return the best graph, score, steps."""

    def total(graph: Mapping[int, tuple[int, ...]]) -> int:
        return sum(local(node, before) for node, before in graph.items())

    now: Parents = {node: tuple(sorted(start.get(node, ()))) for node in sorted(members)}
    best, top, met = now, total(now), [now]
    steps = idle = 0
    while idle < patience:
        recent = met[-tabu:]
        nearby = [
            graph
            for graph in _neighbouring(now, sorted(candidates), turn_any=turn_any)
            if is_acyclic(graph)
            and graph not in recent
            and all(len(graph[node]) <= max(max_parents, len(now[node])) for node in graph)
        ]
        if not nearby:
            break
        now = max(nearby, key=total)
        met.append(now)
        steps, idle = steps + 1, idle + 1
        if total(now) > top:
            best, top, idle = now, total(now), 0
    return best, top, steps


def _neighbouring(now: Parents, candidates: list[tuple[int, int]], *, turn_any: bool) -> Iterator[Parents]:
    """Enumerate the graphs one move away: added arrows first, then deleted ones, then turned ones."""
    for tail, head in candidates:
        if tail not in now[head] and head not in now[tail]:
            yield now | {head: tuple(sorted((*now[head], tail)))}
    drawn = [(tail, head) for tail, head in candidates if tail in now[head]]
    for tail, head in drawn:
        yield now | {head: _without(now[head], tail)}
    for tail, head in drawn:
        if turn_any or (head, tail) in candidates:
            yield now | {head: _without(now[head], tail), tail: tuple(sorted((*now[tail], head)))}


def _without(parents: tuple[int, ...], other: int) -> tuple[int, ...]:
    return tuple(one for one in parents if one != other)


def handle_of(table: Table, **settings: Any) -> ScoreHandle:
    """Return the score of all columns of a table, numbered in the order of the columns."""
    score = LocalBde(table, order="column", **{"ess": 10.0, "penalty": 0.0, "empirical_weight": 0.0, **settings})
    score.join(table.names)
    return score.handle
