"""Hill climbing among candidate edges, as MMHC does, and the findings of the graph found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from typing import Literal, TypeAlias

import attrs

from apsl_backends.scores.bde import BDeu
from apsl_backends.scores.bde_from_counts import score_for
from apsl_backends.scores.columns import pays_too_little, seen_too_rarely
from apsl_backends.search.hill_climbing import climb
from apsl_rules.evidence import Evidence, Verdict, times
from apsl_rules.graphs import Dag, cpdag
from apsl_rules.learning import Copies
from apsl_rules.names import Node, Pair, count_of, in_order, shown
from apsl_rules.neighbours import Neighbours
from apsl_rules.plugins import Context, State, Visited, build, pick
from apsl_rules.rules import Finding, adjacent, arrow, chain, collider, gap, settled, untested

Collider: TypeAlias = tuple[Pair, Node]
Output: TypeAlias = Literal["cpdag", "dag"]

SOURCE = "BDeu"


@attrs.frozen(slots=False, eq=False)
class Draft:
    """The result of a search: the edges and the V-structures, each with its evidence.

    ``arrows`` are reported even if they do not follow from the V-structures: those of a method that returns one of many
    equivalent graphs. ``untested`` are pairs that the search could not join because no reliable test was possible, and
    ``unknown`` those that too few rows speak for, each with the reason; they have no edge.
    """

    nodes: tuple[Node, ...]
    edges: Mapping[Pair, Evidence]
    colliders: Mapping[Collider, Evidence]
    arrows: Mapping[tuple[Node, Node], Evidence] = attrs.field(factory=dict)
    untested: Collection[Pair] = frozenset()
    unknown: Mapping[Pair, Evidence] = attrs.field(factory=dict)

    @cached_property
    def neighbours(self) -> Mapping[Node, tuple[Node, ...]]:
        """Return the neighbours of each node by name."""
        found: dict[Node, list[Node]] = {node: [] for node in self.nodes}
        for x, y in self.edges.keys() - self.unknown.keys():
            found[x].append(y)
            found[y].append(x)
        return {node: in_order(others) for node, others in found.items()}

    def findings_at(self, node: Node) -> list[Finding]:
        """Return all findings at a node."""
        around = self.neighbours[node]
        found = [Finding(settled.fact(node), Evidence(SOURCE, note=count_of(len(around), "neighbour")))]
        for other in around:
            found.append(Finding(adjacent.fact(node, other), self.edges[frozenset((node, other))]))
            for tail, head in ((node, other), (other, node)):
                if (tail, head) in self.arrows:
                    found.append(Finding(arrow.fact(tail, head), self.arrows[tail, head]))
        found += [Finding(untested.fact(*pair), why) for pair, why in self.unknown.items() if node in pair]
        for x, y in combinations(around, 2):
            pair = frozenset((x, y))
            if not any(pair in some for some in (self.edges, self.untested, self.unknown)):
                found.append(Finding(gap.fact(x, y), _APART))
                known = self.colliders.get((pair, node))
                relation = chain if known is None else collider
                found.append(Finding(relation.fact(x, node, y), known or _NO_COLLIDER))
        return found

    def visits(self, target: Node) -> list[Visited]:
        """Return the visits to all nodes: by distance from the target, then those not connected with it by name."""
        order = outwards(self.neighbours, target)
        return [Visited(node, self.neighbours[node], tuple(self.findings_at(node))) for node in order]


_APART = Evidence(SOURCE, note="not adjacent")
_NO_COLLIDER = Evidence(SOURCE, note="they do not both point at it")


def outwards(neighbours: Mapping[Node, Collection[Node]], target: Node) -> Iterator[Node]:
    """Return the nodes by distance from a node and by name; those not connected with it come last."""
    seen = {target}
    layer: tuple[Node, ...] = (target,)
    while layer:
        yield from layer
        ahead = {other for node in layer for other in neighbours[node]} - seen
        seen |= ahead
        layer = in_order(ahead)
    yield from in_order(set(neighbours) - seen)


def unseen(score: BDeu) -> dict[Pair, Evidence]:
    """Return the pairs of columns that are seen together in too few rows to score them, each with the reason."""
    return {pair: seen_too_rarely(rows) for pair, rows in score.together.too_few_among(score.nodes).items()}


def unpaid(score: BDeu, dag: Dag) -> dict[Pair, Evidence]:
    """Return the edges of a graph that the rows with both of their ends do not pay for, where values are missing."""
    if score.together.is_complete(score.nodes):
        return {}
    edges = [(tail, head, [one for one in dag.parents_of(head) if one != tail]) for tail, head in dag.edges]
    found: dict[Pair, Evidence] = {}
    for (tail, head, given), rows in zip(edges, score.together.behind(edges), strict=True):
        if not score.pays(score.number[head], score.numbers(given), score.number[tail], rows):
            found[frozenset((tail, head))] = pays_too_little(rows)
    return found


def draft_of(
    dag: Dag,
    score: BDeu,
    *,
    tested: Mapping[Pair, tuple[Verdict, ...]] | None = None,
    untested: Collection[Pair] = frozenset(),
    unknown: Mapping[Pair, Evidence] | None = None,
    output: Output = "cpdag",
) -> Draft:
    """Return the draft of a graph that a search found: each edge with the loss of score without it.

    ``tested`` holds the verdicts behind edges, if there are any, ``untested`` the pairs that were no candidates because
    no reliable test was possible, and ``unknown`` those that are seen together in too few rows. With the output "dag"
    every arrow of the graph is reported, even if equivalent graphs have its reverse.
    """
    losses = {(tail, head): _loss(score, dag, tail, head) for tail, head in dag.edges}
    edges: dict[Pair, Evidence] = {}
    for (tail, head), loss in losses.items():
        note = f"support: {_ahead(loss)} as without {shown(tail)} -> {shown(head)}"
        edges[frozenset((tail, head))] = Evidence(SOURCE, (tested or {}).get(frozenset((tail, head)), ()), note)
    colliders: dict[Collider, Evidence] = {}
    for middle in dag.nodes:
        for x, y in combinations(in_order(dag.parents_of(middle)), 2):
            if frozenset((x, y)) not in edges:
                note = (
                    f"support: {_ahead(losses[x, middle])} as without {shown(x)} -> {shown(middle)}, and "
                    f"{_ahead(losses[y, middle])} as without {shown(y)} -> {shown(middle)}"
                )
                colliders[frozenset((x, y)), middle] = Evidence(SOURCE, note=note)
    doubtful = {**(unknown or {}), **unpaid(score, dag)}
    return Draft(dag.nodes, edges, colliders, _arrows_of(dag) if output == "dag" else {}, untested, doubtful)


def _ahead(nats: float) -> str:
    """Say how probable the best graph is; ``nats`` is what its score loses."""
    return f"the best graph is {times(nats)} as probable ({nats:.4g} nats)"


def _arrows_of(dag: Dag) -> dict[tuple[Node, Node], Evidence]:
    compelled = cpdag(dag).arrows
    notes = {
        True: "an arrow of every graph with the same score",
        False: "an arrow of the graph found; other graphs with the same score have its reverse",
    }
    return {one: Evidence(SOURCE, note=notes[one in compelled]) for one in dag.edges}


def _loss(score: BDeu, dag: Dag, tail: Node, head: Node) -> float:
    """Return the loss of a node's score without one parent, in nats."""
    parents = dag.parents_of(head)
    return score.family(head, parents) - score.family(head, [one for one in parents if one != tail])


