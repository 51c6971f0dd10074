"""APSL refined by scores on tables with numbers: the search of ``apsl_score`` with a Gaussian score."""

from __future__ import annotations

import attrs

from apsl_backends.learners.apsl_score import FindingsFromScores, SearchOptions
from apsl_backends.learners.duplicate_columns import DuplicateColumns
from apsl_rules.data import MixedTable
from apsl_rules.data.moments import MomentSource
from apsl_rules.errors import InvalidArgumentError, SpecError
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
    from apsl_backends.moments import moments_of
    from apsl_backends.search.local_moments import CurvedRelations, LocalMoments

    spec, data = context.spec, context.data
    if not isinstance(data, MixedTable | MomentSource):
        message = f"the learner {spec.name!r} scores a table with numbers; learn from a table"
        raise InvalidArgumentError(message)
    options = build(MixedOptions, spec.options, f"spec {spec.name!r}, options")
    source = moments_of(data)
    score = LocalMoments(source, least_effect=options.least_effect, squares=options.squares)
    relations, asker = CurvedRelations(source), context.asker

    def missed_by_tests(node: Node) -> list[Node]:
        swept = asker.associations(node)
        curved = relations.of(node) if options.squares else ()
        return [other for other in curved if swept.verdict_on(other).independent][:_MOST_CURVED]

    duplicates = DuplicateColumns.among(data)
    alone = duplicates if context.whole else duplicates.without_others(context.target)
    return FindingsFromScores(context, options, score, alone, missed_by_tests)
