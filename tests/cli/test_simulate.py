"""``apsl simulate`` and ``apsl random``: tables from networks, tiled ones too, and random networks."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules import network
from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.networks.bif import write_bif
from apsl_rules.graphs.networks.sampling import random_network, sample
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def labels(rows: Table) -> list[list[str]]:
    """Return the columns of a table by the names of their levels."""
    return [[str(levels[code]) for code in codes] for levels, codes in zip(rows.levels, rows.codes, strict=True)]


def test_a_table_is_drawn_into_a_file(tmp_path: Path) -> None:
    """The file has the rows of that seed, and standard error says what was written."""
    done = apsl_here("simulate", "asia", "-n", "1500", "--seed", "7", "-o", "data.parquet", folder=tmp_path)
    read = coded_table(tmp_path / "data.parquet")

    assert (done.code, done.out) == (0, "")
    assert done.err == "wrote data.parquet: 1,500 rows of 8 columns drawn from asia with seed 7\n"
    assert read.names == network("asia").dag.nodes
    assert labels(read) == labels(sample(network("asia"), 1500, seed=7))


def test_without_a_file_it_prints_text(tmp_path: Path) -> None:
    """A network from a file is drawn from as well; standard output has the header and the rows, nothing else."""
    (tmp_path / "mine.bif").write_text(write_bif(network("cancer")), "utf-8")
    done = apsl_here("simulate", "mine.bif", "-n", "3", folder=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "Pollution,Smoker,Cancer,Xray,Dyspnoea"
    assert len(done.out.splitlines()) == 4


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
        (("simulate", "alrm"), "unknown network 'alrm'; did you mean 'alarm'?"),
        (("simulate", "no.bif"), "no.bif: the file cannot be read: No such file or directory"),
        (("simulate", "asia", "-n", "0"), "--rows is 0; give 1 or more"),
        (("simulate", "asia", "-n", "many"), "--rows is 'many'; give a whole number"),
        (("simulate", "asia", "--seed", "-1"), "--seed is -1; give 0 or more"),
        (("simulate", "asia", "-o", "data.txt"), "end its name in .csv, .csv.gz, .tsv, .tsv.gz, .parquet"),
        (("simulate", "asia", "-o", "no/such/data.csv"), "cannot write 'no/such/data.csv'"),
        (("simulate", "asia", "-o", "."), "it is a folder"),
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
