"""Which files a client may have read, and how large they may be."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

from apsl_rules.data import example_table
from apsl_rules.errors import ApslError, DataError
from apsl_rules.server import Limits
from apsl_rules.server.answers import answer


@pytest.fixture
def limits(tmp_path: Path) -> Limits:
    """Return limits with one folder, beside which lies a file that is not to be read."""
    inside = tmp_path / "inside"
    (inside / "deeper").mkdir(parents=True)
    for path in (inside / "a.csv", inside / "deeper" / "b.csv", tmp_path / "secret.csv"):
        path.write_text("a,b\n0,1\n1,0\n", "utf-8")
    return Limits((inside.resolve(),), most_bytes=1000, most_rows=50, seconds=5)


@pytest.mark.parametrize("name", ["a.csv", "deeper/b.csv", "./a.csv", "deeper/../a.csv"])
def test_files_below_the_folder_are_read(name: str, limits: Limits) -> None:
    """A path from the folder is found, and so is an absolute one."""
    found = limits.source(name)
    assert Path(found).is_file()
    assert limits.source(found) == found


def test_a_network_needs_no_file(limits: Limits) -> None:
    """Networks that come with the package have names."""
    assert limits.source("alarm") == "alarm"


OUTSIDE = ("../secret.csv", "deeper/../../secret.csv", "~/x.csv", "file:///etc/hosts.csv")
NO_FILES = ("nothing.csv", "*.csv", "a.csv\0.csv", "x" * 5000 + ".csv")
OTHER_KINDS = ("postgres://host/db#table", "a.duckdb", "spec.toml", "/etc/passwd", "deeper", "")


@pytest.mark.parametrize("name", [*OUTSIDE, *NO_FILES, *OTHER_KINDS])
def test_nothing_else_is_read(name: str, limits: Limits) -> None:
    """Paths that lead out, patterns, addresses, databases and scripts are refused in one sentence."""
    with pytest.raises(ApslError) as caught:
        limits.source(name)

    if name in OTHER_KINDS:
        assert str(caught.value).startswith(f"{name!r} is neither a network nor a file that is read; its name must end")
    else:
        assert str(caught.value).startswith("there is no file '")
        assert " in the folders that may be read; " in str(caught.value)
        assert "secret" not in str(caught.value).partition("; ")[2]


def test_an_absolute_path_outside_is_like_one_that_is_not_there(limits: Limits, tmp_path: Path) -> None:
    """The sentence does not tell whether the file exists."""
    for name in (tmp_path / "secret.csv", tmp_path / "no.csv"):
        with pytest.raises(DataError, match=r"there is no file .* in the folders that may be read"):
            limits.source(str(name))


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_a_link_does_not_lead_out(limits: Limits, tmp_path: Path) -> None:
    """A link below the folder to a file beside it is not followed."""
    link = limits.folders[0] / "link.csv"
    try:
        link.symlink_to(tmp_path / "secret.csv")
    except OSError:
        pytest.skip("links may not be made here")
    with pytest.raises(DataError, match="there is no file"):
        limits.source("link.csv")


def test_a_large_file_is_refused_packed_or_not(limits: Limits) -> None:
    """What counts is the size once it is unpacked; unpacking ends at the limit."""
    folder = limits.folders[0]
    (folder / "large.csv").write_text("a,b\n" + "0,1\n" * 300, "utf-8")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"0,1\n" * 10**6))
    pd.DataFrame({"a": range(60), "b": range(60)}).to_excel(folder / "book.xlsx", index=False)
    for name in ("large.csv", "packed.csv.gz", "book.xlsx"):
        with pytest.raises(DataError, match="is larger than 0 MB, which is the most; give a sample"):
            limits.source(name)


def test_many_rows_are_refused_before_they_are_read(limits: Limits) -> None:
    """A Parquet file says how many rows it has."""
    folder = limits.folders[0]
    pd.DataFrame({"a": [0] * 60}).to_parquet(folder / "rows.parquet", index=False)
    wide = Limits(limits.folders, most_bytes=10**6, most_rows=50, seconds=5)
    with pytest.raises(DataError, match="has 60 rows, and at most 50 are read"):
        wide.source("rows.parquet")


def test_limits_travel_as_data(limits: Limits) -> None:
    """The process that answers gets the same limits."""
    assert Limits.of(limits.to_dict()) == limits


@pytest.mark.parametrize("name", ["x" * 100_000 + ".csv", "x" * 100_000 + ".xlsx#a", "clinic.xlsx#" + "x" * 100_000])
def test_a_very_long_name_is_no_file(name: str, tmp_path: Path) -> None:
    """What the system cannot look up is not there."""
    with pytest.raises(DataError, match=r"^there is no file .* in the folders that may be read"):
        Limits((tmp_path,)).source(name)


def test_files_are_listed_and_misspelt_ones_are_hinted_at(limits: Limits) -> None:
    """Those below the folders have a name that opens them; hidden ones and other endings are left out."""
    (limits.folders[0] / ".hidden.csv").write_text("a\n", "utf-8")
    (limits.folders[0] / "notes.md").write_text("a\n", "utf-8")
    found = answer("list_files", {}, limits)

    assert [one["data"] for one in found["files"]] == ["a.csv", "deeper/b.csv"]
    assert all(Path(limits.source(one["data"])).is_file() for one in found["files"])
    assert [one["data"] for one in answer("list_files", {"name": "B.CS"}, limits)["files"]] == ["deeper/b.csv"]
    assert answer("list_files", {"name": "deper/b.csv"}, limits)["hint"] == "did you mean 'deeper/b.csv'?"
    with pytest.raises(DataError, match=r"; did you mean 'deeper/b\.csv'\?"):
        limits.source("deper/b.csv")


def test_an_answer_begins_with_words_and_has_proofs_on_request(tmp_path: Path) -> None:
    """Without proofs an answer is a small share of one with them; figures have three digits."""
    (tmp_path / "clinic.csv").write_bytes(example_table().read_bytes())
    run = {"data": "clinic.csv", "target": "either", "depth": 2}
    plain, whole = (answer("learn", {**run, "proofs": one}, Limits((tmp_path.resolve(),))) for one in (False, True))

    assert next(iter(plain)) == "summary"
    assert plain["summary"].startswith("either: ")
    assert not any("proof" in edge for edge in plain["edges"])
    assert all("proof" in edge for edge in whole["edges"])
    assert 3 * len(json.dumps(plain)) < len(json.dumps(whole))
    assert all(float(f"{edge['probability']:.3g}") == edge["probability"] for edge in plain["edges"])


@pytest.mark.parametrize(
    ("tool", "asked"),
    [("effect", {"cause": "smoke", "target": "dysp"}), ("check", {"graph": "dag { smoke -> bronc }"})],
)
def test_figures_of_other_answers_have_three_digits(tool: str, asked: dict[str, str], tmp_path: Path) -> None:
    """A model reads every digit: what an effect or a check gives is rounded at every depth, counts are whole."""
    (tmp_path / "clinic.csv").write_bytes(example_table().read_bytes())
    found = json.dumps(answer(tool, {"data": "clinic.csv", **asked}, Limits((tmp_path.resolve(),))))

    figures = re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?(?=[,\]}])", found)
    assert figures
    assert all(float(f"{float(one):.3g}") == float(one) for one in figures)
