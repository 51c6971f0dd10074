"""The scores of the default learners by the name of a node and its parents, for whoever compares graphs with rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from apsl_backends.learners.apsl_mixed import MixedOptions
from apsl_backends.learners.apsl_score import RefinedOptions
from apsl_backends.search.local_score import LocalScore
from apsl_rules.data import Dataset, counted
from apsl_rules.names import Node
from apsl_rules.plugins import ScoreOffer

Family: TypeAlias = Callable[[Node, tuple[Node, ...]], float]


def _family(score: LocalScore, data: Dataset) -> Family:
    """Return the score of a node given its parents, in nats, once all columns of a table have joined it."""
    score.join(data.names)
    number = {node: one for one, node in score.nodes.items()}

    def family(node: Node, parents: tuple[Node, ...]) -> float:
        return score.nats(score.local(number[node], sorted(number[one] for one in parents)))

    return family


def _bde(data: Dataset) -> Family:
    from apsl_backends.search.local_score import LocalBde

    own = RefinedOptions()
    categories = counted(data, "the score 'bde'")
    return _family(
        LocalBde(categories, ess=own.ess, penalty=own.penalty, empirical_weight=own.empirical_weight), categories
    )


def _bic(data: Dataset) -> Family:
    from apsl_backends.engines.opener import moments_of
    from apsl_backends.search.local_moments import LocalMoments

    return _family(LocalMoments(moments_of(data), least_effect=MixedOptions().least_effect, squares=False), data)


#: The scores, each with what it needs of a table.
SCORES = (
    ScoreOffer("bde", "BDe of a table of categories, as the default learner has it", _bde, {"counts"}, most=0.0),
    ScoreOffer("bic", "BIC of a table with numbers, by its moments", _bic, {"moments"}),
)
