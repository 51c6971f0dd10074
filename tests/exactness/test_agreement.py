"""The views of one run tell the same story: trace, states, visits, rule use and what watchers saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise

import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import hookimpl, learn, network
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.parts.part import Part
from apsl_rules.plugins.manager import Progress
from apsl_rules.rules.vocabulary import Drop, Fact, Finding, Firing


class Watcher:
    """A plugin that writes down all it is told."""

    def __init__(self) -> None:
        self.events: list[Finding | Firing | Progress] = []

    @hookimpl
    def apsl_finding(self, finding: Finding) -> None:
        """Write down a finding."""
        self.events.append(finding)

    @hookimpl
    def apsl_firing(self, firing: Firing) -> None:
        """Write down a firing."""
        self.events.append(firing)

    @hookimpl
    def apsl_progress(self, progress: Progress) -> None:
        """Write down a sign of life."""
        self.events.append(progress)


class Mistaken(Oracle):
    """Answers from a known graph, except that every few questions it says the opposite, always of the same ones."""

    name = "mistaken"

    def __init__(self, true: DSeparation, every: int) -> None:
        self.true = true
        self.nodes = true.nodes
        self.every = every

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer, wrongly when the letters of the question add up to a multiple."""
        answer = self.true.verdict(x, y, given)
        letters = sum(map(ord, "".join(map(str, (x, y, *given)))))
        decision = answer.decision
        if letters % self.every == 0:
            decision = "dependent" if answer.independent else "independent"
        return Verdict(x, y, tuple(given), decision, self.name, statistic=answer.statistic or 0.1)


def watched(learner: str, every: int | None) -> tuple[Part, Watcher]:
    """Learn a part of ALARM while watching; with ``every`` the answers are partly wrong."""
    watcher = Watcher()
    true = DSeparation(network("alarm").dag)
    source = true if every is None else Mistaken(true, every)
    return learn(source, "HR", depth=2, learner=learner, plugins=[watcher]), watcher


RUNS = [("apsl", None), ("apsl-paper", None), ("apsl", 7), ("apsl-paper", 7)]


@pytest.mark.parametrize(("learner", "every"), RUNS)
def test_all_views_of_a_run_agree(learner: str, every: int | None) -> None:
    """Whether the answers are right or contradict each other, no view knows more or less than the others."""
    part, watcher = watched(learner, every)
    states = list(part.states())
    firings = [event for event in watcher.events if isinstance(event, Firing)]
    told: dict[Fact, Finding] = {}
    for event in watcher.events:
        if isinstance(event, Finding):
            told.setdefault(event.fact, event)

    assert tuple(firings) == part.trace
    assert tuple(told.values()) == part.findings
    assert {rule: times for rule, times in part.ledger.rule_use().items() if times} == Counter(
        firing.rule for firing in part.trace
    )
    assert [state.entries[-1] for state in states[1:]] == list(part.history.entries)
    drops = sum(isinstance(entry, Drop) for entry in part.history.entries)
    assert len(part.trace) + len(part.findings) + drops == len(part.history)


@pytest.mark.parametrize(("learner", "every"), RUNS)
def test_visits_cut_the_history_into_pieces(learner: str, every: int | None) -> None:
    """Each visit begins where the one before ended, and its first new finding is that its node is settled."""
    part, watcher = watched(learner, every)
    entries = part.history.entries
    progress = [event for event in watcher.events if isinstance(event, Progress)]

    assert [visit.begin for visit in part.visits] == [0, *(visit.end for visit in part.visits[:-1])]
    assert part.visits[-1].end == len(part.history)
    assert [entries[visit.begin].fact for visit in part.visits] == [Fact("settled", (node,)) for node in part.visited]
    assert [one.node for one in progress] == list(part.visited)
    assert [one.visited for one in progress] == list(range(1, len(part.visits) + 1))
    assert progress[-1].counts == part.counts


def test_watchers_see_the_findings_of_a_visit_before_its_firings() -> None:
    """The order of events is that of the run: findings, firings, then the sign of life, visit by visit."""
    part, watcher = watched("apsl", None)

    kinds = [kind.__name__ for kind, _ in groupby(map(type, watcher.events))]

    assert kinds.count("Progress") == len(part.visits)
    assert set(pairwise(kinds)) == {
        ("Finding", "Firing"),
        ("Firing", "Progress"),
        ("Finding", "Progress"),
        ("Progress", "Finding"),
    }


def test_wrong_answers_lead_to_conflicts_that_are_kept() -> None:
    """A part learned from contradictory answers says so, with a proof of each side of each conflict."""
    part, _ = watched("apsl", 7)

    assert part.ledger.settled.conflicts
    assert all(len(one.proofs) > 1 for one in part.ledger.settled.conflicts)
    assert not any((y, x) in part.store.arrows for x, y in part.store.arrows)
