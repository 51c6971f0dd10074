"""The first command on real tables: it answers, says what it assumed, and finds what everybody would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from apsl_rules import learn
from apsl_rules.parts import Part, load_part
from apsl_rules.rules import Mark
from support.real_tables import TABLES, RealTable, csv_of, marks, named
from support.terminal import apsl, apsl_here

OF_ANY_SIZE = tuple(
    pytest.param(one, marks=pytest.mark.slow) if one.is_large else one for one in TABLES
)  # a part of a large table takes a second


@pytest.mark.parametrize("real", OF_ANY_SIZE, ids=str)
def test_the_first_command_answers(real: RealTable, tmp_path: Path) -> None:
    """The part has the edges that any analyst expects, and its notes name all columns that were set aside."""
    frame, file, out = real.frame, tmp_path / "table.csv", tmp_path / "part.json"
    file.write_text(csv_of(frame), "utf-8")
    done = apsl_here("learn", str(file), "--target", real.target, *real.options, "--out", str(out))

    assert (done.code, done.err.count("\n")) == (0, 1)
    assert done.err.startswith(f"wrote {out}: the part around {real.target}, ")
    part = load_part(out)
    neighbours = set(part.neighbours_of(real.target))
    assert [group for group in real.groups if group.isdisjoint(neighbours)] == []
    assert {column.name for column in part.columns if column.kind == "set aside"} == {*real.aside}
    for words in (*real.notes, *(f"{name!r}" for name in real.aside if name not in real.options)):
        assert any(words in note for note in part.notes), words
    assert "kinds=" not in done.out
    assert "Knowledge(" not in done.out
    assert all(len(note.split(". ")) == 1 for note in part.notes)
    assert marks(part) == marks(learn(frame, real.target, **real.settings))


def test_a_dependence_that_is_too_weak_for_an_edge_is_left_open() -> None:
    """The warp breaks of 54 looms depend on the tension, which is neither an edge nor a gap."""
    part = learn(RealTable("datasets", "warpbreaks", "breaks", ("tension",)).frame, "breaks")

    assert part.mark("breaks", "tension") is Mark.OPEN
    assert "left open: they depend on each other whatever is given" in str(part.why("breaks", "tension"))


def test_which_of_two_columns_serves_is_left_open() -> None:
    """Of 45 occupations education and type explain prestige almost equally well: either is open, and none absent."""
    part = learn(named("Duncan", "prestige").frame, "prestige")

    for one, has in (("education", "with"), ("type", "without")):
        assert part.mark("prestige", one) is Mark.OPEN
        assert f"as probable as one {has} this edge" in str(part.why("prestige", one))


def test_there_are_enough_tables() -> None:
    """At least thirty different tables are learned from, and all have something that must be found."""
    assert len({(real.package, real.name) for real in TABLES}) >= 30
    assert all(real.groups for real in TABLES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "real", [named("airquality", "Ozone"), named("Titanic", "Survived"), named("longley", "Employed")], ids=str
)
def test_a_process_of_its_own_prints_the_same(real: RealTable, tmp_path: Path) -> None:
    """What a user sees in a terminal is what the tests here see."""
    (tmp_path / "table.csv").write_text(csv_of(real.frame), "utf-8")
    words = ("--target", real.target, *real.options)
    done = apsl("learn", "table.csv", *words, folder=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert done.out == apsl_here("learn", str(tmp_path / "table.csv"), *words).out


@pytest.mark.slow
def test_large_tables_do_not_fill_the_part() -> None:
    """In all 53,940 diamonds the price touches at most eight of nine columns, and size is among them."""
    real = named("diamonds", "price")
    part = learn(real.frame, "price")

    assert 1 <= len(part.neighbours_of("price")) <= 8
    assert not {"carat", "x", "y", "z"}.isdisjoint(part.neighbours_of("price"))


def test_none_is_a_level() -> None:
    """Cars without air bags are a level of their own, not missing values."""
    real = named("Cars93", "Price")
    part = learn(real.frame, "Price")
    (bags,) = (column for column in part.columns if column.name == "AirBags")

    assert (bags.kind, bags.detail, bags.missing) == ("category", "3 levels", 0)


KINDS = {
    "birthwt": {"category": "low race smoke ht ui", "ordered": "ptl ftv", "number": "age lwt bwt"},
    "Chile": {"category": "region sex education vote", "ordered": "population income", "number": "age statusquo"},
    "Wage": {
        "category": "maritl race education jobclass health health_ins",
        "ordered": "year",
        "number": "age logwage wage",
    },
    "mpg": {"category": "manufacturer model year trans drv fl class", "ordered": "cyl", "number": "displ cty hwy"},
    "Affairs": {
        "category": "gender children",
        "ordered": "religiousness occupation rating affairs",
        "number": "age yearsmarried",
    },
    "stackloss": {"ordered": "Air.Flow Water.Temp", "number": "Acid.Conc. stack.loss"},
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_are_those_of_a_reader(name: str) -> None:
    """Incomes and counts are numbers, labels and two years are categories, few whole numbers are an ordered scale."""
    real = next(one for one in TABLES if one.name == name)
    read = {column.name: column.kind for column in learn(real.frame, real.target, keep="*").columns}

    for kind, columns in KINDS[name].items():
        assert {column: read[column] for column in columns.split()} == dict.fromkeys(columns.split(), kind)


GROUPED = [("Titanic", "Survived", {"Sex", "Class"}), ("UCBAdmissions", "Admit", {"Dept"})]


@pytest.mark.parametrize(("name", "target", "near"), GROUPED)
def test_grouped_rows_ask_for_weights_and_equal_repeated_ones(name: str, target: str, near: set[str]) -> None:
    """A grouped table says that its counts look like weights; given as such they equal the rows written out."""
    frame = named(name, target).frame.drop(columns="rownames")
    plain = learn(frame, target)
    weighted = learn(frame, target, weights="Freq")
    repeated = learn(frame.loc[frame.index.repeat(frame["Freq"])].drop(columns="Freq"), target)

    assert any("column 'Freq' looks like the number of rows" in note for note in plain.notes)
    assert near <= {*weighted.neighbours_of(target)}
    assert marks(weighted) == marks(repeated)


def _odd_heads(part: Part) -> Iterator[str]:
    for pair in (*part.arrows, *part.suggested):
        if any(word in str(pair[1]).casefold().split("_") for word in ("age", "sex", "race", "gender")):
            yield str(pair[1])


@pytest.mark.parametrize("real", [one for one in TABLES if not one.is_large], ids=str)
def test_arrows_into_sex_and_age_have_a_note(real: RealTable) -> None:
    """No arrow points at sex, race or age without a note that offers tiers."""
    part = learn(real.frame, real.target, depth=2, **real.settings)
    noted = [note for note in part.notes if "say what comes first with tiers" in note]

    for head in _odd_heads(part):
        assert len(noted) == 1
        assert f"-> {head}" in noted[0].replace("'", "")
