"""``apsl effect``, ``apsl causes`` and ``apsl fit``: answers, and one sentence for each wrong question."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules.graphs.networks import network, read_bif, simulate
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with rows of asia beside a constant and an identifier, and a part learned from them."""
    place = tmp_path_factory.mktemp("effects")
    simulate(network("asia"), 3000, place / "drawn.csv", seed=5)
    lines = (place / "drawn.csv").read_text("utf-8").splitlines()
    rows = [f"{lines[0]},flat,visit_id", *(f"{line},same,{number}" for number, line in enumerate(lines[1:], start=1))]
    (place / "visits.csv").write_text("\n".join(rows) + "\n", "utf-8")
    done = apsl_here(
        "learn", str(place / "visits.csv"), "-t", "either", "-k", "2", "--out", str(place / "part.json"), "--quiet"
    )
    assert done.code == 0
    return place


@pytest.fixture(autouse=True)
def _inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_an_effect_from_a_table() -> None:
    """The possible effects and what bounds them, as text and as JSON; with --why also what they rest on."""
    text = apsl_here("effect", "visits.csv", "smoke", "lung", "--quiet").words
    drawn = apsl_here("effect", "visits.csv", "smoke", "lung", "--graphs", "drawn", "--quiet").words
    data = json.loads(apsl_here("effect", "visits.csv", "smoke", "lung", "--json", "--quiet").out)
    grounds = apsl_here("effect", "visits.csv", "smoke", "lung", "--why", "--quiet").words

    assert "effect of smoke on lung: P(lung = yes), smoke = yes against no" in text
    assert "rests on the rows alone" in text
    assert "what comes first would decide it: --tier smoke --tier lung" in text
    assert "whatever the open lines are" in drawn
    assert data["bounds"] == [0.0, pytest.approx(0.103, abs=0.01)]
    assert "no hidden common cause of smoke and lung" in grounds


def test_effects_at_the_target_of_a_part() -> None:
    """Without a cause every edge at the target has its effect; what is refused says why, in words of the options."""
    done = apsl_here("effect", "part.json", "--data", "visits.csv", "--quiet", "--graphs", "drawn", "--empty", "refuse")

    assert done.code == 0
    assert "effect of lung on either" in done.out
    assert "whatever the open lines are" in done.out
    assert [row["cause"] for row in json.loads(apsl_here("effect", "part.json", "--data", "visits.csv", "--json").out)]


def test_causes_of_a_known_network_and_of_a_table() -> None:
    """A network answers exactly; a table with its tests."""
    known = apsl_here("causes", "asia", "smoke", "dysp", "--quiet").out
    table = json.loads(apsl_here("causes", "visits.csv", "smoke", "either", "--json", "--quiet").out)

    assert known.startswith("always: smoke is a cause of dysp")
    assert table["answer"] in {"always", "depends"}


def test_a_part_is_fitted_asked_and_written() -> None:
    """Probabilities change with --given and --do; the BIF file has them all."""
    plain = json.loads(apsl_here("fit", "part.json", "visits.csv", "--directed", "--json", "--out", "part.bif").out)
    given = json.loads(apsl_here("fit", "part.json", "visits.csv", "--directed", "--json", "--given", "lung=yes").out)
    done = apsl_here("fit", "part.json", "visits.csv", "--directed", "--query", "lung", "--do", "xray=yes")

    assert plain["probabilities"]["yes"] < 0.1
    assert given["probabilities"]["yes"] > 0.9
    assert "log-loss of either" in done.out
    assert read_bif("part.bif").tables["lung"].shape[-1] == 2


WRONG = {
    "the same node": (("effect", "visits.csv", "lung", "lung"), "'lung' is named as cause and as target"),
    "an unknown cause": (("effect", "visits.csv", "smok", "lung"), "unknown cause 'smok'; did you mean 'smoke'?"),
    "an unknown target": (("effect", "visits.csv", "smoke", "lang"), "unknown target 'lang'; did you mean 'lung'?"),
    "a constant": (("effect", "visits.csv", "flat", "lung"), "the cause 'flat' cannot be used: column 'flat' was set"),
    "an identifier": (("effect", "visits.csv", "smoke", "visit_id"), "take it back with --number visit_id"),
    "no target": (("effect", "visits.csv", "smoke"), "the effect of 'smoke' on what? name a TARGET too"),
    "no cause": (("effect", "visits.csv"), "'visits.csv' is no saved part; name the CAUSE and the TARGET"),
    "a part without rows": (
        ("effect", "part.json", "smoke", "lung"),
        "give the table that it was learned from",
    ),
    "a network without rows": (
        ("effect", "asia", "smoke", "lung"),
        "no rows to estimate from; give a table as --data",
    ),
    "too far": (
        ("effect", "part.json", "smoke", "bronc", "--data", "visits.csv", "--graphs", "drawn"),
        "not have all edges of 'smoke'",
    ),
    "a mediator": (
        ("effect", "asia", "smoke", "dysp", "--data", "visits.csv", "--adjust", "bronc"),
        "adjusting for 'bronc' is wrong",
    ),
    "an unknown column held": (
        ("effect", "visits.csv", "smoke", "lung", "--adjust", "bronk"),
        "unknown node in --adjust 'bronk'; did you mean 'bronc'?",
    ),
    "no positivity": (
        ("effect", "asia", "either", "xray", "--data", "visits.csv"),
        "cannot be estimated: nothing shows what either = yes does where lung = no, tub = no",
    ),
    "confidence": (("effect", "visits.csv", "smoke", "lung", "--confidence", "95"), "--confidence is 95.0; give"),
    "causes of itself": (("causes", "asia", "lung", "lung"), "name two different nodes"),
    "open lines": (("fit", "part.json", "visits.csv"), "give --directed to let names decide their direction"),
    "a wrong level": (
        ("fit", "part.json", "visits.csv", "--directed", "--given", "lung=maybe"),
        "'lung' has no level 'maybe'; the levels are 'no', 'yes'",
    ),
    "no level": (
        ("fit", "part.json", "visits.csv", "--directed", "--do", "lung"),
        "--do is 'lung'; give a node",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_question_gets_one_sentence(name: str) -> None:
    """The sentence speaks of options, and nothing is printed on standard output."""
    words, sentence = WRONG[name]
    done = apsl_here(*words)

    assert done.code == 1
    assert sentence in done.err
    assert not done.out
    assert done.err.count("\n") == 1
