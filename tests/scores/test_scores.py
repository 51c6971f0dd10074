"""Scores of parts learned from samples, with all their mistakes and contradictions."""

from __future__ import annotations

import pytest

from apsl_rules import learn, network, score
from apsl_rules.graphs.networks.sampling import sample

CHILD = network("child")
ROWS = sample(CHILD, 400, seed=5)


@pytest.mark.parametrize("learner", ["apsl", "apsl-paper", "apsl-authors", "apsl-fs-paper", "mmhc"])
@pytest.mark.parametrize("depth", [1, 2])
def test_a_score_counts_what_the_part_holds(learner: str, depth: int) -> None:
    """Edges and arrows are those of the part; the extension has the same edges, keeps the arrows, leaves none open."""
    for target in ("Disease", "LungParench", "CO2Report"):
        part = learn(ROWS, target, depth=depth, learner=learner)
        marks = score(part, CHILD, against="dag")
        guess = score(part, CHILD, against="dag", scored="extension", columns=ROWS.names)

        assert (marks.predicted, marks.arrows) == (len(part.edges), len(part.arrows))
        arrows, lines = CHILD.cpdag.region(target, depth)
        asked = {edge for edge in CHILD.dag.edges if edge in arrows or frozenset(edge) in lines}
        assert marks.correct == len(part.arrows & asked)
        assert (guess.predicted, guess.adjacent, guess.arrows) == (marks.predicted, marks.adjacent, marks.predicted)
        assert guess.undirected == 0
        assert marks.correct <= guess.correct <= marks.correct + marks.undirected
