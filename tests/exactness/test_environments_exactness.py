"""Parts with environments against brute force: all graphs with all sets of targets that have the same separations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, product

import pytest

from apsl_rules import Dag, learn
from apsl_rules.graphs import Dag as KnownDag
from apsl_rules.names import Pair
from apsl_rules.oracles import complete_oracle
from support.drawing import some_of
from support.graphs import all_dags

Arrows = frozenset[tuple[str, str]]


def with_environments(nodes: int, environments: int, *, single: bool) -> Iterator[tuple[Dag, Arrows]]:
    """Give every graph on some nodes with every choice of what each environment acts on, and its arrows."""
    contexts = [f"E{number}" for number in range(environments)]
    for dag in all_dags(nodes):
        names = [str(node) for node in dag.nodes]
        subsets = [some for size in range(nodes + 1) for some in combinations(names, size)]
        for chosen in product([one for one in subsets if len(one) == 1 or not single], repeat=environments):
            arrows = [(str(tail), str(head)) for tail, head in dag.edges]
            arrows += [(context, target) for context, some in zip(contexts, chosen, strict=True) for target in some]
            parents = {name: [tail for tail, head in arrows if head == name] for name in (*names, *contexts)}
            yield Dag(parents), frozenset(arrows)


def separations(dag: KnownDag) -> frozenset[object]:
    """Return every separation that holds in a graph, worked out pair by pair and set by set."""
    oracle, nodes = complete_oracle(_oracle(dag)), sorted(map(str, dag.nodes))
    asked = [
        (x, y, given)
        for x, y in combinations(nodes, 2)
        for rest in [[node for node in nodes if node not in (x, y)]]
        for size in range(len(rest) + 1)
        for given in combinations(rest, size)
    ]
    return frozenset(query for query, one in zip(asked, oracle.verdicts(asked), strict=True) if one.independent)


def _oracle(dag: KnownDag) -> object:
    from apsl_rules.learning import Request, open_data

    return open_data(dag, Request.of({})).oracle(0.01)


def shared_marks(members: Iterable[Arrows]) -> tuple[Arrows, frozenset[Pair]]:
    """Return the arrows that all graphs of a class have, and its other edges."""
    several = list(members)
    arrows = frozenset(one for one in several[0] if all(one in other for other in several))
    joined = {frozenset(one) for one in several[0]}
    return arrows, frozenset(joined - {frozenset(one) for one in arrows})


def check_all(nodes: int, environments: int, *, single: bool, one_in: int, depths: Iterable[int | str]) -> int:
    """Learn around every node of every graph, or of some; return how many parts were compared."""
    classes: dict[frozenset[object], list[Arrows]] = defaultdict(list)
    cases = []
    for dag, arrows in with_environments(nodes, environments, single=False):
        same = separations(dag)
        classes[same].append(arrows)
        if not single or all(sum(tail == f"E{number}" for tail, _ in arrows) == 1 for number in range(environments)):
            cases.append((dag, same))
    contexts = [f"E{number}" for number in range(environments)]
    step, compared = max(1, len(cases) // some_of(len(cases), one_in)), 0
    for dag, same in cases[::step]:
        arrows, lines = shared_marks(classes[same])
        for target in (node for node in dag.nodes if node not in contexts):
            for depth in depths:
                part = learn(dag, target, depth=depth, environment=contexts)  # type: ignore[arg-type]
                compared += 1
                assert part.arrows <= arrows, (dag, target, depth)
                assert part.lines <= lines, (dag, target, depth)
                assert {one for one in arrows if target in one} <= part.arrows
                assert {one for one in lines if target in one} <= part.lines
    return compared


def test_three_nodes_and_any_targets() -> None:
    """Every set of targets of one environment over three nodes, at each depth."""
    assert check_all(3, 1, single=False, one_in=5, depths=(1, 2, "max")) >= 300


def test_two_environments_over_three_nodes() -> None:
    """Two environments, each with one target."""
    assert check_all(3, 2, single=True, one_in=25, depths=(1, "max")) >= 50


@pytest.mark.release
def test_four_nodes_and_any_targets() -> None:
    """Every set of targets of one environment over all graphs on four nodes: all of them with APSL_ALL_GRAPHS=1."""
    assert check_all(4, 1, single=False, one_in=40, depths=(1, 2, "max")) >= 1000
