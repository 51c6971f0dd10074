"""The check of the exactness contract: it passes what is exact and names what is not."""

from __future__ import annotations

import pytest

from apsl_rules import Dag, learn, network
from apsl_rules.errors import UnknownNodeError
from apsl_rules.evaluation.exactness import faults_of, verify
from apsl_rules.graphs.equivalence import cpdag
from support.graphs import MICRO


def test_the_sound_learner_is_exact_at_every_depth() -> None:
    """All targets at every depth up to the furthest node, and "max": no difference."""
    found = verify(network("asia"))

    assert found.exact
    assert found.depths == (1, 2, 3, 4, "max")
    assert found.runs == 8 * 5


def test_the_published_learner_is_caught_with_its_false_arrow() -> None:
    """On N1 the paper's algorithm turns b -> t round, and the difference says so."""
    found = verify(MICRO["N1"], learner="apsl-paper", depth=1)

    assert not found.exact
    assert "t, depth 1: t -> b is false" in map(str, found.differences)


def test_an_edge_left_open_is_named() -> None:
    """The literal grow-shrink learner does not orient either -> xray; the difference asks for an arrow."""
    found = verify(network("asia"), learner="gs-paper", depth=1, targets=["xray"])

    assert list(map(str, found.differences)) == ["xray, depth 1: either -- xray should be an arrow"]


def test_false_and_missing_edges_are_named() -> None:
    """Against the truth of another graph an edge too many and an edge too few are both told."""
    learned = learn(Dag({"a": [], "b": ["a"], "c": []}), "b")
    truth = cpdag(Dag({"a": [], "b": ["c"], "c": []}))

    assert list(faults_of(learned, truth)) == ["a -- b is no edge", "b and c should be joined"]


def test_progress_is_told_after_each_run() -> None:
    """The caller hears of each run and of their number."""
    told: list[tuple[int, int]] = []

    verify(network("cancer"), depth=1, progress=lambda done, of: told.append((done, of)))

    assert told == [(done, 5) for done in range(1, 6)]


def test_an_unknown_target_is_refused() -> None:
    """A target that is no node gets a sentence with the nearest name."""
    with pytest.raises(UnknownNodeError, match="did you mean 'lung'"):
        verify(network("asia"), targets=["lungs"])
