"""Who is visited next, and when to stop.

``along_lines`` first visits every node at distance at most K - 1 from the target. Then, while some line touches
these, it visits the nearest unvisited nodes that lines lead to. When such a connected piece of lines is fully visited
nothing can orient it any more: every premise of every rule that could orient a line shares a node with it, and is a
line itself or already an arrow.

Background knowledge changes nothing of this, although it can turn edges anywhere and brings Meek's fourth rule, whose
arrow D -> C shares no node with the line A - B that it turns. If A - C or A - D is a line, it leads to that arrow. If
both are arrows, the rule is not needed: A -> C turns the line by R2, D -> A by R1, and C -> A with A -> D is a cycle.

Where hidden causes are allowed, an edge is open as long as one of its ends is, and all open edges are followed.

``by_layers`` is Algorithm 1 of the paper: a queue of neighbours, counted in layers, until the asked layer has no
line. One line that no data can orient makes it visit the whole network.

``by_queue`` is how PCD-by-PCD goes: the same queue, but every node within the asked depth is visited, since an edge
is drawn only then, and it ends when no line touches the nodes before the last ones.

``everyone`` visits all nodes, for learners of whole graphs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Protocol

from apsl_rules.names import Depth, Node, in_order
from apsl_rules.parts import inside
from apsl_rules.plugins import Marks, State


class Run(Protocol):
    """What a frontier looks at: the state of a run, which moves on between two looks."""

    @property
    def target(self) -> Node:
        """Return the target of the part."""

    @property
    def depth(self) -> Depth:
        """Return the asked depth."""

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return all nodes."""

    @property
    def state(self) -> State:
        """Return what the run knows now."""


def along_lines(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit the asked region, then follow lines out of it for as long as they may still be oriented."""
    while True:
        state, visited = run.state, run.state.visited
        inner = _inner(run)
        todo = [node for node in inner if node not in visited]
        if not todo:
            led_to = in_order(_led_to(state.marks(), inner).difference(visited))
            nearest = min((state.distances[node] for node in led_to), default=0)
            todo = [node for node in led_to if state.distances[node] == nearest]
        if not todo:
            return
        yield tuple(todo)


def _inner(run: Run) -> list[Node]:
    """Return the nodes whose edges all belong to the part."""
    distances, depth = run.state.distances, run.depth
    return [*distances] if depth == "max" else [node for node, far in distances.items() if inside(depth, far)]


def _led_to(marks: Marks, start: list[Node]) -> set[Node]:
    """Return the nodes that lines alone lead to."""
    seen = set(start)
    ahead = list(start)
    while ahead:
        node = ahead.pop()
        for other in marks.neighbours_of(node):
            if other not in seen and marks.mark(node, other).is_open:
                seen.add(other)
                ahead.append(other)
    return seen


def by_layers(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit as Algorithm 1 does; the names are those of the paper's lines 1-7 and 40-58."""
    queue = deque([run.target])
    layers: list[list[Node]] = [[run.target]]
    left = 1
    while queue:
        node = queue.popleft()
        if node in run.state.visited:
            continue
        yield (node,)
        visited = run.state.visited
        queue.extend(visited[node])
        left -= 1
        if left == 0:
            ahead = dict.fromkeys(other for inner in layers[-1] for other in visited[inner])
            layers.append(list(ahead))
            left = sum(other not in visited for other in ahead)
        if run.depth != "max" and len(layers) > run.depth and _is_oriented(run.state, layers[run.depth - 1]):
            return


def _is_oriented(state: State, layer: list[Node]) -> bool:
    """Return whether no node of a layer has a line to one of its neighbours (lines 47-58)."""
    marks = state.marks()
    return not any(marks.mark(node, other).is_open for node in layer for other in state.visited[node])


def by_queue(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit in the order in which nodes are first listed, until all within the depth are done and have no line."""
    steps = {run.target: 0}
    queue = deque([run.target])
    while queue:
        node = queue.popleft()
        yield (node,)
        for other in run.state.visited[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
        if run.depth != "max" and not any(steps[other] <= run.depth for other in queue) and not _has_lines(run):
            return


def _has_lines(run: Run) -> bool:
    """Return whether a line touches an inner node."""
    marks = run.state.marks()
    inner = _inner(run)
    return any(marks.mark(node, other).is_open for node in inner for other in marks.neighbours_of(node))


def everyone(run: Run) -> Iterator[tuple[Node, ...]]:
    """Visit all nodes."""
    while left := tuple(node for node in run.nodes if node not in run.state.visited):
        yield left


FRONTIERS: dict[str, Callable[[Run], Iterator[tuple[Node, ...]]]] = {
    "lines": along_lines,
    "layers": by_layers,
    "queue": by_queue,
}
