"""Every command as a process of its own: the other tests run them in theirs, where all is as it would be there."""

from __future__ import annotations

import logging
import signal
import sys
from pathlib import Path

import click
import pytest

from apsl_rules.cli.main import apsl as group
from apsl_rules.data import example_table
from support.terminal import apsl, apsl_here

#: A short call of each command, in a folder with a table and a part learned from it.
CALLS: dict[str, tuple[str, ...]] = {
    "learn": ("clinic.csv", "-t", "either", "--out", "p.json"),
    "many": ("asia", "--targets", "tub,lung"),
    "stability": ("clinic.csv", "-t", "either", "--resamples", "2", "--json"),
    "compare": ("asia", "-t", "lung", "--learners", "apsl,nobody"),
    "effect": ("clinic.csv", "smoke", "bronc"),
    "causes": ("clinic.csv", "smoke", "bronc"),
    "check": ("asia", "clinic.csv", "--shuffles", "5"),
    "moved": ("clinic.csv", "clinic.csv", "-t", "either"),
    "ask": ("clinic.csv", "-t", "either", "--json"),
    "fit": ("part.json", "clinic.csv", "--directed"),
    "show": ("part.json", "--format", "dot", "--out", "/dev/stdout"),
    "why": ("part.json", "lung", "either"),
    "trace": ("-",),
    "report": ("part.json", "--out", "p.html"),
    "score": ("part.json", "--truth", "asia"),
    "describe": ("clinic.csv",),
    "open": ("nothing.csv",),
    "networks": (),
    "simulate": ("asia", "-n", "9"),
    "random": ("5",),
    "rules": (),
    "learners": (),
    "oracles": (),
    "finders": (),
    "formats": ("--jsn",),
    "plugins": ("--help",),
    "serve": ("--folder", "nowhere"),
    "verify": ("asia", "-t", "lung", "-k", "1"),
    "doctor": ("--help",),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and a part learned from it."""
    path = tmp_path_factory.mktemp("processes")
    (path / "clinic.csv").write_bytes(example_table().read_bytes())
    assert apsl_here("learn", "clinic.csv", "-t", "either", "--out", "part.json", "-q", folder=path).code == 0
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", group.list_commands(click.Context(group)))
def test_a_process_prints_what_the_command_prints_here(name: str, folder: Path) -> None:
    """Exit code, standard output and standard error are the same, of results, of helps and of mistakes."""
    stdin = (folder / "part.json").read_bytes() if "-" in CALLS[name] else b""
    done = apsl(name, *CALLS[name], folder=folder, stdin=stdin)

    assert done == apsl_here(name, *CALLS[name], folder=folder, stdin=stdin)
    assert done.out or done.err


def test_a_command_leaves_this_process_as_it_was(tmp_path: Path) -> None:
    """Streams, words, log, interrupts, current folder, path and modules of plugins are those from before."""
    plugin = "from apsl_rules import hookimpl\n@hookimpl\ndef apsl_firing(firing):\n    print({!r})\n"
    logger = logging.getLogger("apsl_rules")

    def state() -> list[object]:
        streams = [sys.stdin, sys.stdout, sys.stderr]
        return [*streams, Path.cwd(), sys.argv[:], sys.path[:], logger.handlers[:], logger.level, *interrupts()]

    def interrupts() -> list[object]:
        return [signal.getsignal(signal.SIGINT), sys.unraisablehook]

    before = state()
    for word in ("FIRST", "OTHER"):
        place = tmp_path / word
        place.mkdir()
        (place / "passing.py").write_text(plugin.format(word), "utf-8")
        done = apsl_here("--plugin", "passing", "learn", "cancer", "-t", "Cancer", folder=place)
        assert done.out.startswith(f"{word}\n")
        assert state() == before
        assert "passing" not in sys.modules
    assert apsl_here("learn", "cancer", "-t", "Cance").code == 1
    assert state() == before
