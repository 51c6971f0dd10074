"""Random networks, rows drawn from them with right frequencies, and files that are read back as they were drawn."""

from __future__ import annotations

import csv
import io
import tracemalloc
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from apsl_rules import Dag, network
from apsl_rules.data import coded_table
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.dag import degrees
from apsl_rules.graphs.networks.bayesian_network import Network, joint
from apsl_rules.graphs.networks.sampling import BLOCK, blocks, field, random_network, sample, simulate, write_rows
from support.strategies import networks


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
        ({"strength": 0}, "strength is 0; give a number above 0"),
    ],
)
def test_impossible_networks_are_refused(settings: dict[str, Any], sentence: str) -> None:
    """Each impossible wish gets a sentence."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        random_network(**{"nodes": 10, "seed": 1, **settings})


def test_the_same_seed_draws_the_same_rows() -> None:
    """Two draws with one seed are equal, with another seed they are not, and a longer draw begins alike."""
    asia = network("asia")
    once, again, other = (sample(asia, 500, seed=seed).codes for seed in (3, 3, 4))
    longer = sample(asia, BLOCK + 500, seed=3).codes

    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)
    assert longer.shape == (8, BLOCK + 500)
    assert np.array_equal(sample(asia, BLOCK, seed=3).codes, longer[:, :BLOCK])


@pytest.mark.parametrize("name", ["asia", "child", "sachs"])
def test_each_table_is_drawn_from(name: str) -> None:
    """In each setting of the parents the levels occur as often as the network's table says."""
    known = network(name)
    drawn = sample(known, 40_000, seed=11)
    for node in known.dag.nodes:
        parents = known.dag.parents_of(node)
        own = drawn.codes[drawn.place[node]]
        for setting in np.ndindex(*(len(known.levels[parent]) for parent in parents)):
            among = np.all(
                [drawn.codes[drawn.place[one]] == at for one, at in zip(parents, setting, strict=True)], axis=0
            )
            rows = own[among] if parents else own
            expected = known.tables[node][setting]
            possible = expected > 0
            if rows.size >= 200 and possible.sum() > 1:
                counts = np.bincount(rows, minlength=expected.size)
                assert not counts[~possible].any()
                figures = chisquare(counts[possible], expected[possible] / expected[possible].sum() * rows.size)
                assert figures.pvalue > 1e-6


def test_no_rows_are_refused() -> None:
    """Drawing nothing is a mistake that is named."""
    with pytest.raises(InvalidArgumentError, match="rows is 0; give 1 or more"):
        sample(network("asia"), 0, seed=1)


ENDINGS = ("csv", "tsv", "csv.gz", "tsv.gz", "parquet")


def values(drawn: Table) -> list[list[object]]:
    """Spell out all cells, column by column."""
    return [[levels[code] for code in codes] for codes, levels in zip(drawn.codes, drawn.levels, strict=True)]


def coins(*levels: str, node: str = "A") -> Network:
    """Make a network of one node, all levels of which are equally likely, and another beside it."""
    share = 1 / len(levels)
    return Network(
        "coins",
        Dag({node: [], "B": []}),
        {node: levels, "B": ("x", "y")},
        {node: [share] * len(levels), "B": [0.5, 0.5]},
    )


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["asia", "insurance"])
def test_a_file_holds_the_rows_that_are_drawn_in_memory(name: str, ending: str, tmp_path: Path) -> None:
    """Reading a file gives the same names, levels and rows as drawing them, and no draft is left beside it."""
    path = tmp_path / f"data.{ending}"
    simulate(network(name), 2000, path, seed=5)
    read = coded_table(path)
    drawn = sample(network(name), 2000, seed=5)

    assert read.names == drawn.names
    assert [list(map(str, column)) for column in values(read)] == values(drawn)
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_keeps_the_levels_as_text(tmp_path: Path) -> None:
    """Text that looks like a number stays text; levels come back in the order of every other source."""
    simulate(coins("3", "1", "02", ""), 500, tmp_path / "data.parquet", seed=1)

    assert coded_table(tmp_path / "data.parquet").levels[0] == ("", "02", "1", "3")


