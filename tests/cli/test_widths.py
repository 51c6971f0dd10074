"""No command prints a line that is wider than the terminal, nor one wider than 80 columns into a pipe."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest

from apsl_rules.cli.main import apsl as group
from apsl_rules.data import example_table
from apsl_rules.showing import wide
from support.terminal import apsl_here

#: Columns as people name them, and one that is wider than its letters are many.
NAMES = {
    "asia": "visited_asia_in_the_last_twelve_months_before_admission",
    "smoke": "Do you currently smoke cigarettes, cigars or a pipe?",
    "dysp": "shortness_of_breath_at_admission",
    "xray": "胸部エックス線写真の所見（放射線科医による読影結果）",
}
#: What is asked of each table; a part of it lies in part.json, and a graph in graph.dot.
COMMANDS = (
    "learn table.csv -t T --notes",
    "learn table.csv -t T --verbose",
    "learn table.csv -t T -k 2 --hidden allowed",
    "describe table.csv",
    "describe table.csv -t T",
    "many table.csv --targets all",
    "stability table.csv -t T --resamples 3",
    "compare table.csv -t T",
    "effect table.csv C T",
    "effect table.csv C T --why",
    "effect part.json --data table.csv",
    "causes table.csv C T",
    "fit part.json table.csv --directed --discretize quantile:3",
    "check graph.dot table.csv",
    "moved table.csv table.csv -t T",
    "show part.json --columns",
    "why part.json C T",
    "why part.json --repairs",
    "trace part.json --findings",
    "ask part.json --answers answers.toml",
    "verify part.json --data table.csv",
)
LISTS = ("networks", "learners", "oracles", "finders", "formats", "rules", "plugins", "doctor", "verify asia -t either")
#: The narrow terminal that is tried.
NARROW = 57


def clinic() -> pd.DataFrame:
    """Return the table of the package under long names."""
    return pd.read_csv(example_table()).rename(columns=NAMES)


def costs() -> pd.DataFrame:
    """Draw numbers and categories with long names, a few of them missing."""
    random = np.random.default_rng(3)
    age = random.integers(18, 80, 500)
    smoker = random.choice(["never smoked in my life", "yes"], 500)
    cost = 200 * age + 9000 * (smoker == "yes") + random.normal(0, 900, 500)
    frame = {
        "yearly_cost_of_treatment_in_euros_before_refunds": cost,
        "age of the insured person at the first of January": age,
        "smoking status, as told by the insured person": smoker,
        "a_column_without_any_relation_to_the_other_columns": random.normal(size=500),
        "region_of_residence_by_the_first_letter_of_its_code": random.choice(list("abcdefghij"), 500),
    }
    table = pd.DataFrame(frame)
    return table.mask(random.random(table.shape) < 0.02)


@pytest.fixture(scope="module", params=["clinic", "costs"])
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Write a table, a part, a graph and answers; return their folder, a target and a cause of it."""
    folder = tmp_path_factory.mktemp(str(request.param))
    frame = clinic() if request.param == "clinic" else costs()
    target, cause = (NAMES["dysp"], "bronc") if request.param == "clinic" else (frame.columns[0], frame.columns[1])
    frame.to_csv(folder / "table.csv", index=False)
    arrows = "".join(f'"{one}" -> "{target}"; ' for one in frame.columns if one != target)
    (folder / "graph.dot").write_text(f"digraph {{ {arrows} }}", "utf-8")
    answer = {"id": "sort", "by": "you", "target": target, "reply": [[cause, "before"]]}
    answers = "".join(f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in answer.items())
    (folder / "answers.toml").write_text(f"[[answers]]\n{answers}", "utf-8")
    assert apsl_here("learn", "table.csv", "-t", target, "--out", "part.json", folder=folder).code == 0
    return folder, target, cause


def words_of(command: str, target: str, cause: str) -> list[str]:
    """Return the words of a command, with T for the target and C for a cause of it."""
    return [{"T": target, "C": cause}.get(word, word) for word in command.split()]


def widest(text: str) -> int:
    """Return how wide the widest line is, colours left out."""
    return max(map(wide, re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()), default=0)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_in_a_pipe_is_wider_than_80_columns(command: str, place: tuple[Path, str, str]) -> None:
    """Sentences are broken at words, tables within their columns, whatever the names are."""
    folder, target, cause = place
    done = apsl_here(*words_of(command, target, cause), folder=folder)

    assert done.code == 0, done.err
    assert done.out.strip()
    assert widest(done.out) <= 80


@pytest.mark.parametrize("command", LISTS)
def test_no_list_in_a_pipe_is_wider_than_80_columns(command: str) -> None:
    """What is installed is listed within 80 columns."""
    done = apsl_here(*command.split())

    assert done.code == 0
    assert widest(done.out) <= 80


@pytest.mark.parametrize("command", group.list_commands(click.Context(group)))
def test_no_help_in_a_pipe_is_wider_than_80_columns(command: str) -> None:
    """Options are wrapped by click; examples, which nothing wraps, are short enough."""
    assert widest(apsl_here(command, "--help").out) <= 80


def test_nothing_is_wider_than_a_narrow_terminal(place: tuple[Path, str, str]) -> None:
    """On a terminal of few columns every command keeps to them."""
    folder, target, cause = place
    runs = [words_of(command, target, cause) for command in COMMANDS] + [one.split() for one in LISTS]
    program = (
        "import sys\nfrom apsl_rules.cli.main import run\n"
        f"for words in {runs!r}:\n"
        "    print('@', *words[:1])\n    sys.argv = ['apsl', *words]\n    print('@code', run())\n"
    )
    text = on_terminal(program, folder)

    assert text.count("@code 0") == len(runs)
    too_wide = [line for line in text.splitlines() if widest(line) > NARROW]
    assert not too_wide


def on_terminal(program: str, folder: Path) -> str:
    """Run a program on a narrow terminal and return what that shows."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, NARROW, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=folder, stdout=follower, stderr=subprocess.DEVNULL, env=environment
    ):
        os.close(follower)
        shown = b""
        while True:
            try:
                more = os.read(leader, 65536)
            except OSError:  # the program has ended
                break
            if not more:
                break
            shown += more
    os.close(leader)
    return shown.decode("utf-8").replace("\r\n", "\n")
