"""The files of a network in a supplement: its graph and its samples, found together, or refused in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest
from supplement import read_supplement

from apsl_rules.data import coded_table
from apsl_rules.errors import DataError


def write(path: Path, content: str) -> Path:
    """Write a file."""
    path.write_text(content)
    return path


def supplement(folder: Path, network: str) -> None:
    """Write a graph of two nodes and two samples."""
    write(folder / f"{network}_graph.txt", "0 1\n0 0\n")
    write(folder / f"{network}_s500_v1.txt", "0 1\n2 0\n0 1\n")
    write(folder / f"{network}_s500_v2.txt", "1 1\n0 0\n")


def test_supplement(tmp_path: Path) -> None:
    """A folder, a graph or a sample each lead to the network's graph and samples."""
    supplement(tmp_path, "Child")
    write(tmp_path / "readme.txt", "no data")
    for place in (tmp_path, str(tmp_path / "Child_graph.txt"), tmp_path / "Child_s500_v2.txt"):
        found = read_supplement(place)
        assert found.network == "Child"
        assert found.graph is not None
        assert found.graph.tolist() == [[0, 1], [0, 0]]
        assert list(found.samples) == ["s500_v1", "s500_v2"]
    sample = read_supplement(tmp_path).samples["s500_v1"]
    assert coded_table(sample).codes.tolist() == [[0, 1, 0], [1, 0, 1]]
    assert coded_table(sample, levels="declared").cards.tolist() == [3, 2]
    (tmp_path / "Child_graph.txt").unlink()
    assert read_supplement(tmp_path).graph is None


def test_several_networks_in_a_folder(tmp_path: Path) -> None:
    """With more than one network the name decides; without it the networks are listed."""
    supplement(tmp_path, "Child")
    supplement(tmp_path, "Child_3")
    assert read_supplement(tmp_path, network="Child_3").network == "Child_3"
    with pytest.raises(DataError, match="several networks; it has the files of 'Child', 'Child_3', so give network="):
        read_supplement(tmp_path)
    with pytest.raises(DataError, match="no network 'Alarm'"):
        read_supplement(tmp_path, network="Alarm")


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("notes.txt", "1 2", "'notes.txt' is no file of a supplement"),
        ("A_graph.txt", "0 1\n", "has 1 row and 2 columns; it must be square"),
        ("A_graph.txt", "0 2\n0 0\n", "entries other than 0 and 1"),
        ("A_graph.txt", "", "is empty"),
    ],
)
def test_bad_supplements(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    """A file that is no part of a supplement, or no graph, is refused."""
    with pytest.raises(DataError, match=sentence):
        read_supplement(write(tmp_path / name, content))


def test_supplements_that_are_not_there(tmp_path: Path) -> None:
    """A folder without a network and a missing file are told apart."""
    with pytest.raises(DataError, match="holds no network; it has the files of none"):
        read_supplement(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        read_supplement(tmp_path / "A_graph.txt")
