"""A saved part must follow from its own findings: every part that we save does, and a spoilt one is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Interrupted, Knowledge, hookimpl, learn, learn_graph, learn_many, network, stability
from apsl_rules.errors import ApslError, PartFileError
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Depth
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.parts.part import Part
from apsl_rules.plugins.manager import Progress, installed
from apsl_rules.rules import Policy
from support.contradictory import Contradictory
from support.graphs import MICRO

ASIA = sample(network("asia"), 300, seed=1)
NUMBERS = pd.DataFrame((ASIA.codes + np.random.default_rng(1).normal(size=ASIA.codes.shape) / 3).T, columns=ASIA.names)
DEPTHS: tuple[Depth, ...] = (1, "max")
POLICIES: tuple[Policy | None, ...] = (None, "quarantine", "strongest", "first", "last")
BY_SCORE = ("ggsl", "mmhc", "sll", "apsl-score")


def _same(part: Part) -> None:
    text = part_json(part)
    assert part_json(parse_part(text, "part.json")) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(installed().learners))
def test_parts_of_every_learner_are_read_back(name: str) -> None:
    """Whatever a learner saves under any policy and limit, with perfect answers and with few rows, loads as it was."""
    read = 0
    for source, target in ((network("asia"), "either"), (MICRO["N7"], "T"), (ASIA, "either"), (NUMBERS, "either")):
        for policy in POLICIES:
            for limit in (None, 5, 60):
                try:
                    part = learn(source, target, depth=2, learner=name, conflicts=policy, max_tests=limit)
                except ApslError:  # a policy or a source that the learner does not go with
                    continue
                _same(part)
                read += 1
    assert read >= 6


@pytest.mark.parametrize("policy", [*POLICIES[1:], "ranked"])
def test_parts_with_contradictions_are_read_back(policy: Any) -> None:
    """Conflicts of every kind and outcome come through a file: from an odd oracle, and from noise in few rows."""
    conflicts = 0
    sources: list[Any] = [Contradictory()]
    for seed in range(6):
        random = np.random.default_rng(seed)
        base = random.integers(0, 2, (120, 4))
        sources.append(
            np.hstack([base, (base + random.integers(0, 2, (120, 4)) * (random.random((120, 4)) < 0.5)) % 2])
        )
    for source in sources:
        target = source.nodes[0] if isinstance(source, Contradictory) else "X1"
        part = learn(source, target, depth="max", learner="apsl", conflicts=policy)
        conflicts += len(part.ledger.settled.conflicts)
        _same(part)
    assert conflicts


@pytest.mark.parametrize("policy", POLICIES[1:])
def test_parts_with_knowledge_are_read_back(policy: Any) -> None:
    """Knowledge that is right, and knowledge that the data contradict, comes through a file."""
    for given in (
        Knowledge(required=[("smoke", "lung")], forbidden=[("xray", "either")]),
        Knowledge(apart=[("either", "lung")], required=[("dysp", "bronc")]),
        Knowledge(tiers=[["dysp"], ["either", "lung"]]),
    ):
        for source in (network("asia"), ASIA):
            for depth in DEPTHS:
                _same(learn(source, "either", depth=depth, learner="apsl", conflicts=policy, knowledge=given))


def test_parts_of_many_targets_of_graphs_and_of_resamples_are_read_back() -> None:
    """Parts that share their answers, the graph they make, whole graphs, and a part with support load as they were."""
    parts = learn_many(ASIA, "all", depth=2, learner="apsl")
    whole = learn_graph(ASIA, learner="apsl")
    for part in (*parts.values(), *parts.union.parts, *whole.parts):
        _same(part)
    _same(stability(ASIA, "either", depth=2, resamples=3, learner="apsl").part)


def test_an_interrupted_part_is_read_back() -> None:
    """What whole visits told before an interrupt makes a part that follows from itself."""

    class Stop:
        @hookimpl
        def apsl_progress(self, progress: Progress) -> None:
            if progress.visited == 3:
                raise KeyboardInterrupt

    part = _interrupted(Stop())
    assert part.incomplete
    assert 0 < len(part.visits) < 8
    _same(part)


def _interrupted(plugin: object) -> Part:
    """Return the part so far that an interrupted run raises."""
    with pytest.raises(Interrupted) as raised:
        learn(ASIA, "either", depth="max", learner="apsl", plugins=[plugin])
    part: Part | None = raised.value.part
    assert part is not None
    return part


def _consistent() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(part_json(learn(network("asia"), "either", depth=2)))
    assert data["conclusions"]["arrows"]
    return data


def _torn() -> dict[str, Any]:
    part = learn(ASIA, "either", depth="max", learner="apsl", knowledge=Knowledge(required=[("dysp", "bronc")],
        apart=[("either", "lung")]), conflicts="quarantine")  # fmt: skip
    data: dict[str, Any] = json.loads(part_json(part))
    assert data["conclusions"]["conflicts"]
    return data


def _overwritten() -> dict[str, Any]:
    part = learn(Contradictory(), "a", depth="max", learner="apsl", conflicts="last")
    data: dict[str, Any] = json.loads(part_json(part))
    assert data["conclusions"]["conflicts"]
    return data


def _limited() -> dict[str, Any]:
    part = learn(network("alarm"), "HR", depth="max", learner="apsl", max_tests=2000)
    assert part.incomplete
    data: dict[str, Any] = json.loads(part_json(part))
    return data


def _said(data: dict[str, Any], **changed: Any) -> None:
    data["conclusions"].update(changed)


def _evidence(data: dict[str, Any]) -> dict[str, Any]:
    evidence: dict[str, Any] = data["visits"][0]["findings"][0]["evidence"]
    return evidence


def _verdict(data: dict[str, Any]) -> dict[str, Any]:
    found = (one["evidence"]["verdicts"] for visit in data["visits"] for one in visit["findings"])
    return next(verdict for verdicts in found for verdict in verdicts)


def _rule(data: dict[str, Any], at: int, line: str) -> None:
    data["rulebook"]["rules"][at] = line


SPOILT: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[dict[str, Any]], object], str]] = {
    "arrows turned": (
        _consistent,
        lambda data: _said(data, arrows=[[y, x] for x, y in data["conclusions"]["arrows"]]),
        "the arrows are not those that the findings give",
    ),
    "lines emptied": (_consistent, lambda data: _said(data, lines=[]), "the lines are not those"),
    "a farther node": (
        _consistent,
        lambda data: data["conclusions"]["distances"][-1].__setitem__(1, 5),
        "the distances are not those",
    ),
    "a member less": (_consistent, lambda data: data["conclusions"]["members"].pop(), "the members are not those"),
    "a visit less": (_consistent, lambda data: data["visits"].pop(1), "not visited, but it is said to be complete"),
    "a visit twice": (
        _consistent,
        lambda data: data["visits"].append(data["visits"][0]),
        "a node was visited twice",
    ),
    "another visitor": (
        _consistent,
        lambda data: data["visits"][0].update(node=0),
        "all neighbours of either are known, but it was not visited|visited twice",
    ),
    "a limit hidden": (_limited, lambda data: data.update(incomplete=None), "were not visited, but it is said to be"),
    "a fact less": (
        _consistent,
        lambda data: data["conclusions"]["facts"].pop(),
        "follows from the findings, but is not there",
    ),
    "a fact twice": (
        _consistent,
        lambda data: data["conclusions"]["facts"].append(data["conclusions"]["facts"][0]),
        "a conclusion is stated twice",
    ),
    "a fact of nobody": (
        _consistent,
        lambda data: data["conclusions"]["facts"].append(
            {"fact": ["odd", 0], "rule": "", "bindings": [], "premises": []}
        ),
        r"\['odd', 0\] does not follow from the findings",
    ),
    "a premise less": (
        _consistent,
        lambda data: data["conclusions"]["facts"][0]["premises"].pop(),
        "does not follow by the rule",
    ),
    "no findings": (
        _consistent,
        lambda data: [visit.update(findings=[]) for visit in data["visits"]],
        "does not follow from the findings",
    ),
    "tests of nobody": (_consistent, lambda data: _verdict(data).update(x=99), "there is no node number 99"),
    "a kind of evidence of another version": (
        _consistent,
        lambda data: _evidence(data).update(kind="dream"),
        "evidence of the kind 'dream', which this version does not know",
    ),
    "a kind of evidence that it is not": (
        _consistent,
        lambda data: _evidence(data).update(kind="score"),
        "evidence of the kind 'score' has what belongs to the kind",
    ),
    "another policy": (_consistent, lambda data: data.update(policy="odd"), "the policy 'odd' is unknown"),
    "a rule that is none": (_consistent, lambda data: _rule(data, 0, "odd"), "'odd' is no rule"),
    "a rule of an odd relation": (
        _consistent,
        lambda data: _rule(data, 0, "R: odd(A, B) => arrow(A, B)  # no"),
        "the unknown relation 'odd'",
    ),
    "a rule of no relation": (
        _consistent,
        lambda data: _rule(data, 0, "R: arrow(A, B) and => arrow(A, B)  # no"),
        "no list of relations",
    ),
    "support of no edge": (_consistent, lambda data: data.update(support=[[0, 7, 1.0]]), "the support is not that"),
    "conflicts emptied": (_torn, lambda data: _said(data, conflicts=[]), "the findings lead to 1 conflict, not to 0"),
    "a conflict of another kind": (
        _torn,
        lambda data: data["conclusions"]["conflicts"][0].update(kind="odd"),
        "the conflict on .* is not as stated",
    ),
    "nothing dropped": (_torn, lambda data: _said(data, in_conflict=[], dropped=[["gap", 0, 1]]), "not those that"),
    "overwriting without conflicts": (_overwritten, lambda data: _said(data, conflicts=[]), "not to 0"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_part_whose_conclusions_do_not_follow_is_refused(name: str) -> None:
    """Changed or missing conclusions, premises, visits and conflicts are named in a sentence."""
    make, spoil, message = SPOILT[name]
    data = make()
    spoil(data)
    with pytest.raises(PartFileError, match=message):
        parse_part(json.dumps(data), "part.json")


def test_a_part_of_rules_that_are_not_installed_is_noted_as_unchecked() -> None:
    """The rules in the file are fired, and a note says that nobody has checked them; it saves and loads again."""
    data = _consistent()
    data["rulebook"] = {"name": "mine", "rules": [f"my {line}" for line in data["rulebook"]["rules"]]}
    for one in data["conclusions"]["facts"]:
        one["rule"] = f"my {one['rule']}"
    part = parse_part(json.dumps(data), "part.json")

    assert part.arrows == learn(network("asia"), "either", depth=2).arrows
    assert any("no rulebook that is installed" in str(note) for note in part.notes)
    assert parse_part(part_json(part), "again") == part


def test_a_drawing_costs_what_the_part_has_not_how_far_it_says() -> None:
    """A part whose farthest node is said to be 10**12 steps away is drawn as if it were near."""
    part = learn(network("asia"), "either", depth=2)
    far = dict(part.distances)
    far[max(far, key=far.__getitem__)] = 10**12
    drawn = attrs.evolve(part, distances=far)

    assert "1000000000000 steps" in drawn.svg()
    assert drawn.picture()
