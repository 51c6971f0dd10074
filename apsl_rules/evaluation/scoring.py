"""Compare what was found with the truth: errors, precision, recall, agreement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache
from math import hypot
from typing import Any, Literal, TypeAlias, get_args

import attrs

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Arrow, Cpdag, Dag, Pdag, cpdag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Depth, Node, Pair, chosen, count_of, in_order, listed, listing, spelt
from apsl_rules.notes import argument
from apsl_rules.parts import Part, graph_of
from apsl_rules.rules import adjacent


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


__all__ = ["Score", "score"]


def score(
    learned: object,
    truth: object,
    *,
    against: Against = "cpdag",
    scored: Scored = "marks",
    target: Node | None = None,
    depth: Depth | None = None,
    columns: Sequence[Node] | None = None,
) -> Score:
    """Compare what was learned with the graph that the data came from.

    Parameters
    ----------
    learned
        A part, which is scored within its depth around its target; or a learned graph or one of another tool (all that
        ``graph_of`` takes), which is scored whole or around a target.
    truth
        The true graph over the same nodes: a network, or what ``Dag`` takes.
    against
        "cpdag" for what data can tell, "dag" for the true directions of all edges.
    scored
        "marks" for what was learned, "extension" for the authors' guess at the directions left open.
    target, depth
        Which part of a learned graph to score; without them all of it. A part brings its own.
    columns
        The order of columns, which "extension" depends on and nothing else does.

    Examples
    --------
    >>> from apsl_rules import Dag, learn
    >>> chain = Dag({"a": [], "b": ["a"], "c": ["b"]})
    >>> part = learn(chain, "b")
    >>> score(part, chain).f1, score(part, chain, against="dag").f1
    (1.0, 0.0)
    >>> [score(part, chain, against="dag", scored="extension", columns=order).f1 for order in ("abc", "cba")]
    [1.0, 0.0]
    """
    _check_choices(against=against, scored=scored, columns=columns)
    dag = truth.dag if isinstance(truth, Network) else Dag(truth)
    true = _cpdag(dag)
    known = _known(learned)
    _check_nodes(known.nodes, dag.nodes, "what was learned")
    if isinstance(learned, Part):
        if target is not None or depth is not None:
            message = f"a part has its own target {learned.target!r} and depth {learned.depth!r}; give no others"
            raise InvalidArgumentError(message)
        target, depth, asked = learned.target, learned.depth, learned.edges
    else:
        asked = _edges(known, target, depth)
    if columns is not None:
        columns = listed("columns", columns, "names, one for each node", letters=True)
        _check_nodes(columns, dag.nodes, "the order of columns")
        if len(columns) > len(dag.nodes):
            names, nodes = count_of(len(columns), "name"), count_of(len(dag.nodes), "node")
            message = f"the order of columns has {names} for {nodes}; name each once"
            raise InvalidArgumentError(message)
        known = Pdag(known.nodes, authors_extension(columns, known.arrows, known.lines), frozenset())
    region = _edges(true, target, depth)
    compelled = _within(true, region)
    whole = compelled if against == "cpdag" else _within(Pdag(dag.nodes, dag.edges, frozenset()), region)
    return agreement(_within(known, asked), whole, compelled.arrows, against=against, scored=scored)


def _known(learned: object) -> Pdag:
    """Return all that was learned, also beyond an asked depth; an edge in conflict is one without direction."""
    if getattr(learned, "allows_hidden", False) or getattr(learned, "hidden", False):
        message = (
            f"scores compare arrows and lines, and this has marks at both ends ({argument('hidden', 'allowed')}); "
            "use verify"
        )
        raise InvalidArgumentError(message)
    if isinstance(learned, Part):
        store = learned.store
        torn = frozenset(pair for pair in store.conflicts if adjacent.fact(*pair) in store)
        return Pdag(learned.nodes, learned.all_arrows, learned.all_lines | torn)
    graph = graph_of(learned)
    return Pdag(graph.nodes, graph.arrows, graph.lines | graph.conflicts)


@lru_cache(maxsize=16)
def _cpdag(dag: Dag) -> Cpdag:
    """Find the CPDAG of a true graph once for the many parts that are scored against it."""
    return cpdag(dag)


def _edges(graph: Pdag, target: Node | None, depth: Depth | None) -> frozenset[Pair]:
    """Return the edges of a graph that are asked for: all, or those around a target."""
    if target is None and depth is None:
        return graph.skeleton
    if target is None or depth is None:
        given = f"target is {spelt(target)} and depth {spelt(depth)}"
        message = f"{given}; give both to score a part, or neither to score the graph"
        raise InvalidArgumentError(message)
    arrows, lines = graph.region(target, depth)
    return lines.union(map(frozenset, arrows))


def _within(graph: Pdag, edges: frozenset[Pair]) -> Pdag:
    arrows = frozenset(arrow for arrow in graph.arrows if frozenset(arrow) in edges)
    return Pdag(graph.nodes, arrows, graph.lines & edges)


def _check_choices(*, against: Against, scored: Scored, columns: Sequence[Node] | None) -> None:
    for name, given, allowed in (("against", against, get_args(Against)), ("scored", scored, get_args(Scored))):
        chosen(name, given, allowed)
    if scored == "extension" and columns is None:
        message = (
            f"{argument('scored', 'extension')} depends on the order of columns; give it as {argument('columns')}, "
            "such as the table's own"
        )
        raise InvalidArgumentError(message)
    if scored == "marks" and columns is not None:
        message = f"columns are given but {argument('scored', 'marks')} does not depend on their order; leave them out"
        raise InvalidArgumentError(message)


def _check_nodes(given: Sequence[Node], true: Sequence[Node], what: str) -> None:
    """Refuse nodes other than those of the true graph."""
    if odd := frozenset(given).symmetric_difference(true):
        only = [node for node in in_order(odd) if node in given]
        where = f"only {what} has {listing(only)}" if only else f"{what} lacks {listing(in_order(odd))}"
        message = f"{what} and the true graph must have the same nodes, but {where}"
        raise InvalidArgumentError(message)


Against: TypeAlias = Literal["dag", "cpdag"]
Scored: TypeAlias = Literal["marks", "extension"]


@attrs.frozen
class Score:
    """How many edges were learned, how many there are, and how far the two agree; all figures follow from counts.

    ``correct`` edges have the same mark in both graphs; ``adjacent`` ones are in both, whatever the mark. ``arrows``
    were learned, ``compelled`` ones are in the CPDAG, ``compelled_correct`` in both. Of the wrong edges, ``reversed``
    ones have the wrong direction, ``missing`` ones were not learned, ``extra`` ones are not in the truth,
    ``undirected`` ones lack their direction, ``falsely_directed`` ones have one that the truth leaves open.

    Attributes
    ----------
    against
        What was compared with: the CPDAG ("cpdag") or the true graph ("dag").
    scored
        Which edges were counted.
    true, predicted
        How many edges there are, and how many were learned.
    """

    against: Against
    scored: Scored
    true: int
    predicted: int
    correct: int
    adjacent: int
    arrows: int
    compelled: int
    compelled_correct: int
    reversed: int
    missing: int
    extra: int
    undirected: int
    falsely_directed: int

    @property
    def precision(self) -> float:
        """Return the share of learned edges that are right: Ar_Precision as in the paper's tables."""
        return _share(self.correct, self.predicted, self.true)

    @property
    def recall(self) -> float:
        """Return the share of true edges that were learned right: Ar_Recall as in the paper's tables."""
        return _share(self.correct, self.true, self.predicted)

    @property
    def distance(self) -> float:
        """Return Ar_Distance: how far precision and recall together are from 1."""
        return hypot(1 - self.precision, 1 - self.recall)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        return _harmonic(self.precision, self.recall)

    @property
    def skeleton_precision(self) -> float:
        """Return the share of learned edges that are there, whatever their marks."""
        return _share(self.adjacent, self.predicted, self.true)

    @property
    def skeleton_recall(self) -> float:
        """Return the share of true edges that were learned, whatever their marks."""
        return _share(self.adjacent, self.true, self.predicted)

    @property
    def skeleton_f1(self) -> float:
        """Return the harmonic mean of skeleton precision and recall."""
        return _harmonic(self.skeleton_precision, self.skeleton_recall)

    @property
    def compelled_precision(self) -> float:
        """Return the share of learned arrows that are compelled."""
        return _share(self.compelled_correct, self.arrows, self.compelled)

    @property
    def compelled_recall(self) -> float:
        """Return the share of compelled arrows that were learned."""
        return _share(self.compelled_correct, self.compelled, self.arrows)

    @property
    def shd(self) -> int:
        """Return the structural Hamming distance: the number of pairs of nodes whose marks differ."""
        return self.reversed + self.missing + self.extra + self.undirected + self.falsely_directed

    def as_row(self) -> dict[str, Any]:
        """Return all figures and counts by name, as a row of a table."""
        names = (*_KINDS, *_FIGURES, *(field.name for field in attrs.fields(Score) if field.name not in _KINDS))
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        how = ", open edges directed by the order of columns" if self.scored == "extension" else ""
        lines = {
            f"against the {self.against.upper()}{how}": ("correct", "predicted", "true"),
            "marks": ("precision", "recall", "f1", "distance"),
            "skeleton": ("skeleton_precision", "skeleton_recall", "skeleton_f1"),
            "compelled arrows": ("compelled_precision", "compelled_recall"),
            "wrong edges": ("shd", "reversed", "missing", "extra", "undirected", "falsely_directed"),
        }
        return "\n".join(
            f"{head}: {', '.join(self._figures_text(name) for name in names)}" for head, names in lines.items()
        )

    def _figures_text(self, name: str) -> str:
        figure = getattr(self, name)
        spelt = name.removeprefix("skeleton_").removeprefix("compelled_").replace("_", " ")
        spelt = {"f1": "F1", "shd": "SHD"}.get(spelt, spelt)
        if isinstance(figure, float):
            return f"{spelt} {figure:.3f}"
        return f"{spelt} {figure}" if name == "shd" else f"{figure} {spelt}"


