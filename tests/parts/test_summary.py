"""A part in words: causes, effects, what is open, hidden, in conflict, untested or empty, and what is assumed."""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, learn, network
from apsl_rules.data import ColumnKind
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.parts import Part, statements_on, summarize
from support.contradictory import Contradictory


@cache
def patients() -> pd.DataFrame:
    """Draw a table in which three columns raise a cost."""
    random = np.random.default_rng(3)
    n = 1200
    age, sex = random.integers(18, 80, n), random.choice(["f", "m"], n)
    smoker = np.where(random.random(n) < np.where(sex == "m", 0.35, 0.2), "yes", "no")
    cost = 20 * age + 900 * (smoker == "yes") + random.normal(0, 300, n)
    return pd.DataFrame({"patient": range(1, n + 1), "sex": sex, "age": age, "smoker": smoker, "cost": cost})


def kinds_of(part: Part) -> dict[str, str]:
    """Return the words of each statement by its kind."""
    return {one.kind: str(one) for one in statements_on(part)}


def test_a_known_graph_is_told_without_a_doubt() -> None:
    """Causes and effects have no percentage and nothing is assumed; one of them is singular."""
    part = learn(network("alarm"), "VENTLUNG")

    assert summarize(part) == (
        "VENTLUNG: caused by INTUBATION, KINKEDTUBE, VENTTUBE; a cause of EXPCO2, MINVOL, VENTALV."
    )
    rain = Dag({"rain": [], "hose": [], "wet": ["rain", "hose"], "slip": ["wet"]})
    assert summarize(learn(rain, "wet", hidden="excluded")) == "wet: caused by hose, rain; a cause of slip."


def test_a_table_has_probabilities_and_assumptions() -> None:
    """Each cause has how often such an arrow is right; columns set aside and assumptions follow."""
    part = learn(patients(), "cost", depth=2, hidden="excluded")
    told = part.summary()
    shares = {row["source"]: row["probability"] * row["direction"] for row in part.rows() if row["direction"]}

    assert told.startswith("cost: likely caused by ")
    assert all(f"{node} ({share:.0%}".replace("%", " %)") in told for node, share in shares.items())
    assert set(shares) == {"age", "smoker"}
    assert told.endswith(". Arrows assume that no common cause is missing from the table.")
    assert told == summarize(part)
    further = [str(one) for one in statements_on(part)][-3:]
    assert further == [
        "1 column was set aside: patient",
        "1 further node is up to 2 steps away",
        "assumes no hidden common causes, faithfulness and independent rows",
    ]


def test_what_was_given_is_told_as_given() -> None:
    """A direction from tiers is no result of a test, and an arrow that was required is no result at all."""
    tiers = Knowledge(tiers=[["sex", "age"], ["smoker"], ["cost"]])
    part = learn(patients(), "cost", knowledge=tiers, hidden="excluded")
    assert "The directions of age, smoker are assumed from what was given; " in summarize(part)
    required = learn(patients(), "cost", knowledge=Knowledge(required=[("smoker", "cost")]), hidden="excluded")
    assert "caused by smoker (given)" in summarize(required)
    known = learn(network("asia"), "bronc", knowledge=Knowledge(required=[("smoke", "bronc")]))
    assert summarize(known).startswith("bronc: caused by smoke (given); a cause of dysp")


def test_what_is_hardly_supported_is_only_possible() -> None:
    """An arrow that is right less often than two times in three is no likely one."""
    part = learn(sample(network("insurance"), 300, seed=4), "MakeModel", depth=2, hidden="excluded")
    for one in statements_on(part):
        shares = [int(remark.removesuffix(" %")) for remark in one.remarks if one.kind in {"cause", "effect"}]
        assert all((share >= 65) == one.words.startswith("likely") for share in shares)
        assert one.words.startswith("likely") or not shares or one.words.startswith("perhaps")


