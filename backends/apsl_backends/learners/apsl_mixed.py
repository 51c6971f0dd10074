"""The default learner on tables with numbers, apsl-mixed, with the scores of its families and design effects."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from apsl_backends.kernels.bindings.tables import tail
from apsl_backends.learners.apsl_score import (
    DuplicateColumns,
    FindingsFromScores,
    RefinedOptions,
    SearchOptions,
    score_of_plugin,
    searched_once,
)
from apsl_backends.scores.representation import MOST_AT_ONCE
from apsl_backends.search.local_score import LocalScore
from apsl_rules.data import Dataset, counted
from apsl_rules.data.moments import Embedding, KeptMoments
from apsl_rules.errors import InvalidArgumentError, SpecError
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node
from apsl_rules.plugins import Context, ScoreOffer, build

#: The share of the variance below which a column counts as determined by those that are given.
_ROUNDING = 1e-9


def as_groups_vary(source: KeptMoments, verdict: Verdict, evidence: Evidence, alpha: float) -> Evidence:
    """Return the evidence for an edge, doubtful if the test finds nothing once the design effect is counted."""
    statistic, inside, dof = verdict.statistic, verdict.inside, verdict.dof
    if not verdict.dependent or not inside or statistic is None or not dof or evidence.is_given:
        return evidence
    effect = design_effect(source, verdict.x, verdict.y, verdict.given)
    p, _ = tail(statistic - inside + inside / effect, dof)
    if p <= alpha:
        return evidence
    told = f"doubtful, since it differs from group to group: with its design effect of {effect:.2g}, p = {p:.2g}"
    note = f"{evidence.note}; {told}" if evidence.note else told
    return attrs.evolve(evidence, note=note, nats=None if evidence.nats is None else min(evidence.nats, 0.0))


def design_effect(source: KeptMoments, x: Node, y: Node, given: Sequence[Node] = ()) -> float:
    """Return the design effect of two columns inside groups, given others; 1 where there is nothing to compare."""
    found = source.sums([x, y, *given], by=source.roles["groups"], each=True)
    if found.second is None or len(found.rows) < 3:  # noqa: PLR2004 - groups that can differ
        return 1.0
    inside = found.second - found.rows[:, None, None] * found.means[:, :, None] * found.means[:, None, :]
    inside[:, found.constant, :] = inside[:, :, found.constant] = 0.0
    varies = ~found.constant
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(found.widths)])
    ends = [
        [one for one in range(starts[at], starts[at] + _leading(source, name, int(found.widths[at]))) if varies[one]]
        for at, name in ((0, x), (1, y))
    ]
    held = [one for one in range(int(starts[2]), int(starts[-1])) if varies[one]]
    both = [*ends[0], *ends[1]]
    whole = inside.sum(axis=0)
    if held:
        slopes = np.linalg.lstsq(whole[np.ix_(held, held)], whole[np.ix_(held, both)], rcond=None)[0]
        take = np.zeros((len(whole), len(both)))
        take[both, range(len(both))] = 1.0
        take[held] -= slopes
        inside = np.einsum("ia,gij,jb->gab", take, inside, take)
    else:
        inside = inside[np.ix_(range(len(inside)), both, both)]
    left, width = inside.sum(axis=0), len(ends[0])
    if not ends[0] or not ends[1] or (np.diag(left) <= _ROUNDING * np.maximum(np.diag(whole)[both], _ROUNDING)).any():
        return 1.0
    products = inside[:, :width, width:].reshape(len(inside), -1)
    centred = products - products.mean(axis=0)
    count, rows = len(products), float(found.rows.sum()) - len(found.rows)
    expected = np.kron(left[:width, :width], left[width:, width:]) / max(rows, 1.0)
    seen = centred.T @ centred * count / (count - 1)
    return max(1.0, float(np.trace(np.linalg.pinv(expected) @ seen)) / products.shape[1])


def _leading(source: KeptMoments, name: Node, width: int) -> int:
    """Return how many columns stand for a column where it is tested."""
    return min(width, 1) if name in source.number_names else width


#: What all parents together can add to a score of which no bound is known, in units: sums with gains have 64 bits.
_NO_BOUND = 1 << 62


@attrs.frozen
class Family:
    """The score of a node given its parents, in nats; that of a probability (``is_logarithm``) is never above 0."""

    score: LocalScore
    number: dict[Node, int]
    is_logarithm: bool

    @classmethod
    def of(cls, score: LocalScore, data: Dataset, *, is_logarithm: bool) -> Family:
        """Let all columns of a table join a score."""
        score.join(data.names)
        return cls(score, {node: one for one, node in score.nodes.items()}, is_logarithm)

    def __call__(self, node: Node, parents: tuple[Node, ...]) -> float:
        """Return the score of one node."""
        return self.score.nats(self.score.local(self.number[node], sorted(self.number[one] for one in parents)))

    def renamed(self, graph: Sequence[tuple[Node, Sequence[Node]]], names: Sequence[Sequence[int]]) -> int:
        """Count the renamings of a graph, each a place in it for every node, that score at least as high."""
        score, place = self.score, {node: at for at, (node, _) in enumerate(graph)}
        numbers = [self.number[node] for node in place]
        bare = [score.local(number, ()) for number in numbers]
        room = np.zeros(score.handle.nodes, np.int64)
        room[numbers] = np.negative(bare) if self.is_logarithm else _NO_BOUND // len(graph)
        whole = (score.local(self.number[node], [self.number[one] for one in given]) for node, given in graph)
        parents = [[place[one] for one in given] for _, given in graph]
        return score.handle.renamed(parents, np.array(numbers)[np.array(names)], room, sum(whole) - sum(bare))


def _bde(data: Dataset) -> Family:
    from apsl_backends.search.local_score import LocalBde

    own = RefinedOptions()
    categories = counted(data, "the score 'bde'")
    score = LocalBde(categories, ess=own.ess, penalty=own.penalty, empirical_weight=own.empirical_weight)
    return Family.of(score, categories, is_logarithm=True)


def _bic(data: Dataset) -> Family:
    from apsl_backends.engines.opener import moments_of
    from apsl_backends.search.local_moments import LocalMoments

    score = LocalMoments(moments_of(data), least_effect=MixedOptions().least_effect, squares=False, whole=False)
    return Family.of(score, data, is_logarithm=False)


#: The scores, each with what it needs of a table.
SCORES = (
    ScoreOffer("bde", "BDe of a table of categories, as the default learner has it", _bde, {"counts"}, Family.renamed),
    ScoreOffer("bic", "BIC of a table with numbers, by its moments", _bic, {"moments"}, Family.renamed),
)


#: The most candidates of a node by curved relations alone.
_MOST_CURVED = 5


@attrs.frozen
class MixedOptions(SearchOptions):
    """The settings of a ball search by moments.

    ``squares`` says whether numbers may be scored with their squares, where relations are curved, and ``least_effect``
    what an edge must then gain for each row, in nats, besides the penalties.
    """

    least_effect: float = 0.004
    squares: bool = True

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if not 0 <= self.least_effect < 1:
            message = f"the option 'least_effect' is {self.least_effect!r}; give a number from 0 to below 1"
            raise SpecError(message)


def findings_by_moments(context: Context) -> FindingsFromScores:
    """Return how the learner finds things out on a table with numbers."""
    from apsl_backends.engines.opener import moments_of
    from apsl_backends.search.local_moments import CurvedRelations, LocalMoments

    spec, data = context.spec, context.data
    if data is None or "moments" not in data.can:
        message = f"the learner {spec.name!r} scores a table with numbers; learn from a table"
        raise InvalidArgumentError(message)
    options = build(MixedOptions, spec.options, f"spec {spec.name!r}, options")
    relations, asker = CurvedRelations(moments_of(data)), context.asker
    embedding = asker.embedding if isinstance(asker.embedding, Embedding) else None
    source = moments_of(data, embedding)
    may_bend = options.squares and (embedding is None or embedding.degree > 1)
    score = score_of_plugin(context, data, options) or LocalMoments(
        source, least_effect=options.least_effect, squares=may_bend
    )

    is_small = len(asker.nodes) <= MOST_AT_ONCE

    def missed_by_tests(node: Node) -> list[Node]:
        if is_small:
            return []  # every column is near
        swept = asker.associations(node)
        curved = relations.of(node) if may_bend else ()
        return [other for other in curved if swept.verdict_on(other).independent][:_MOST_CURVED]

    def doubted(x: Node, y: Node, given: Sequence[Node], evidence: Evidence) -> Evidence:
        return as_groups_vary(source, asker.verdict(x, y, given), evidence, spec.tests.alpha)

    in_groups = doubted if source.roles.get("groups") else None
    duplicates = DuplicateColumns.among(data)
    alone = duplicates if context.copies else duplicates.without_others(context.target)
    return FindingsFromScores(
        *(context, options, score, alone, missed_by_tests),
        remember=searched_once(context, source.memory, options, source.embedding) if is_small else None,
        seeks_witnesses=True,
        doubted=in_groups,
    )
