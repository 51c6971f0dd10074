"""The options of reading a table, ``--tier`` and ``apsl describe``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write a table with an identifier, a number, a cut of it, a label with a comma and a column of dates."""
    ages = [18 + at * 37 % 60 for at in range(300)]
    rows = [
        f"{at + 1},{age},{int(age < 40)},{at * 7 % 5},{at * 11 % 3},2024-03-{at % 28 + 1:02d}"
        for at, age in enumerate(ages)
    ]
    text = "\n".join(['id,age,young,"a, b",grade,day', *rows]) + "\n"
    (tmp_path / "rows.csv").write_text(text, "utf-8")
    return tmp_path


def test_a_table_is_described(folder: Path) -> None:
    """Each column has a line with its kind; what is set aside and what is derived is told in words of options."""
    done = apsl_here("describe", "rows.csv", folder=folder)

    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("300 rows, 6 columns (2 set aside), ")
    assert [line.split()[0] for line in lines[1:] if line[:1].strip()][:3] == ["id", "age", "young"]
    assert "  18 to 77, quartiles" in done.out
    assert "\u2588" in done.out
    assert "take it back with --number id" in done.out
    told = "if age is the target: 'young' is cut from 'age' (at about 39.5): set aside; take it back with --keep young"
    assert told in done.words
    assert "\nlearner 'auto'" in done.out


def test_a_description_as_json(folder: Path) -> None:
    """The same as JSON, with the options that say how to read."""
    done = apsl_here("describe", "rows.csv", "--category", "age", "--drop", "a, b", "--json", folder=folder)
    found = json.loads(done.out)
    kinds = {one["name"]: one["kind"] for one in found["columns"]}
    (young,) = [one for one in found["columns"] if one["name"] == "young"]
    assert sum(bar["rows"] for bar in young["bars"]) == 300
    assert young["options"] == ["kinds={'young': 'number'}", "drop=['young']"]

    assert kinds == dict.fromkeys(("id", "a, b", "day"), "set aside") | dict.fromkeys(
        ("age", "young", "grade"), "category"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-t", "id"), "the target cannot be learned: column 'id' was set aside: its whole numbers are all different"),
        (("-t", "age", "--drop", "age"), "column 'age' was left out as asked; take it out of --drop"),
        (("-t", "grade", "--weights", "grade"), "column 'grade' says how many rows each row stands for"),
        (("-t", "young", "--number", "day,grad"), "unknown column in --number 'grad'; did you mean 'grade'?"),
        (
            ("-t", "young", "--number", "age", "--category", "age"),
            "column 'age' is named in --number and in --category",
        ),
        (("-t", "young", "--discretize", "none"), "column 'age' is a number, with --discretize none"),
        (("-t", "young", "--discretize", "ag=none"), "unknown column in --discretize 'ag'; did you mean 'age'?"),
        (("-t", "young", "--only", "age"), "column 'young' was left out as asked"),
    ],
)
def test_what_cannot_be_read_so_gets_one_sentence(words: tuple[str, ...], sentence: str, folder: Path) -> None:
    """Targets that are no variables and wrong names are told in the words of the command line."""
    done = apsl_here("learn", "rows.csv", "--oracle", "gsquare", *words, folder=folder)

    assert done.code == 1
    assert sentence in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_defaults_and_exceptions_of_cuts(folder: Path) -> None:
    """A cut for all numbers and one for a column combine, in any order and in a config file."""
    typed = ("--discretize", "quantile:3", "--discretize", "age=quantile:2", "--number", "a, b", "--only", "a, b")
    one = apsl_here("describe", "rows.csv", *typed, "--only", "age,young", "--json", folder=folder)
    text = 'number = ["a, b"]\nonly = ["a, b", "age", "young"]\n[discretize]\n"*" = "quantile:3"\nage = "quantile:2"\n'
    (folder / "run.toml").write_text(f'target = "young"\noracle = "gsquare"\n{text}', "utf-8")
    other = apsl_here("learn", "rows.csv", "--config", "run.toml", "--out", "part.json", folder=folder)

    details = {column["name"]: column["detail"] for column in json.loads(one.out)["columns"]}
    assert details["age"].count("%") == 2
    assert details["a, b"].count("%") == 3
    assert (other.code, other.err) == (0, "wrote part.json: the part around young, 1 edge\n")
    assert "age" in load_part(folder / "part.json").members