@pytest.mark.slow
@given(networks(), st.integers(0, 5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parquet_carries_every_name(tmp_path: Path, drawn_from: Network, seed: int) -> None:
    """Whatever the names of nodes and levels, a Parquet file gives them back."""
    simulate(drawn_from, 30, tmp_path / "data.parquet", seed=seed)
    read = coded_table(tmp_path / "data.parquet")

    assert read.names == drawn_from.dag.nodes
    assert values(read) == values(sample(drawn_from, 30, seed=seed))


def alike(read: object, level: str) -> bool:
    """Return whether a value read from text is a level, or the number or truth value that it spells."""
    if isinstance(read, str):
        return read == level
    return str(read).casefold() == level.casefold() if isinstance(read, bool) else read == float(level)


@pytest.mark.slow
@given(networks(), st.sampled_from(["csv", "tsv"]))
@example(coins("a,b", 'say "no"', "two\nlines", "two\r\nlines", "\r", "\t", " x ", "é", "\ufeff"), "csv")
@example(coins("true", "false", node="\ufeffA"), "csv")
@example(coins("\t", "x", node="0\t0"), "csv")
@example(coins("x;y", "z;w", node="a;b"), "tsv")
@example(coins("0.5", "a word that may not be drawn"), "csv")
@example(coins("#", "'", "-", "None", "inf.", "1e"), "tsv")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
def test_text_carries_every_name_that_it_does_not_refuse(tmp_path: Path, drawn_from: Network, ending: str) -> None:
    """Text gives back all names and tells all levels apart, or is refused with the advice to rename."""
    path = tmp_path / f"data.{ending}"
    path.unlink(missing_ok=True)
    with suppress(InvalidArgumentError):
        simulate(drawn_from, 30, path, seed=3)
    if not path.exists():
        with pytest.raises(InvalidArgumentError, match="rename"):
            simulate(drawn_from, 30, path, seed=3)
        return
    read = coded_table(path)
    drawn = sample(drawn_from, 30, seed=3)

    assert read.names == drawn.names
    for column, expected in zip(values(read), values(drawn), strict=True):
        assert all(alike(one, str(level)) for one, level in zip(column, expected, strict=True))
        assert len(set(column)) == len(set(expected))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_a_field_is_what_the_csv_module_reads(text: str) -> None:
    """Python's own reader gives back every field as it was."""
    assert next(csv.reader(io.StringIO(f"{field(text)},x\n", newline=""))) == [text, "x"]


@pytest.mark.parametrize(
    ("levels", "sentence"),
    [
        (("NA", "b"), "the level 'NA' of 'A' would be read back from text as a missing value; write a .parquet file"),
        (("", "b"), "as a missing value"),
        (("1", "01", "x"), "the levels '1', '01' of 'A' would be read back from text as equal numbers"),
        (("0.5", "1"), "as a fraction"),
        (("TRUE", "true"), "as one"),
    ],
)
def test_text_refuses_levels_that_it_would_change(levels: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    """Levels that a reader of text would lose or merge are refused, and nothing is written."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        simulate(coins(*levels), 10, tmp_path / "data.csv", seed=1)

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("node", ["", "  "])
def test_text_refuses_columns_without_a_name(node: str, tmp_path: Path) -> None:
    """A blank name cannot stand in a header."""
    with pytest.raises(InvalidArgumentError, match="cannot be named"):
        simulate(coins("a", "b", node=node), 10, tmp_path / "data.csv", seed=1)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_nodes_that_read_alike_are_refused(ending: str, tmp_path: Path) -> None:
    """Two columns may not have one name."""
    alike = Network("n", Dag({1: [], "1": []}), {1: ("a", "b"), "1": ("a", "b")}, {1: [0.5, 0.5], "1": [0.5, 0.5]})

    with pytest.raises(InvalidArgumentError, match="each column has a name of its own"):
        simulate(alike, 10, tmp_path / f"data.{ending}", seed=1)


def test_one_seed_makes_one_file(tmp_path: Path) -> None:
    """The same seed gives the same bytes, packed or not, over several blocks of rows; another seed gives others."""
    for ending in ENDINGS:
        for number, seed in enumerate((7, 7, 8)):
            simulate(network("cancer"), BLOCK + 10, tmp_path / f"{number}.{ending}", seed=seed)
        once, again, other = ((tmp_path / f"{number}.{ending}").read_bytes() for number in range(3))

        assert once == again
        assert once != other


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_rows(ending: str, tmp_path: Path) -> None:
    """Eight blocks of rows take as much memory of Python and numpy as two."""
    simulate(network("cancer"), 10, tmp_path / f"warm.{ending}", seed=1)
    peaks = []
    for count in (2, 8):
        tracemalloc.start()
        simulate(network("cancer"), count * BLOCK, tmp_path / f"data.{ending}", seed=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 1.2 * peaks[0]


def test_the_blocks_of_a_wide_network_are_low() -> None:
    """With many columns a block has fewer rows, so that its cells are bounded too; all rows are drawn all the same."""
    names = [f"n{number}" for number in range(2000)]
    wide = Network(
        "wide",
        Dag({name: [] for name in names}),
        dict.fromkeys(names, ("a", "b")),
        dict.fromkeys(names, (0.5, 0.5)),
    )
    heights = [block.shape for block in blocks(wide, 20_000, seed=1)]

    assert max(columns * rows for columns, rows in heights) <= 2**25
    assert sum(rows for _, rows in heights) == 20_000


def test_a_stream_gets_a_header_and_rows() -> None:
    """The first line names the columns; each further line is a row."""
    stream = io.BytesIO()
    write_rows(network("asia"), 3, stream, seed=7)
    header, *rows = stream.getvalue().decode().splitlines()

    assert header == "asia,tub,smoke,lung,bronc,either,xray,dysp"
    assert [row.count(",") for row in rows] == [7, 7, 7]
    assert {cell for row in rows for cell in row.split(",")} <= {"yes", "no"}


@pytest.mark.parametrize(
    ("rows", "seed", "name", "sentence"),
    [
        (0, 1, "data.csv", "rows is 0; give 1 or more"),
        (5, -1, "data.csv", "seed is -1; give 0 or more"),
        (5, 1, "data.xlsx", r"cannot tell what kind of file 'data\.xlsx' is to be; end its name in \.csv"),
        (5, 1, "no/such/data.csv", "cannot write 'no/such/data.csv': No such file or directory"),
    ],
)
def test_files_that_cannot_be_drawn_are_refused(
    rows: int, seed: int, name: str, sentence: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each mistake gets a sentence, and no file."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match=sentence):
        simulate(network("asia"), rows, name, seed=seed)

    assert not list(tmp_path.iterdir())


def test_an_error_leaves_an_older_file_as_it_was(tmp_path: Path) -> None:
    """A file is replaced only by a whole one."""
    path = tmp_path / "data.csv"
    path.write_text("kept", "utf-8")
    with pytest.raises(InvalidArgumentError):
        simulate(network("asia"), 0, path, seed=1)

    assert path.read_text("utf-8") == "kept"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_progress_is_told_up_to_the_last_row(ending: str, tmp_path: Path) -> None:
    """Blocks are told as they are drawn, and the last word is that all rows are."""
    told: list[tuple[int, int]] = []
    rows = 2 * BLOCK + 1
    simulate(network("cancer"), rows, tmp_path / f"drawn{ending}", seed=1, progress=lambda *one: told.append(one))

    assert told == [(BLOCK, rows), (2 * BLOCK, rows), (rows, rows)]
