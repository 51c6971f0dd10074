"""What commands leave: one JSON document with ``--json``, a line about every file, and words for an empty part."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from apsl_rules.cli.main import apsl as group
from apsl_rules.data import example_table
from support.terminal import Done, apsl_here

RUN = ("clinic.csv", "-t", "either")
#: A way to call each command that has --json.
CALLS = {
    "learn": RUN,
    "many": ("clinic.csv", "--targets", "tub,lung"),
    "stability": (*RUN, "--resamples", "2"),
    "compare": (*RUN, "--learners", "auto,apsl"),
    "effect": ("clinic.csv", "smoke", "bronc"),
    "causes": ("clinic.csv", "smoke", "bronc"),
    "check": ("asia", "clinic.csv", "--shuffles", "5"),
    "moved": ("clinic.csv", *RUN),
    "ask": RUN,
    "fit": ("part.json", "clinic.csv", "--directed"),
    "show": ("part.json",),
    "why": ("part.json", "lung", "either"),
    "trace": ("part.json",),
    "score": ("part.json", "--truth", "asia"),
    "describe": ("clinic.csv",),
    "networks": (),
    "rules": (),
    "learners": (),
    "oracles": (),
    "finders": (),
    "formats": (),
    "plugins": (),
    "verify": ("asia", "-t", "lung", "-k", "1"),
    "doctor": (),
}
ANSWERS = '[[answers]]\nid = "sort"\nby = "Ann"\ndate = "2026-11-18"\ntarget = "either"\nreply = [["tub", "before"]]\n'
#: A way to call each command that has --out, and the file that it writes.
WRITERS = {
    "learn": (*RUN, "-o", "p.json"),
    "many": ("clinic.csv", "--targets", "tub,lung", "-o", "parts"),
    "stability": (*RUN, "--resamples", "2", "-o", "s.json"),
    "check": ("asia", "clinic.csv", "--shuffles", "5", "-o", "c.html"),
    "moved": ("clinic.csv", *RUN, "-o", "m.html"),
    "ask": (*RUN, "--answers", "answers.toml", "-o", "a.json"),
    "fit": ("part.json", "clinic.csv", "--directed", "-o", "f.bif"),
    "show": ("part.json", "--format", "dot", "-o", "p.dot"),
    "report": ("part.json", "-o", "p.html"),
    "simulate": ("asia", "-n", "9", "-o", "d.csv"),
    "random": ("5", "-o", "r.bif"),
}


def run(*words: str, folder: Path) -> Done:
    """Run a command in a folder."""
    with contextlib.chdir(folder):
        return apsl_here(*words)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and a part learned from it."""
    path = tmp_path_factory.mktemp("results")
    (path / "clinic.csv").write_bytes(example_table().read_bytes())
    assert run("learn", *RUN, "--out", "part.json", folder=path).code == 0
    (path / "answers.toml").write_text(ANSWERS, "utf-8")
    return path


def commands_with(option: str) -> set[str]:
    """Return the names of the commands that have an option."""
    names = group.list_commands(click.Context(group))
    return {name for name in names if any(option in one.opts for one in group.command_named(name).params)}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(commands_with("--json")))
def test_json_is_one_document_on_standard_output(name: str, folder: Path) -> None:
    """Whatever the command, --json prints one JSON document and nothing else."""
    done = run(name, *CALLS[name], "--json", folder=folder)

    assert (done.code, done.err) == (0, "")
    json.loads(done.out)


def test_the_json_of_a_part_is_its_file(folder: Path) -> None:
    """learn, show and the saved file agree, and what is printed can be read back."""
    saved = json.loads((folder / "part.json").read_text("utf-8"))

    assert json.loads(run("show", "part.json", "--json", folder=folder).out) == saved
    assert json.loads(run("learn", *RUN, "--json", folder=folder).out) == saved


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(commands_with("--out")))
def test_every_file_is_announced(name: str, folder: Path) -> None:
    """Standard error says what was written and where; --quiet keeps it silent."""
    *_, path = words = WRITERS[name]
    done = run(name, *words, folder=folder)

    assert done.code == 0
    assert done.err.startswith(f"wrote {path}: ")
    assert len(done.err.splitlines()) == 1
    assert (folder / path).exists()
    if name in commands_with("--quiet"):
        assert run(name, *words, "--quiet", folder=folder).err == ""


def test_an_empty_part_says_why_at_once(tmp_path: Path) -> None:
    """The reason is the first thing that is said; an unfinished run says that it ended."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.integers(0, 2, 300), "b": random.integers(0, 3, 300)})
    frame.to_csv(tmp_path / "noise.csv", index=False)
    done = run("learn", "noise.csv", "-t", "a", folder=tmp_path)
    ended = run("learn", "alarm", "-t", "HR", "--max-seconds", "0", folder=tmp_path)

    assert done.out.startswith("a: no column is kept: nothing depends on 'a' at this level of evidence")
    assert "the part is empty" not in done.out
    assert ended.out.startswith("HR, so far: no column is kept. Incomplete: stopped at ")


def test_the_default_is_listed_and_compared(folder: Path) -> None:
    """`auto` is the first of the learners, and the first that is compared, with the learner that it chose."""
    listed = run("learners", folder=folder).out.splitlines()
    compared = run("compare", *RUN, folder=folder).out.splitlines()

    assert listed[0].split()[:3] == ["auto", "the", "default:"]
    assert compared[1].startswith("auto (apsl-score) ")


def test_comparing_with_hidden_causes_asks_for_learners(folder: Path) -> None:
    """The usual learners know no hidden causes; where some are named, all marks are counted."""
    refused = run("compare", *RUN, "--hidden", folder=folder)
    named = json.loads(
        run("compare", "asia", "-t", "lung", "--hidden", "--learners", "auto", "--json", folder=folder).out
    )

    assert "only apsl-hidden allows hidden causes; name those to compare with --learners" in refused.err
    assert all(sum(row[key] for key in ("arrows", "lines", "partial", "bidirected")) == row["edges"] for row in named)
