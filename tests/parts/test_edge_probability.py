"""The probability of an edge: from leads in nats, none where no score was asked, shown wherever the edge is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn, network
from apsl_rules.evidence.evidence import Evidence
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts.edge_probability import CURVES, lead_of, probability_of
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules.facts import Finding, adjacent
from apsl_rules.rules.proof import Proof, Step
from apsl_rules.rules.store import Mark


def proof_with(*leads: float | None) -> Proof:
    """Make a proof that rests on findings with these leads."""
    fact = adjacent.fact("a", "b")
    return Proof(tuple(Step(fact, "a -- b", Finding(fact, Evidence("score", nats=lead)), ()) for lead in leads))


@given(st.lists(st.floats(-5, 1e6), min_size=1, max_size=4), st.sampled_from(sorted(CURVES)))
def test_the_weakest_finding_decides(leads: list[float], mark: Mark) -> None:
    """The least lead decides; the probability grows with it, shrinks with further findings, and is from 0 to 1."""
    least = min(leads)
    known, same = probability_of(mark, proof_with(*leads)), probability_of(mark, proof_with(*[least] * len(leads)))
    stronger = probability_of(mark, proof_with(*[least + 1] * len(leads)))
    longer = probability_of(mark, proof_with(*leads, least))
    assert known is not None
    assert stronger is not None
    assert longer is not None
    assert known == same
    assert 0 < longer <= known <= stronger <= 1
    if mark is Mark.ARROW and 0 <= least < 1000:
        assert longer < known < stronger


def test_without_scores_there_is_no_probability() -> None:
    """A finding without a lead leaves the whole proof without one, and a gap has none."""
    assert lead_of(proof_with(3.0, None)) is None
    assert probability_of(Mark.ARROW, proof_with(3.0, None)) is None
    assert probability_of(Mark.GAP, proof_with(3.0)) is None
    part = learn(network("cancer"), "Cancer")
    assert [row["probability"] for row in part.rows()] == [None] * len(part.edges)
    assert "probability" not in str(part.why("Smoker", "Cancer"))


@pytest.mark.slow
def test_a_probability_is_shown_with_the_edge() -> None:
    """Rows, the printed proof, the proof as data and the saved part all have it."""
    part = learn(sample(network("alarm"), 1000, seed=7), "HRSAT", learner="apsl-score")
    row = next(row for row in part.rows() if row["source"] == "ERRCAUTER")
    assert row["probability"] is not None
    assert 0.5 < row["probability"] < 1
    proof = part.why("ERRCAUTER", "HRSAT")
    share = f"{100 * row['probability']:.0f} %"
    assert str(proof).splitlines()[-1].startswith(f"probability {row['probability']:.2f}: of edges with this much")
    assert f"about {share} are right" in str(proof)
    assert json.loads(proof.to_json())["probability"] == row["probability"]
    assert parse_part(part_json(part), "saved").rows() == part.rows()
