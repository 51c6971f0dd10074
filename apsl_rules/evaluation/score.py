"""Score a learned part or graph against the true graph.

The figures of the paper are ``precision``, ``recall`` and ``distance`` (Ar_Precision, Ar_Recall and Ar_Distance there).
An edge is right if the true graph has it with the same mark: the same arrow, or, against the CPDAG, the same line. An
edge without direction counts as predicted, and against the DAG it is never right.

- precision is right / predicted and recall right / true, as the authors' program computes them and as their tables
  show. The text of the paper exchanges the two names.
- distance is sqrt((1 - precision)² + (1 - recall)²): 0 at best, √2 at worst. The text calls it a harmonic average,
  which it is not.
- If nothing was to be found and nothing was found, precision and recall are 1; if only one of the two is empty, both
  are 0. This holds for every pair of precision and recall here.

What is compared is the part: the edges with an end nearer to the target than the depth. For the true graph distances
are true ones, for the learned graph learned ones, so a false edge next to the target can cost more than itself. An
edge in conflict is an edge without direction.

``against="cpdag"`` asks for what data can tell: arrows that all equivalent graphs share, and lines. ``against="dag"``
also blames a learner for directions that no data can tell; no learner of marks reaches 1 where such edges exist.

``scored="extension"`` is what the paper's tables agree with: everything that the learner knows, beyond the asked depth
too, is directed as the authors' program does (``_authors_extension``), and the part is cut out of that. It depends on
the order of columns, so that order has to be given.

>>> from apsl_rules import learn, network
>>> asia = network("asia")
>>> part = learn(asia, "either")
>>> exact = score(part, asia)
>>> exact.precision, exact.recall, exact.shd
(1.0, 1.0, 0)
>>> harsh = score(learn(asia, "smoke"), asia, against="dag")
>>> harsh.recall, harsh.skeleton_recall, harsh.undirected
(0.0, 1.0, 2)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import get_args

from apsl_rules._arguments import chosen, listed, spelt
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evaluation._authors_extension import authors_extension
from apsl_rules.evaluation.agreement import Against, Score, Scored, agreement
from apsl_rules.graphs import Cpdag, Dag, Pdag, cpdag, known_dag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Depth, Node, Pair, count_of, in_order, listing
from apsl_rules.parts import Part, graph_of
from apsl_rules.rules import adjacent

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
        The true graph over the same nodes: a network, or what ``known_dag`` takes.
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
    >>> from apsl_rules import known_dag, learn
    >>> chain = known_dag({"a": [], "b": ["a"], "c": ["b"]})
    >>> part = learn(chain, "b")
    >>> score(part, chain).f1, score(part, chain, against="dag").f1
    (1.0, 0.0)
    >>> [score(part, chain, against="dag", scored="extension", columns=order).f1 for order in ("abc", "cba")]
    [1.0, 0.0]
    """
    _check_choices(against=against, scored=scored, columns=columns)
    dag = truth.dag if isinstance(truth, Network) else known_dag(truth)
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
        message = "scores compare arrows and lines, and this has marks at both ends (hidden='allowed'); use verify"
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
        message = "scored='extension' depends on the order of columns; give it as columns=, such as the table's own"
        raise InvalidArgumentError(message)
    if scored == "marks" and columns is not None:
        message = "columns are given but scored='marks' does not depend on their order; leave them out"
        raise InvalidArgumentError(message)


def _check_nodes(given: Sequence[Node], true: Sequence[Node], what: str) -> None:
    """Refuse nodes other than those of the true graph."""
    if odd := frozenset(given).symmetric_difference(true):
        only = [node for node in in_order(odd) if node in given]
        where = f"only {what} has {listing(only)}" if only else f"{what} lacks {listing(in_order(odd))}"
        message = f"{what} and the true graph must have the same nodes, but {where}"
        raise InvalidArgumentError(message)
