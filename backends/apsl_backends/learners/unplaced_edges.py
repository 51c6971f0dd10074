"""Edges at duplicate columns: the data tell that one of several columns has an edge, but not which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import attrs

from apsl_backends.learners.ball import Ball
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node
from apsl_rules.rules import Finding, duplicate, untested

SAME = Evidence("columns", note="they agree in every row, up to the names of their levels")
EITHER = Evidence("columns", note="a duplicate has an edge there, and no data can tell which of the two has it")


@attrs.frozen
class UnplacedEdges:
    """What no data can tell at duplicate columns of a ball: which of them has an edge."""

    ball: Ball
    duplicates: Mapping[Node, tuple[Node, ...]]

    def is_open(self, x: Node, y: Node) -> bool:
        """Return whether two nodes that are not adjacent may be, since a duplicate of one is adjacent to the other."""
        if y in self.duplicates.get(x, ()):
            return True
        return any(
            twin != one and twin in self.ball.place and other in self.ball.neighbours[twin]
            for one, other in ((x, y), (y, x))
            for twin in self.duplicates.get(one, ())
        )

    def at(self, node: Node) -> Iterator[Finding]:
        """Return that a node has duplicates, and which of its pairs are open therefore; most are left out of a ball."""
        near = self.ball.neighbours
        for twin in self.duplicates.get(node, ()):
            if twin == node:
                continue
            yield Finding(duplicate.fact(node, twin), SAME)
            if twin not in self.ball.place:
                yield Finding(untested.fact(node, twin), SAME)
                continue
            for other in near[twin]:
                if other != node and other not in near[node]:
                    yield Finding(untested.fact(node, other), EITHER)
        for other in near[node]:
            for twin in self.duplicates.get(other, ()):
                if twin not in self.ball.place:
                    yield Finding(untested.fact(node, twin), EITHER)
