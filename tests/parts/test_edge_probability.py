"""The two probabilities of an edge: from leads in nats, none where no score was asked, shown wherever the edge is."""

from __future__ import annotations

import json
from math import exp, log, log1p

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import learn, network
from apsl_rules.evidence.evidence import GIVEN, Evidence, Verdict
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.parts.probability import CURVES, Curve, DirectionEvidence, EdgeEvidence, Grounds, Lead, lead_of
from apsl_rules.rules import SOUND, adjacent, arrow, chain, collider, proof_of, shortest_proofs
from apsl_rules.rules.vocabulary import Fact, Finding


def told(fact: Fact, nats: float | None, source: str = "BDe") -> Finding:
    """Make a finding with a lead."""
    return Finding(fact, Evidence(source, nats=nats))


def leading(*leads: float | None, source: str = "BDe") -> list[Finding]:
    """Make findings with these leads."""
    return [told(adjacent.fact("a", "b"), lead, source) for lead in leads]


def lead(nats: float, findings: int = 1, score: str = "BDe") -> Lead:
    """Make a lead."""
    return Lead(score, nats, findings)


SCORES = st.sampled_from(sorted(CURVES))
COUNTS = st.integers(0, 12)


@given(st.floats(0, 1000), st.floats(0, 100), COUNTS, st.integers(2, 40), SCORES)
def test_a_larger_lead_is_no_less_probable(nats: float, more: float, tests: int, degree: int, score: str) -> None:
    """Edges and directions alike, whatever else the evidence is; and all probabilities are shares."""
    edges = [EdgeEvidence(lead(one, score=score), tests, degree).probability for one in (nats, nats + more)]
    directions = [
        DirectionEvidence(lead(one, 3, score), 2, 1 / (1 + tests), 500).probability for one in (nats, nats + more)
    ]
    for known in (edges, directions):
        assert None not in known
        weaker, stronger = (one or 0.0 for one in known)
        assert 0 < weaker <= stronger <= 1


@given(st.floats(0, 1000), st.integers(1, 12), st.integers(1, 9), st.floats(0, 1), st.integers(20, 10**7), SCORES)
def test_a_longer_way_is_no_more_probable(
    nats: float, findings: int, reasons: int, accepted: float, rows: int, score: str
) -> None:
    """One more finding, and ends that a test hardly keeps apart, make a direction no surer; a reason no less sure."""
    here = DirectionEvidence(lead(nats, findings, score), reasons, accepted, rows).probability
    longer = DirectionEvidence(lead(nats, findings + 1, score), reasons, accepted, rows).probability
    hardly = DirectionEvidence(lead(nats, findings, score), reasons, accepted / 2, rows).probability
    again = DirectionEvidence(lead(nats, findings, score), reasons + 1, accepted, rows).probability
    assert here is not None
    assert longer is not None
    assert hardly is not None
    assert again is not None
    assert max(longer, hardly) <= here <= again


def test_what_tells_edges_apart() -> None:
    """On categories a test that agrees makes an edge surer, and more edges at its ends make it less sure."""
    plain = EdgeEvidence(lead(9.0), 0, 4).probability
    tested = EdgeEvidence(lead(9.0), 2, 4).probability
    crowded = EdgeEvidence(lead(9.0), 0, 20).probability
    assert plain is not None
    assert tested is not None
    assert crowded is not None
    assert crowded < plain < tested


def test_a_curve_is_logistic() -> None:
    """The figures are those of the curves, written out."""
    curve = CURVES["BIC"].direction
    logit = curve.first + curve.weights["lead"] * log1p(4.0) + curve.weights["findings"] * log(2)
    evidence = DirectionEvidence(lead(4.0, 2, "BIC"), 3)
    assert evidence.probability == pytest.approx(1 / (1 + exp(-logit)))
    assert Curve(0.5, {}).at({"lead": 3.0}) == pytest.approx(1 / (1 + exp(-0.5)))


def test_the_weakest_finding_decides() -> None:
    """The lead of findings is the least of theirs; a rival that is ahead leaves none."""
    assert lead_of(leading(4.0, 7.0, 5.5)) == lead(4.0, 3)
    assert lead_of(leading(-4.0, 7.0)) == lead(0.0, 2)


def test_without_scores_there_is_no_probability() -> None:
    """A finding without a lead, two scores, or a score without curves leave it open."""
    assert lead_of(leading(3.0, None)) is None
    assert lead_of([]) is None
    assert lead_of([*leading(3.0), *leading(3.0, source="BIC")]) is None
    assert DirectionEvidence(lead(3.0, score="another score"), 1).probability is None
    assert EdgeEvidence(lead(3.0, score="another score"), 0, 2).probability is None
    part = learn(network("cancer"), "Cancer")
    assert [row["probability"] for row in part.rows()] == [None] * len(part.edges)
    assert [row["direction"] for row in part.rows()] == [None] * len(part.edges)
    assert part.suggested == {}
    assert "not used for the fit" not in str(part.why("Smoker", "Cancer"))


def test_what_was_given_is_certain() -> None:
    """Background knowledge neither weakens a proof nor counts as one of its findings."""
    given_edge = Finding(adjacent.fact("a", "b"), Evidence(GIVEN))
    assert lead_of([*leading(3.0), given_edge]) == lead_of(leading(3.0))
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
    evidence = grounds.direction("c", "d")
    assert evidence == DirectionEvidence(lead(2.0, 2), reasons=2)
    assert grounds.directions([("c", "d")]) == {("c", "d"): evidence.probability}
    assert grounds.edge("c", "d") == EdgeEvidence(lead(1.0), tests=0, degree=4)
    assert grounds.edge("a", "d") is None
    verdicts = tuple(
        Verdict("a", "b", given, "independent", "G²", p=p, n=700)
        for given, p in (((), 0.3), (("c",), 0.1), (("e",), 0.2))
    )
    found = attrs.evolve(findings[0], evidence=Evidence("BDe", verdicts, nats=9.0))
    told_apart = Grounds(shortest_proofs(SOUND, [found, *findings[1:]])).direction("a", "c")
    assert told_apart == DirectionEvidence(lead(9.0), reasons=1, accepted=0.2, rows=700)
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
