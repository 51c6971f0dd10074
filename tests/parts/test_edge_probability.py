"""The two probabilities of an edge: from leads in nats, none where no score was asked, shown wherever the edge is."""

from __future__ import annotations

import json
from math import exp, log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn, network
from apsl_rules.evidence.evidence import GIVEN, Evidence
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts.edge_probability import CURVES, Grounds, direction_probability, edge_probability, lead_of
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules import SOUND, adjacent, arrow, chain, collider, proof_of, shortest_proofs
from apsl_rules.rules.facts import Fact, Finding


def told(fact: Fact, nats: float | None, source: str = "BDe") -> Finding:
    """Make a finding with a lead."""
    return Finding(fact, Evidence(source, nats=nats))


def leading(*leads: float | None, source: str = "BDe") -> list[Finding]:
    """Make findings with these leads."""
    return [told(adjacent.fact("a", "b"), lead, source) for lead in leads]


@given(st.lists(st.floats(-5, 1000), min_size=1, max_size=4), st.sampled_from(sorted(CURVES)))
def test_the_weakest_finding_decides(leads: list[float], source: str) -> None:
    """The least lead decides; a direction is surer with more of it and less sure with more findings."""
    least = min(leads)
    known = direction_probability(leading(*leads, source=source))
    same = direction_probability(leading(*[least] * len(leads), source=source))
    stronger = direction_probability(leading(*[least + 1] * len(leads), source=source))
    longer = direction_probability(leading(*leads, least, source=source))
    assert known is not None
    assert stronger is not None
    assert longer is not None
    assert known == same
    assert 0 < longer < known <= stronger < 1


def test_a_curve_is_logistic() -> None:
    """The figures are those of the curves, written out."""
    edge, direction = CURVES["BDe"].edge, CURVES["BDe"].direction
    logit = direction.first + direction.growth * log1p(4.0) + direction.loss * log(2)
    assert direction_probability(leading(4.0, 7.0)) == pytest.approx(1 / (1 + exp(-logit)))
    assert edge_probability(leading(4.0)) == pytest.approx(1 / (1 + exp(-edge.first - edge.growth * log1p(4.0))))


def test_without_scores_there_is_no_probability() -> None:
    """A finding without a lead, two scores, or a score without curves leave it open."""
    assert lead_of(leading(3.0, None)) is None
    assert lead_of([]) is None
    assert lead_of([*leading(3.0), *leading(3.0, source="BIC")]) is None
    assert direction_probability(leading(3.0, source="another score")) is None
    assert edge_probability(leading(3.0, source="another score")) is None
    part = learn(network("cancer"), "Cancer")
    assert [row["probability"] for row in part.rows()] == [None] * len(part.edges)
    assert [row["direction"] for row in part.rows()] == [None] * len(part.edges)
    assert part.suggested == {}
    assert "not used for the fit" not in str(part.why("Smoker", "Cancer"))


def test_what_was_given_is_certain() -> None:
    """Background knowledge neither weakens a proof nor counts as one of its findings."""
    given_edge = Finding(adjacent.fact("a", "b"), Evidence(GIVEN))
    assert direction_probability([*leading(3.0), given_edge]) == direction_probability(leading(3.0))
    assert lead_of([given_edge]) is None


def test_a_direction_rests_on_all_but_its_own_edge() -> None:
    """The findings behind an arrow are those of its proof, without the adjacency of its two nodes."""
    findings = [
        told(collider.fact("a", "c", "b"), 9.0),
        told(adjacent.fact("a", "c"), 5.0),
        told(adjacent.fact("c", "d"), 1.0),
        told(chain.fact("a", "c", "d"), 2.0),
    ]
    grounds = Grounds(shortest_proofs(SOUND, findings))
    assert grounds.of_edge("c", "d") == [findings[2]]
    assert {one.fact for one in grounds.of_direction("c", "d")} == {findings[0].fact, findings[3].fact}
    assert grounds.of_direction("a", "c") == [findings[0]]
    assert grounds.directions([("c", "d")]) == {("c", "d"): direction_probability([findings[0], findings[3]])}
    proof = proof_of(shortest_proofs(SOUND, findings), arrow.fact("c", "d"))
    assert {one.fact for one in proof.findings} == {findings[at].fact for at in (0, 2, 3)}


@pytest.mark.slow
def test_both_probabilities_are_shown_with_the_edge() -> None:
    """Rows, the printed proof, the proof as data and the saved part all have them."""
    part = learn(sample(network("alarm"), 1000, seed=7), "HRSAT", learner="apsl-score")
    row = next(row for row in part.rows() if row["source"] == "ERRCAUTER")
    assert 0.5 < row["direction"] < 1
    assert 0.5 < row["probability"] < 1
    proof = part.why("ERRCAUTER", "HRSAT")
    edge, direction = (f"{row[name]:.2f}".removeprefix("0") for name in ("probability", "direction"))
    assert str(proof).splitlines()[-1].startswith(f"edge {edge}, direction {direction}: of such edges about ")
    assert f"of their directions about {100 * row['direction']:.0f} % are right" in str(proof)
    data = json.loads(proof.to_json())
    assert (data["edge_probability"], data["direction_probability"]) == (row["probability"], row["direction"])
    assert parse_part(part_json(part), "saved").rows() == part.rows()
