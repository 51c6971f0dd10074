"""Which arrows are drawn where hidden causes are possible."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.cycles import cyclic_groups
from apsl_rules.directions import SUGGESTED, draw
from apsl_rules.names import Node

NODES = "abcde"
SHARES = (0.5, 0.62, 0.75, 0.75, 0.8, 0.9, 0.9, 1.0)


def pair(x: Node, y: Node) -> frozenset[Node]:
    """Return the edge of two nodes."""
    return frozenset((x, y))


def test_a_likely_direction_is_drawn_a_less_likely_one_suggested() -> None:
    """From .75 on an arrow, from .6 on a suggestion, else a line."""
    edges = [pair("a", "b"), pair("c", "d"), pair("d", "e")]
    drawing = draw(edges, (), {("a", "b"): 0.8, ("c", "d"): 0.7, ("d", "e"): 0.55}, ())
    assert drawing.arrows == {("a", "b"): 0.8}
    assert drawing.suggested == {("c", "d"): 0.7}


def test_what_is_decided_is_drawn_against_any_likelihood() -> None:
    """A likely arrow gives way to a decided one where both would close a cycle."""
    edges = [pair("a", "b"), pair("b", "c"), pair("a", "c")]
    drawing = draw(edges, [("a", "b"), ("b", "c")], {("c", "a"): 0.99}, ())
    assert set(drawing.arrows) == {("a", "b"), ("b", "c")}
    assert drawing.suggested == {("c", "a"): 0.99}


def test_no_v_structure_is_claimed_that_nothing_found() -> None:
    """Two arrows meet at a node only if their tails are adjacent, or a finding shows the collider."""
    edges = [pair("a", "c"), pair("b", "c")]
    likely: dict[Any, float] = {("a", "c"): 0.9, ("b", "c"): 0.8}
    assert set(draw(edges, (), likely, ()).arrows) == {("a", "c")}
    assert set(draw(edges, (), likely, [("b", "c", "a")]).arrows) == {("a", "c"), ("b", "c")}
    assert set(draw([*edges, pair("a", "b")], (), likely, ()).arrows) == {("a", "c"), ("b", "c")}
    equal = dict.fromkeys(likely, 0.8)
    assert not draw(edges, (), equal, ()).arrows


@st.composite
def drawn_edges(draw_one: st.DrawFn) -> tuple[list[Any], list[Any], dict[Any, float]]:
    """Draw edges, some of them decided along an order of the nodes, the others with a likelier direction."""
    edges = [pair(*two) for two in combinations(NODES, 2) if draw_one(st.booleans())]
    order = draw_one(st.permutations(NODES))
    decided: list[Any] = []
    likely: dict[Any, float] = {}
    for edge in edges:
        x, y = sorted(map(str, edge), key=order.index)
        if draw_one(st.integers(0, 3)) == 0:
            decided.append((x, y))
        else:
            likely[(x, y) if draw_one(st.booleans()) else (y, x)] = draw_one(st.sampled_from(SHARES))
    return edges, decided, likely


@given(drawn_edges(), st.permutations(NODES))
def test_a_drawing_is_acyclic_supported_and_free_of_names(
    drawn: tuple[list[Any], list[Any], dict[Any, float]], renamed: list[str]
) -> None:
    """No cycle, no unsupported V-structure, every decided arrow, and the same arrows under other names."""
    edges, decided, likely = drawn
    drawing = draw(edges, decided, likely, ())
    assert set(decided) <= set(drawing.arrows)
    assert not cyclic_groups(drawing.arrows)
    assert all(share >= SUGGESTED for share in drawing.suggested.values())
    for (x, head), (y, other) in combinations(drawing.arrows, 2):
        if head == other and not {(x, head), (y, other)} <= set(decided):
            assert pair(x, y) in edges
    name: dict[Any, str] = dict(zip(NODES, renamed, strict=True))
    again = draw(
        [frozenset(map(name.get, edge)) for edge in edges],
        [(name[x], name[y]) for x, y in decided],
        {(name[x], name[y]): share for (x, y), share in likely.items()},
        (),
    )
    assert set(again.arrows) == {(name[x], name[y]) for x, y in drawing.arrows}
