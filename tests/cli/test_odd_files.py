"""Files with odd names and odd columns on the command line."""

from __future__ import annotations

from pathlib import Path

from terminal import apsl


def test_columns_named_like_attributes_are_columns(tmp_path: Path) -> None:
    """Columns called nodes, names, dag and columns are nothing but columns."""
    rows = ["nodes,names,dag,columns", *(f"{at % 2},{at % 3 % 2},{at % 2},{at % 5 % 2}" for at in range(200))]
    (tmp_path / "odd.csv").write_text("\n".join(rows) + "\n", "utf-8")
    done = apsl("learn", "odd.csv", "-t", "dag", folder=tmp_path)

    assert done.code == 0
    assert done.out.startswith("dag\n")


def test_a_file_in_the_folder_replaces_no_library(tmp_path: Path) -> None:
    """A pandas.py in the current folder is not run."""
    (tmp_path / "pandas.py").write_text("raise SystemExit('run by mistake')\n", "utf-8")
    (tmp_path / "rows.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50, "utf-8")

    assert apsl("learn", "rows.csv", "-t", "a", folder=tmp_path).code == 0


def test_a_part_saved_under_any_name_is_read(tmp_path: Path) -> None:
    """The commands that view a part know it by its content."""
    apsl("learn", "cancer", "-t", "Cancer", "--out", "mine", folder=tmp_path)

    assert apsl("why", "mine", "Cancer", "Xray", folder=tmp_path).out.startswith("Cancer -> Xray")


def test_named_columns_are_cut(tmp_path: Path) -> None:
    """`--discretize COLUMN=CUT` cuts whole numbers too."""
    rows = [f"{at * 7919 % 100_000},{int(at * 7919 % 100_000 > 50_000)}" for at in range(1000)]
    (tmp_path / "cents.csv").write_text("cents,high\n" + "\n".join(rows) + "\n", "utf-8")
    plain = apsl("learn", "cents.csv", "-t", "cents", folder=tmp_path)
    cut = apsl("learn", "cents.csv", "-t", "cents", "--discretize", "cents=quantile:4", folder=tmp_path)

    assert "too many levels" in plain.out
    assert "high" in cut.out
