"""Names of columns with commas, quotation marks, brackets and stars can be said in every option that names columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.terminal import apsl_here


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a table whose columns have odd names."""
    random = np.random.default_rng(0)
    x = random.normal(size=300).round(2)
    frame = pd.DataFrame({"a, b": x, 'say "hi"': (x + random.normal(size=300)).round(2), "l, a": np.exp(x).round(4)})
    frame["c*"] = random.integers(1, 6, 300)
    frame["d [e]"] = random.normal(size=300).round(2)
    frame["when, where"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, 300), unit="D")
    frame["g, h"] = np.repeat(np.arange(30), 10)
    frame["w, t"] = random.random(300).round(2) + 0.1
    frame.to_csv(tmp_path / "odd.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (["--drop", '"w, t","c*"', "--keep", '"l, a"'], {"w, t": "set aside", "c*": "set aside", "l, a": "number"}),
        (["--category", '"g, h"', "--part", '"when, where"=month'], {"g, h": "category", "when, where": "category"}),
        (["--number", "c*", "--number", "when, where", "--na", "c*=5"], {"c*": "number", "when, where": "number"}),
        (["--ordered", "c*", "--discretize", '"d [e]"=quantile:3'], {"c*": "ordered", "d [e]": "category"}),
        (["--only", '"a, b","d [e]"', "--sampling-weights", "w, t"], {"d [e]": "number", "w, t": "set aside"}),
        (["--groups", '"g, h"', "--tier", '"d [e]"', "--tier", '"a, b"'], {"g, h": "set aside", "d [e]": "number"}),
        (["--require", "d [e]", "a, b", "--forbid", "a, b", 'say "hi"'], {"d [e]": "number"}),
    ],
)
def test_odd_names_are_said_in_options(folder: Path, words: list[str], kinds: dict[str, str]) -> None:
    """Each option does to the column what it does to others."""
    groups = [] if "--groups" in words else ["--groups", "none"]
    done = apsl_here("learn", "odd.csv", "-t", "a, b", *groups, *words, "--out", "part.json", folder=folder)
    assert done.code == 0, done.err
    columns = {one["name"]: one["kind"] for one in json.loads((folder / "part.json").read_text("utf-8"))["columns"]}
    assert {name: columns[name] for name in kinds} == kinds
