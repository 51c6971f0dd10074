"""Arguments of a wrong kind: whatever is given to a public function, it works or is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ranking import rank
from tiling import tile

from apsl_rules import (
    Dag,
    Knowledge,
    blanket,
    compare,
    effect,
    learn,
    learn_graph,
    learn_many,
    network,
    score,
    stability,
    table,
)
from apsl_rules.errors import ApslError
from apsl_rules.evaluation.exactness import verify
from apsl_rules.graphs.networks.sampling import random_network, sample, simulate
from apsl_rules.learning.sklearn import PartSelector
from apsl_rules.parts import load_part

NETWORK: Any = network("cancer")
ROWS = sample(NETWORK, 200, seed=1)
FRAME: Any = pd.DataFrame(dict(zip(ROWS.names, ROWS.codes, strict=True)))
PART: Any = learn(NETWORK, "Cancer")
BY_TESTS: Any = {"learner": "apsl"}
HALF: Any = 1.5
LISTED: Any = ["Cancer"]
NOTHING: Any = None

WRONG: list[Any] = [
    None,
    1.5,
    -1,
    True,
    "x",
    float("nan"),
    float("inf"),
    [1],
    {"a": 1},
    pd.NA,
    pd.Series([1, 2, 3]),
    np.array([1, 2, 3]),
    object(),
    b"a",
    10**5000,
    (1, 2),
]

_LEARN = (
    *("depth", "learner", "oracle", "alpha", "max_conditioning", "finder", "conflicts", "fdr", "missing"),
    *("discretize", "counts", "options", "max_tests", "max_seconds", "threads", "knowledge"),
)
_STABLE = ("depth", "resamples", "seed", "subsample", "threads", "max_tests", "max_seconds", "alpha")
_TILE = ("times", "arcs", "max_parents", "max_children", "max_neighbours", "keep", "strength", "seed")
_RANDOM = ("nodes", "mean_parents", "max_parents", "levels", "strength", "seed")
_KNOWN = ("required", "forbidden", "tiers", "apart", "apart_within")


def _giving(call: Callable[..., object], name: str, *places: Any, **others: Any) -> Callable[[Any], object]:
    """Return a function that gives its argument to a call under a name, beside some others."""
    return lambda it: call(*places, **{**others, name: it})


def _giving_in_a_list(call: Callable[..., object], name: str) -> Callable[[Any], object]:
    """Return a function that gives a list of its argument to a call under a name."""
    return lambda it: call(**{name: [it]})


CALLS: dict[str, Callable[[Any], object]] = {
    "learn, source": lambda it: learn(it, "Cancer"),
    "learn, target": lambda it: learn(FRAME, it),
    "compare, target": lambda it: compare(FRAME, it, learners=["apsl"]),
    "compare, learners": lambda it: compare(NETWORK, "Cancer", learners=it),
    "compare, depth": lambda it: compare(NETWORK, "Cancer", it, learners=["apsl"]),
    "stability, source": lambda it: stability(it, "Cancer", resamples=1),
    "stability, target": lambda it: stability(FRAME, it, resamples=1),
    "stability, progress": lambda it: stability(FRAME, "Cancer", resamples=1, progress=it, **BY_TESTS),
    "PartSelector, select": lambda it: PartSelector(select=it, learner="apsl").fit(FRAME, FRAME["Cancer"]),
    "blanket, source": lambda it: blanket(it, "Cancer"),
    "blanket, node": lambda it: blanket(FRAME, it),
    "learn_many, source": lambda it: learn_many(it, ["Cancer"]),
    "learn_many, targets": lambda it: learn_many(NETWORK, it),
    "learn_many, depth": lambda it: learn_many(NETWORK, ["Cancer"], depth=it),
    "learn_graph, source": learn_graph,
    "learn_graph, learner": lambda it: learn_graph(NETWORK, learner=it),
    "Dag": Dag,
    "Dag, parents": lambda it: Dag({"a": it}),
    "table": table,
    "table, names": lambda it: table(FRAME, names=it),
    "table, levels": lambda it: table(FRAME, levels=it),
    "table, missing": lambda it: table(FRAME, missing=it),
    "table, discretize": lambda it: table(FRAME, discretize=it),
    "network": network,
    "load_part": load_part,
    "part.save": PART.save,
    "part.report": PART.report,
    "part.to": PART.to,
    "part.why": lambda it: PART.why(it, "Cancer"),
    "part.mark": lambda it: PART.mark("Cancer", it),
    "part.parents_of": PART.parents_of,
    "part.to_bnlearn": lambda it: PART.to("bnlearn", open_edges=it),
    "part.to_bif": lambda it: PART.to("bif", open_edges="direct", levels=it),
    "sample, network": lambda it: sample(it, 10, seed=1),
    "sample, rows": lambda it: sample(NETWORK, it, seed=1),
    "sample, seed": lambda it: sample(NETWORK, 10, seed=it),
    "simulate, rows": lambda it: simulate(NETWORK, it, "rows.csv", seed=1),
    "simulate, path": lambda it: simulate(NETWORK, 10, it, seed=1),
    "score, learned": lambda it: score(it, NETWORK),
    "score, truth": lambda it: score(PART, it),
    "score, against": lambda it: score(PART, NETWORK, against=it),
    "score, scored": lambda it: score(PART, NETWORK, scored=it),
    "score, depth": lambda it: score(PART.graph(), NETWORK, target="Cancer", depth=it),
    "score, target": lambda it: score(PART.graph(), NETWORK, target=it, depth=1),
    "score, columns": lambda it: score(PART, NETWORK, scored="extension", columns=it),
    "verify, source": verify,
    "verify, depth": lambda it: verify(NETWORK, depth=it, targets=["Cancer"]),
    "verify, targets": lambda it: verify(NETWORK, depth=1, targets=it),
    "rank": lambda it: rank(it, better="lower"),
    "rank, better": lambda it: rank({"a": [1], "b": [2]}, better=it),
    "tile, network": lambda it: tile(it, 2, seed=1),
    "Knowledge.read": Knowledge.read,
    **{f"learn, {name}": _giving(learn, name, FRAME, "Cancer", **BY_TESTS) for name in _LEARN},
    **{
        f"blanket, {name}": _giving(blanket, name, FRAME, "Cancer")
        for name in ("finder", "oracle", "alpha", "max_conditioning", "options")
    },
    **{f"stability, {name}": _giving(stability, name, FRAME, "Cancer", resamples=1, **BY_TESTS) for name in _STABLE},
    **{f"tile, {name}": _giving(tile, name, NETWORK, times=2, seed=1) for name in _TILE},
    **{f"random_network, {name}": _giving(random_network, name, nodes=5, seed=1) for name in _RANDOM},
    **{f"Knowledge, {name}": _giving(Knowledge, name) for name in _KNOWN},
    **{f"Knowledge, {name}, entry": _giving_in_a_list(Knowledge, name) for name in _KNOWN},
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_kind_is_refused_in_one_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but a sentence comes of a value that a function has no use for."""
    monkeypatch.chdir(tmp_path)
    refused = 0
    for value in WRONG:
        said = _said(CALLS[name], value)
        assert len(said.splitlines()) <= 1
        refused += bool(said)
    assert refused >= len(WRONG) // 2


