"""Relations and facts: canonical readings, and what cannot be a fact."""

from __future__ import annotations

from typing import Any

import pytest

from apsl_rules.errors import RuleError
from apsl_rules.evidence.evidence import Evidence, Verdict
from apsl_rules.rules.vocabulary import (
    Fact,
    Relation,
    Variable,
    adjacent,
    arrow,
    by_name,
    chain,
    collider,
    fact_key,
    settled,
)

X, Y = Variable("X"), Variable("Y")


def test_both_readings_of_a_symmetric_relation_are_one_fact() -> None:
    """The edges a -- b and b -- a are the same; the arrows a -> b and b -> a are not."""
    assert adjacent.fact("b", "a") == adjacent.fact("a", "b") == Fact("adjacent", ("a", "b"))
    assert chain.fact("c", "a", "b") == chain.fact("b", "a", "c")
    assert chain.fact("a", "b", "c") != chain.fact("b", "a", "c")
    assert arrow.fact("b", "a") != arrow.fact("a", "b")


def test_labels_of_different_kinds_can_be_related() -> None:
    """The first node of a symmetric fact is the first by name, whatever the kinds."""
    assert adjacent.fact("a", 1) == adjacent.fact(1, "a")
    assert adjacent.fact(10, 2).nodes == (2, 10)
    assert adjacent.fact("10", "2").nodes == ("10", "2")
    assert adjacent.fact(("t", 1), "t").nodes == ("t", ("t", 1))


def test_readings_are_all_orders_in_which_a_fact_holds() -> None:
    """A symmetric fact reads in two ways, any other in one."""
    assert collider.readings(("a", "b", "c")) == (("a", "b", "c"), ("c", "b", "a"))
    assert arrow.readings(("a", "b")) == (("a", "b"),)
    assert settled.readings(("a",)) == (("a",),)


@pytest.mark.parametrize("nodes", [("a",), ("a", "b", "c"), ("a", "a"), ("a", "b", "a"), ()])
def test_a_fact_needs_the_right_number_of_different_nodes(nodes: tuple[str, ...]) -> None:
    """Too few nodes, too many, or the same one twice are refused."""
    with pytest.raises(RuleError, match=r"the relation 'adjacent' relates 2 different nodes, not \("):
        adjacent.fact(*nodes)


@pytest.mark.parametrize("variables", [(X,), (X, Y, X)])
def test_an_atom_needs_the_right_number_of_variables(variables: tuple[Variable, ...]) -> None:
    """The message says how many nodes the relation relates."""
    with pytest.raises(RuleError, match=f"the relation 'arrow' relates 2 nodes, not {len(variables)}"):
        arrow(*variables)


def test_an_atom_speaks_of_variables_only() -> None:
    """A node in a rule is refused, and the message says how a fact is made."""
    node: Any = "b"

    with pytest.raises(RuleError, match=r"a rule speaks of variables, but 'arrow' was given 'b'; use \.fact\(\)"):
        arrow(X, node)


def test_an_atom_names_no_variable_twice() -> None:
    """A fact relates different nodes, so an atom with one variable in two places could never hold."""
    with pytest.raises(RuleError, match="the relation 'arrow' relates different nodes, but X stands in two places"):
        arrow(X, X)


def test_two_meanings_of_one_name_are_refused() -> None:
    """One name means one relation; the same relation may be listed twice."""
    other = Relation("arrow", 3, "{0} {1} {2}")

    assert by_name([arrow, arrow, adjacent]) == {"arrow": arrow, "adjacent": adjacent}
    with pytest.raises(RuleError, match="two relations share the name 'arrow'; rename one"):
        by_name([arrow, other])


def test_facts_read_as_sentences() -> None:
    """Relations say their facts in words."""
    assert arrow.text(("a", "b")) == "a -> b"
    assert chain.text(("a", "b", "c")) == "b is no collider between a and c"


def test_facts_sort_by_relation_and_names() -> None:
    """Facts with nodes of any kind have one order."""
    facts = [arrow.fact("b", 1), arrow.fact(2, "a"), adjacent.fact("b", 1), arrow.fact(10, "a")]

    assert sorted(facts, key=fact_key) == [
        adjacent.fact("b", 1),
        arrow.fact(2, "a"),
        arrow.fact(10, "a"),
        arrow.fact("b", 1),
    ]


def test_the_separator_of_evidence_is_that_of_its_first_independence() -> None:
    """A finding that rests on a separation gives the separating set; others have none."""
    apart = Verdict("a", "b", ("c",), "independent", "G²")
    joined = Verdict("a", "b", ("c", "d"), "dependent", "G²")

    assert Evidence("G²", (apart, joined)).separator == ("c",)
    assert Evidence("G²", (joined,)).separator is None
