"""The picture of a part as text."""

from __future__ import annotations

import pytest
from hypothesis import given

from apsl_rules import learn
from apsl_rules.graphs.dag import Dag
from support.graphs import MICRO
from support.strategies import dags


def test_the_picture_of_n8() -> None:
    """Arrows point, lines do not, and a node met again is marked."""
    drawn = learn(MICRO["N8"], "A", depth="max").picture().splitlines()

    assert drawn[:-2] == [
        "A",
        "├─── B",
        "│    └──▶ D",
        "│         └──▶ E",
        "└─── C",
        "     └──▶ D ↺",
    ]


@pytest.mark.slow
@given(dags(min_nodes=1, max_nodes=8))
def test_every_edge_is_drawn_once(dag: Dag) -> None:
    """The picture has a line for the target and one for each edge."""
    part = learn(dag, dag.nodes[0], depth="max")

    assert len(part.picture().splitlines()) == 1 + len(part.edges) + 2
