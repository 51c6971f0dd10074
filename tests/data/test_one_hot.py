"""Columns of ones and zeros of which every row has a single one are joined into the category they stand for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import moments_of, open_dataset
from apsl_rules import check, describe, effect, learn, learn_graph, learn_many, stability
from apsl_rules.data import table
from apsl_rules.errors import DataError, InvalidArgumentError
from support.counted import essence
from support.databases import stored
from support.terminal import apsl_here

REGIONS = ("north", "south", "west", "east")
MEMBERS = tuple(f"region_{one}" for one in REGIONS)


def homes(rows: int = 400, *, are_numbers: bool = True) -> pd.DataFrame:
    """Return rows of which a category is spread over four columns; it moves the price, and so does the size."""
    random = np.random.default_rng(34)
    region = random.integers(0, len(REGIONS), rows)
    size = random.normal(size=rows).round(3)
    price = (size + region + random.normal(size=rows)).round(3)
    flags = {name: (region == at).astype(int) for at, name in enumerate(MEMBERS)}
    if not are_numbers:
        return pd.DataFrame({"size": np.where(size > 0, "l", "s"), **flags, "price": np.where(price > 1, "hi", "lo")})
    return pd.DataFrame({"size": size, **flags, "price": price})


def test_columns_of_one_stem_are_joined_and_a_note_says_how_to_take_them_apart() -> None:
    """Columns of one stem are joined and a note says how to take them apart."""
    read = table(homes())
    assert read.names == ("size", "region", "price")
    assert read.categories.levels == (("east", "north", "south", "west"),)
    kinds = {one.name: (one.kind, one.detail) for one in read.columns}
    assert kinds["region"] == ("category", "4 levels")
    assert kinds["region_west"] == ("set aside", "stands for a level of 'region'")
    (note,) = read.notes
    assert note == (
        "columns 'region_east', 'region_north', 'region_south', 'region_west' are joined into the category 'region', "
        "since one of them is 1 in every row; take them apart with keep=['region']"
    )
    west = read.categories.codes_of("region") == 3
    assert (west == (homes()["region_west"] == 1)).all()


def test_a_table_taken_apart_is_the_table_as_it_came() -> None:
    """A table taken apart is the table as it came."""
    frame = homes().assign(region_north=lambda rows: rows["region_north"] == 1)
    read = table(frame).apart()
    assert read.names == tuple(frame.columns)
    assert read.notes == ()
    plain = table(frame, kinds={"region_north": "category", "region_south": "category", "region_west": "category"})
    assert read.columns == plain.columns
    for name in MEMBERS:
        assert read.categories.levels_of(name) == plain.categories.levels_of(name)
        assert np.array_equal(read.categories.codes_of(name), plain.categories.codes_of(name))


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows.assign(region_west=rows["region_west"].where(rows.index != 7, 1 - rows["region_west"])),
        lambda rows: rows.assign(region_west=rows["region_west"].where(rows.index != 7)),
        lambda rows: rows.drop(columns="region_west"),
        lambda rows: rows.replace({"region_west": {0: "no", 1: "yes"}}),
        lambda rows: rows.head(19),
    ],
    ids=["a row with none or two", "a missing value", "one left out", "words", "few rows"],
)
def test_what_is_no_partition_of_the_rows_stays_as_it_is(change: Any) -> None:
    """What is no partition of the rows stays as it is."""
    read = table(change(homes()))
    assert "region" not in read.names
    assert "region_north" in read.names


def test_two_columns_are_no_category_but_copies() -> None:
    """Two columns are no category but copies."""
    frame = pd.DataFrame({"x": np.arange(60) / 7, "sex_m": [0, 1] * 30, "sex_f": [1, 0] * 30})
    assert {"sex_m", "sex_f"} <= set(table(frame).names)


def test_columns_without_a_stem_are_found_side_by_side_and_anywhere_among_few() -> None:
    """Columns without a stem are found side by side and anywhere among few."""
    frame = homes().rename(columns=dict(zip(MEMBERS, ("here", "there", "afar", "nowhere"), strict=True)))
    assert "here|there|afar|nowhere" in table(frame).names
    apart = frame[["here", "size", "there", "price", "afar", "nowhere"]].assign(odd=(frame["size"] > 0.7).astype(int))
    apart = apart[["here", "odd", "size", "there", "price", "afar", "nowhere"]]
    assert "here|there|afar|nowhere" in table(apart).names


def test_numbered_columns_have_numbers_for_levels_in_their_order() -> None:
    """Numbered columns have numbers for levels in their order."""
    which = np.arange(240) % 12
    frame = pd.DataFrame(
        {f"soil{at}": (which == at - 1).astype(int) for at in range(1, 13)} | {"x": np.arange(240) / 9}
    )
    read = table(frame)
    assert read.categories.names == ("soil",)
    assert read.categories.levels == (tuple(range(1, 13)),)


def test_a_category_that_is_there_too_keeps_its_name() -> None:
    """A category that is there too keeps its name."""
    frame = homes()
    frame["region"] = np.array(REGIONS)[frame[list(MEMBERS)].to_numpy().argmax(axis=1)]
    assert set(table(frame).names) == {"size", "region", "region_north|region_south|region_west|region_east", "price"}


@pytest.mark.parametrize(
    "reading", [{"groups": "region"}, {"drop": ["region"]}, {}], ids=["role", "dropped", "set aside"]
)
def test_a_column_that_is_no_node_keeps_its_name_too(reading: dict[str, Any]) -> None:
    """A column that is no node keeps its name too."""
    frame = homes().assign(region=[f"v{at // 20}" if "groups" in reading else f"text {at}" for at in range(400)])
    joined = "region_north|region_south|region_west|region_east"
    assert set(table(frame, **reading).names) == {"size", joined, "price"}
    for counts in ("memory", "duckdb"):
        assert joined in learn_graph(frame, counts=counts, **reading).nodes


def wide(rows: int = 3_000, members: int = 300) -> tuple[pd.DataFrame, Any]:
    """Return a category of very many levels spread over columns, and which level each row has."""
    random = np.random.default_rng(35)
    which = np.concatenate([np.arange(members), random.integers(0, members, rows - members)])
    flags = {f"zip_{at:03d}": (which == at).astype(int) for at in range(members)}
    return pd.DataFrame({**flags, "z": (which >= 256) * 2 + random.normal(size=rows).round(3)}), which


def test_more_columns_than_a_byte_counts_are_one_category() -> None:
    """More columns than a byte counts are one category."""
    frame, which = wide()
    assert np.array_equal(table(frame).categories.codes_of("zip"), which)
    assert table(frame).categories.levels_of("zip") == tuple(range(300))
    here, there = (moments_of(open_dataset(frame, {"counts": counts})) for counts in ("memory", "duckdb"))
    assert np.allclose(here.covariance([0, 1]), there.covariance([0, 1]))


def test_some_rows_or_columns_of_a_joined_table_are_not_taken_apart_into_others() -> None:
    """Some rows or columns of a joined table are not taken apart into others."""
    read = table(pd.concat([homes()] * 60, ignore_index=True))
    for some in (read.resampled(np.arange(50), declared=False), read.thinned(), read.select(["region", "price"])):
        with pytest.raises(InvalidArgumentError, match="joined before the rows were taken"):
            some.apart()
    assert read.set_aside({"size": "asked for"}, []).apart().names == (*MEMBERS, "price")


def test_kinds_that_are_given_leave_columns_as_they_are() -> None:
    """Kinds that are given leave columns as they are."""
    assert "region" not in table(homes(), kinds={"region_west": "category"}).names
    assert "region" not in table(homes(), kinds={"*": "category"}).names
    assert "region" not in table(homes(), levels="declared").names


@pytest.mark.parametrize("are_numbers", [True, False], ids=["mixed", "categories"])
@pytest.mark.parametrize(
    ("target", "keep"),
    [("price", None), ("region", None), ("region_north", None), ("price", ["region"]), ("price", ["region_west"])],
)
def test_the_part_is_the_same_wherever_the_rows_are(
    tmp_path: Path, target: str, keep: list[str] | None, *, are_numbers: bool
) -> None:
    """The part is the same wherever the rows are."""
    frame = homes(are_numbers=are_numbers)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    expected = essence(learn(frame, target, keep=keep))
    for counts in ("duckdb", "dask"):
        assert essence(learn(frame, target, keep=keep, counts=counts)) == expected
        assert essence(learn(tmp_path / "rows.parquet", target, keep=keep, counts=counts)) == expected
    assert essence(learn(stored(frame, "sqlite", tmp_path), target, keep=keep)) == expected


def test_a_column_of_the_set_as_target_sets_the_others_aside() -> None:
    """A column of the set as target sets the others aside."""
    part = learn(homes(), "region_north")
    assert not set(MEMBERS).difference({"region_north"}) & set(part.nodes)
    assert any("'region_east' is never 1 where 'region_north' is" in note for note in part.notes)
    found = describe(homes(), "region_north")
    assert found.defined[0].columns == ("region_east", "region_south", "region_west")


def test_effects_take_the_category_or_one_of_its_columns() -> None:
    """Effects take the category or one of its columns."""
    frame = homes()
    assert "region = west against east" in str(effect(frame, "region", "price"))
    alone = effect(frame, "region_north", "price")
    assert "region_north = 1 against 0" in str(alone)
    assert "region_south" not in str(alone)
    part = learn(frame, "price")
    assert "region = west against east" in str(effect(part, "region", "price", data=frame))
    kept = learn(frame, "price", keep=["region"])
    assert "region_north = 1 against 0" in str(effect(kept, "region_north", "price", data=frame))


def test_effects_of_the_category_are_the_same_wherever_the_rows_are(tmp_path: Path) -> None:
    """Effects of the category, and those that adjust for it, are the same wherever the rows are."""
    frame = homes()
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    for cause, adjust in (("region", ["size"]), ("size", ["region"])):
        expected = effect(frame, cause, "price", adjust=adjust)
        for source in (frame, tmp_path / "rows.parquet"):
            found = effect(source, cause, "price", adjust=adjust, counts="duckdb")
            assert str(found).partition(" (")[0] == str(expected).partition(" (")[0]


@pytest.mark.parametrize("counts", ["memory", "duckdb"])
def test_a_graph_is_checked_by_the_columns_or_by_the_category_that_it_names(counts: str) -> None:
    """A graph is checked by the columns or by the category that it names."""
    frame = homes()
    by_columns = [(name, "price") for name in (*MEMBERS, "size")]
    by_category = [(name, "price") for name in ("region", "size")]
    for data in (frame, frame.assign(more=frame["size"] * 2 + np.arange(len(frame))), table(frame)):
        assert set(check(by_columns, data, shuffles=0, counts=counts).graph.nodes) == {*MEMBERS, "size", "price"}
        assert set(check(by_category, data, shuffles=0, counts=counts).graph.nodes) == {"region", "size", "price"}


def test_chosen_columns_of_a_joined_table_are_sent_as_they_are() -> None:
    """Chosen columns of a joined table are sent as they are."""
    some = table(homes()).select(["region", "price"])
    assert set(learn(some, "price", counts="duckdb").nodes) == {"region", "price"}


def test_graphs_parts_and_resamples_join_them_too() -> None:
    """Graphs parts and resamples join them too."""
    frame = homes()
    assert set(learn_graph(frame).nodes) == {"size", "region", "price"}
    assert set(learn_graph(frame, keep=["region"]).nodes) == {"size", "price", *MEMBERS}
    assert set(learn_many(frame, "all")) == {"size", "region", "price"}
    assert stability(frame, "price", resamples=3, seed=1).of("region", "price").edge > 0.5
    with pytest.raises(DataError, match="stands for a level of 'region'; give keep"):
        learn_many(frame, ["region_north", "price"])


def test_the_command_line_takes_the_name_of_the_category(tmp_path: Path) -> None:
    """The command line takes the name of the category."""
    path = tmp_path / "homes.csv"
    homes().to_csv(path, index=False)
    told = apsl_here("learn", str(path), "-t", "region")
    assert "apart with --keep region" in " ".join(told.out.split())
    kept = apsl_here("learn", str(path), "-t", "price", "--keep", "region")
    assert "region_north" in kept.out
    shown = apsl_here("describe", str(path))
    assert "stands for a level of 'region'" in shown.out
    wrong = apsl_here("learn", str(path), "-t", "regio")
    assert "unknown target 'regio'; did you mean 'region'?" in wrong.err