def _said(call: Callable[[Any], object], value: Any) -> str:
    """Return the sentence with which a call refuses a value, or nothing if it takes it."""
    try:
        call(value)
    except ApslError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sample(NETWORK, HALF, seed=1), "rows is 1.5; give a whole number, 1 or more"),
        (lambda: sample(NETWORK, 5, seed=HALF), "seed is 1.5; give a whole number, 0 or more"),
        (
            lambda: learn(FRAME, "Cancer", max_tests=HALF, **BY_TESTS),
            "max_tests is 1.5; give at least 1, a whole number",
        ),
        (lambda: learn(FRAME, "Cancer", threads=True, **BY_TESTS), "threads is True; give at least 1, a whole number"),
        (lambda: learn(FRAME, LISTED), r"the target is \['Cancer'\]; give the name of one node"),
        (lambda: learn(FRAME, "Cancer", options=LISTED), r"options is \['Cancer'\]; give a dict"),
        (lambda: learn(FRAME, "Cancer", cache=HALF), "cache is 1.5; give the path of a file"),
        (lambda: PART.save(1), "the file to write is 1; give the path of a file"),
        (lambda: load_part(NOTHING), "the file to read is None; give the path of a file"),
        (lambda: random_network(HALF, seed=1), "nodes is 1.5; give a whole number, 1 or more"),
    ],
)
def test_the_sentence_says_what_was_given_and_what_to_give(call: Callable[[], object], sentence: str) -> None:
    """The argument, its value and what would be right stand in the sentence."""
    with pytest.raises(ApslError, match=sentence):
        call()


@pytest.mark.parametrize("kind", ["Series", "array", "frame"])
def test_values_instead_of_a_target_are_refused_with_the_way_to_join_them(kind: str) -> None:
    """Whoever is used to fit(X, y) is told that the target is the name of a column, and how to join X and y."""
    values: Any = {"Series": FRAME["Cancer"], "array": FRAME["Cancer"].to_numpy(), "frame": FRAME[["Cancer"]]}[kind]
    rest = FRAME.drop(columns="Cancer")
    with pytest.raises(
        ApslError, match=r"the target is the name of a column of the table, so join X and y first"
    ) as told:
        effect(rest, "Smoker", values)

    assert "learn(X.assign(y=y), 'y')" in str(told.value)
    assert learn(rest.assign(y=FRAME["Cancer"]), "y", **BY_TESTS).target == "y"


def _nested(depth: int) -> Any:
    label: Any = "a"
    for _ in range(depth):
        label = (label,)
    return label


@pytest.mark.parametrize("depth", [51, 400, 5000])
def test_a_label_nested_too_deeply_is_refused_on_the_way_in(depth: int) -> None:
    """Labels that nothing could order, print or save are refused by whatever takes them."""
    label = _nested(depth)
    for call in (
        lambda: Dag({label: [], "b": [label]}),
        lambda: learn(table(np.array([[0, 1], [1, 0]] * 9), names=[label, "b"]), "b"),
        lambda: Knowledge(required=[(label, "b")]),
        lambda: PART.why(label, "Cancer"),
    ):
        with pytest.raises(ApslError, match="a label is nested more than 50 tuples deep; give a flatter one"):
            call()


def test_a_label_nested_as_deeply_as_may_be_is_saved_and_read(tmp_path: Path) -> None:
    """The deepest labels that are taken go through a file, a drawing and a proof."""
    label = _nested(50)
    part = learn(Dag({label: [], "b": [label]}), "b")
    part.save(tmp_path / "part.json")

    assert load_part(tmp_path / "part.json").nodes == (label, "b")
    assert str(part.why(label, "b"))


def test_a_number_of_four_thousand_digits_is_a_label_and_a_longer_one_is_not(tmp_path: Path) -> None:
    """Python spells no number of more than some 4,300 digits, so that labels end before."""
    part = learn(Dag({10**3999: [], "b": [10**3999]}), "b")
    part.save(tmp_path / "part.json")

    assert load_part(tmp_path / "part.json").nodes == (10**3999, "b")
    with pytest.raises(ApslError, match="a number of more than 4,000 digits; give a shorter one"):
        Dag({10**4999: []})
