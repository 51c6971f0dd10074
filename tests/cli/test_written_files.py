"""Where commands write: files, links, standard output, and what they refuse to write to."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from support.terminal import apsl, apsl_here

pytestmark = pytest.mark.slow

COMMANDS = {
    "learn": ("learn", "asia", "-t", "either"),
    "stability": ("stability", "rows.csv", "-t", "a", "--resamples", "2", "-l", "apsl"),
    "show": ("show", "part.json", "--format", "dot"),
    "report": ("report", "part.json"),
    "simulate": ("simulate", "asia", "-n", "20"),
    "random": ("random", "5"),
}
ENDINGS = {"simulate": ".csv", "random": ".bif"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a saved part and a small table."""
    place = tmp_path_factory.mktemp("written")
    (place / "rows.csv").write_text("a,b\n" + "0,1\n1,0\n" * 50, "utf-8")
    assert apsl_here("learn", "asia", "-t", "either", "--out", "part.json", folder=place).code == 0
    return place


def test_a_dash_prints_also_where_something_is_called_so(tmp_path: Path) -> None:
    """Only ./- is that thing."""
    (tmp_path / "-").mkdir()
    done = apsl_here("learn", "asia", "-t", "either", "--out", "-", folder=tmp_path)

    assert done.code == 0
    assert json.loads(done.out)["learner"] == "apsl"


def test_a_log_behind_standard_error_stays(tmp_path: Path) -> None:
    """What the shell opened to add to is not written anew."""
    (tmp_path / "log").write_text("old\n", "utf-8")
    with (tmp_path / "log").open("a") as log:
        command = [str(Path(sys.executable).with_name("apsl")), *COMMANDS["learn"], "--out", "/dev/stderr"]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=log, cwd=tmp_path, check=False)

    assert done.returncode == 1
    said = "apsl: cannot write '/dev/stderr': it is a stream of this process; give a file, or '/dev/stdout' to print\n"
    assert (tmp_path / "log").read_text("utf-8") == f"old\n{said}"


@pytest.mark.parametrize(
    ("out", "why"),
    [("x" * 300, "File name too long"), ("new/", "it is the name of a folder"), ("no/part.json", "No such")],
)
def test_a_name_that_no_file_can_have_is_told(out: str, why: str, tmp_path: Path) -> None:
    """One sentence, and nothing is written."""
    done = apsl_here(*COMMANDS["learn"], "--out", out, folder=tmp_path)

    assert done.code == 1
    assert done.err.startswith(f"apsl: cannot write '{out}': {why}")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_a_dash_and_dev_stdout_print_what_a_file_gets(name: str, folder: Path) -> None:
    """Standard output gets the same bytes as a file and nothing else; what is said beside goes to standard error."""
    out = f"{name}-out{ENDINGS.get(name, '')}"
    assert apsl_here(*COMMANDS[name], "--out", out, folder=folder).code == 0
    written = (folder / out).read_text("utf-8")

    for place in ("-", "/dev/stdout"):
        done = apsl_here(*COMMANDS[name], "--out", place, folder=folder)
        assert (done.code, done.out) == (0, written)
        assert "apsl: " not in done.err
    assert not (folder / "-").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_file_is_refused_before_the_work(name: str, folder: Path) -> None:
    """A pipe or a folder at --out is refused with one sentence, and stays what it is."""
    pipe = folder / f"{name}-pipe{ENDINGS.get(name, '')}"
    os.mkfifo(pipe)

    for place, kind in ((pipe.name, "a pipe"), (".", "a folder"), ("/dev/null", "a device")):
        done = apsl_here(*COMMANDS[name], "--out", place, folder=folder)
        assert (done.code, done.out) == (1, "")
        assert done.err.startswith(f"apsl: cannot write {place!r}: it is {kind}; give the path of a file")
        assert done.err.count("\n") == 1
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("buffered", [True, False])
@pytest.mark.parametrize(
    "words",
    [("learn", "asia", "-t", "either"), ("show", "part.json"), ("simulate", "asia"), ("--help",), ("--version",), ()],
)
def test_a_full_standard_output_ends_with_one_sentence(words: tuple[str, ...], buffered: bool, folder: Path) -> None:
    """A full disk gives one sentence, whether Python buffers or not."""
    command = [str(Path(sys.executable).with_name("apsl")), *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=folder, env=environment, check=False)

    assert done.returncode == 1
    assert done.stderr.decode() == (
        "apsl: cannot write to standard output: No space left on device; choose a place with free space\n"
    )


def test_an_empty_path_is_refused_and_nothing_is_written(folder: Path) -> None:
    """An empty path is no file of the current folder."""
    before = sorted(folder.iterdir())
    done = apsl_here("learn", "asia", "-t", "either", "-o", "", folder=folder)

    assert (done.code, done.err) == (1, "apsl: the file to write is ''; give the path of a file\n")
    assert sorted(folder.iterdir()) == before


def test_a_page_is_not_written_beside_a_device(folder: Path) -> None:
    """A part that comes through standard input has no place of its own, so the page needs one."""
    command = [str(Path(sys.executable).with_name("apsl")), "report", "/dev/stdin"]
    done = subprocess.run(
        command, input=(folder / "part.json").read_bytes(), capture_output=True, cwd=folder, check=False
    )

    assert done.returncode == 1
    assert b"add --out FILE" in done.stderr
    assert not Path("/dev/stdin.html").exists()


def test_a_name_that_is_no_text_is_printed_as_an_escape(folder: Path) -> None:
    """A saved part may hold a lone surrogate as a JSON escape; showing it needs no encoding that has it."""
    text = (folder / "part.json").read_text("utf-8").replace('"dysp"', '"dysp\\ud800"')
    (folder / "odd.json").write_text(text, "utf-8")
    done = apsl("show", "odd.json", folder=folder)

    assert done.code == 0
    assert r"dysp\ud800" in done.out
