"""The blanket by default: the neighbours that learn names, and exact where the answers are."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.independence.count_tests import GSquare
from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import blanket, learn, network
from apsl_rules.data.tables import Table
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from support.strategies import sparse_dags

pytestmark = pytest.mark.slow


def truth(dag: Dag, node: Node) -> tuple[set[Any], dict[Any, set[Any]]]:
    """Return the neighbours of a node and, for each child, the other parents that are no neighbours."""
    around = set(dag.neighbours_of(node))
    shared = {child: set(dag.parents_of(child)) - around - {node} for child in dag.children_of(node)}
    return around, {child: others for child, others in shared.items() if others}


@pytest.mark.slow
@given(sparse_dags(min_nodes=2, max_nodes=10))
def test_a_known_graph_gives_its_blankets(dag: Dag) -> None:
    """With a perfect oracle every blanket is that of the graph, whether the graph or the oracle is given."""
    for node in dag.nodes:
        for source in (dag, DSeparation(dag)):
            found = blanket(source, node)
            assert (set(found.neighbours), {one: set(two) for one, two in found.spouses.items()}) == truth(dag, node)
            assert found.neighbours == learn(source, node).neighbours_of(node)


def as_frame(rows: Table) -> pd.DataFrame:
    """Return a table as a frame."""
    return pd.DataFrame(dict(zip(rows.names, rows.codes, strict=True)))


def with_holes(rows: Table) -> Table:
    """Lose every seventh value of the first column."""
    from apsl_rules.data import coded_table

    frame = as_frame(rows).astype("Int64")
    frame.iloc[::7, 0] = pd.NA
    return coded_table(frame, missing="testwise")


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 99), rows=st.sampled_from([60, 400, 2000]), name=st.sampled_from(["asia", "cancer"]))
@pytest.mark.parametrize("kind", [lambda rows: rows, as_frame, with_holes, GSquare])
def test_a_blanket_has_the_neighbours_of_the_part(kind: Any, seed: int, rows: int, name: str) -> None:
    """From tables, frames, tables with missing values and tests on tables both functions name the same neighbours."""
    drawn = sample(network(name), rows, seed=seed)
    source = kind(drawn)
    for node in (name for name, codes in zip(drawn.names, drawn.codes, strict=True) if codes.min() < codes.max()):
        found, part = blanket(source, node), learn(source, node, hidden="excluded")
        assert found.neighbours == part.neighbours_of(node)
        assert set(found.spouses) <= set(part.children_of(node))
