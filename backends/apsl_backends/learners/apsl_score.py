"""The default learner on categories, apsl-score, and what it shares with that on tables with numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from math import log

import attrs
import numpy as np

from apsl_backends.learners.absence import absences, finding_of
from apsl_backends.learners.ball import Ball, Balls, Pairs, without_near_ties
from apsl_backends.learners.findings_from_scores import (
    Features,
    Leads,
    features_of,
    find_contradictions,
    find_leads,
    leads_of_missing,
    pairs_without_edges,
    ties_near,
    visits_of,
)
from apsl_backends.learners.hidden.from_blankets import notes_on_signatures
from apsl_backends.scores.representation import MOST_AT_ONCE
from apsl_backends.search import rounds
from apsl_backends.search.exact import why_not_certified
from apsl_backends.search.local_score import LocalScore
from apsl_backends.search.rounds import MOST_PARENTS, NEAR, Effort, Found
from apsl_rules.data import Dataset, counted
from apsl_rules.errors import SpecError
from apsl_rules.evidence import Evidence, Verdict, log_p_of, times
from apsl_rules.knowledge import Knowledge
from apsl_rules.memory import DatasetMemory, Kind
from apsl_rules.names import Node, Pair, count_of, in_order, listing, shown
from apsl_rules.neighbours import Neighbours
from apsl_rules.notes import Note
from apsl_rules.plugins import Context, Searched, State, Visited, build, pick
from apsl_rules.rules import Fact, Finding, adjacent

#: The most nodes and cells of a table whose whole graph one search finds: it keeps figures of each pair, and the rows.
MOST_NODES_AT_ONCE, MOST_CELLS_AT_ONCE = 2_000, 1 << 28


@attrs.frozen
class SearchOptions:
    """The settings of a ball search.

    ``radius`` is how many steps from candidate to candidate the ball extends around its core. ``pairs`` says which
    pairs of the ball the search may join: "all", those with an end nearer than the radius ("inner"), or those with an
    end in the core and those of a node and its candidate ("candidates"). ``max_parents``, ``rounds``, ``tabu`` and
    ``patience`` limit the search; ``starts`` and ``kicks`` are those of its order search (0: none).
    ``certified`` compares what is found with the best of all graphs. ``score`` names one of a plugin, which takes the
    place of the learner's own.
    """

    radius: int = 2
    pairs: Pairs = "all"
    max_parents: int = 6
    rounds: int = 8
    tabu: int = 100
    patience: int = 100
    starts: int = 0
    kicks: int = 0
    certified: bool = False
    score: str = ""

    def __attrs_post_init__(self) -> None:
        ranges = (
            ("radius", self.radius, 1, 9),
            ("max_parents", self.max_parents, 1, MOST_PARENTS),
            ("rounds", self.rounds, 0, 99),
            ("tabu", self.tabu, 1, 999),
            ("patience", self.patience, 1, 999),
            ("starts", self.starts, 0, 99),
            ("kicks", self.kicks, 0, 999),
        )
        for name, value, least, most in ranges:
            if not least <= value <= most:
                message = f"the option {name!r} is {value!r}; give a whole number from {least} to {most}"
                raise SpecError(message)

    @property
    def effort(self) -> Effort:
        """Return the effort of a search."""
        return Effort(self.max_parents, self.rounds, self.tabu, self.patience, self.starts, self.kicks)


@attrs.frozen
class RefinedOptions(SearchOptions):
    """The settings of a ball search by BDe: ``ess``, ``empirical_weight`` and ``penalty`` (for each parent)."""

    ess: float = 15.0
    empirical_weight: float = 0.5
    penalty: float | str = "columns+2"


@attrs.frozen
class DuplicateColumns:
    """Groups of duplicate columns: each of their nodes with all of its group, sorted by name.

    Given a duplicate of a node, every test finds that node independent of all others, so duplicates would hide each
    other's neighbours. Therefore candidates are sought with one column of each group, and all its duplicates share
    them; no data can tell which of them has an edge. Only the first of a group is a candidate of others if the rest is
    ``left_out``.
    """

    groups: Mapping[Node, tuple[Node, ...]]
    left_out: bool = False

    @classmethod
    def among(cls, data: Dataset) -> DuplicateColumns:
        """Return the duplicates in a dataset."""
        return cls({node: group for group in data.duplicates() for node in group})

    def without_others(self, target: Node) -> DuplicateColumns:
        """Return the groups of which only the first is a candidate: by name, or the target."""
        first = {node: tuple(sorted(group, key=lambda one: one != target)) for node, group in self.groups.items()}
        return DuplicateColumns(first, left_out=True)

    @property
    def hidden(self) -> frozenset[Node]:
        """Return the duplicates that another column represents."""
        return frozenset(node for node, group in self.groups.items() if node != group[0])

    def representative(self, node: Node) -> Node:
        """Return the column that represents a node: itself, or the first of its duplicates."""
        return self.groups.get(node, (node,))[0]

    def around(self, node: Node, candidates: Callable[[Node], Iterable[Node]]) -> list[Node]:
        """Return the candidates of a node: those of its representative, their duplicates, and its own duplicates."""
        if self.left_out:
            return list(candidates(node))
        group = self.groups.get(node, (node,))
        found = [group[0], *candidates(group[0])]
        around = dict.fromkeys(one for other in found for one in self.groups.get(other, (other,)))
        return [one for one in around if one != node]


def findings_by_counts(context: Context) -> FindingsFromScores:
    """Return how the learner finds things out on a table of discrete columns: by BDe."""
    from apsl_backends.search.local_score import LocalBde

    spec = context.spec
    data = counted(context.data, f"the learner {spec.name!r}")
    options = build(RefinedOptions, spec.options, f"spec {spec.name!r}, options")
    score = score_of_plugin(context, data, options) or LocalBde(
        data,
        ess=options.ess,
        penalty=options.penalty,
        empirical_weight=options.empirical_weight,
        order="content" if spec.frontier.order == "name" else "column",
    )
    duplicates = DuplicateColumns.among(data)
    alone = duplicates if context.copies else duplicates.without_others(context.target)
    cards = dict(zip(data.names, data.heading.cards.tolist(), strict=True))
    strict = log(spec.tests.alpha / max(len(context.asker.nodes) - 1, 1))

    def is_clear(verdict: Verdict, candidates: Sequence[Node]) -> bool:
        """Return whether a test given another candidate is possible, or chance among all columns is excluded."""
        fewest = min((cards[one] for one in candidates if one != verdict.y), default=1)
        is_possible = data.rows >= _ROWS_PER_CELL * cards[verdict.x] * cards[verdict.y] * fewest
        return is_possible or not log_p_of(verdict) > strict

    def crowded(members: Collection[Node]) -> list[tuple[Node, Node]]:
        """Return the pairs that have so many combinations of levels that families of them would fit chance."""
        most = _MOST_CELLS_OF_ROW * data.rows
        wide = [node for node in members if cards[node] ** 2 > most]
        return [(x, y) for x in wide for y in members if x != y and cards[x] * cards[y] > most]

    is_whole = context.whole and len(context.asker.nodes) <= MOST_AT_ONCE
    remember = searched_once(context, data.memory, options, spec.frontier.order) if is_whole else None
    return FindingsFromScores(
        *(context, options, score, alone),
        remember=remember,
        seeks_witnesses=True,
        is_clear=is_clear,
        crowded=crowded,
    )


#: The classes of graphs that searches over all columns of a table found.
_SEARCHED: Kind[Found] = Kind("searched graphs")


def searched_once(
    context: Context, memory: DatasetMemory, *settings: Hashable
) -> Callable[[Hashable, Callable[[], Found]], Found]:
    """Return how searches over all columns of a dataset with some settings are made once, for all targets."""
    scores = tuple(context.plugins.scores.values())

    def remember(asked: Hashable, search: Callable[[], Found]) -> Found:
        return memory.once(_SEARCHED, (context.spec.name, scores, settings, asked), search)

    return remember


#: The most pairs that are named in which graphs differ.
_MOST_TOLD = 3
#: The rows for each cell that a test on counts needs.
_ROWS_PER_CELL = 5
#: A score compares two columns up to so many combinations of their levels for each row. Where each row has one
#: of its own, parents seem to predict what the prior knows already.
_MOST_CELLS_OF_ROW = 50


def _clear_ones(
    neighbours: Neighbours, is_clear: Callable[[Verdict, Sequence[Node]], bool], node: Node
) -> Sequence[Node]:
    """Return the candidates of a node that are more than chance.

    Chance candidates go where they are independent given another one. Between columns of many levels no such test has
    enough rows, and each would bring its own candidates into the ball.
    """
    candidates, sweep = neighbours.of(node), neighbours.candidates(node).sweep
    if sweep is None:
        return candidates
    return [other for other in candidates if is_clear(sweep.verdict_on(other), candidates)]


def score_of_plugin(context: Context, data: Dataset, options: SearchOptions) -> LocalScore | None:
    """Return the score that the options name, or None for the learner's own."""
    from apsl_backends.search.local_plugin import LocalPlugin

    if not options.score:
        return None
    return LocalPlugin(data, pick(context.plugins.scores, options.score, "score"))


