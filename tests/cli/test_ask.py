"""``apsl ask``: keys on a real pseudo-terminal, answers from a file, and questions for programs."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apsl_rules import Knowledge
from apsl_rules.graphs.networks import network, simulate
from apsl_rules.parts import load_part
from support.terminal import apsl_here

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")]

QUESTION = 'question "sort"'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with rows of asia, and answers."""
    place = tmp_path_factory.mktemp("asked")
    simulate(network("asia"), 2000, place / "table.csv", seed=1)
    text = '[[answers]]\nid = "sort"\ntarget = "either"\nreply = {tub = "after", lung = "before"}\n'
    (place / "answers.toml").write_text(text, "utf-8")
    return place


class Terminal:
    """A pseudo-terminal with a command in it."""

    def __init__(self, folder: Path, *words: str) -> None:
        import pty

        self._end, other = pty.openpty()
        command = [str(Path(sys.executable).with_name("apsl")), *words]
        self.process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, cwd=folder, close_fds=True)
        os.close(other)
        self.seen = ""

    def wait_for(self, words: str, begin: int = 0) -> int:
        """Read until some words are there, and return where they end."""
        until = time.monotonic() + 60
        while words not in self.seen[begin:]:
            ready, _, _ = select.select([self._end], [], [], 0.2)
            if ready:
                try:
                    self.seen += os.read(self._end, 4096).decode("utf-8")
                except OSError:  # the command has ended
                    break
            assert time.monotonic() < until, self.seen
        assert words in self.seen[begin:], self.seen
        return self.seen.index(words, begin) + len(words)

    def press(self, key: str) -> None:
        """Press a key."""
        os.write(self._end, key.encode())

    def end(self) -> int:
        """Read to the end and return the exit code."""
        while True:
            try:
                more = os.read(self._end, 4096)
            except OSError:
                break
            if not more:
                break
            self.seen += more.decode("utf-8")
        os.close(self._end)
        return self.process.wait(60)


def test_keys_answer_and_enter_means_dont_know(folder: Path) -> None:
    """Other keys are passed over, Backspace goes back, and the answered part and the answers are written."""
    words = ("--by", "ward 3", "--date", "2026-11-18", "--keep-answers", "kept.toml", "--out", "part.json")
    talk = Terminal(folder, "ask", "table.csv", "-t", "either", *words, "--quiet")
    at = talk.wait_for("dysp ? ")
    keys = "b = before, a = after, n = neither, Enter = don't know, Backspace = back, q = leave"
    assert keys in " ".join(talk.seen.split())
    talk.press("z")
    talk.press("\r")
    at = talk.wait_for("lung ? ", at)
    assert "dysp ? don't know" in talk.seen
    talk.press("a")
    at = talk.wait_for("tub  ? ", at)
    talk.press("\x7f")
    at = talk.wait_for("lung ? ", at)
    talk.press("b")
    at = talk.wait_for("tub  ? ", at)
    talk.press("a")
    talk.wait_for("xray ? ", at)
    talk.press("\r")

    assert talk.end() == 0, talk.seen
    assert "tub -> either  becomes  either -> tub" in re.sub(r"\x1b\[[0-9;]*m", "", talk.seen)
    (given,) = Knowledge.read(folder / "kept.toml").answers
    assert (given.by, given.date, dict(given.reply)) == ("ward 3", "2026-11-18", {"lung": "before", "tub": "after"})
    assert QUESTION in str(load_part(folder / "part.json").why("either", "tub"))


def test_leaving_keeps_what_was_said(folder: Path) -> None:
    """After q nothing more is asked."""
    talk = Terminal(
        folder, "ask", "table.csv", "-t", "either", "--depth", "2", "--keep-answers", "left.toml", "--quiet"
    )
    at = talk.wait_for("dysp ? ")
    talk.press("a")
    talk.wait_for("lung ? ", at)
    talk.press("q")

    assert talk.end() == 0
    assert dict(Knowledge.read(folder / "left.toml").answers[0].reply) == {"dysp": "after"}


def test_answers_from_a_file_need_no_terminal(folder: Path) -> None:
    """The part says who answered; a saved part is asked as a table is."""
    done = apsl_here("ask", "table.csv", "-t", "either", "--answers", "answers.toml", "-o", "told.json", folder=folder)
    again = apsl_here("ask", "told.json", "--json", folder=folder)
    named = apsl_here(
        "ask", "table.csv", "-t", "either", "--answers", "answers.toml", "--by", "Ann", "-o", "ann.json", folder=folder
    )

    assert done.out.splitlines()[0] == "tub -> either  becomes  either -> tub"
    assert json.loads(again.out)["questions"][0]["items"] == ["dysp", "xray"]
    assert named.code == 0
    assert 'given by "Ann"' in apsl_here("why", "ann.json", "either", "tub", folder=folder).out


def test_learning_takes_the_answers_of_a_knowledge_file(folder: Path) -> None:
    """What was kept is laid over what is learned."""
    done = apsl_here("learn", "table.csv", "-t", "either", "--knowledge", "answers.toml", "-q", folder=folder)

    assert "├──▶ tub" in done.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("table.csv", "-t", "either"), "apsl: this is no terminal; print the questions with --json, and give"),
        (("table.csv", "-t", "eithr", "--json"), "apsl: unknown target 'eithr'; did you mean 'either'?"),
        (
            ("table.csv", "-t", "smoke", "--answers", "answers.toml"),
            "apsl: the answer to 'sort' is about 'either', and",
        ),
        (("table.csv", "-t", "either", "--answers", "no.toml"), "apsl: the knowledge file 'no.toml' cannot be read"),
    ],
)
def test_mistakes_get_a_sentence(words: tuple[str, ...], sentence: str, folder: Path) -> None:
    """In the words of the command."""
    done = apsl_here("ask", *words, folder=folder)

    assert (done.code, done.err[: len(sentence)]) == (1, sentence)
