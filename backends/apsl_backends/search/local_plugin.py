"""The score of a plugin around a target."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from math import floor, isfinite, log2

import numpy as np

from apsl_backends.kernels.bindings.scores import ScoreHandle, largest_scale
from apsl_backends.scores.columns import JointRows
from apsl_rules.data import Dataset
from apsl_rules.errors import ApslError, DataError, PluginError
from apsl_rules.names import Node, in_order
from apsl_rules.plugins import ScoreOffer

#: The most nodes of one search, and the most units in a nat.
_MOST_ASKED, _MOST_ASKED_UNITS = 1 << 10, 2.0**24
#: Two scores of the same graphs agree up to this share, or up to so many nats.
_SHARE, _NATS = 1e-6, 1e-6


class LocalPlugin:
    """The score of graphs over some columns by a function of a plugin; searches use its ``handle``.

    Searches compare classes of equivalent graphs by figures of sets of nodes. That of a set is the score of its nodes
    one after another, each given those before it, less that of each alone; a family scores the difference of two.
    """

    notes: tuple[str, ...] = ()
    penalty = 0

    def __init__(self, data: Dataset, offer: ScoreOffer) -> None:
        self.name = offer.name
        self.together = JointRows(data)
        self.rows: float = data.rows
        if not data.rows or not data.names:
            message = f"a table of {data.rows} rows and {len(data.names)} columns cannot be scored; give one of each"
            raise DataError(message)
        self._family = offer.make(data)
        self._rank = {node: rank for rank, node in enumerate(in_order(data.names))}
        self._known: dict[tuple[int, ...], int] = {}
        self.nodes: Mapping[int, Node] = {}
        self.is_changed = False
        self.unit = 2.0 ** -floor(log2(min(_MOST_ASKED_UNITS, largest_scale(_MOST_ASKED, max(self.rows, 2.0)))))
        self.handle = self._open()

    def _open(self) -> ScoreHandle:
        return ScoreHandle(len(self._rank), scale=1 / self.unit, penalty=0)

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""
        joined = set(self.nodes.values())
        if not joined.issuperset(nodes):
            everyone = in_order(joined.union(nodes))
            if len(everyone) > _MOST_ASKED:
                message = f"a score of a plugin takes at most {_MOST_ASKED:,} columns near the target; choose fewer"
                raise DataError(message)
            self._require_equivalence(everyone)
            self.nodes = {self._rank[node]: node for node in everyone}
            widths = np.zeros(len(self._rank), np.int64)
            widths[list(self.nodes)] = 1
            self.handle = self._open()
            self.handle.set_moments(np.eye(len(everyone)), np.array([0, *np.cumsum(widths)]), max(self.rows, 2.0))
            self.handle.ask(self._figure)
        return tuple(sorted(self._rank[node] for node in nodes))

    def _require_equivalence(self, nodes: tuple[Node, ...]) -> None:
        """Refuse a score that tells the two directions of an edge apart, which no data can."""
        for x, y in pairwise(nodes):
            one, other = (self._score(a, (b,)) + self._score(b, ()) for a, b in ((x, y), (y, x)))
            if abs(one - other) > _NATS + _SHARE * abs(one):
                message = (
                    f"the score {self.name!r} gives {x!r} -> {y!r} {other:.6g} nats and {y!r} -> {x!r} {one:.6g}; a "
                    "search needs a score that is the same for graphs with the same independences, such as BIC"
                )
                raise PluginError(message)

    def _score(self, node: Node, parents: tuple[Node, ...]) -> float:
        """Ask the plugin, and name it if it fails."""
        try:
            found = float(self._family(node, parents))
        except ApslError:
            raise
        except Exception as error:
            message = f"the score {self.name!r} raised {type(error).__name__} for {node!r} given {parents!r}: {error}"
            raise PluginError(message) from error
        if not isfinite(found) or abs(found / self.unit) > 2.0**56:
            message = f"the score {self.name!r} of {node!r} given {parents!r} is {found}; give a finite number of nats"
            raise PluginError(message)
        return found

    def _figure(self, numbers: tuple[int, ...]) -> int:
        """Return the figure of a set of ascending numbers, in units."""
        if not numbers:
            return 0
        if numbers not in self._known:
            *before, last = numbers
            node, given = self.nodes[last], tuple(self.nodes[one] for one in before)
            gained = self._score(node, given) - self._score(node, ()) if given else 0.0
            self._known[numbers] = self._figure(tuple(before)) + round(gained / self.unit)
        return self._known[numbers]

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, less its score without any."""
        before = tuple(sorted(parents))
        return self._figure(tuple(sorted((*before, node)))) - self._figure(before)

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent raises the score, and the rows with both are enough to compare them."""
        return rows > 0 and self.local(node, {*parents, other}) >= self.local(node, parents)

    def rows_for_edge(self, x: int, y: int, behind: int) -> None:
        """Return nothing: only the plugin knows what an edge costs."""

    def nats(self, units: int) -> float:
        """Convert units to nats."""
        return units * self.unit
