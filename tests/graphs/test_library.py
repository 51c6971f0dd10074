"""The networks that come with the package, against facts known from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules.errors import InvalidArgumentError, NetworkFileError, UnknownNameError
from apsl_rules.graphs.networks.bif import save_bif
from apsl_rules.graphs.networks.library import network, network_names

#: The nodes of ALARM as the examples of the APSL paper number them, from 1 on.
ALARM_ORDER = """
    HISTORY CVP PCWP HYPOVOLEMIA LVEDVOLUME LVFAILURE STROKEVOLUME ERRLOWOUTPUT HRBP HREKG ERRCAUTER HRSAT INSUFFANESTH
    ANAPHYLAXIS TPR EXPCO2 KINKEDTUBE MINVOL FIO2 PVSAT SAO2 PAP PULMEMBOLUS SHUNT INTUBATION PRESS DISCONNECT
    MINVOLSET VENTMACH VENTTUBE VENTLUNG VENTALV ARTCO2 CATECHOL HR CO BP
"""

#: The arrows of ALARM by the numbers of the nodes, from 1 on: child, then its parents.
ALARM_PARENTS = """
    1:6 2:5 3:5 5:4,6 7:4,6 9:8,35 10:11,35 12:11,35 15:14 16:31,33 18:25,31 20:19,32 21:20,24 22:23 24:23,25
    26:17,25,30 29:28 30:27,29 31:17,25,30 32:25,31 33:32 34:13,15,21,33 35:34 36:7,35 37:15,36
"""


@pytest.mark.parametrize(
    ("name", "nodes", "arrows", "parameters", "compelled"),
    [
        ("alarm", 37, 46, 509, 42),
        ("asia", 8, 8, 18, 5),
        ("cancer", 5, 4, 10, 4),
        ("child", 20, 25, 230, 13),
        ("hailfinder", 56, 66, 2656, 49),
        ("insurance", 27, 52, 1008, 34),
        ("sachs", 11, 17, 178, 0),
        ("win95pts", 76, 112, 574, 100),
    ],
)
def test_a_shipped_network_has_the_known_size(
    name: str, nodes: int, arrows: int, parameters: int, compelled: int
) -> None:
    """Nodes, arrows and free parameters are the published ones, and the file says where it comes from."""
    found = network(name)

    assert found.name == name
    assert (len(found.dag.nodes), len(found.dag.edges), found.parameters) == (nodes, arrows, parameters)
    assert len(found.cpdag.arrows) == compelled
    assert "bnlearn repository" in found.source


def test_all_shipped_networks_are_named() -> None:
    """The names come sorted."""
    assert network_names() == (
        *("alarm", "alarm10", "asia", "cancer", "child", "child10", "hailfinder", "insurance", "insurance10", "sachs"),
        "win95pts",
    )


def test_shipped_networks_are_what_the_writer_writes(tmp_path: Path) -> None:
    """Writing a shipped network, packed or not, and reading the file gives the same network."""
    for name in network_names():
        path = tmp_path / f"{name}.{'bif.gz' if name == 'asia' else 'bif'}"
        save_bif(network(name), path)

        assert network(path) == network(str(path)) == network(name)


def test_a_network_file_needs_its_ending(tmp_path: Path) -> None:
    """A network is not written where it would not be read."""
    with pytest.raises(InvalidArgumentError, match=r"end its name in \.bif or \.bif\.gz"):
        save_bif(network("asia"), tmp_path / "asia.txt")


def test_alarm_has_the_numbering_of_the_paper() -> None:
    """The order of the nodes is the numbering used in the examples of the APSL paper."""
    alarm = network("alarm")
    place = {node: number for number, node in enumerate(alarm.dag.nodes, start=1)}
    arrows = {(place[x], place[y]) for x, y in alarm.dag.edges}
    listed = [entry.split(":") for entry in ALARM_PARENTS.split()]

    assert list(alarm.dag.nodes) == ALARM_ORDER.split()
    assert arrows == {(int(parent), int(child)) for child, parents in listed for parent in parents.split(",")}


def test_alarm_leaves_four_edges_open() -> None:
    """Independences leave only four edges of ALARM without a direction."""
    place = {node: number for number, node in enumerate(network("alarm").dag.nodes, start=1)}
    lines = {frozenset(place[node] for node in line) for line in network("alarm").cpdag.lines}

    assert lines == {frozenset(pair) for pair in [(1, 6), (14, 15), (22, 23), (28, 29)]}


def test_asia_has_the_published_probabilities() -> None:
    """A few numbers of the 1988 paper, so that no axis is mixed up."""
    asia = network("asia")

    assert asia.levels["dysp"] == ("yes", "no")
    assert asia.dag.parents_of("dysp") == ("bronc", "either")
    assert asia.tables["tub"].tolist() == [[0.05, 0.95], [0.01, 0.99]]
    assert asia.tables["dysp"][0, 1].tolist() == [0.8, 0.2]
    assert asia.tables["dysp"][1, 0].tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Alarn", "unknown network 'Alarn'; did you mean 'alarm'?"),
        (
            "xyz",
            (
                "unknown network 'xyz'; there are alarm, alarm10, asia, cancer, child, child10, hailfinder, insurance, "
                "insurance10, sachs, win95pts, or give the path of a .bif file"
            ),
        ),
    ],
)
def test_an_unknown_network_is_refused(name: str, sentence: str) -> None:
    """The nearest name is suggested, or all are listed."""
    with pytest.raises(UnknownNameError) as caught:
        network(name)

    assert str(caught.value) == sentence


def test_a_missing_file_is_refused() -> None:
    """A path that leads nowhere is named."""
    with pytest.raises(NetworkFileError, match=r"^no/such\.bif: the file cannot be read: No such file or directory$"):
        network("no/such.bif")
