"""The blanket of a node by itself, by every finder that is offered."""

from __future__ import annotations

import pytest

from apsl_rules.blanket_finding import find_blanket
from apsl_rules.errors import UnknownNameError, UnknownNodeError
from apsl_rules.networks import network
from apsl_rules.plugins import installed
from apsl_rules.sampling import sample
from graphs import MICRO


@pytest.mark.parametrize("finder", ["hiton-mb", "mmmb", "gs"])
def test_the_blanket_on_n3_is_exact_with_a_perfect_oracle(finder: str) -> None:
    """On N3 the blanket of T is its child A and the spouse B, once neighbours must find each other."""
    options = {"symmetric": True} if finder != "gs" else {}

    assert find_blanket(MICRO["N3"], "T", finder=finder, options=options).members == ("A", "B")


@pytest.mark.parametrize("finder", sorted(installed().blankets))
def test_every_finder_works_on_a_table(finder: str) -> None:
    """From 2,000 rows every blanket finder finds neighbours of Disease in CHILD."""
    found = find_blanket(sample(network("child"), 2000, seed=3), "Disease", finder=finder)

    assert found.neighbours
    assert set(found.spouses) <= set(found.neighbours)


def test_unknown_names_are_refused() -> None:
    """A finder or a node that does not exist is refused with the nearest one."""
    with pytest.raises(UnknownNameError, match="did you mean 'hiton-mb'"):
        find_blanket(MICRO["N3"], "T", finder="hiton-bm")
    with pytest.raises(UnknownNodeError, match="unknown node 'Q'"):
        find_blanket(MICRO["N3"], "Q")
