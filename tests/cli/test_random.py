"""``apsl random`` and tiled networks: networks of any size from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules import network
from apsl_rules.graphs.networks.sampling import random_network
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


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