def test_tiers_forbid_arrows_backwards(folder: Path) -> None:
    """Repeated tiers, earliest first, orient what the data leave open; a file with tiers beside them is refused."""
    tiers = ("--tier", "age,grade", "--tier", "young")
    done = apsl_here(
        "learn", "rows.csv", "-t", "young", "--oracle", "gsquare", *tiers, "--out", "part.json", folder=folder
    )
    (folder / "known.toml").write_text('tiers = [["age"], ["young"]]\n', "utf-8")
    twice = apsl_here("learn", "rows.csv", "-t", "young", *tiers, "--knowledge", "known.toml", folder=folder)

    assert (done.code, done.err) == (0, "wrote part.json: the part around young, 1 edge\n")
    assert ("age", "young") in load_part(folder / "part.json").arrows
    assert twice.code == 1
    assert "the file 'known.toml' has tiers, and --tier, --first or --last is given too" in twice.err


def test_tiers_in_a_config_file(folder: Path) -> None:
    """A config file has tiers as lists of names."""
    (folder / "run.toml").write_text('target = "young"\noracle = "gsquare"\ntier = [["age"], ["young"]]\n', "utf-8")
    done = apsl_here("learn", "rows.csv", "--config", "run.toml", "--out", "part.json", folder=folder)

    assert (done.code, done.err) == (0, "wrote part.json: the part around young, 1 edge\n")
    assert ("age", "young") in load_part(folder / "part.json").arrows


def test_weights_count_rows(tmp_path: Path) -> None:
    """A grouped table is learned with --weights, and the note offers it where it is not given."""
    (tmp_path / "grouped.csv").write_text("Sex,Survived,Freq\nm,no,1364\nm,yes,367\nf,no,126\nf,yes,344\n", "utf-8")
    weighted = apsl_here("learn", "grouped.csv", "-t", "Survived", "--weights", "Freq", folder=tmp_path)
    plain = apsl_here("learn", "grouped.csv", "-t", "Survived", "--oracle", "gsquare", folder=tmp_path)

    assert weighted.out.startswith("Survived: likely caused by Sex (")  # by its name nothing changes a sex
    assert "give --weights Freq to count them so" in " ".join(plain.out.split())


def test_columns_of_an_integer_file_can_be_dropped(tmp_path: Path) -> None:
    """A text file of integers holds categories, however many values they have, and takes the options of reading."""
    lines = "\n".join(f"{at % 2} {at % 30} {at * 7 % 2}" for at in range(120))
    (tmp_path / "codes.txt").write_text(lines + "\n", "utf-8")
    done = apsl_here("describe", "codes.txt", "--drop", "3", "--json", folder=tmp_path)

    kinds = {one["name"]: one["kind"] for one in json.loads(done.out)["columns"]}
    assert kinds == {"1": "category", "2": "category", "3": "set aside"}


@pytest.mark.parametrize(
    ("order", "arrow"),
    [
        (("--tier", "a"), ("a", "b")),
        (("--tier", "b?,b*"), None),
        (("--tier", "*", "--tier", "a*"), ("b", "a")),
        (("--first", "a"), ("a", "b")),
        (("--last", "a"), ("b", "a")),
        (("--first", "b", "--last", "a"), ("b", "a")),
    ],
)
def test_tiers_may_leave_the_rest_to_a_pattern(
    order: tuple[str, ...], arrow: tuple[str, str] | None, tmp_path: Path
) -> None:
    """A first tier alone comes before all others, a last one after them; a pattern must fit some column."""
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50 + "0,0\n1,1\n" * 9, "utf-8")
    done = apsl_here("learn", "t.csv", "-t", "a", *order, "--out", "part.json", folder=tmp_path)
    if arrow is None:
        assert (done.code, "unknown node in the knowledge 'b?'" in done.err) == (1, True)
    else:
        assert load_part(tmp_path / "part.json").arrows == {arrow}


def test_an_order_is_said_in_one_way(tmp_path: Path) -> None:
    """``--tier`` beside ``--first`` is refused."""
    (tmp_path / "t.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50, "utf-8")
    done = apsl_here("learn", "t.csv", "-t", "a", "--tier", "a", "--first", "b", folder=tmp_path)
    assert (done.code, "--tier is given beside --first or --last" in done.err) == (1, True)


def test_columns_are_named_by_patterns_and_in_quotation_marks(folder: Path) -> None:
    """A pattern stands for all that it fits; a name with a comma is one in quotation marks; a star is a default."""
    done = apsl_here("describe", "rows.csv", "--drop", '"a, b",i*', "--category", "*", "--json", folder=folder)
    kinds = {one["name"]: one["kind"] for one in json.loads(done.out)["columns"]}
    assert [name for name, kind in kinds.items() if kind == "set aside"] == ["id", "a, b"]
    assert {kinds[name] for name in ("age", "young", "grade", "day")} == {"category"}
    cut = apsl_here("describe", "rows.csv", "--discretize", "a*=quantile:2", "--json", folder=folder)
    assert {one["name"]: one["kind"] for one in json.loads(cut.out)["columns"]}["age"] == "category"