def test_a_suggested_direction_stays_open() -> None:
    """It is told among the open ones, as perhaps a cause or an effect, with its percentage."""
    part = learn(sample(network("insurance"), 300, seed=4), "MakeModel", depth=2, min_direction=0.95, hidden="excluded")
    told = kinds_of(part)["open"]

    assert told.startswith("linked with ")
    assert told.endswith(", direction open")
    assert "RuggedAuto (" in told
    assert "SocioEcon (perhaps an effect, " in told


def test_tests_alone_give_no_percentage() -> None:
    """Without a score there is no probability, and the words say where arrows come from."""
    part = learn(sample(network("alarm"), 2000, seed=7), "HREKG", learner="apsl")
    told = [one for one in statements_on(part) if one.kind in {"cause", "effect"}]

    assert told
    assert all(one.words.startswith("by tests alone ") for one in told)
    assert all(not any(one.remarks) for one in told)


def test_hidden_causes_are_told() -> None:
    """Shared hidden causes and ends that are open have words of their own."""
    graph = Dag({"H": [], "C": [], "D": [], "A": ["H", "C"], "B": ["H", "D"]}).hiding("H")
    told = summarize(learn(graph, "A", depth=2, hidden="allowed"))

    assert told == "A: caused by, or sharing a hidden cause with, C; sharing a hidden cause with B."
    line = learn(Dag({"a": [], "b": ["a"]}), "a", hidden="allowed")
    assert summarize(line) == "a: linked with b, as cause, effect or by a hidden cause."


def test_a_conflict_is_told() -> None:
    """Neighbours about which findings contradict each other are named."""
    assert "with contradictory findings about b" in summarize(
        learn(Contradictory(), "a", depth="max", hidden="excluded")
    )


def test_an_empty_part_says_why() -> None:
    """The reason is that of the note on it."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.integers(0, 2, (1000, 3)), columns=list("abc"))
    told = summarize(learn(frame, "a", hidden="excluded"))

    assert told.startswith("a: no column is kept: nothing depends on 'a' at this level of evidence (1,000 rows")
    assert summarize(learn(Dag({"only": []}), "only")) == "only: no column is kept."


@pytest.mark.parametrize(("columns", "words"), [(1, "1 column could not be tested: "), (3, "3 columns could not be ")])
def test_untested_columns_are_counted(columns: int, words: str) -> None:
    """What could not be tested is neither absent nor an edge."""
    random = np.random.default_rng(1)
    wide: dict[str, Any] = {f"w{at}": random.integers(0, 40, 500) for at in range(columns)}
    frame = pd.DataFrame({"a": random.integers(0, 40, 500), "z": random.integers(0, 2, 500), **wide}).astype(str)
    part = learn(frame, "a", learner="apsl")

    assert any(str(one).startswith(words) for one in statements_on(part))
    assert part.notes


def test_an_incomplete_part_says_so() -> None:
    """What was found is so far; the reason stands at the end."""
    part = learn(network("alarm"), "HREKG", depth="max", max_tests=200)

    assert summarize(part).startswith("HREKG, so far: ")
    assert f" Incomplete: {part.incomplete}." in summarize(part)


def test_long_lists_are_cut() -> None:
    """Of many names the first are spelt out; plurals are right."""
    part = learn(Dag({"t": [], **{f"v{at:02}": ["t"] for at in range(20)}}), "t")

    assert summarize(part) == "t: linked with v00, v01, v02, v03, v04, v05, v06, v07 and 12 more, direction open."
    aside = tuple(ColumnKind(name, "set aside", "constant") for name in ("x", "y"))
    told = [str(one) for one in statements_on(attrs.evolve(part, columns=aside))]
    assert "2 columns were set aside: x, y" in told
    dropped = learn(patients(), "cost", drop=["sex"])
    told = [str(one) for one in statements_on(dropped)]
    assert {"1 column was set aside: patient", "1 column was left out as asked: sex"} <= {*told}
