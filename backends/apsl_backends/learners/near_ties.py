"""Near ties: columns that would serve almost as well in the place of a neighbour.

In the graph found, one parent of a node is replaced by each column that is no descendant of it. What the best of these
loses, in nats, is how far apart the two are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import numpy.typing as npt

from apsl_backends.learners.ball import Ball
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node, shown
from apsl_rules.rules import Finding, instead

Graph = npt.NDArray[np.bool_]
#: Columns that are nearer than so many nats are told.
NEAR = 5.0


def ties_near(ball: Ball, nodes: Collection[Node]) -> Iterator[Finding]:
    """Yield which columns may be adjacent to some nodes instead of their neighbours."""
    dag = ball.found.dag > 0
    for tail, head in np.argwhere(dag).tolist():
        if frozenset((ball.members[tail], ball.members[head])) in ball.unknown:
            continue
        for replaced, kept in ((tail, head), (head, tail)):
            is_turned = replaced == head
            if ball.members[kept] not in nodes or (is_turned and not _is_covered(dag, tail, head)):
                continue
            yield from _ties_of(ball, dag, replaced, kept)


def _is_covered(dag: Graph, tail: int, head: int) -> bool:
    """Return whether an arrow can be turned without another change of the class."""
    others = dag[:, head].copy()
    others[tail] = False
    return bool((others == dag[:, tail]).all())


def _ties_of(ball: Ball, dag: Graph, replaced: int, kept: int) -> Iterator[Finding]:
    """Yield the columns that serve almost as well as a parent of a node, which that is or can become."""
    numbers, score = ball.found.members, ball.score
    parents = [at for at in np.flatnonzero(dag[:, kept]).tolist() if at != replaced]
    descendants = _descendants(dag, kept)
    rivals = [
        at
        for at in range(len(numbers))
        if at not in (replaced, kept)
        and at not in parents
        and not descendants[at]
        and not dag[at, kept]
        and frozenset((ball.members[at], ball.members[kept])) not in ball.unknown
    ]
    if not rivals:
        return
    given = np.array(sorted(numbers[at] for at in parents), np.int64)
    others = np.array([numbers[at] for at in (replaced, *rivals)], np.int64)
    gains = score.handle.gains(numbers[kept], given, others).tolist()
    for at, gain in zip(rivals, gains[1:], strict=True):
        apart = score.nats(gains[0] - gain)
        if gain > 0 and apart < NEAR:
            fact = instead.fact(ball.members[kept], ball.members[replaced], ball.members[at])
            words = (
                f"{shown(fact.nodes[2])} in the place of {shown(fact.nodes[1])} is {max(apart, 0.0):.2g} nats behind"
            )
            yield Finding(fact, Evidence(score.name, (), words, max(apart, 0.0)))


def _descendants(dag: Graph, node: int) -> Graph:
    found = np.zeros(len(dag), np.bool_)
    ahead = dag[node].copy()
    while (ahead & ~found).any():
        found |= ahead
        ahead = dag[found].any(axis=0)
    return found
