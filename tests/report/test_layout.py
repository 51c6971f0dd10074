"""The layout of a part: where boxes stand and how edges run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import Part, known_dag, learn, network
from apsl_rules.graphs.dag import Dag
from apsl_rules.names import Depth
from apsl_rules.report._heights import spread
from apsl_rules.report.edges import edges_of, look, positions
from apsl_rules.report.layout import Box, Drawing, drawing_of
from apsl_rules.report.text_width import shorten, width_of
from apsl_rules.rules.knowledge import Knowledge
from support.contradictory import Contradictory
from support.drawn import hostile_dag, large_part
from support.graphs import random_dag
from support.strategies import dags


def clashes(drawing: Drawing) -> list[tuple[Box, Box]]:
    """Return the pairs of boxes that overlap."""
    return [
        (one, other)
        for one, other in combinations(drawing.boxes, 2)
        if abs(one.middle[0] - other.middle[0]) < (one.width + other.width) / 2
        and abs(one.middle[1] - other.middle[1]) < (one.height + other.height) / 2
    ]


def crossed(drawing: Drawing) -> Iterator[tuple[str, str]]:
    """Return the edges that run across a box, with its name."""
    for drawn in drawing.edges:
        for x, y in drawn.route.points():
            for box in drawing.boxes:
                if box.left < x < box.left + box.width and box.top < y < box.top + box.height:
                    yield str(drawn.edge.pair), box.name


@pytest.mark.parametrize("nodes", [12, 60, 200])
def test_no_boxes_overlap_and_no_edge_crosses_a_box(nodes: int) -> None:
    """In random parts of any size boxes keep apart and edges run between them, never across a name."""
    part = large_part(random_dag(3, nodes, 3.0), "v000")
    drawing = drawing_of(part)

    assert len(drawing.boxes) > nodes / 2
    assert not clashes(drawing)
    assert not list(crossed(drawing))


@pytest.mark.slow
@given(dags(min_nodes=1, max_nodes=8), st.sampled_from([1, 2, "max"]))
def test_every_small_part_is_drawn_clean(dag: Dag, depth: Depth) -> None:
    """Whatever the graph, the names and the depth: nothing overlaps and everything is on the sheet."""
    drawing = drawing_of(learn(dag, dag.nodes[0], depth=depth))

    assert not clashes(drawing)
    assert not list(crossed(drawing))
    reach = [point for drawn in drawing.edges for point in drawn.route.points()]
    assert all(0 < x < drawing.width and 0 < y < drawing.height for x, y in reach)
    assert all(box.top > 0 and box.left + box.width < drawing.width for box in drawing.boxes)


def test_layers_go_from_left_to_right() -> None:
    """A node further from the target stands further to the right, and the target at the very left."""
    part = learn(network("alarm"), "VENTLUNG", depth=3)
    boxes = sorted(drawing_of(part).boxes, key=lambda box: box.layer)

    assert boxes[0].node == "VENTLUNG"
    assert all(near.left <= far.left for near, far in pairwise(boxes))
    assert all(box.layer == part.distances[box.node] for box in boxes)


def test_the_same_part_gives_the_same_drawing() -> None:
    """The drawing depends on the part alone, not on the order of the columns."""
    straight = known_alarm(turned=False)
    turned = known_alarm(turned=True)

    assert drawing_of(straight).boxes == drawing_of(turned).boxes


def known_alarm(*, turned: bool) -> Part:
    """Learn a part of ALARM with its columns in one order or the other."""
    dag = network("alarm").dag
    nodes = dag.nodes[::-1] if turned else dag.nodes
    return learn(known_dag({node: dag.parents_of(node) for node in nodes}), "VENTLUNG", depth=2)


def test_leaving_out_what_lies_beyond_moves_nothing() -> None:
    """The part alone has exactly its own nodes and edges, at the same places."""
    part = learn(network("alarm"), "HISTORY", depth=2)
    whole = drawing_of(part)
    alone = whole.part_only()

    assert len(whole.boxes) > len(alone.boxes)
    assert {box.node for box in alone.boxes} == set(part.members)
    assert {frozenset(drawn.edge.pair) for drawn in alone.edges} == set(part.edges)
    assert set(alone.boxes) <= set(whole.boxes)


@pytest.mark.parametrize(
    "part",
    [
        learn(Contradictory(), "a", depth="max"),
        learn(network("asia"), "lung", depth="max", learner="apsl-paper"),
        learn(hostile_dag(), 7, depth=2),
        learn(network("asia"), "bronc", depth="max", knowledge=Knowledge(required=[("smoke", "bronc")])),
        learn(network("asia"), "lung", knowledge=Knowledge(apart=[("smoke", "lung")]), conflicts="strongest"),
    ],
    ids=["contradictory", "paper", "hostile", "knowing", "denied"],
)
def test_the_looks_of_the_edges_are_those_of_the_states(part: Part) -> None:
    """At every position every pair looks as the store of that state has it, and at the last one as in the part."""
    edges = edges_of(part)
    states = [*part.states(), part.store]
    for position in range(positions(part) + 1):
        for edge in edges:
            seen = [now for begin, now in edge.looks if begin <= position]
            assert (seen[-1] if seen else "none") == look(states[position], *edge.pair)
    assert {frozenset(edge.pair) for edge in edges if edge.within and edge.last != "none"} == set(part.edges)


def test_spreading_keeps_order_room_and_the_middle() -> None:
    """Places are pushed apart just as far as needed, evenly to both sides."""
    assert spread([5.0, 5.0, 5.0], [10.0, 10.0]) == [-5.0, 5.0, 15.0]
    assert spread([0.0, 100.0], [10.0]) == [0.0, 100.0]
    assert spread([], []) == []


@given(st.text(max_size=120))
def test_a_shortened_name_fits_and_a_short_one_stays(name: str) -> None:
    """No label is wider than allowed, and what fits is left alone."""
    label = shorten(name)

    assert width_of(label) <= max(168.0, width_of("…"))
    assert (label == name) == (width_of(name) <= 168.0)
    assert label == name or "…" in label
