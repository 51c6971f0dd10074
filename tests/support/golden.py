"""Golden parts: over three hundred runs of every kind, whose canonical forms must not move by accident.

Each case says ``hidden`` itself, so that a change of the default moves none of them. A case that has ``elsewhere`` is
learned from the same rows in every other engine too, and must give the same part there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules import Knowledge, Part, learn, learn_graph, learn_many, network
from apsl_rules.graphs.networks import sample
from support.databases import mixed_frame

CLOSED: dict[str, Any] = {"hidden": "excluded"}
OPEN: dict[str, Any] = {"hidden": "allowed"}

#: Learners that ask an oracle, so that a known graph can answer.
BY_TESTS = ("apsl", "apsl-authors", "apsl-paper", "apsl-paper-exact", "cmb", "cmb-authors", "cmb-paper", "gs",
            "gs-authors", "gs-paper", "pcd-by-pcd", "pcd-by-pcd-paper")  # fmt: skip
#: Learners that need a table of categories.
BY_COUNTS = (*BY_TESTS, "apsl-fs", "apsl-fs-paper", "apsl-score", "ggsl", "ggsl-paper", "mmhc", "mmhc-paper", "sll+c",
             "sll+g")  # fmt: skip
#: Learners that take numbers.
BY_MOMENTS = ("apsl", "apsl-mixed", "cmb", "gs", "pcd-by-pcd")


@attrs.frozen
class Case:
    """A run with a name; ``frame`` names the rows where it is to be repeated in other engines."""

    name: str
    learn: Callable[[], Part]
    frame: str | None = None
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    target: str = ""


def frame_of_network(name: str, rows: int, seed: int) -> pd.DataFrame:
    """Draw rows of a network as text."""
    drawn = sample(network(name), rows, seed=seed)
    columns = zip(drawn.names, drawn.levels, drawn.codes, strict=True)
    return pd.DataFrame({name: np.array(levels)[codes] for name, levels, codes in columns})


@cache
def frames() -> Mapping[str, pd.DataFrame]:
    """Return the tables of the cases by name."""
    random = np.random.default_rng(17)
    asia, alarm = frame_of_network("asia", 2000, 2), frame_of_network("alarm", 600, 5)
    gaps = asia.astype(object).mask(random.random(asia.shape) < 0.03, None)
    weighted = asia.value_counts().reset_index(name="times").sort_values([*asia.columns]).reset_index(drop=True)
    numbers = pd.DataFrame(random.normal(size=(500, 6)), columns=list("abcdef"))
    numbers["d"] += numbers["a"] + numbers["b"]
    numbers["e"] += 0.8 * numbers["d"]
    numbers["f"] = np.exp(numbers["f"] / 2 + numbers["c"])
    curved = numbers.assign(e=numbers["d"] ** 2 + 0.5 * random.normal(size=500))
    copies = asia.assign(either2=asia["either"], smoke2=asia["smoke"].map({"yes": "no", "no": "yes"}))
    return {
        "asia": asia,
        "alarm": alarm,
        "asia with gaps": gaps,
        "asia counted": weighted,
        "asia with copies": copies,
        "numbers": numbers,
        "curved": curved,
        "mixed": mixed_frame(400, 3),
        "mixed with gaps": mixed_frame(400, 4, missing=0.08),
    }


def cases() -> Iterator[Case]:
    """Give every case of one process: oracles, learners, kinds of columns, knowledge, limits, many targets."""
    yield from _oracle_cases()
    yield from _table_cases()
    yield from _knowledge_cases()
    yield from _limited_cases()
    yield from _joint_cases()


def _oracle_cases() -> Iterator[Case]:
    for graph, targets in (("alarm", ("HR", "CVP")), ("asia", ("dysp",)), ("child", ("Disease",))):
        for learner in BY_TESTS:
            for target in targets:
                for depth in (1, 2):
                    yield _known(graph, target, depth, learner=learner)
    for graph, target in (("insurance", "Accident"), ("sachs", "Akt"), ("win95pts", "Problem1"), ("alarm", "TPR")):
        yield _known(graph, target, 2)
        yield _known(graph, target, "max")
    for graph, target in (("asia", "dysp"), ("alarm", "HR"), ("child", "Disease"), ("sachs", "Akt")):
        for depth in (1, 2):
            yield Case(f"oracle {graph} {target} {depth} allowed", _bind(network, graph, target, depth, OPEN))
    for policy in ("quarantine", "ranked"):
        yield _known("alarm", "HR", 2, conflicts=policy)


def _known(graph: str, target: str, depth: Any, **settings: Any) -> Case:
    named = " ".join(map(str, settings.values()))
    return Case(f"oracle {graph} {target} {depth} {named}", _bind(network, graph, target, depth, CLOSED | settings))


def _bind(source: Callable[[str], Any], name: str, target: str, depth: Any, settings: Mapping[str, Any]) -> Any:
    return lambda: learn(source(name), target, depth=depth, **settings)


def _table(name: str, target: str, depth: Any = 2, **settings: Any) -> Case:
    how = CLOSED | settings
    named = " ".join(f"{key}={value}" for key, value in settings.items())
    return Case(f"{name} {target} {depth} {named}", _bind(frames().__getitem__, name, target, depth, how), name, how,
                target)  # fmt: skip


def _table_cases() -> Iterator[Case]:
    yield from _learner_cases()
    yield from _setting_cases()
    for table, target in (("numbers", "d"), ("curved", "d"), ("mixed", "dose"), ("mixed with gaps", "dose")):
        for learner in BY_MOMENTS:
            for depth in (1, 2):
                yield _table(table, target, depth, learner=learner)
        yield _table(table, target, oracle="fisherz") if table in ("numbers", "curved") else _table(table, "pain")
        yield _table(table, target, hidden="allowed")


def _learner_cases() -> Iterator[Case]:
    for learner in BY_COUNTS:
        for target, depth in (("dysp", 1), ("dysp", 2), ("either", 2), ("smoke", "max")):
            yield _table("asia", target, depth, learner=learner)
        yield _table("asia with gaps", "dysp", learner=learner)
    for learner in ("auto", "apsl", "cmb", "mmhc"):
        for target in ("HR", "CVP", "CATECHOL"):
            yield _table("alarm", target, learner=learner)
        yield _table("asia counted", "dysp", learner=learner, weights="times")
        yield _table("asia with copies", "dysp", learner=learner)


def _setting_cases() -> Iterator[Case]:
    for table in ("asia", "asia with gaps", "asia with copies", "alarm"):
        yield _table(table, "HR" if table == "alarm" else "dysp", hidden="allowed")
    for alpha in (0.001, 0.05):
        yield _table("asia", "dysp", learner="apsl", alpha=alpha)
        yield _table("mixed", "dose", learner="apsl", alpha=alpha)
    for missing in ("complete", "level"):
        yield _table("asia with gaps", "dysp", missing=missing)
        yield _table("mixed with gaps", "dose", missing=missing)
    for finder in ("hiton", "mmpc", "pcsimple", "fcbf"):
        yield _table("asia", "dysp", learner="apsl", finder=finder)
    for oracle in ("gsquare", "chisquare"):
        yield _table("alarm", "HR", learner="apsl", oracle=oracle)
    yield _table("alarm", "HR", learner="apsl", max_conditioning=1)
    yield _table("alarm", "HR", min_direction=0.9)
    yield _table("mixed", "dose", discretize="quantile:3")
    yield _table("mixed", "dose", drop=("age",))
    yield _table("mixed", "dose", kinds={"visits": "category"})


def _knowledge_cases() -> Iterator[Case]:
    told = {
        "tiers": Knowledge(tiers=[["asia", "smoke"], ["tub", "lung", "bronc"]]),
        "required": Knowledge(required=[("smoke", "bronc")]),
        "forbidden": Knowledge(forbidden=[("dysp", "either"), ("either", "tub")]),
        "apart": Knowledge(apart=[("asia", "xray")]),
        "wrong": Knowledge(required=[("dysp", "bronc"), ("xray", "either")]),
    }
    for name, knowledge in told.items():
        for learner in ("auto", "apsl"):
            for hidden in ("excluded", "allowed") if learner == "auto" else ("excluded",):
                how = {"knowledge": knowledge, "learner": learner, "hidden": hidden}
                run = _bind(frames().__getitem__, "asia", "dysp", 2, how)
                yield Case(f"asia dysp knowing {name} {learner} {hidden}", run)
        for hidden in ("excluded", "allowed"):
            run = _bind(network, "asia", "dysp", 2, {"knowledge": knowledge, "hidden": hidden})
            yield Case(f"oracle asia dysp knowing {name} {hidden}", run)
    order = Knowledge(tiers=[["age"], ["Group", "dose"], ["pain", "visits"]])
    run = _bind(frames().__getitem__, "mixed", "dose", 2, CLOSED | {"knowledge": order})
    yield Case("mixed dose knowing an order", run)


def _limited_cases() -> Iterator[Case]:
    for learner in ("auto", "apsl", "cmb"):
        for tests in (1, 20, 200):
            yield _table("alarm", "HR", 3, learner=learner, max_tests=tests)
    for tests in (5, 50):
        yield _known("alarm", "HR", 3, max_tests=tests)


def _joint_cases() -> Iterator[Case]:
    for name in ("asia", "mixed"):
        targets = [str(column) for column in frames()[name].columns]
        for target in targets:
            for learner in ("auto", "apsl"):
                yield Case(f"{name} many {target} {learner}", _of_many(name, target, learner))
    for learner in ("auto", "apsl", "mmhc"):
        yield Case(f"asia whole {learner}", _whole("asia", learner))
    yield Case("numbers whole", _whole("numbers", "auto"))


@cache
def _many(name: str, learner: str) -> Any:
    return learn_many(frames()[name], "all", depth=1, learner=learner, **CLOSED)


def _of_many(name: str, target: str, learner: str) -> Callable[[], Part]:
    return lambda: _many(name, learner)[target]


def _whole(name: str, learner: str) -> Callable[[], Part]:
    return lambda: learn_graph(frames()[name], learner=learner, **CLOSED).parts[0]


def resumed(folder: Path, case: Case) -> Part:
    """Learn a case with a cache that a limited run has begun."""
    settings = {**case.settings, "cache": folder / "answers.sqlite"}
    assert case.frame is not None
    learn(frames()[case.frame], case.target, depth=2, **settings, max_tests=20)
    return learn(frames()[case.frame], case.target, depth=2, **settings)
