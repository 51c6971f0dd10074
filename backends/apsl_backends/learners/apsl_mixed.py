"""The default learner on tables with numbers, apsl-mixed."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from apsl_backends.learners.apsl_score import (
    DuplicateColumns,
    FindingsFromScores,
    SearchOptions,
    score_of_plugin,
    searched_once,
)
from apsl_backends.scores.representation import MOST_AT_ONCE
from apsl_rules.data.moments import Embedding
from apsl_rules.errors import InvalidArgumentError, SpecError
from apsl_rules.evidence import Evidence
from apsl_rules.names import Node
from apsl_rules.plugins import Context, build

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
    from apsl_backends.independence.design_effect import as_groups_vary
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
