"""``apsl tile`` and ``apsl random``: networks of any size from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules import network
from apsl_rules.graphs.networks.bif import parse_bif
from apsl_rules.graphs.networks.library import tile
from apsl_rules.graphs.networks.sampling import random_network
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def test_a_network_is_tiled_into_a_file(tmp_path: Path) -> None:
    """The file has the tiled network of that seed; standard output tells its size and what it keeps."""
    words = ("tile", "alarm", "-k", "10", "--arcs", "110", "--max-parents", "2", "--seed", "1", "-o", "alarm10.bif")
    done = apsl_here(*words, folder=tmp_path)
    size, kept = done.out.splitlines()

    assert (done.code, done.err) == (0, "wrote alarm10.bif: the network alarm10\n")
    assert size.startswith("alarm10: 370 nodes, 570 arrows; at most 4 parents and ")
    assert size.endswith("neighbours; 110 arrows between tiles")
    assert kept.startswith("roots keep their marginals within ")
    assert kept.endswith("every tile has the joint distribution of alarm")
    assert network(tmp_path / "alarm10.bif") == tile(network("alarm"), 10, arcs=110, seed=1)


def test_a_tiled_network_is_made_like_a_known_one(tmp_path: Path) -> None:
    """Without more words it is that network; what is said beside it counts, and is set against what was published."""
    same = apsl_here("tile", "--like", "child10", "-o", "same.bif.gz", folder=tmp_path)
    other = apsl_here("tile", "--like", "child10", "--seed", "3", "--arcs", "5", "-o", "other.bif", folder=tmp_path)

    assert same.code == other.code == 0
    assert network(tmp_path / "same.bif.gz") == network("child10")
    assert "published" not in same.out
    assert len(network(tmp_path / "other.bif").dag.edges) == 255
    assert "published: 200 nodes, 257 arrows; at most 2 parents and 7 children, 1 to 8 neighbours" in other.out


def test_without_a_file_the_network_is_printed() -> None:
    """Standard output is a network file; only marginals are kept, so nothing is said of the joint."""
    done = apsl_here("tile", "asia", "-k", "2", "--keep", "marginals", "--seed", "4")

    assert done.code == 0
    assert parse_bif(done.out) == tile(network("asia"), 2, keep="marginals", seed=4)
    assert "joint distribution" not in done.err


def test_a_random_network_is_drawn(tmp_path: Path) -> None:
    """The file has the network of that seed, and standard output tells its size."""
    done = apsl_here(
        "random", "50", "--mean-parents", "2", "--levels", "3", "3", "--seed", "9", "-o", "r.bif", folder=tmp_path
    )

    assert (done.code, done.err) == (0, "wrote r.bif: the network random50\n")
    assert done.out.startswith("random50: 50 nodes, 100 arrows; at most ")
    assert network(tmp_path / "r.bif") == random_network(50, mean_parents=2, levels=3, seed=9)


def test_tiled_networks_go_wherever_a_network_goes() -> None:
    """They are listed, learned from and drawn from by name."""
    listed = apsl_here("networks")
    learned = apsl_here("learn", "child10", "--target", "Disease.3", "-q")
    drawn = apsl_here("simulate", "insurance10", "-n", "2")

    assert {"alarm10", "child10", "insurance10"} <= {line.split()[0] for line in listed.out.splitlines()}
    assert learned.code == 0
    assert "BirthAsphyxia.3" in learned.out
    assert drawn.out.startswith("GoodStudent.1,")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("tile",), "give the network to be tiled, or --like and the name of a tiled network, one of both"),
        (("tile", "asia", "--like", "child10"), "one of both"),
        (("tile", "asia"), "give the number of tiles; add --times K"),
        (("tile", "asai", "-k", "2"), "unknown network 'asai'; did you mean 'asia'?"),
        (("tile", "--like", "chld10"), "unknown tiled network 'chld10'; did you mean 'child10'?"),
        (("tile", "asia", "-k", "0"), "times is 0; give 1 or more"),
        (("tile", "asia", "-k", "2", "--arcs", "99"), "take at most 4 if a root gets at most 2"),
        (("tile", "asia", "-k", "2", "--keep", "all"), "--keep is 'all'; give joint or marginals"),
        (("tile", "asia", "-k", "2", "-o", "asia.txt"), "end its name in .bif or .bif.gz"),
        (("tile", "asia", "-k", "1000000000000"), "times is 1000000000000; give 1 or more and at most 1,000,000"),
        (("random", "0"), "NODES is 0; give 1 or more"),
        (("random", "10", "--mean-parents", "9"), "give a smaller --mean-parents"),
        (("random", "10", "-o", "no/such/net.bif"), "cannot write 'no/such/net.bif'"),
    ],
)
def test_a_mistake_gets_one_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    """Nothing is printed on standard output and no file is left."""
    done = apsl_here(*words, folder=tmp_path)

    assert done.code == 1
    assert sentence in done.err
    assert not done.out
    assert "Traceback" not in done.err
    assert not list(tmp_path.iterdir())
