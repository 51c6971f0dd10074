"""The signature of a hidden common cause in a graph that a score found best.

If a hidden cause acts on A and B, then a cause C of A is independent of B, but not given A; a cause D of B likewise. No
graph without the hidden cause has all of this, so the best one joins C to B or D to A besides. Where tests show both
colliders and the scored graph has such an edge, A and B may share a hidden cause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log

from apsl_backends.learners.ball import Ball
from apsl_rules.errors import LimitReachedError
from apsl_rules.evidence import log_p_of
from apsl_rules.learning import may_share_hidden_cause
from apsl_rules.names import Node, in_order, shown
from apsl_rules.oracles import Asker

#: The p-value below which a dependence counts here.
CERTAIN = 1e-5


def notes_on_signatures(ball: Ball, core: Sequence[Node], asker: Asker) -> list[str]:
    """Return a note for each pair of adjacent nodes with an end in the core that shows the signature.

    A run that has reached its limit asks nothing more.
    """
    try:
        return [
            may_share_hidden_cause(a, b, f"{_text(c, a, b)}, and {_text(d, b, a)}")
            for a, b, c, d in _signatures(ball, core, asker)
        ]
    except LimitReachedError:
        return []


def _text(cause: Node, effect: Node, other: Node) -> str:
    return f"{shown(cause)} is independent of {shown(other)} but not given {shown(effect)}"


def _signatures(ball: Ball, core: Sequence[Node], asker: Asker) -> Iterator[tuple[Node, Node, Node, Node]]:
    """Find adjacent nodes a, b with tested colliders c -> a and d -> b, one of which the graph covers by an edge."""
    near = {node: frozenset(others) for node, others in ball.neighbours.items()}
    inner = frozenset(core)
    for a, b in combinations(in_order(near), 2):
        if b not in near[a] or inner.isdisjoint((a, b)) or near[a].isdisjoint(near[b]):
            continue
        at_a, at_b = (
            [c for c in in_order(near[x] - {y}) if _is_shown(near, c, x, y, asker)] for x, y in ((a, b), (b, a))
        )
        for c, d in ((c, d) for c in at_a for d in at_b if c != d):
            if c in near[b] or d in near[a]:
                yield a, b, c, d
                break


def _is_shown(near: dict[Node, frozenset[Node]], c: Node, a: Node, b: Node, asker: Asker) -> bool:
    """Return whether c and b are independent, and not given a, with nothing else given or one other node.

    What a collider opens is weaker than both of its edges. Where it is stronger, c and b act on a by an interaction, or
    are adjacent themselves.
    """
    pool = in_order((near[c] | near[b]) - {a, b, c})
    for given in ((), *((one,) for one in pool)):
        if asker.verdict(c, b, given).independent:
            opened, *edges = asker.verdicts([(c, b, (*given, a)), (c, a, given), (a, b, given)])
            is_weaker = log_p_of(opened) > max(map(log_p_of, edges))
            return is_weaker and all(verdict.dependent for verdict in edges) and log_p_of(opened) < log(CERTAIN)
    return False
