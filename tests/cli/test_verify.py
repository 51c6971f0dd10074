"""``apsl verify`` on saved parts: conclusions are derived again, and with ``--data`` every test is asked again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from apsl_rules import learn, network
from apsl_rules.learning import ask_again
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.plugins import installed
from support.golden import frames
from support.terminal import apsl_here


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two tables, and a part of each: of categories with settings, of numbers with gaps."""
    path = tmp_path_factory.mktemp("verify")
    for name, target, how in (
        ("asia", "dysp", {"learner": "apsl", "drop": ["tub"], "alpha": 0.05}),
        ("mixed with gaps", "dose", {"kinds": {"visits": "category"}}),
    ):
        frames()[name].to_csv(path / f"{name}.csv", index=False)
        learn(pd.read_csv(path / f"{name}.csv"), target, depth=2, hidden="excluded", **how).save(path / f"{name}.json")
    return path


def spoilt(folder: Path, spoil: Callable[[dict[str, Any]], None]) -> Path:
    """Write the first part with something changed."""
    data = json.loads((folder / "asia.json").read_text("utf-8"))
    spoil(data)
    (folder / "spoilt.json").write_text(json.dumps(data, separators=(",", ":")), "utf-8")
    return folder / "spoilt.json"


@pytest.mark.parametrize("name", ["asia", "mixed with gaps"])
def test_a_saved_part_is_sound_and_its_tests_give_the_same_figures(folder: Path, name: str) -> None:
    """The last line says "sound", and the tests that were asked again are counted."""
    done = apsl_here("verify", f"{name}.json", "--data", f"{name}.csv", folder=folder)

    assert done.code == 0, done.err
    assert "asked again on the data" in done.out
    assert done.words.endswith("sound: every conclusion follows from the findings, and the tests give the same on the data")  # fmt: skip  # noqa: E501


def test_every_wrong_conclusion_is_named(folder: Path) -> None:
    """Each fault has a line of its own, the last line counts them, and the exit code is 1."""

    def spoil(data: dict[str, Any]) -> None:
        data["conclusions"].update(arrows=[], lines=[])
        data["conclusions"]["facts"].pop()

    done = apsl_here("verify", str(spoilt(folder, spoil)))

    assert done.code == 1
    assert "the arrows are not those that the findings give" in done.out
    assert "follows from the findings, but is not there" in done.out
    assert done.out.splitlines()[-1] in ("not sound: 2 faults", "not sound: 3 faults")


@pytest.mark.parametrize(
    ("figure", "value"), [("statistic", 777.0), ("p", 0.5), ("dof", 99), ("n", 7), ("log_p", -1.0)]
)
def test_a_changed_figure_is_found_on_the_data(folder: Path, figure: str, value: float) -> None:
    """A file with another figure follows from itself, but not from the rows; the fault shows both."""

    def spoil(data: dict[str, Any]) -> None:
        found = (
            one for visit in data["visits"] for finding in visit["findings"] for one in finding["evidence"]["verdicts"]
        )
        next(one for one in found if one["decision"] == "dependent")[figure] = value

    path = str(spoilt(folder, spoil))
    assert apsl_here("verify", path).code == 0
    done = apsl_here("verify", path, "--data", "asia.csv", folder=folder)

    assert done.code == 1
    assert f"{figure} of the test " in done.out
    assert done.out.splitlines()[-1] == "not sound: 1 fault"


def test_other_rows_are_noticed(folder: Path) -> None:
    """Rows that are not those of the part have another fingerprint, and give other figures."""
    frames()["asia"].iloc[:1900].to_csv(folder / "fewer.csv", index=False)
    done = apsl_here("verify", "asia.json", "--data", "fewer.csv", "--json", folder=folder)

    assert done.code == 1
    faults = json.loads(done.out)["faults"]
    assert faults[0] == "the data are not those of the part: their fingerprint is another"
    assert len(faults) > 10


def test_the_answers_of_a_known_network_are_asked_again() -> None:
    """A part from perfect answers is compared with the network that gave them."""
    part = parse_part(part_json(learn(network("asia"), "dysp", depth=2)), "part.json")

    assert ask_again(part, network("asia"), installed()).faults == ()
    assert ask_again(part, network("asia"), installed()).tests > 10


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("asia.json", "--depth", "2"), "'asia.json' is a saved part, and --depth is for a network"),
        (("asia", "--data", "asia.csv"), "'asia' is a network, and --data is for a saved part"),
        (("asia.json", "--counts", "duckdb"), "none is given; add --data"),
        (("asia.json", "--data", "mixed with gaps.csv"), "the data have no usable column"),
    ],
)
def test_what_does_not_go_together_is_refused(folder: Path, words: tuple[str, ...], sentence: str) -> None:
    """Options of one kind of source are refused for the other, in a sentence."""
    done = apsl_here("verify", *words, folder=folder)

    assert done.code == 1
    assert sentence in done.err
