"""Independence changes: what is asked, in which order, and what becomes of tests with too few rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from apsl_backends.finders.by_tests import Hiton
from apsl_backends.independence.d_separation import DSeparation
from apsl_published.visits import Changes
from apsl_rules.evidence.evidence import Decision, Verdict
from apsl_rules.names import Node
from apsl_rules.neighbours.symmetric import Blanket, Candidates, Neighbours
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.plugins.offers import FinderSettings
from apsl_rules.rules.vocabulary import chain, collider
from support.graphs import MICRO


class Scripted(Oracle):
    """An oracle of X and Y that answers by the given nodes, "dependent" unless told otherwise, and keeps a record."""

    name = "script"
    nodes = ("X", "Y", "T", "B", "C")

    def __init__(self, **answers: Decision) -> None:
        self.answers = answers
        self.asked: list[str] = []

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Look up the answer."""
        key = "".join(sorted(map(str, given)))
        self.asked.append(key)
        return Verdict(x, y, tuple(given), self.answers.get(key or "nothing", "dependent"), self.name)


class Known:
    """A finder and a finder of blankets that know one thing each: nobody's neighbours, and B and C as blankets."""

    def candidates(self, node: Node) -> Candidates:
        """Know no candidates."""
        return Candidates(node, ())

    def blanket(self, node: Node) -> Blanket:
        """Return the first end the blanket B, the second end C, with the other end and T in both."""
        return Blanket(node, ("T", "B" if node == "X" else "C"), {"T": ("Y" if node == "X" else "X",)})


def changes(oracle: Scripted, *, first_only: bool = False, accept: bool = False) -> Changes:
    """Track changes with the blankets B and C."""
    neighbours = Neighbours(Known(), symmetric=True)
    return Changes(oracle, neighbours, Known(), first_only=first_only, accept_unreliable=accept)


def test_a_pair_that_becomes_dependent_meets_in_a_collider() -> None:
    """Independent without the middle and dependent with it; both verdicts are kept, the separating one first."""
    oracle = Scripted(nothing="independent")

    kind, verdicts = changes(oracle).kind("X", "T", "Y")

    assert kind is collider
    assert [(verdict.given, verdict.decision) for verdict in verdicts] == [((), "independent"), (("T",), "dependent")]


def test_a_pair_that_becomes_independent_meets_in_none() -> None:
    """Dependent without the middle and independent with it, here given a blanket."""
    oracle = Scripted(BT="independent")

    kind, verdicts = changes(oracle).kind("X", "T", "Y")

    assert kind is chain
    assert [(verdict.given, verdict.decision) for verdict in verdicts] == [
        (("B", "T"), "independent"),
        (("B",), "dependent"),
    ]
    assert oracle.asked == ["", "T", "B", "BT"]


@pytest.mark.parametrize(
    ("first_only", "asked"), [(False, ["", "T", "B", "BT", "C", "CT"]), (True, ["", "T", "B", "BT"])]
)
def test_without_any_change_nothing_is_said(*, first_only: bool, asked: list[str]) -> None:
    """Nothing, then the blanket of the first end, then that of the second, unless the first alone is asked for."""
    oracle = Scripted()

    assert changes(oracle, first_only=first_only).kind("X", "T", "Y") == (None, ())
    assert oracle.asked == asked


def test_independent_either_way_is_undecided_but_apart() -> None:
    """No change is no evidence about the middle; that the two are apart is kept."""
    kind, verdicts = changes(Scripted(nothing="independent", T="independent")).kind("X", "T", "Y")

    assert kind is None
    assert [verdict.given for verdict in verdicts] == [()]


@pytest.mark.parametrize(("accept", "expected"), [(False, None), (True, collider)])
def test_too_few_rows_confirm_a_collider_only_if_accepted(*, accept: bool, expected: object) -> None:
    """The published habit takes a test with too few rows for a dependence."""
    oracle = Scripted(nothing="independent", T="unreliable")

    assert changes(oracle, accept=accept).kind("X", "T", "Y")[0] is expected


def test_a_stored_separator_comes_before_blankets() -> None:
    """On N4, X and Y are separated by what only Y's search finds; no blanket is asked for."""
    oracle = DSeparation(MICRO["N4"])
    neighbours = Neighbours(Hiton(oracle, FinderSettings()), symmetric=True)

    class Refusing:
        def blanket(self, node: Node) -> Blanket:
            raise AssertionError(node)

    kind, verdicts = Changes(oracle, neighbours, Refusing()).kind("X", "A", "Y")

    assert kind is collider
    assert set(verdicts[0].given) == {"W", "B"}