class FindingsFromScores:
    """Searches the best class of graphs over the nodes near the target, each time that nodes join the core.

    If the whole graph is asked for, one search over all nodes finds it, unless the table is too large for that. Graphs
    of balls one after another can disagree where they overlap. ``further`` returns candidates of a node besides those
    that the finder finds. Where searches are to ``remember`` what they found, all columns are in every ball, but those
    that another one stands for. ``seeks_witnesses`` says that a gap is told only with a set that separates its ends.
    ``is_clear`` says by its test and all candidates of a node whether one of them is more than chance. ``doubted``
    returns the evidence for an edge given others as it counts where rows of a group vary together. ``crowded`` returns
    the pairs of some columns with too many combinations of levels to be scored.
    """

    def __init__(
        self,
        context: Context,
        options: SearchOptions,
        score: LocalScore,
        duplicates: DuplicateColumns,
        further: Callable[[Node], Iterable[Node]] = lambda _node: (),
        *,
        remember: Callable[[Hashable, Callable[[], Found]], Found] | None = None,
        seeks_witnesses: bool = False,
        is_clear: Callable[[Verdict, Sequence[Node]], bool] | None = None,
        doubted: Callable[[Node, Node, Sequence[Node], Evidence], Evidence] | None = None,
        crowded: Callable[[Collection[Node]], Iterable[tuple[Node, Node]]] = lambda _members: (),
    ) -> None:
        spec = context.spec
        self._doubted = doubted
        self._doubts: dict[frozenset[Node], str] = {}
        self._seeks_witnesses = seeks_witnesses
        #: In a closed system the best graph decides; elsewhere graphs nearly as good leave pairs open.
        self._leaves_open = context.settings.get("hidden") != "excluded"
        self._options = options
        self._context = context
        self._score = score
        seeing = attrs.evolve(context.finder_settings, hidden=duplicates.hidden)
        finder = pick(context.plugins.finders, spec.neighbours.finder, "finder").make(context.asker, seeing)
        neighbours = Neighbours(finder, symmetric=spec.neighbours.symmetry == "both", threads=context.threads)
        knowledge = context.knowledge
        self._neighbours = neighbours
        self.duplicates = duplicates
        clear = neighbours.of if is_clear is None else partial(_clear_ones, neighbours, is_clear)
        # The functions do not refer to this object, so that it is freed at the end of the run, and its score with it.
        self._balls = Balls(
            self._score,
            cache(lambda node: (*duplicates.around(node, clear), *_required_at(knowledge, node), *further(node))),
            lambda nodes: neighbours.prepare(dict.fromkeys(map(duplicates.representative, nodes))),
            radius=options.radius,
            pairs=options.pairs,
            effort=options.effort,
            knowledge=knowledge,
            certified=options.certified,
            settles=not options.score,
            everyone=[node for node in context.asker.nodes if node not in duplicates.hidden] if remember else (),
            remember=remember or (lambda _, search: search()),
            crowded=crowded,
        )
        self._ball: Ball | None = None
        nodes = len(context.asker.nodes)
        self.whole = context.whole and nodes <= MOST_NODES_AT_ONCE and nodes * score.rows <= MOST_CELLS_AT_ONCE

    def join(self, state: State, nodes: tuple[Node, ...]) -> State:
        """Return the state after a search around the core with some new nodes."""
        visited = (*state.visited, *nodes)
        left_out = self.duplicates.hidden if self.duplicates.left_out else frozenset()
        core = tuple(node for node in visited if node not in left_out)
        found = self._balls.around(self._context.target, core, self._ball)
        ball = attrs.evolve(without_near_ties(found) if self._leaves_open else found, whole=self.whole)
        against: dict[Fact, Finding] = {}
        if self._context.knowledge:
            against = find_contradictions(ball, core, self._context.knowledge, self._options.max_parents)
            pairs = frozenset(frozenset(fact.nodes) for fact in against if fact.relation == adjacent.name)
            ball = attrs.evolve(ball, contradicted=pairs)
        self._ball = ball
        return state.searched(Searched(visited, ball, ball.distances, partial(self._tell, ball, found, core, against)))

    def around(self, core: Sequence[Node]) -> Ball:
        """Return the best class of graphs over the nodes near a core."""
        self._ball = self._balls.around(self._context.target, core, self._ball)
        return self._ball

    def _tell(
        self,
        ball: Ball,
        found: Ball,
        core: Sequence[Node],
        against: Mapping[Fact, Finding],
        compare: bool,  # noqa: FBT001 - as the run asks for it
    ) -> tuple[Sequence[Visited], Sequence[str]]:
        """Return the visits that report a ball, and notes on the search; ``found`` has the edges of near ties too."""
        self._doubts.clear()
        features = features_of(ball)
        leads = find_leads(ball, features, self._options.max_parents, compare=compare)
        scored = frozenset(ball.members) if self._options.pairs == "all" else frozenset()
        tested = cache(partial(self._tests_of, frozenset(self._neighbours.computed), compare))
        visits = visits_of(
            ball,
            core,
            features,
            leads,
            tested=tested,
            scored=scored,
            against=against,
            duplicates=self.duplicates.groups,
            near=self._near_ties(ball, core) if compare else (),
            absent=self._absent(ball, core, features, compare=compare) if self._seeks_witnesses else None,
            doubted=partial(self._counted, ball) if self._doubted is not None and compare else None,
        )
        notes = [*self._notes(ball, leads), *self._doubts.values()]
        return visits, [*notes, *notes_on_signatures(found, core, self._context.asker)] if compare else notes

    def _absent(self, ball: Ball, core: Sequence[Node], features: Features, *, compare: bool) -> dict[Pair, Finding]:
        """Return what stands for the missing edges; nothing does after a limit of the run or of the search."""
        if not compare or not ball.found.finished:
            return {}
        asker, score, most = self._context.asker, self._score, self._options.max_parents
        pairs = pairs_without_edges(ball, core, features, self._context.knowledge, self.duplicates.groups)
        found = absences(ball, asker, pairs, near_ties=self._leaves_open)
        undecided = [one.pair for one in found.values() if one.verdict is not None and not one.is_gap]
        behind = leads_of_missing(ball, undecided, most)
        number = {node: at for at, node in score.nodes.items()}

        def needed(x: Node, y: Node) -> float | None:
            return score.rows_for_edge(number[x], number[y], behind[x, y]) if (x, y) in behind else None

        return {pair: finding_of(one, asker.name, score.name, needed) for pair, one in found.items()}

    def _counted(self, ball: Ball, x: Node, y: Node, evidence: Evidence) -> Evidence:
        """Return the evidence for an edge as it counts given the other parents of its end."""
        if self._doubted is None or x not in ball.place or y not in ball.place:
            return evidence
        name = {at: node for node, at in ball.place.items()}
        one, other = (x, y) if ball.found.dag[ball.place[x], ball.place[y]] else (y, x)
        parents = (name[at] for at in np.flatnonzero(ball.found.dag[:, ball.place[other]]).tolist())
        counted = self._doubted(x, y, [node for node in parents if node != one], evidence)
        if counted is not evidence:
            why = counted.note.removeprefix(evidence.note).removeprefix("; ")
            self._doubts[frozenset((x, y))] = f"the edge {shown(x)} -- {shown(y)} is {why}"
        return counted

    def _near_ties(self, ball: Ball, core: Sequence[Node]) -> Sequence[Finding]:
        """Return which columns would serve almost as well in the place of neighbours of the core."""
        return list(ties_near(ball, core)) if self._seeks_witnesses else ()

    def _tests_of(
        self,
        computed: Collection[Node],
        asks: bool,  # noqa: FBT001 - as the run has time for it
        x: Node,
        y: Node,
        are_joined: bool,  # noqa: FBT001 - one of two kinds of pair
    ) -> tuple[Verdict, ...]:
        """Return the verdicts for an adjacent pair, or for one that is not adjacent.

        Of an edge that no test met supports, the set that separates its ends is told, or how they depend by themselves.
        """
        neighbours = self._neighbours
        dependent = [one for one in neighbours.evidence(x, y) if one.dependent] if are_joined else []
        if dependent:
            return tuple(dependent)
        for one, other in ((x, y), (y, x)):
            known = neighbours.candidates(one).separation(other) if one in computed else None
            if known is not None and known.verdict is not None:
                return (known.verdict,)
        return tuple(self._context.asker.verdicts([(x, y, ())])) if are_joined and asks else ()

    def _notes(self, ball: Ball, leads: Leads) -> list[str]:
        """Return notes on the gain of the graph, and on searches that ended at their limit of moves."""
        score, width, most = self._score, len(ball.members), rounds.MOST_TRIES
        notes: list[str] = []
        if self._context.whole and not self.whole:
            notes.append(
                "the table is too large for one search over all nodes; connected pieces were searched one after another"
            )
        nats = score.nats(ball.found.gain)
        where = f"over {count_of(width, 'node')}" + ("" if self.whole else f" near {self._context.target}")
        ahead = f"{times(nats)} as probable as one without edges ({score.name}, {nats:.2f} nats)"
        notes.append(f"the best graph found {where} is {ahead}")
        cost = score.nats(ball.free.gain - ball.found.gain)
        if cost > 0:
            notes.append(
                f"without background knowledge the best graph found is {times(cost)} as probable ({cost:.2f} nats)"
            )
        notes += score.notes
        found = ball.found
        if found.starts and found.agreeing is not None and 2 * found.agreeing <= found.starts:
            notes += _near_graphs(ball)
        if self._options.certified:
            notes += _certificates(ball)
        counts = found.dag.sum(axis=0).tolist()
        full = [node for node in ball.told if counts[ball.place[node]] >= self._options.max_parents]
        if full:
            notes.append(
                f"the best graph has {count_of(self._options.max_parents, 'parent')} of {listing(in_order(full))}, the "
                "most that are allowed; there may be more (max_parents in the spec of the learner)"
            )
        if not ball.found.finished:
            notes.append(
                f"the search over {count_of(width, 'node')} ended after {most:,} moves compared, before all were; "
                "there may be a better graph, so take edges and missing edges with care, or choose fewer columns"
            )
        unsought = sum(lead is not None and not lead.sought for lead in leads.values())
        if unsought:
            notes.append(
                f"{unsought} of {len(leads)} findings were not compared with rivals, since {most:,} moves were "
                "compared before; such edges have no lead, and such gaps and V-structures are left open"
            )
        return notes