@attrs.frozen
class ClimbOptions:
    """The settings of a score and of a climb.

    ``ess`` and ``penalty`` are those of the score, ``tabu`` and ``patience`` those of the climb. ``candidates`` "lower"
    allows arrows to be added from later to earlier columns only, and turned arrows stay. ``output`` "dag" keeps every
    arrow of the graph found, "cpdag" only those that all equivalent graphs share.
    """

    ess: float = 10.0
    penalty: float | str = 0.0
    tabu: int = 100
    patience: int = 15
    candidates: Literal["all", "lower"] = "all"
    output: Output = "cpdag"


def score_of(context: Context, ess: float, penalty: float | str = 0.0) -> BDeu:
    """Make the score of a spec, with the nodes numbered in the order of the spec."""
    who = f"the learner {context.spec.name!r}"
    return score_for(context.data, who, ess=ess, penalty=penalty, order=context.spec.frontier.order)


def climb_graph(
    context: Context,
    state: State,
    score: BDeu,
    options: ClimbOptions,
    edges: Mapping[Pair, tuple[Verdict, ...]],
    *,
    copies: Copies = Copies({}, frozenset()),  # noqa: B008 - frozen
) -> State:
    """Climb among candidate edges, each with its verdicts, and return the state with the graph found."""
    unknown = unseen(score)
    pairs = [score.numbers(pair) for pair in edges if pair not in unknown]
    arrows = {(later, earlier) for earlier, later in pairs}
    if options.candidates == "all":
        arrows.update((earlier, later) for earlier, later in pairs)
    found = climb(
        score,
        range(len(score.nodes)),
        candidates=arrows,
        tabu=options.tabu,
        patience=options.patience,
        turn_any=options.candidates == "lower",
    )
    verdicts = (verdict for node in context.asker.nodes for verdict in context.asker.untested(node))
    untested = frozenset(frozenset((verdict.x, verdict.y)) for verdict in verdicts).difference(edges)
    dag = score.dag(found.parents)
    draft = draft_of(dag, score, tested=edges, untested=untested, unknown=unknown, output=options.output)
    note = f"the score of the whole graph is {score.nats(found.score):.2f} ({SOURCE}, the log of a probability)"
    visits = [
        attrs.evolve(one, findings=(*one.findings, *copies.at(one.node, one.neighbours)))
        for one in draft.visits(context.target)
    ]
    return state.told(*visits, notes=[note])


class MmhcFindings:
    """Learns the whole graph at once."""

    whole = True

    def __init__(self, context: Context) -> None:
        self._copies = Copies.known_to(context)
        self._context = self._copies.hidden_in(context)
        self._options = build(ClimbOptions, context.spec.options, f"spec {context.spec.name!r}, options")

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:  # noqa: ARG002 - all nodes are learned together
        """Return the state after the whole graph was learned."""
        score = score_of(self._context, self._options.ess, self._options.penalty)
        edges = _candidate_edges(self._context, self._copies.left_out)
        return climb_graph(self._context, state, score, self._options, edges, copies=self._copies)


def _candidate_edges(context: Context, left_out: Collection[Node]) -> dict[Pair, tuple[Verdict, ...]]:
    """Find the pairs in which both ends, or either end, find the other with the spec's finder."""
    spec, nodes = context.spec.neighbours, [node for node in context.asker.nodes if node not in left_out]
    finder = pick(context.plugins.finders, spec.finder, "finder").make(context.asker, context.finder_settings)
    neighbours = Neighbours(finder, symmetric=spec.symmetry == "both", threads=context.threads)
    neighbours.prepare(nodes)
    pairs = {frozenset((node, other)) for node in nodes for other in neighbours.of(node)}
    return {pair: neighbours.evidence(*in_order(pair)) for pair in pairs}
