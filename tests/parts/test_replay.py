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
from apsl_rules.rules.conflicts import Policy
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


def test_a_file_from_before_pairs_could_be_untested_is_read() -> None:
    """Such a file lacks the relation, and knows of no such pair."""
    part = learn(ASIA, "either", learner="apsl")
    data = json.loads(part_json(part))
    data["relations"] = [one for one in data["relations"] if one["name"] != "untested"]
    read = parse_part(json.dumps(data), "part.json")

    assert (read.arrows, read.lines, read.conflicts) == (part.arrows, part.lines, part.conflicts)
    assert read.mark("either", "asia") == part.mark("either", "asia")


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


@pytest.mark.parametrize("policy", POLICIES[1:])
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
        conflicts += len(part.all_conflicts)
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
    assert data["arrows"]
    assert data["lines"]
    return data


def _torn() -> dict[str, Any]:
    part = learn(ASIA, "either", depth="max", learner="apsl", knowledge=Knowledge(required=[("dysp", "bronc")],
        apart=[("either", "lung")]), conflicts="quarantine")  # fmt: skip
    data: dict[str, Any] = json.loads(part_json(part))
    assert data["conflicts"]
    return data


def _overwritten() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(
        part_json(learn(Contradictory(), "a", depth="max", learner="apsl", conflicts="last"))
    )
    assert data["conflicts"]
    return data


def _turn(data: dict[str, Any], key: str) -> None:
    data[key] = [[y, x] for x, y in data[key]]


def _firing(data: dict[str, Any], key: str = "history") -> dict[str, Any]:
    return next(entry for entry in data[key] if "rule" in entry)


def _without_firings(data: dict[str, Any]) -> None:
    kept = [place for place, one in enumerate(data["history"]) if "rule" not in one]
    data["history"] = [data["history"][place] for place in kept]
    proofs = [one for one in data["proofs"] if "rule" not in one]
    data["proofs"] = [{"place": kept.index(one["place"])} if "place" in one else one for one in proofs]
    data["arrows"] = []
    data["rule_use"] = dict.fromkeys(data["rule_use"], 0)
    data["visits"] = [{**one, "begin": 0, "end": 0} for one in data["visits"]]
    data["visits"][-1]["end"] = len(data["history"])


def _limited() -> dict[str, Any]:
    part = learn(network("alarm"), "HR", depth="max", learner="apsl", max_tests=2000)
    assert part.incomplete
    data: dict[str, Any] = json.loads(part_json(part))
    return data


def _verdict(data: dict[str, Any]) -> dict[str, Any]:
    tested = (one["evidence"]["verdicts"] for one in data["history"] if "evidence" in one)
    return next(verdict for verdicts in tested for verdict in verdicts)


def _turned_by_fewer_rules(data: dict[str, Any]) -> None:
    del data["rule_use"]["Meek-R3"]
    for entry in (*data["history"], *data["proofs"]):
        for fact in (entry.get("fact", [""]), *entry.get("premises", [])):
            if fact[0] == "arrow":
                fact[1:] = fact[:0:-1]
    _turn(data, "arrows")


def _distance(data: dict[str, Any], value: int) -> None:
    data["distances"][-1][1] = value


def _end(data: dict[str, Any]) -> dict[str, Any]:
    """Return an entry that ends the first fact of the history."""
    first = data["history"][0]
    return {"drops": first["fact"], "because": first}