_KINDS = ("against", "scored")
_FIGURES = (
    *("precision", "recall", "distance", "f1"),
    *("skeleton_precision", "skeleton_recall", "skeleton_f1"),
    *("compelled_precision", "compelled_recall", "shd"),
)


def agreement(learned: Pdag, true: Pdag, compelled: frozenset[Arrow], *, against: Against, scored: Scored) -> Score:
    """Count how far learned marks agree with true ones."""
    found, there = learned.skeleton, true.skeleton
    directed = frozenset(map(frozenset, learned.arrows))
    truly_directed = frozenset(map(frozenset, true.arrows))
    return Score(
        against=against,
        scored=scored,
        true=len(there),
        predicted=len(found),
        correct=len(learned.arrows & true.arrows) + len(learned.lines & true.lines),
        adjacent=len(found & there),
        arrows=len(learned.arrows),
        compelled=len(compelled),
        compelled_correct=len(learned.arrows & compelled),
        reversed=len(directed & truly_directed) - len(learned.arrows & true.arrows),
        missing=len(there - found),
        extra=len(found - there),
        undirected=len(learned.lines & truly_directed),
        falsely_directed=len(directed & true.lines),
    )


def _share(right: int, of: int, other: int) -> float:
    """Return the part of ``of`` that is right; of nothing all is right if there was nothing on the other side too."""
    if not of or not other:
        return 1.0 if of == other else 0.0
    return right / of


def _harmonic(x: float, y: float) -> float:
    return 2 * x * y / (x + y) if x + y else 0.0
