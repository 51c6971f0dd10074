"""Parts with marks at both ends: ends, views, rows, and what they say of hidden causes."""

from __future__ import annotations

import copy

import pytest

from apsl_rules import Dag, learn, network
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.parts import Part
from apsl_rules.rules import End, Mark

EXAMPLE = Dag({"H": [], "C": [], "D": [], "A": ["H", "C"], "B": ["H", "D"]}).hiding("H")


def example() -> Part:
    """Learn the part around A in which A and B share a hidden cause."""
    return learn(EXAMPLE, "A", depth=2, hidden="allowed")


def test_ends_and_marks() -> None:
    """Each end says what it is, and pairs that are not adjacent have none."""
    part = example()

    assert [part.end(*pair) for pair in ("AB", "BA", "AC", "CA")] == ["arrow", "arrow", "arrow", "circle"]
    assert (part.mark("A", "B"), part.mark("A", "C"), part.mark("C", "D")) == (Mark.BIDIRECTED, Mark.PARTIAL, Mark.GAP)
    with pytest.raises(InvalidArgumentError, match="'A' and 'D' are not adjacent, so there is no end"):
        part.end("A", "D")
    with pytest.raises(InvalidArgumentError, match="'A' is named twice"):
        part.end("A", "A")


def test_ends_of_a_part_without_hidden_causes() -> None:
    """An arrow has a tail and a head, a line two open ends."""
    part = learn(network("asia"), "either", depth="max")

    assert (part.end("tub", "either"), part.end("either", "tub")) == (End.TAIL, End.ARROW)
    assert part.end("smoke", "lung") == End.CIRCLE
    assert not part.bidirected
    assert not part.partial
    assert part.is_visible("tub", "either")
    assert part.hidden_causes_at("either") == ()


def test_picture_rows_and_words() -> None:
    """The picture has a sign at each end and explains it; rows have the marks and the rules of both ends."""
    part = example()

    assert part.picture().splitlines() == [
        "A",
        "├◀─▶ B",
        "│    └◀─o D",
        "└◀─o C",
        "",
        "◀─▶ shares a hidden common cause with",
        "o─▶ is a cause of, or shares a hidden cause with",
    ]
    rows = [(row["source"], row["target"], row["mark"], row["rule"]) for row in part.rows()]
    assert rows == [
        ("A", "B", "bidirected", "FCI-R0"),
        ("C", "A", "partial", "FCI-R0"),
        ("D", "B", "partial", "FCI-R0"),
    ]
    assert "bidirected=1, partial=2, undirected=0" in repr(part)


def test_a_part_is_a_value() -> None:
    """Copies are equal."""
    part = example()

    assert copy.deepcopy(part) == part
    assert copy.copy(part) == part


def test_where_a_hidden_cause_may_act() -> None:
    """A visible arrow excludes one: here V *-> W and W -> Y with V and Y not adjacent."""
    graph = Dag({"V": [], "U": [], "W": ["V", "U"], "Y": ["W"]})
    part = learn(graph, "W", hidden="allowed")

    assert part.arrows == {("W", "Y")}
    assert part.is_visible("W", "Y")
    assert not part.is_visible("V", "W")
    assert part.hidden_causes_at("W") == ("U", "V")
    assert part.hidden_causes_at("Y") == ()
    assert learn(graph, "W").hidden_causes_at("W") == ()


def test_views_show_all_ends() -> None:
    """The still drawing names hidden causes and draws circles; the page has the proofs of both ends."""
    part = example()
    drawn = part.svg()

    assert drawn.count('data-mark="hidden"') == 1
    assert all(words in drawn for words in ("hidden common cause", "cause, or hidden cause"))
    assert "direction open" not in drawn
    assert "hidden common cause" not in learn(network("asia"), "lung").svg()
    assert part.plot().get_figure() is not None
