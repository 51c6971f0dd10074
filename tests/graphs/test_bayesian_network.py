"""Networks: what a table must be, and exact inference against the joint distribution of all nodes multiplied out."""

from __future__ import annotations

import pickle

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules import Dag, network
from apsl_rules.errors import InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs.networks import bayesian_network as inference
from apsl_rules.graphs.networks.bayesian_network import Network, Probabilities, joint
from apsl_rules.graphs.networks.sampling import random_network, sample
from apsl_rules.names import Node
from support.graphs import dag_of
from support.strategies import networks

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


def brute_force(known: Network, nodes: list[Node]) -> Probabilities:
    """Multiply all tables out, one setting of all nodes after the other, and add up what agrees on some nodes."""
    every = known.dag.nodes
    sums = np.zeros([len(known.levels[node]) for node in nodes])
    for setting in np.ndindex(*(len(known.levels[node]) for node in every)):
        place = dict(zip(every, setting, strict=True))
        chance = 1.0
        for node in every:
            chance *= known.tables[node][(*(place[parent] for parent in known.dag.parents_of(node)), place[node])]
        sums[tuple(place[node] for node in nodes)] += chance
    return sums


@given(networks(max_nodes=5), st.data())
def test_a_joint_is_what_multiplying_all_tables_gives(known: Network, data: st.DataObject) -> None:
    """Any nodes in any order, of odd networks with zeros and nodes of one level."""
    nodes = data.draw(st.lists(st.sampled_from(known.dag.nodes), min_size=1, unique=True))

    assert joint(known, nodes) == pytest.approx(brute_force(known, nodes), abs=1e-12)


@given(st.integers(0, 10**6), st.data())
def test_a_joint_of_a_denser_network_is_right(seed: int, data: st.DataObject) -> None:
    """Seven nodes with up to four parents each, so that summing out joins nodes that no table has together."""
    known = random_network(7, mean_parents=2.1, levels=(2, 3), seed=seed)
    nodes = data.draw(st.lists(st.sampled_from(known.dag.nodes), min_size=1, max_size=3, unique=True))

    assert joint(known, nodes) == pytest.approx(brute_force(known, nodes), abs=1e-12)


def test_asia_has_the_published_marginals() -> None:
    """Figures that are known from the literature."""
    asia = network("asia")

    assert joint(asia, ["dysp"])[0] == pytest.approx(0.4359706, abs=1e-7)
    assert joint(asia, ["xray"])[0] == pytest.approx(0.11029004, abs=1e-8)
    assert joint(asia, ["either"])[0] == pytest.approx(0.064828, abs=1e-8)


#: Joint distributions that pgmpy 1.1 works out for the same networks.
PEER = [
    ("alarm", ["BP"], [0.389993088, 0.204707763, 0.40529915]),
    ("alarm", ["CATECHOL", "HISTORY"], [0.005457318, 0.094676966, 0.049042682, 0.850823034]),
    ("insurance", ["PropCost"], [0.562945591, 0.315187595, 0.105070294, 0.01679652]),
    ("hailfinder", ["PlainsFcst"], [0.61365119, 0.238240021, 0.148108789]),
]


@pytest.mark.parametrize(("name", "nodes", "expected"), PEER)
def test_a_peer_agrees(name: str, nodes: list[Node], expected: list[float]) -> None:
    """Another program gives the same figures."""
    assert joint(network(name), nodes).ravel() == pytest.approx(expected, abs=1e-9)


def test_a_large_network_agrees_with_its_samples() -> None:
    """Pairs of distant nodes of ALARM occur together as often as the joint says."""
    alarm = network("alarm")
    drawn = sample(alarm, 200_000, seed=1)
    for x, y in [("BP", "HREKG"), ("HISTORY", "CVP"), ("EXPCO2", "PRESS")]:
        found = joint(alarm, [x, y])
        cells = drawn.codes[drawn.place[x]].astype(int) * found.shape[1] + drawn.codes[drawn.place[y]]
        counted = np.bincount(cells, minlength=found.size).reshape(found.shape) / drawn.rows

        assert counted == pytest.approx(found, abs=0.005)


def test_too_large_a_joint_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table with more cells than allowed is refused before it is made, whether asked for or met on the way."""
    nodes = [f"n{number}" for number in range(30)]
    many = Network(
        "many",
        Dag({node: [] for node in nodes}),
        dict.fromkeys(nodes, ("a", "b")),
        dict.fromkeys(nodes, (0.5, 0.5)),
    )
    with pytest.raises(InvalidArgumentError, match=r"takes a table of 1,073,741,824 cells over 30 nodes; at most"):
        joint(many, nodes)
    assert joint(many, nodes[:3]).shape == (2, 2, 2)

    monkeypatch.setattr(inference, "MOST_CELLS", 20)
    with pytest.raises(InvalidArgumentError, match="'BP' takes a table of"):
        joint(network("alarm"), ["BP"])


def test_wrong_nodes_are_refused() -> None:
    """No node, a node twice, and an unknown node are named."""
    asia = network("asia")

    with pytest.raises(InvalidArgumentError, match="of none was asked for; name at least one node"):
        joint(asia, [])
    with pytest.raises(InvalidArgumentError, match="each only once"):
        joint(asia, ["tub", "tub"])
    with pytest.raises(UnknownNodeError, match="did you mean 'xray'"):
        joint(asia, ["xrey"])
