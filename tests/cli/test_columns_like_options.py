"""Columns that are called like options: every command prints their names as they are."""

from __future__ import annotations

import re
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from apsl_rules.cli.main import apsl as group
from support.terminal import apsl_here

COMMANDS = [group.command_named(name) for name in group.list_commands(click.Context(group))]
#: The names of all options, as the library calls what they give.
NAMES = sorted({str(one.name) for command in COMMANDS for one in command.params})
#: How an option is offered as advice about a column, which comes after it.
ADVICE = re.compile(r"--(?:number|category|drop|discretize|tier) \S+")


def chain(path: Path, names: list[str]) -> None:
    """Write a table whose columns depend on each other in their order."""
    random = np.random.default_rng(3)
    columns: dict[str, npt.NDArray[np.str_]] = {}
    last = random.integers(0, 2, 300)
    for name in names:
        columns[name] = np.where(last == 1, "yes", "no")
        last = np.where(random.random(300) < 0.85, last, 1 - last)
    pd.DataFrame(columns).to_csv(path, index=False)


@pytest.mark.parametrize("at", range(0, len(NAMES), 40))
def test_no_name_of_a_column_becomes_an_option(at: int, tmp_path: Path) -> None:
    """Learning, describing, effects and errors speak of columns by their own names."""
    names = [NAMES[(at + step) % len(NAMES)] for step in range(8)]
    table = tmp_path / "table.csv"
    chain(table, names)
    first, second = names[3], names[4]
    runs = [
        apsl_here("learn", str(table), "--target", first, "--hidden", "excluded", "--notes"),
        apsl_here("describe", str(table)),
        apsl_here("effect", str(table), first, second),
        apsl_here("causes", str(table), first, second),
        apsl_here("learn", str(table), "--target", f"{first}x"),
    ]

    assert [run.code for run in runs] == [0, 0, 0, 0, 1]
    for run in runs:
        said = ADVICE.sub("", " ".join((run.out + run.err).split()))
        for name in names:
            assert f"--{name.replace('_', '-')} " not in said
    assert re.match(rf"'?{first}'?: ", runs[0].out)
    assert f"did you mean '{first}'" in runs[4].err
