"""Random sparse networks: of the asked size, the same for the same seed, with arrows that tell something."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import degrees
from apsl_rules.graphs.networks.bayesian_network import joint
from apsl_rules.graphs.networks.sampling import random_network


@given(
    st.integers(1, 40),
    st.floats(0, 2),
    st.integers(2, 4),
    st.tuples(st.integers(2, 3), st.integers(3, 4)),
    st.integers(0, 2**63),
)
def test_a_network_has_the_size_asked_for(
    nodes: int, mean_parents: float, max_parents: int, levels: tuple[int, int], seed: int
) -> None:
    """Nodes, arrows, parents and levels are as asked, or the wish for more arrows than fit is refused."""
    settings: dict[str, Any] = {
        "mean_parents": mean_parents,
        "max_parents": max_parents,
        "levels": levels,
        "seed": seed,
    }
    room = sum(min(place, max_parents) for place in range(nodes))
    if round(mean_parents * nodes) > room:
        with pytest.raises(InvalidArgumentError, match=f"with at most {max_parents} parents? can have {room}"):
            random_network(nodes, **settings)
        return
    made = random_network(nodes, **settings)
    found = degrees(made.dag)

    assert (found.nodes, found.arcs) == (nodes, round(mean_parents * nodes))
    assert found.max_parents <= max_parents
    assert {len(one) for one in made.levels.values()} <= set(range(levels[0], levels[1] + 1))
    assert made == random_network(nodes, **settings)


@pytest.mark.slow
def test_ten_thousand_nodes_are_no_matter() -> None:
    """Parents come from the whole network, and the names sort as the nodes do."""
    made = random_network(10_000, mean_parents=2, seed=3)
    place = {node: number for number, node in enumerate(made.dag.nodes)}
    lengths = [abs(place[x] - place[y]) for x, y in made.dag.edges]

    assert degrees(made.dag).arcs == 20_000
    assert list(made.dag.nodes) == sorted(made.dag.nodes, key=str)
    assert 3000 < np.mean(lengths) < 3700


def test_parents_tell_more_the_larger_the_strength() -> None:
    """The mean mutual information of the ends of an arrow grows with the strength."""
    told = []
    for strength in (0.2, 1.0, 5.0):
        made = random_network(60, strength=strength, seed=1)
        information = []
        for x, y in made.dag.edges:
            both = joint(made, [x, y])
            apart = np.outer(both.sum(axis=1), both.sum(axis=0))
            information.append(float(np.sum(both * np.log(both / apart))))
        told.append(np.mean(information))

    assert told == sorted(told)
    assert told[1] > 0.02


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"nodes": 0}, "nodes is 0; give 1 or more"),
        ({"mean_parents": -1}, "mean_parents is -1; give 0 or more"),
        ({"max_parents": -1}, "max_parents is -1; give 0 or more"),
        ({"seed": -1}, "seed is -1; give 0 or more"),
        ({"levels": 1}, "levels are 1 to 1; give 2 to 256, the fewest first"),
        ({"levels": (4, 2)}, "levels are 4 to 2"),
        ({"levels": 16}, "has a table of 1,048,576 cells; at most 1,000,000 are drawn"),
        ({"strength": 0}, "the strength is 0; give a number above 0"),
    ],
)
def test_mistakes_are_named(settings: dict[str, Any], sentence: str) -> None:
    """Each impossible wish gets a sentence."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        random_network(**{"nodes": 10, "seed": 1, **settings})
