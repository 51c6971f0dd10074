"""The signature of a hidden common cause in a graph that a score found best.

If a hidden cause acts on A and B, then a cause C of A is independent of B, but not given A; a cause D of B likewise. No
graph without the hidden cause has all of this, so the best one joins C to B or D to A besides. Where tests show both
colliders and the scored graph has such an edge, A and B may share a hidden cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from math import log

from apsl_backends.learners.ball import Ball
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import log_p_of
from apsl_rules.learning import may_share_hidden_cause
from apsl_rules.names import Node, in_order, order_key, shown
from apsl_rules.oracles import Asker, Query, Search, foresee

#: The p-value below which a dependence counts here.
CERTAIN = 1e-5
#: The most tests for these notes: among hundreds of neighbours of one node there would be millions.
MOST_TESTS = 5_000


def notes_on_signatures(ball: Ball, core: Sequence[Node], asker: Asker) -> list[str]:
    """Return a note for each pair of adjacent nodes with an end in the core that shows the signature.

    A run that has reached its limit asks nothing more. Where too many tests were needed, a note says so.
    """
    near = {node: frozenset(others) for node, others in ball.neighbours.items()}
    inner = frozenset(core)
    edges = [
        (a, b)
        for a in in_order(near)
        for b in in_order(near[a])
        if order_key(a) < order_key(b) and not inner.isdisjoint((a, b)) and not near[a].isdisjoint(near[b])
    ]
    questions = (one for a, b in edges for x, y in ((a, b), (b, a)) for one in _questions(near, x, y))
    asked = list(islice(questions, MOST_TESTS + 1))
    if len(asked) > MOST_TESTS:
        told = f"more than {MOST_TESTS:,} tests would tell whether nodes here share a hidden cause; they were not made"
        return [f"{told} (hidden='allowed' looks for such causes)"]
    try:
        return [
            may_share_hidden_cause(a, b, f"{_text(c, a, b)}, and {_text(d, b, a)}")
            for a, b, c, d in _signatures(near, edges, asked, asker)
        ]
    except LimitReachedError:
        return []


def _text(cause: Node, effect: Node, other: Node) -> str:
    return f"{shown(cause)} is independent of {shown(other)} but not given {shown(effect)}"


def _signatures(
    near: Mapping[Node, frozenset[Node]], edges: Sequence[tuple[Node, Node]], asked: Sequence[Query], asker: Asker
) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Find adjacent nodes a, b with tested colliders c -> a and d -> b, one of which the graph covers by an edge."""
    foresee(asker, [Search(c, y, (), given) for c, y, given in asked])
    for a, b in edges:
        at_a, at_b = (_colliders(near, x, y, asker) for x, y in ((a, b), (b, a)))
        for c, d in ((c, d) for c in at_a for d in at_b if c != d):
            if c in near[b] or d in near[a]:
                yield a, b, c, d
                break


def _questions(near: Mapping[Node, frozenset[Node]], a: Node, b: Node) -> Iterator[Query]:
    """Return whether the other neighbours of a are independent of b, given nothing else or one other node."""
    for c in in_order(near[a] - {b}):
        yield c, b, ()
        yield from ((c, b, (one,)) for one in in_order((near[c] | near[b]) - {a, b, c}))


def _colliders(near: Mapping[Node, frozenset[Node]], a: Node, b: Node, asker: Asker) -> list[Node]:
    """Return the neighbours c of a that are independent of b, and not given a.

    What a collider opens is weaker than both of its edges. Where it is stronger, c and b act on a by an interaction, or
    are adjacent themselves.
    """
    first: dict[Node, Query] = {}
    for query in _questions(near, a, b):
        if query[0] not in first and asker.verdict(*query).independent:
            first[query[0]] = query
    found = []
    for c, (_, _, given) in first.items():
        opened, *edges = asker.verdicts([(c, b, (*given, a)), (c, a, given), (a, b, given)])
        is_weaker = log_p_of(opened) > max(map(log_p_of, edges))
        if is_weaker and all(verdict.dependent for verdict in edges) and log_p_of(opened) < log(CERTAIN):
            found.append(c)
    return found
