"""Who is visited next, as published: layer by layer, or in the order in which nodes are first listed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from apsl_rules.names import Node
from apsl_rules.parts import inside
from apsl_rules.plugins import Run, State


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
    inner = [node for node, far in run.state.distances.items() if run.depth == "max" or inside(run.depth, far)]
    return any(marks.mark(node, other).is_open for node in inner for other in marks.neighbours_of(node))
