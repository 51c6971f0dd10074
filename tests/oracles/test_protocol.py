"""Verdicts, sweeps and what an oracle gets for free from its one method."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isnan, log

import pytest

from apsl_rules import oracles
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence.evidence import Decision, Verdict, weaker
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import Oracle, Query, Search, Sweep, subsets


def verdict(y: str, decision: Decision, statistic: float | None = None, p: float | None = None) -> Verdict:
    """Make a verdict on x and another node."""
    return Verdict("x", y, (), decision, "test", statistic, p)


class ByTable(Oracle):
    """Looks p up by the nodes given and calls all above 0.01 independent; says unreliable where it has none."""

    nodes = ("x", "y", "a", "b")

    def __init__(self, p_values: dict[str, float]) -> None:
        self.p_values = p_values
        self.asked: list[str] = []

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Answer and write down what was given."""
        key = "".join(map(str, given))
        self.asked.append(key)
        p = self.p_values.get(key)
        decision: Decision = "unreliable" if p is None else "independent" if p > 0.01 else "dependent"
        return Verdict(x, y, tuple(given), decision, "table", 1.0, p)


def test_a_verdict_is_one_of_three() -> None:
    """An unreliable answer is neither independent nor dependent."""
    assert [(one.independent, one.dependent) for one in (verdict("a", d) for d in ("independent", "dependent"))] == [
        (True, False),
        (False, True),
    ]
    unreliable = verdict("a", "unreliable")
    assert (unreliable.independent, unreliable.dependent) == (False, False)


def test_the_strength_ranks_associations() -> None:
    """Nothing where independent, the statistic where there is one, and above all where it was not measured."""
    assert verdict("a", "independent", 3.0).association == 0.0
    assert verdict("a", "dependent", 3.0).association == 3.0
    assert verdict("a", "dependent").association == inf


def test_a_sweep_is_ranked_by_strength_and_then_by_name() -> None:
    """Independent nodes are left out; unreliable ones count as the caller says."""
    sweep = Sweep(
        "x",
        [
            verdict("d", "dependent", 2.0),
            verdict("c", "independent", 9.0),
            verdict("b", "dependent", 2.0),
            verdict("a", "unreliable", 5.0),
            verdict("e", "dependent", 7.0),
        ],
    )

    assert [one.y for one in sweep.ranked(unreliable="independent")] == ["e", "b", "d"]
    assert [one.y for one in sweep.ranked(unreliable="dependent")] == ["e", "a", "b", "d"]
    assert sweep.verdict_on("b").statistic == 2.0
    assert len(sweep) == 5
    assert sweep[0].y == "d"
    assert [one.y for one in sweep[1:3]] == ["c", "b"]


def test_a_sweep_gives_logarithms_of_p() -> None:
    """From ln p where it was kept, from p otherwise, NaN where there is none."""
    kept = Verdict("x", "a", (), "dependent", "test", 1.0, 0.0, 1, 9, -800.0)
    found = Sweep("x", [kept, verdict("b", "dependent", 1.0, 0.5), verdict("c", "dependent", 1.0, 0.0)]).log_p()

    assert found.tolist() == [-800.0, log(0.5), -inf]
    assert isnan(Sweep("x", [verdict("a", "unreliable")]).log_p()[0])


def test_subsets_come_by_size_and_then_in_order() -> None:
    """All sizes without a limit, and always with what must be included, which counts towards the limit."""
    assert list(subsets("ba", (), None)) == [(), ("b",), ("a",), ("b", "a")]
    assert list(subsets("abc", "c", 1)) == [("c",)]
    assert list(subsets("ab", "cd", 1)) == []
    assert list(subsets("", (), 3)) == [()]


def test_a_search_stops_at_the_first_separator() -> None:
    """The smallest set wins, and the tests are counted."""
    oracle = ByTable({"": 0.001, "a": 0.002, "b": 0.5, "ab": 0.9})

    found = oracle.separator("x", "y", ["a", "b"])

    assert (found.given, found.found, found.tests) == (("b",), True, 3)
    assert oracle.asked == ["", "a", "b"]
    assert found.verdict is not None
    assert found.verdict.p == 0.5


def test_a_search_in_vain_keeps_the_weakest_dependence() -> None:
    """Unreliable tests separate nothing and are no dependence either."""
    found = ByTable({"": 0.001, "a": 0.008, "b": 0.004}).separator("x", "y", ["a", "b"])

    assert (found.given, found.found, found.tests) == (None, False, 4)
    assert found.verdict is not None
    assert found.verdict.given == ("a",)
    assert ByTable({}).separator("x", "y", []).verdict is None


def test_batches_are_answered_one_by_one() -> None:
    """What an oracle does not bring itself is built from its one method."""
    oracle = ByTable({"": 0.5, "a": 0.001})
    queries: list[Query] = [("x", "y", ()), ("x", "y", ("a",))]

    assert isinstance(oracle, Oracle)
    assert [one.decision for one in oracle.verdicts(queries)] == ["independent", "dependent"]
    assert [one.y for one in oracle.associations("x")] == ["y", "a", "b"]
    assert [one.given for one in oracle.separators([Search("x", "y", ("a",)), Search("x", "y", ("a",), ("a",))])] == [
        (),
        None,
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (verdict("a", "dependent", 5.0, 0.009), verdict("a", "dependent", 4.0, 0.001), True),
        (verdict("a", "dependent", 4.0, 0.001), verdict("a", "dependent", 5.0, 0.001), True),
        (verdict("a", "dependent", 4.0), verdict("a", "dependent", 5.0, 0.001), True),
        (verdict("a", "dependent"), verdict("a", "dependent", 5.0), False),
        (verdict("a", "dependent", 4.0), verdict("a", "dependent", 4.0), False),
    ],
)
def test_the_weaker_of_two_dependences(one: Verdict, other: Verdict, *, expected: bool) -> None:
    """By p where both have one, and by the statistic otherwise."""
    assert weaker(one, other) is expected


def test_what_an_oracle_may_leave_out_has_a_default() -> None:
    """Nothing is prepared, kept or eliminated, and there is no data; an elimination is refused in one sentence."""
    oracle = ByTable({"": 0.5})

    oracle.foresee([Search("x", "y", ())], ["x"])
    oracle.flush()

    assert (oracle.asked, oracle.data, oracle.eliminates, oracle.ranked_nodes.nodes) == ([], None, False, oracle.nodes)
    with pytest.raises(InvalidArgumentError, match="does not eliminate for 'x' by itself; ask it for separators"):
        oracle.eliminate(oracle.associations("x"), unreliable="independent", cut=None, max_size=None)


def test_the_old_name_of_an_oracle_warns() -> None:
    """BaseOracle is Oracle."""
    with pytest.warns(DeprecationWarning, match=r"BaseOracle is now apsl_rules\.oracles\.Oracle"):
        assert oracles.BaseOracle is Oracle
    with pytest.raises(AttributeError, match="has no attribute 'BasicOracle'"):
        _ = oracles.BasicOracle
