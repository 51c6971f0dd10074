"""The blanket of a node by itself, by every finder that is offered."""

from __future__ import annotations

import pytest

from apsl_rules import Knowledge, learn
from apsl_rules.errors import InvalidArgumentError, UnknownNameError, UnknownNodeError
from apsl_rules.graphs.networks.library import network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.api import blanket
from apsl_rules.plugins.manager import installed
from support.graphs import MICRO


@pytest.mark.parametrize("finder", ["hiton-mb", "mmmb", "gs"])
def test_the_blanket_on_n3_is_exact_with_a_perfect_oracle(finder: str) -> None:
    """On N3 the blanket of T is its child A and the spouse B, once neighbours must find each other."""
    options = {"symmetric": True} if finder != "gs" else {}

    assert blanket(MICRO["N3"], "T", finder=finder, options=options).members == ("A", "B")


@pytest.mark.parametrize("finder", sorted(installed().blankets))
def test_every_finder_works_on_a_table(finder: str) -> None:
    """From 2,000 rows every blanket finder finds neighbours of Disease in CHILD."""
    found = blanket(sample(network("child"), 2000, seed=3), "Disease", finder=finder)

    assert found.neighbours
    assert set(found.spouses) <= set(found.neighbours)


def test_the_neighbours_are_those_of_the_part() -> None:
    """On 2,000 rows of ASIA the blanket of either has the four neighbours that learn finds, and bronc by dysp."""
    rows = sample(network("asia"), 2000, seed=5)
    found = blanket(rows, "either")

    assert (
        found.neighbours
        == learn(rows, "either", hidden="excluded").neighbours_of("either")
        == ("dysp", "lung", "tub", "xray")
    )
    assert dict(found.spouses) == {"dysp": ("bronc",)}


def test_settings_reach_the_part() -> None:
    """What is given besides a finder is given to learn."""
    rows = sample(network("child"), 500, seed=3)
    apart = Knowledge(apart=[("Disease", "LungFlow")])
    found = blanket(rows, "Disease", knowledge=apart)

    assert found.neighbours == learn(rows, "Disease", knowledge=apart, hidden="excluded").neighbours_of("Disease")
    assert "LungFlow" not in found.neighbours
    assert "LungFlow" in blanket(rows, "Disease").neighbours


def test_no_limit_on_conditioning_sets_can_be_asked_of_a_finder() -> None:
    """max_conditioning "none" lets a classical finder condition on any set."""
    rows = sample(network("asia"), 2000, seed=5)

    assert blanket(rows, "dysp", finder="hiton-mb", max_conditioning="none").neighbours


def test_unknown_names_are_refused() -> None:
    """A finder, a node or an option that does not exist is refused."""
    with pytest.raises(InvalidArgumentError, match="the option 'symmetric' is one of blanket finders; name a finder"):
        blanket(MICRO["N3"], "T", options={"symmetric": True})
    with pytest.raises(UnknownNameError, match="did you mean 'hiton-mb'"):
        blanket(MICRO["N3"], "T", finder="hiton-bm")
    with pytest.raises(UnknownNodeError, match="unknown node 'Q'"):
        blanket(MICRO["N3"], "Q", finder="hiton-mb")
    with pytest.raises(UnknownNodeError, match="unknown target 'Q'"):
        blanket(MICRO["N3"], "Q")
