"""Background knowledge against data: contradictions shown with both proofs, or decided where the user says so."""

from __future__ import annotations

import pandas as pd
import pytest

from apsl_rules import Knowledge, learn, learn_graph, network
from apsl_rules.errors import ApslError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning import run
from apsl_rules.rules.engine import Mark

ASIA = sample(network("asia"), 5000, seed=2)
LEARNERS = ["apsl", "apsl-fs", "cmb", "pcd-by-pcd"]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_required_edge_that_a_test_separates(learner: str) -> None:
    """The required arrow is drawn and the conflict listed; under ``quarantine`` the pair is in conflict."""
    known = Knowledge(required=[("asia", "smoke")])

    shown = learn(ASIA, "smoke", learner=learner, knowledge=known, conflicts="quarantine", hidden="excluded")
    drawn = learn(ASIA, "smoke", learner=learner, knowledge=known, hidden="excluded")

    assert shown.mark("asia", "smoke") is Mark.CONFLICT
    assert "asia and smoke are not adjacent   [gsquare: asia ⊥ smoke" in str(shown.why("asia", "smoke"))
    assert "asia -- smoke   [given]" in str(shown.why("asia", "smoke"))
    assert ("asia", "smoke") in drawn.arrows
    assert [(one.pair, one.decision) for one in drawn.conflicts] == [(("asia", "smoke"), "kept the edge")]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_gap_where_the_data_show_an_edge(learner: str) -> None:
    """It is no edge and the conflict is listed; under ``quarantine`` the pair is in conflict."""
    known = Knowledge(apart=[("bronc", "smoke")])

    shown = learn(ASIA, "smoke", learner=learner, knowledge=known, depth=2, conflicts="quarantine", hidden="excluded")
    gone = learn(ASIA, "smoke", learner=learner, knowledge=known, depth=2, hidden="excluded")

    assert shown.mark("bronc", "smoke") is Mark.CONFLICT
    assert [proof.findings[0].evidence.source for proof in shown.conflicts[0].proofs] == ["gsquare", "given"]
    assert (gone.mark("bronc", "smoke"), frozenset(("bronc", "smoke")) in gone.edges) == (Mark.GAP, False)
    assert [(one.pair, one.decision) for one in gone.conflicts] == [(("bronc", "smoke"), "kept the gap")]
    assert str(gone.why("bronc", "smoke")) == "bronc and smoke are not adjacent   [given]"


def test_a_forbidden_direction_that_the_data_prove() -> None:
    """The arrow goes the way that is left; under ``quarantine`` the pair is in conflict."""
    strong = sample(network("cancer"), 50_000, seed=1)
    known = Knowledge(forbidden=[("Smoker", "Cancer")])

    shown = learn(strong, "Cancer", knowledge=known, conflicts="quarantine", hidden="excluded")
    drawn = learn(strong, "Cancer", knowledge=known, hidden="excluded")

    assert ("Smoker", "Cancer") in learn(strong, "Cancer", hidden="excluded").arrows
    assert shown.mark("Smoker", "Cancer") is Mark.CONFLICT
    assert ("Cancer", "Smoker") in drawn.arrows
    assert ("Cancer", "Smoker") in [one.pair for one in drawn.conflicts]


def test_tiers_orient_a_whole_graph() -> None:
    """A full order of the columns leaves no line, and no arrow goes against it."""
    order = network("asia").dag.topological_order

    graph = learn_graph(ASIA, knowledge=Knowledge(tiers=[[node] for node in order]), hidden="excluded")

    assert graph.arrows
    assert not graph.lines
    assert all(order.index(tail) < order.index(head) for tail, head in graph.arrows)


def test_more_threads_hear_the_same_knowledge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searching neighbours in threads changes nothing of findings, firings and conflicts."""
    monkeypatch.setattr(run, "_ROWS_FOR_THREADS", 0)
    known = Knowledge(required=[("smoke", "asia")], apart=[("bronc", "dysp")], tiers=[["smoke"], ["lung", "bronc"]])

    one, four = (
        learn(ASIA, "smoke", depth=3, knowledge=known, threads=threads, hidden="excluded") for threads in (1, 4)
    )

    assert (one.findings, one.trace, one.conflicts) == (four.findings, four.trace, four.conflicts)


def test_knowledge_of_a_column_that_was_set_aside_is_left_out() -> None:
    """A note names the column; a name that no column has is an error still."""
    known = Knowledge(tiers=[["id", "smoke"], ["*"]], required=[("id", "lung"), ("smoke", "bronc")])
    frame = pd.DataFrame(ASIA.codes.T, columns=network("asia").dag.nodes).assign(id="same")
    part = learn(frame, "smoke", knowledge=known, hidden="excluded")

    assert part.knowledge.required == (("smoke", "bronc"),)
    assert part.knowledge.tiers == (("smoke",), ("asia", "bronc", "dysp", "either", "lung", "tub", "xray"))
    assert [note.fields["columns"] for note in part.notes if note.code == "knowledge"] == [["id"]]
    with pytest.raises(ApslError, match="lungs"):
        learn(ASIA, "smoke", knowledge=Knowledge(required=[("smoke", "lungs")]), hidden="excluded")


def test_a_note_names_what_the_data_contradict() -> None:
    """The part says which pair, and an effect that rests on it does too."""
    part = learn(ASIA, "smoke", learner="apsl", knowledge=Knowledge(required=[("asia", "smoke")]))

    assert [note.fields["columns"] for note in part.notes if note.code == "against given"] == [["asia", "smoke"]]
