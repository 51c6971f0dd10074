"""Files with odd names and odd columns on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from apsl_rules import learn, network
from apsl_rules.export import to_graph_json
from support.terminal import apsl, apsl_here

pytestmark = pytest.mark.slow


def test_columns_named_like_attributes_are_columns(tmp_path: Path) -> None:
    """Columns called nodes, names, dag and columns are nothing but columns."""
    rows = ["nodes,names,dag,columns", *(f"{at % 2},{at % 3 % 2},{at % 2},{at % 5 % 2}" for at in range(200))]
    (tmp_path / "odd.csv").write_text("\n".join(rows) + "\n", "utf-8")
    done = apsl_here("learn", "odd.csv", "-t", "dag", folder=tmp_path)

    assert done.code == 0
    assert done.out.startswith("dag: ")


def test_a_file_in_the_folder_replaces_no_library(tmp_path: Path) -> None:
    """A pandas.py in the current folder is not run."""
    (tmp_path / "pandas.py").write_text("raise SystemExit('run by mistake')\n", "utf-8")
    (tmp_path / "rows.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50, "utf-8")

    assert apsl("learn", "rows.csv", "-t", "a", folder=tmp_path).code == 0


def test_a_part_saved_under_any_name_is_read(tmp_path: Path) -> None:
    """The commands that view a part know it by its content."""
    apsl_here("learn", "cancer", "-t", "Cancer", "--out", "mine", folder=tmp_path)

    assert apsl_here("why", "mine", "Cancer", "Xray", folder=tmp_path).out.startswith("Cancer -> Xray")


def test_a_graph_of_another_tool_is_learned_from_by_every_command(tmp_path: Path) -> None:
    """A file *.graph.json ends as a saved part does, and is a graph all the same."""
    part = learn(network("cancer"), "Cancer")
    (tmp_path / "mine.graph.json").write_text(to_graph_json(part), "utf-8")
    done = apsl_here("why", "mine.graph.json", "Smoker", "Cancer", "-t", "Cancer", folder=tmp_path)

    assert done.out.startswith("Smoker -> Cancer   [V-from-middle]")


def test_a_saved_part_takes_no_settings_of_a_run(tmp_path: Path) -> None:
    """Options that could only count while learning are refused beside a part, whether typed or in a file."""
    learn(network("cancer"), "Cancer").save(tmp_path / "part.json")
    (tmp_path / "run.toml").write_text("alpha = 0.05\n", "utf-8")
    typed = apsl_here("why", "part.json", "Cancer", "Xray", "--depth", "2", folder=tmp_path)
    read = apsl_here("trace", "part.json", "--config", "run.toml", folder=tmp_path)

    assert typed.code == read.code == 1
    assert typed.err == (
        "apsl: 'part.json' is a saved part, so --depth can change nothing; leave that out, or learn anew\n"
    )
    assert "so --alpha can change nothing" in read.err


def test_two_formats_at_once_are_refused(tmp_path: Path) -> None:
    """--json beside another format would have to leave one of them out."""
    learn(network("cancer"), "Cancer").save(tmp_path / "part.json")

    for words in (("learn", "cancer", "-t", "Cancer"), ("show", "part.json")):
        done = apsl_here(*words, "--json", "--format", "csv", folder=tmp_path)
        assert (done.code, done.err) == (1, "apsl: --json and --format csv ask for two formats; give one of them\n")


def test_a_name_with_a_semicolon_is_a_name(tmp_path: Path) -> None:
    """A single column may be called so, as long as its values do not look the same way."""
    (tmp_path / "one.csv").write_text("a;b\n" + "yes\nno\n" * 10, "utf-8")

    assert apsl_here("learn", "one.csv", "-t", "a;b", folder=tmp_path).out.startswith("a;b: ")


def test_named_columns_are_cut(tmp_path: Path) -> None:
    """`--discretize COLUMN=CUT` cuts a column as asked, `--category COLUMN` nothing; G² says what it cut unasked."""
    rows = [f"{at * 7919 % 100_000},{int(at * 7919 % 100_000 > 50_000)}" for at in range(1000)]
    (tmp_path / "cents.csv").write_text("cents,high\n" + "\n".join(rows) + "\n", "utf-8")
    usual = apsl_here("learn", "cents.csv", "-t", "cents", "--oracle", "gsquare", folder=tmp_path)
    plain = apsl_here("learn", "cents.csv", "-t", "cents", "--category", "cents", folder=tmp_path)
    cut = apsl_here("learn", "cents.csv", "-t", "cents", "--discretize", "cents=quantile:4", folder=tmp_path)

    assert "column 'cents' cut into 3 intervals" in usual.out
    assert "high" in usual.out
    assert "too few rows" in plain.out
    assert "high" in cut.out
