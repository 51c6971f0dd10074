"""A search over orders that scores every family anew, to check the fast one against."""

from __future__ import annotations

from collections.abc import Callable, Collection

Graph = dict[int, frozenset[int]]


class NaiveOrders:
    """A search over orders of nodes; ``local`` scores a family, with the penalty of its parents taken off."""

    def __init__(self, local: Callable[[int, tuple[int, ...]], int], most: int) -> None:
        self._local = local
        self._most = most

    def search(self, order: list[int]) -> tuple[Graph, int]:
        """Search from an order, without parents at first; return the graph and its score."""
        graph: Graph = {}
        for at, node in enumerate(order):
            graph[node] = self._choose(node, order[:at], frozenset())
        while True:
            before = self._total(graph)
            for node in sorted(order):
                order, graph = self._reinsert(order, graph, node)
            if self._total(graph) == before:
                return graph, before

    def _reinsert(self, order: list[int], graph: Graph, node: int) -> tuple[list[int], Graph]:
        """Move a node to the left and to the right, step by step; return the best that was met."""
        met = [(order, graph)]
        for way in (-1, 1):
            moved, trial, at = list(order), dict(graph), order.index(node)
            while 0 <= at + way < len(order):
                low = min(at, at + way)
                self._swap(trial, moved[:low], moved[low], moved[low + 1])
                moved[low], moved[low + 1] = moved[low + 1], moved[low]
                at += way
                met.append((list(moved), dict(trial)))
        return max(met, key=lambda one: self._total(one[1]))

    def _swap(self, graph: Graph, before: list[int], first: int, second: int) -> None:
        """Let the second of two neighbours in the order come first."""
        if first in graph[second]:
            graph[second] = self._choose(second, before, graph[second] - {first})
        wider = graph[first] | {second}
        if len(wider) <= self._most and self._score(first, wider) > self._score(first, graph[first]):
            graph[first] = self._choose(first, [*before, second], wider)

    def _choose(self, node: int, before: Collection[int], now: frozenset[int]) -> frozenset[int]:
        """Add parents while that gains, then remove them, until nothing gains."""
        while True:
            grown = self._change(node, now, before)
            shrunk = self._change(node, grown, ())
            if shrunk == now:
                return now
            now = shrunk

    def _change(self, node: int, now: frozenset[int], before: Collection[int]) -> frozenset[int]:
        """Make the best change while that gains: add one that is before, or remove one if none is."""
        while True:
            pool = sorted(set(before) - now if before else now)
            tried = [now ^ {one} for one in pool if not before or len(now) < self._most]
            best = max(tried, key=lambda one: self._score(node, one), default=now)
            if self._score(node, best) <= self._score(node, now):
                return now
            now = best

    def _score(self, node: int, parents: frozenset[int]) -> int:
        return self._local(node, tuple(sorted(parents)))

    def _total(self, graph: Graph) -> int:
        return sum(self._score(node, parents) for node, parents in graph.items())
