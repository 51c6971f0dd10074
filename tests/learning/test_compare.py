"""Several learners on one task: the figures of each, and how far they agree."""

from __future__ import annotations

import json
from collections.abc import Sequence

import attrs
import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import learn, network
from apsl_rules.errors import InvalidArgumentError, UnknownNameError
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.learning.api import compare
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.manager import installed
from support.graphs import MICRO


def test_a_row_has_the_figures_of_a_learner() -> None:
    """The row of each learner says what its own run says."""
    alarm = network("alarm")

    compared = compare(alarm, "HREKG", 2, learners=["apsl", "pcd-by-pcd-paper"])
    row = compared.rows()[1]
    part = learn(alarm, "HREKG", depth=2, learner="pcd-by-pcd-paper")

    assert isinstance(row.pop("cpu"), float)
    assert row == {
        "learner": "pcd-by-pcd-paper",
        "edges": 7,
        "arrows": 7,
        "lines": 0,
        "conflicts": 0,
        "shared": 7,
        "same": 6,  # all but the false HRSAT -> ERRCAUTER
        "visited": 10,
        "tests": part.counts.asked,
        "complete": True,
    }
    assert compared.parts["pcd-by-pcd-paper"].arrows == part.arrows


def test_without_names_the_default_and_its_rivals_are_compared() -> None:
    """A first call needs no list of learners, and begins with the default, as the command line does."""
    compared = compare(MICRO["N3"], "T")

    assert [row["learner"] for row in compared.rows()] == ["auto", "apsl", "cmb", "pcd-by-pcd"]


def test_agreement_is_with_the_first_learner() -> None:
    """On N3 the published algorithm has one edge more: of its two, one is shared; of the one, one."""
    rows = compare(MICRO["N3"], "T", learners=["apsl-paper", "apsl"]).rows()

    assert [(row["edges"], row["shared"], row["same"]) for row in rows] == [(2, 2, 2), (1, 1, 1)]


def test_a_line_and_an_arrow_are_not_the_same() -> None:
    """On N2 the edge t - z is shared, but one learner draws an arrow."""
    rows = compare(MICRO["N2"], "t", learners=["apsl", "cmb-paper"]).rows()

    assert [(row["lines"], row["shared"], row["same"]) for row in rows] == [(1, 3, 3), (0, 3, 2)]


def test_rows_are_plain_values() -> None:
    """They can be written as JSON and make a data frame and a table of text."""
    compared = compare(MICRO["N8"], "A", "max", learners=["apsl", "cmb"])

    assert json.loads(json.dumps(compared.rows())) == compared.rows()
    assert list(compared.to_frame()["learner"]) == ["apsl", "cmb"]
    lines = str(compared).splitlines()
    named = lines[0].split()
    assert named == [name for name in compared.rows()[0] if name in named]
    assert not {name for name in compared.rows()[0] if name not in named} & {"learner", "arrows", "lines", "shared"}
    assert lines[1].split()[:5] == ["apsl", "5", "3", "2", "0"]
    assert repr(compared) == "<Comparison of apsl, cmb>"


def test_specs_and_settings_are_passed_on() -> None:
    """A spec of one's own is compared by its name, and a limit holds for every learner."""
    mine = attrs.evolve(installed().learners["apsl"].spec, name="mine")

    rows = compare(network("alarm"), "HR", 2, learners=[mine, "cmb"], max_tests=40).rows()

    assert [row["learner"] for row in rows] == ["mine", "cmb"]
    assert not any(row["complete"] for row in rows)


class Counting(Oracle):
    """A user's own oracle that counts the questions it gets."""

    name = "counting"

    def __init__(self) -> None:
        self.true = DSeparation(MICRO["N7"])
        self.nodes = self.true.nodes
        self.asked = 0

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Count and answer."""
        self.asked += 1
        return self.true.verdict(x, y, given)


def test_a_users_oracle_gets_no_questions_for_warming_up() -> None:
    """It is asked what the learner asks, and nothing before."""
    alone, compared = Counting(), Counting()

    learn(alone, "T")
    compare(compared, "T", learners=["apsl"])

    assert compared.asked == alone.asked


def test_mistakes_get_a_sentence() -> None:
    """No learner, one twice, or an unknown one."""
    with pytest.raises(InvalidArgumentError, match="no learners to compare"):
        compare(MICRO["N7"], "T", learners=[])
    with pytest.raises(InvalidArgumentError, match="the learner 'apsl' is named twice"):
        compare(MICRO["N7"], "T", learners=["apsl", "apsl"])
    with pytest.raises(UnknownNameError, match="unknown learner 'apsll'; did you mean 'apsl'"):
        compare(MICRO["N7"], "T", learners=["apsll"])