def _near_graphs(ball: Ball) -> Iterator[Note]:
    """Return in which pairs graphs differ from the one found that are nearly as good, if its starts disagreed."""
    pairs = ((x, y, ball.behind(x, y)) for x, y in combinations(in_order(ball.told), 2))
    near = sorted((one for one in pairs if one[2] < NEAR), key=lambda one: one[2])
    if not near:
        return
    joined = ball.found.dag | ball.found.dag.T
    words = [
        f"{'without' if joined[ball.place[x], ball.place[y]] else 'with'} {shown(x)} -- {shown(y)} ({nats:.2g} nats "
        "behind)"
        for x, y, nats in near[:_MOST_TOLD]
    ]
    more = f", and {len(near) - _MOST_TOLD} more" if len(near) > _MOST_TOLD else ""
    first, second, behind = (list(some) for some in zip(*near, strict=True))
    yield Note(
        f"{ball.found.agreeing} of {ball.found.starts} starts of the search found this graph; others are nearly as "
        f"good: {', '.join(words)}{more}",
        "near graphs",
        first=first,
        second=second,
        nats=behind,
    )


def _certificates(ball: Ball) -> Iterator[str]:
    """Return whether the graph of a ball is certified as the best one, and if not why."""
    width, found = len(ball.members), ball.found
    if width == 1:
        return
    if found.is_best:
        if found.corrected:
            nats = ball.score.nats(found.corrected)
            yield f"an exact search found a graph that is {times(nats)} as probable ({nats:.2f} nats)"
        yield f"certified: no graph over these {count_of(width, 'node')} scores higher (exact search)"
        return
    excluded = (
        "background knowledge excludes the best graph" if ball.free.is_best else "the limit ended the exact search"
    )
    yield f"the graph is not certified as the best one: {why_not_certified(ball.score.handle, width) or excluded}"


def _required_at(knowledge: Knowledge, node: Node) -> list[Node]:
    """Return the nodes that knowledge joins to a node; those known to be apart from it stay in the ball."""
    return [one for arrow in knowledge.required_at(node) for one in arrow if one != node]