SPOILT: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[dict[str, Any]], object], str]] = {
    "arrows turned": (_consistent, lambda data: _turn(data, "arrows"), "the arrows are not those"),
    "arrows emptied": (_consistent, lambda data: data.update(arrows=[]), "the arrows are not those"),
    "an arrow twice": (_consistent, lambda data: data["arrows"].append(data["arrows"][0]), "the arrows are not those"),
    "lines emptied": (_consistent, lambda data: data.update(lines=[]), "the lines are not those"),
    "a line more": (_consistent, lambda data: data["lines"].append([0, 1]), "the lines are not those"),
    "visits emptied": (_consistent, lambda data: data.update(visits=[]), "the visits do not make up the history"),
    "a visit less": (_consistent, lambda data: data["visits"].pop(1), "the visits do not make up the history"),
    "a shorter visit": (_consistent, lambda data: data["visits"][-1].update(end=3), "the visits"),
    "a farther node": (_consistent, lambda data: _distance(data, 5), "the distances are not those over the edges"),
    "a node beyond all": (
        _consistent,
        lambda data: _distance(data, 10**7),
        "a distance is 10000000, but the part has",
    ),
    "no distances": (_consistent, lambda data: data["distances"].pop(), "distance"),
    "another visitor": (
        _consistent,
        lambda data: data["visits"][0].update(node=0),
        "all neighbours of either are known, but it was not visited",
    ),
    "a limit hidden": (_limited, lambda data: data.update(incomplete=None), "were not visited, but it is said to be"),
    "a proof less": (_consistent, lambda data: data["proofs"].pop(0), "has no proof"),
    "tests of nobody": (_consistent, lambda data: _verdict(data).update(x="ghost"), "these are no nodes of the part"),
    "a rule less, arrows turned": (_consistent, _turned_by_fewer_rules, "does not follow by the rule"),
    "another depth": (_consistent, lambda data: data.update(depth=1), "the arrows are not those"),
    "another target": (_consistent, lambda data: data.update(target=0), "the target is not at distance 0"),
    "a firing turned": (
        _consistent,
        lambda data: _firing(data).update(fact=["arrow", *reversed(_firing(data)["fact"][1:])]),
        "does not follow by the rule|rests on facts|has no proof|is not there",
    ),
    "an unknown rule": (_consistent, lambda data: _firing(data).update(rule="mine"), "rule_use does not name it"),
    "a firing less": (_consistent, lambda data: data["proofs"].pop(), "has no proof"),
    "no firings": (_consistent, _without_firings, "follows from the findings, but is not there"),
    "more firings told": (_consistent, lambda data: data["rule_use"].update({"Meek-R1": 99}), "but rule_use says 99"),
    "a store of its own": (_consistent, lambda data: data.update(store=[]), "has a proof, but does not hold"),
    "a finding twice": (
        _consistent,
        lambda data: data["history"].append(data["history"][0]),
        "tells again what is held",
    ),
    "an end of nothing": (_consistent, lambda data: data["history"].insert(0, _end(data)), "0 drops what is not held"),
    "support of no edge": (_consistent, lambda data: data.update(support=[[0, 7, 1.0]]), "the support is not that"),
    "conflicts emptied": (_torn, lambda data: data.update(conflicts=[]), "no conflict tells why|contradict each other"),
    "a conflict moved": (_torn, lambda data: data["conflicts"][0].update(pair=[0, 1]), "conflict"),
    "a conflict of another kind": (
        _torn,
        lambda data: data["conflicts"][0].update(kind="odd"),
        "proofs of something else",
    ),
    "a proof reads otherwise": (
        _torn,
        lambda data: data["conflicts"][0]["proofs"][0][0].update(text="all is well"),
        "reads 'all is well'",
    ),
    "the store is the history": (
        _torn,
        lambda data: data.update(store=None),
        "contradict each other|has a proof|no proof",
    ),
    "the order does not matter": (_overwritten, lambda data: data.update(order_dependent=False), "contradict"),
    "overwriting without conflicts": (_overwritten, lambda data: data.update(conflicts=[]), "conflict"),
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_part_that_does_not_follow_is_refused(name: str) -> None:
    """Each piece that contradicts the others is named in one sentence when the part is read."""
    make, spoil, sentence = SPOILT[name]
    data = make()
    spoil(data)
    with pytest.raises(PartFileError, match=sentence) as refused:
        parse_part(json.dumps(data), "part.json")

    assert str(refused.value).startswith("'part.json' is a damaged part file: ")
    assert len(str(refused.value).splitlines()) == 1


def test_rules_of_a_plugin_that_is_not_there_are_taken_as_they_are() -> None:
    """A part whose rules are unknown here is read all the same; it is only checked to hang together."""
    data = _consistent()
    data["rule_use"] = {f"my {name}": times for name, times in data["rule_use"].items()}
    for key in ("history", "proofs"):
        for entry in data[key]:
            if "rule" in entry:
                entry["rule"] = f"my {entry['rule']}"
    part = parse_part(json.dumps(data), "part.json")

    assert part.arrows == learn(network("asia"), "either", depth=2).arrows


def test_a_drawing_costs_what_the_part_has_not_how_far_it_says() -> None:
    """A part whose farthest node is said to be 10**12 steps away is drawn as if it were near."""
    part = learn(network("asia"), "either", depth=2)
    far = dict(part.distances)
    far[max(far, key=far.__getitem__)] = 10**12
    drawn = attrs.evolve(part, distances=far)

    assert "1000000000000 steps" in drawn.svg()
    assert drawn.picture()
