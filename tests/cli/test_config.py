"""Options in a TOML file: the same as on the command line, and checked as strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = pytest.mark.slow

RUN = """
source = "asia"
target = "either"
depth = 2
learner = "pcd-by-pcd"
max-conditioning = 3
require = [["smoke", "lung"]]
json = true
"""


def test_a_file_is_equal_to_options(tmp_path: Path) -> None:
    """A run from a file prints what the run with these options prints; the source may stand in the file too."""
    (tmp_path / "run.toml").write_text(RUN, "utf-8")
    options = ("-t", "either", "-k", "2", "-l", "pcd-by-pcd", "--max-conditioning", "3", "--require", "smoke", "lung")
    from_file = apsl_here("learn", "--config", "run.toml", folder=tmp_path)
    typed = apsl_here("learn", "asia", *options, "--json")

    assert (from_file.code, from_file.err) == (0, "")
    assert from_file.out == typed.out


def test_the_command_line_counts_more(tmp_path: Path) -> None:
    """What is typed replaces what the file says."""
    (tmp_path / "run.toml").write_text(RUN, "utf-8")
    typed = ("-t", "Cancer", "--require", "Smoker", "Cancer", "--out", "part.json")
    done = apsl_here("learn", "cancer", "--config", "run.toml", *typed, folder=tmp_path)
    part = load_part(tmp_path / "part.json")

    assert done.code == 0
    assert (part.target, part.depth, part.learner) == ("Cancer", 2, "pcd-by-pcd")


def test_learners_and_cuts_are_lists_and_tables(tmp_path: Path) -> None:
    """Learners to compare may be a list; cuts may be a table with any column names."""
    (tmp_path / "compare.toml").write_text('learners = ["apsl", "cmb"]\ntarget = "lung"\n', "utf-8")
    compared = apsl_here("compare", "asia", "--config", "compare.toml", folder=tmp_path)
    rows = [f"{at * 7919 % 1000},{int(at * 7919 % 1000 > 500)}" for at in range(500)]
    (tmp_path / "cents.csv").write_text('"a,b=c",high\n' + "\n".join(rows) + "\n", "utf-8")
    (tmp_path / "cut.toml").write_text('target = "high"\n[discretize]\n"a,b=c" = "quantile:3"\n', "utf-8")
    cut = apsl_here("learn", "cents.csv", "--config", "cut.toml", folder=tmp_path)

    assert [line.split()[0] for line in compared.out.splitlines()] == ["learner", "apsl", "cmb"]
    assert cut.out.startswith("high: linked with a,b=c (")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "the config file 'run.toml' cannot be read: No such file or directory"),
        ("target = ", "the config file 'run.toml' is not valid TOML"),
        ("targt = 'lung'", "has the unknown key 'targt'; did you mean 'target'?"),
        ("config = 'other.toml'", "has the unknown key 'config'"),
        ("[learn]\ntarget = 'lung'", "has the unknown key 'learn'; did you mean 'learner'?"),
        ("target = 'lung'\nthreads = 2.5", "--threads is '2.5'; give a whole number"),
        ("target = 'lung'\nalpha = true", "--alpha is 'True'; give a number"),
        ("target = 'lung'\nalpha = [0.1]", "alpha in the config file 'run.toml' is [0.1]; give one value"),
        ("target = 'lung'\njson = 'yes'", "json in the config file 'run.toml' is 'yes'; give true or false"),
        ("target = 'lung'\nforbid = ['a', 'b']", "is ['a', 'b']; give a list of pairs"),
        ("target = 'lung'\ndepth = 'deep'", "--depth is 'deep'"),
        ("target = 'lung'\ndiscretize = 3", "discretize"),
    ],
)
def test_a_wrong_file_gets_one_sentence(text: str | None, sentence: str, tmp_path: Path) -> None:
    """An unknown key or a wrong value is named with what is allowed."""
    if text is not None:
        (tmp_path / "run.toml").write_text(text, "utf-8")
    done = apsl_here("learn", "asia", "--config", "run.toml", folder=tmp_path)

    assert (done.code, done.out) == (1, "")
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1
