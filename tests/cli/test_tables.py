"""Tables on the command line: a CSV to a proof, and one clear sentence for each bad table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from apsl_rules import network
from apsl_rules.graphs.networks.sampling import sample
from support.terminal import apsl_here

pytestmark = pytest.mark.slow


def csv_of(name: str, rows: int, folder: Path) -> Path:
    """Write rows drawn from a network, with level names, as a CSV file."""
    drawn = sample(network(name), rows, seed=7)
    columns = [np.array(levels)[codes] for levels, codes in zip(drawn.levels, drawn.codes, strict=True)]
    lines = [",".join(map(str, drawn.names)), *(",".join(row) for row in zip(*columns, strict=True))]
    path = folder / f"{name}.csv"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_a_part_of_a_csv_is_learned_shown_and_proved(tmp_path: Path) -> None:
    """From a CSV to a saved part, its picture and a proof with the figures of the tests."""
    path = csv_of("alarm", 1000, tmp_path)
    learned = apsl_here(
        "learn", str(path), "--target", "HR", "--depth", "2", "--verbose", "--out", "part.json", folder=tmp_path
    )
    proof = apsl_here("why", "part.json", "HR", "HRBP", folder=tmp_path)

    assert learned.code == 0
    assert learned.out.startswith("HR: ")
    assert "(learner apsl-score, oracle gsquare, alpha 0.05)" in " ".join(learned.out.split())
    assert ", direction ." in proof.out
    assert "n = 1000" in proof.out


@pytest.mark.parametrize(
    "words",
    [
        ("--learner", "apsl-fs"),
        ("--learner", "apsl-fs-paper"),
        ("--learner", "apsl-authors"),
        ("--oracle", "chisquare", "--alpha", "0.05"),
        ("--threads", "2", "--cache", "verdicts.sqlite"),
        ("--fdr", "0.1", "--finder", "mmpc"),
    ],
)
def test_the_settings_reach_the_run(words: tuple[str, ...], tmp_path: Path) -> None:
    """Learners, tests, levels, threads, caches and bounds can all be chosen on the command line."""
    path = csv_of("asia", 500, tmp_path)

    assert apsl_here("learn", str(path), "-t", "either", *words, folder=tmp_path).code == 0


BAD = {
    "missing file": ("none.csv", None, "there is no file 'none.csv'"),
    "empty file": ("empty.csv", "", "is empty"),
    "header only": ("header.csv", "a,b\n", "at least 2 are needed"),
    "one row": ("row.csv", "a,b\n1,2\n", "has 1 row; at least 2 are needed"),
    "ragged": ("ragged.csv", "a,b\n1,2\n1,2,3\n", "line 3"),
    "all missing": ("hole.csv", "a,b\n1,\n1,\n", "no column is left to learn from"),
    "duplicate names": ("twice.csv", "a,a\n1,2\n2,1\n", "duplicate column names: 'a'"),
    "semicolons": ("de.csv", "a;b\n1;2\n2;1;3\n", "has one column 'a;b'; write it with a comma between the fields"),
    "commas": ("mine.tsv", "a,b\n1,2\n2,1,3\n", "write it with a tab between the fields"),
    "no parquet": ("broken.parquet", "not parquet", "broken.parquet"),
    "unknown ending": ("table.xls", "a,b\n", "neither a network nor a file that can be read"),
}


@pytest.mark.parametrize(
    ("content", "option", "sentence"),
    [
        ("a,b\n1,2\n2,\n1,1\n", ("--missing", "refuse"), "values are missing in column 'b' (1 of 3 rows)"),
        (
            "a,b\n1.5,2\n2.25,1\n0.125,1\n",
            ("--oracle", "gsquare", "--discretize", "none"),
            "column 'a' is a number, with --discretize none",
        ),
    ],
)
def test_what_is_dealt_with_by_default_is_refused_on_request(
    content: str, option: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    """Missing values and fractions get an answer and a note, or one sentence where they are to be refused."""
    (tmp_path / "rows.csv").write_text(content, "utf-8")
    usual = apsl_here("learn", "rows.csv", "--target", "a", folder=tmp_path)
    refused = apsl_here("learn", "rows.csv", "--target", "a", *option, folder=tmp_path)

    assert (usual.code, usual.err) == (0, "")
    assert (refused.code, refused.out) == (1, "")
    assert sentence in refused.err


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_gets_one_sentence(name: str, tmp_path: Path) -> None:
    """The message names the file or the columns and says what to do; there is no traceback."""
    file, content, sentence = BAD[name]
    if content is not None:
        (tmp_path / file).write_text(content, "utf-8")
    done = apsl_here("learn", file, "--target", "a", folder=tmp_path)

    assert done.code == 1
    assert sentence in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("-t", "eithr"), "unknown target 'eithr'; did you mean 'either'?"),
        (("-t", "either", "--alpha", "1.5"), "give a number between 0 and 1"),
        (("-t", "either", "--fdr", "lots"), "--fdr is 'lots'"),
        (("-t", "either", "--discretize", "quantil:3"), "quantil"),
        (("-t", "either", "--oracle", "dsep"), "known graph"),
        (("-t", "either", "--threads", "0"), "threads is 0; give at least 1"),
    ],
)
def test_a_wrong_setting_gets_one_sentence(words: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    """A wrong word for a setting is named with what is allowed."""
    done = apsl_here("learn", str(csv_of("asia", 50, tmp_path)), *words)

    assert done.code == 1
    assert sentence in done.err
    assert "Traceback" not in done.err
