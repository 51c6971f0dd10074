"""Linear networks with known coefficients: their exact moments, and effects in a class of graphs by brute force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from apsl_rules.data.moments import ColumnUnit, MomentHeading, RowTests
from apsl_rules.graphs.dag import Dag
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node
from support.graphs import acyclic, colliders_of

Floats = npt.NDArray[np.float64]


class PopulationMoments:
    """The exact covariance of a linear network, as if from very many rows; all errors have the variance 1.

    ``weights`` are the coefficients of its arrows, or the seed that draws them.
    """

    kind = "population"

    def __init__(self, dag: Dag, weights: int | Mapping[tuple[Node, Node], float], rows: int = 10**6) -> None:
        place = {node: number for number, node in enumerate(dag.nodes)}
        self.coefficients = np.zeros((len(place), len(place)))
        for (tail, head), weight in (drawn_weights(dag, weights) if isinstance(weights, int) else weights).items():
            self.coefficients[place[tail], place[head]] = weight
        spread = np.linalg.inv(np.eye(len(place)) - self.coefficients)
        self.matrix: Floats = spread.T @ spread
        ones = np.ones(len(place), np.int64)
        self.heading = MomentHeading(
            dag.nodes, rows, ones.astype(bool), ones, 0 * ones, units=tuple(ColumnUnit(1.0) for _ in dag.nodes)
        )

    def covariance(self, places: Sequence[int]) -> Floats:
        """Return the covariance of some columns."""
        return self.matrix[np.ix_(places, places)]

    def test_rows(self, queries: Sequence[tuple[int, ...]]) -> RowTests:
        """No test is asked for where no value is missing."""
        raise AssertionError(queries)

    def effect(self, dag: Dag, x: Node, y: Node) -> float:
        """Return the total effect if a graph of the class were true: the slope given the parents there."""
        return 0.0 if y in dag.parents_of(x) else self.slope(x, y, dag.parents_of(x))

    def true_effect(self, x: Node, y: Node) -> float:
        """Return the total effect in the graph that the coefficients belong to: the sum over all directed paths."""
        place = self.heading.place
        spread = np.linalg.inv(np.eye(len(place)) - self.coefficients)
        return float(spread[place[x], place[y]])

    def slope(self, x: Node, y: Node, given: Iterable[Node]) -> float:
        """Return the coefficient of x in the regression of y on x and others."""
        place = self.heading.place
        held = [place[node] for node in (x, *given)]
        slopes = np.linalg.solve(self.matrix[np.ix_(held, held)], self.matrix[held, place[y]])
        return float(slopes[0])


def drawn_weights(dag: Dag, seed: int) -> dict[tuple[Node, Node], float]:
    """Draw coefficients of either sign, none of them small."""
    rng = np.random.default_rng(seed)
    return {edge: rng.uniform(0.3, 1.5) * rng.choice([-1.0, 1.0]) for edge in sorted(dag.edges, key=repr)}


def open_graphs(dag: Dag, knowledge: Knowledge | None = None) -> Iterator[Dag]:
    """Turn the edges of a graph in all ways; yield those with the same colliders that knowledge allows."""
    edges = sorted(dag.edges, key=repr)
    colliders = colliders_of(dag)
    for turns in product((False, True), repeat=len(edges)):
        arrows = {(y, x) if turned else (x, y) for (x, y), turned in zip(edges, turns, strict=True)}
        if knowledge is not None and any(knowledge.why_barred(*one) is not None for one in arrows):
            continue
        if knowledge is not None and not arrows.issuperset(knowledge.required):
            continue
        other = acyclic(dag.nodes, arrows)
        if other is not None and colliders_of(other) == colliders:
            yield other


def is_ancestor(dag: Dag, x: Node, y: Node) -> bool:
    """Return whether a directed path leads from x to y."""
    found, waiting = {x}, [x]
    while waiting:
        new = set(dag.children_of(waiting.pop())) - found
        found |= new
        waiting += new
    return y in found


def ancestry(graphs: Iterable[Dag], x: Node, y: Node) -> str:
    """Return whether x is a cause of y in all graphs, in none, or in some."""
    found = {is_ancestor(one, x, y) for one in graphs}
    return "depends" if len(found) > 1 else "always" if True in found else "never"
