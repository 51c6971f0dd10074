"""Networks: what a table must be, and what is made of it."""

from __future__ import annotations

import pickle

import numpy as np
import numpy.typing as npt
import pytest

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.names import Node
from support.graphs import dag_of

LEVELS: dict[Node, tuple[str, ...]] = {"A": ("no", "yes"), "B": ("low", "mid", "high")}
TABLES: dict[Node, npt.ArrayLike] = {"A": [0.25, 0.75], "B": [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5]]}


def two_nodes(**changes: npt.ArrayLike) -> Network:
    """Make the network A -> B with some tables exchanged."""
    return Network("two", dag_of("A->B"), LEVELS, TABLES | changes)


def test_a_network_knows_its_graph_and_tables() -> None:
    """The last axis of a table is the node itself, the axes before it are its parents."""
    network = two_nodes()

    assert network.tables["B"][1].tolist() == [0.0, 0.5, 0.5]
    assert network.parameters == 5
    assert network.cpdag.lines == {frozenset("AB")}
    assert repr(network) == "<Network two: 2 nodes and 1 arrow>"


def test_rows_that_nearly_sum_to_one_are_scaled() -> None:
    """A rounded row is scaled to 1; one that is exact up to rounding stays as it is."""
    third = two_nodes(B=[[0.333, 0.333, 0.333], [0.1, 0.2, 0.7]]).tables["B"]

    assert third[0].tolist() == pytest.approx([1 / 3] * 3, abs=1e-15)
    assert third[1].tolist() == [0.1, 0.2, 0.7]


def test_tables_cannot_be_written_to() -> None:
    """A network keeps its own copy, which nobody can change."""
    mine = np.array([0.25, 0.75])
    network = two_nodes(A=mine)
    mine[:] = 0.5

    assert network.tables["A"].tolist() == [0.25, 0.75]
    with pytest.raises(ValueError, match="read-only"):
        network.tables["A"][0] = 1


def test_networks_are_values() -> None:
    """The same content is equal and hashes alike, another number makes a difference, and pickling keeps all."""
    network = two_nodes()

    assert network == two_nodes()
    assert hash(network) == hash(two_nodes())
    assert network != two_nodes(A=[0.2, 0.8])
    assert pickle.loads(pickle.dumps(network)) == network  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ([0.5, 0.6], "a row in the table of 'A' sums to 1.1; make it sum to 1"),
        ([-0.5, 1.5], "the table of 'A' holds a negative or infinite number; give probabilities"),
        ([float("nan"), 1], "the table of 'A' holds a negative or infinite number; give probabilities"),
        (
            ["a", "b"],
            "the table of 'A' is not an array of numbers; give one axis for each parent and one for levels",
        ),
        (
            [0.2, 0.3, 0.5],
            "the table of 'A' has the shape (3,); the levels of its parents and its own make it (2,)",
        ),
    ],
)
def test_wrong_tables_are_refused(table: npt.ArrayLike, sentence: str) -> None:
    """Each fault of a table gets one sentence with the node."""
    with pytest.raises(InvalidArgumentError) as caught:
        two_nodes(A=table)

    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("levels", "tables", "sentence"),
    [
        ({"A": ("no", "yes")}, TABLES, "the nodes 'B' have no levels; give them for each node of the graph"),
        (LEVELS, {"A": [0.5, 0.5]}, "the nodes 'B' have no table; give them for each node of the graph"),
        (LEVELS | {"C": ("x",)}, TABLES, "'C' with levels are not nodes of the graph; leave them out"),
        (
            LEVELS | {"A": ("no", "no")},
            TABLES,
            "the levels of 'A' are 'no', 'no'; give at least one and each only once",
        ),
        (LEVELS | {"A": ()}, TABLES, "the levels of 'A' are none; give at least one and each only once"),
    ],
)
def test_levels_and_tables_must_fit_the_graph(
    levels: dict[Node, tuple[str, ...]], tables: dict[Node, npt.ArrayLike], sentence: str
) -> None:
    """Every node needs levels and a table, and nothing else may have them."""
    with pytest.raises(InvalidArgumentError) as caught:
        Network("two", dag_of("A->B"), levels, tables)

    assert str(caught.value) == sentence
