"""The directions that the authors' program guesses for the edges it left open, so that its figures can be reproduced.

While some edge is open: among the nodes at an open edge take the one with most parents, the first column on ties,
and turn all its open edges outward. Nothing is checked: cycles and new V-structures may appear, and the order of the
columns decides. In a table whose columns stand in causal order most guesses are right, in a reversed one wrong; for an
extension that depends on no such thing see :mod:`apsl_rules.graphs.extension`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from apsl_rules.graphs import Arrow
from apsl_rules.names import Node, Pair


def authors_extension(columns: Sequence[Node], arrows: Collection[Arrow], lines: Collection[Pair]) -> frozenset[Arrow]:
    """Direct all lines as the authors' program does, by the order of the columns.

    >>> sorted(authors_extension("abc", [], [frozenset("ab"), frozenset("bc")]))
    [('a', 'b'), ('b', 'c')]
    >>> sorted(authors_extension("bac", [], [frozenset("ab"), frozenset("bc")]))
    [('b', 'a'), ('b', 'c')]
    """
    place = {node: number for number, node in enumerate(columns)}
    parents: dict[Node, int] = dict.fromkeys(columns, 0)
    open_to: dict[Node, set[Node]] = {}
    for _, head in arrows:
        parents[head] += 1
    for x, y in lines:
        open_to.setdefault(x, set()).add(y)
        open_to.setdefault(y, set()).add(x)
    directed = set(arrows)
    while open_to:
        tail = min(open_to, key=lambda node: (-parents[node], place[node]))
        for head in open_to.pop(tail):
            directed.add((tail, head))
            parents[head] += 1
            open_to[head].discard(tail)
            if not open_to[head]:
                del open_to[head]
    return frozenset(directed)
