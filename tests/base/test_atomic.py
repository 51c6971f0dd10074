"""Files that are written whole or not at all, whatever is at their place."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from apsl_rules import Dag, Knowledge, learn, network
from apsl_rules._files import atomic_file, write_text
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.bif import save_bif
from apsl_rules.graphs.networks.sampling import simulate

WRITERS: dict[str, Callable[[Path], None]] = {
    "part.json": lambda path: learn(network("cancer"), "Cancer").save(path),
    "part.html": lambda path: learn(network("cancer"), "Cancer").report(path),
    "net.bif": lambda path: save_bif(network("cancer"), path),
    "net.bif.gz": lambda path: save_bif(network("cancer"), path),
    "rows.csv": lambda path: simulate(network("cancer"), 10, path, seed=0),
    "rows.tsv.gz": lambda path: simulate(network("cancer"), 10, path, seed=0),
    "rows.parquet": lambda path: simulate(network("cancer"), 10, path, seed=0),
    "known.toml": lambda path: Knowledge(required=[("a", "b")]).write(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_link_stays_and_its_target_keeps_its_mode(name: str, tmp_path: Path) -> None:
    """Writing to a link writes the file that it leads to, with the mode that the file had."""
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / name
    target.write_text("before", "utf-8")
    target.chmod(0o600)
    link = tmp_path / name
    link.symlink_to(target)
    WRITERS[name](link)

    assert link.is_symlink()
    assert target.read_bytes() != b"before"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(one.name for one in (tmp_path / "there").iterdir()) == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_no_file_is_refused_and_stays(name: str, tmp_path: Path) -> None:
    """A pipe, also behind a link, and a folder are refused with one sentence; nothing is left beside them."""
    (tmp_path / "pipes").mkdir()
    os.mkfifo(tmp_path / "pipes" / name)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / name).symlink_to(tmp_path / "pipes" / name)
    (tmp_path / "folders" / name).mkdir(parents=True)

    for place, kind in (("pipes", "a pipe"), ("links", "a pipe"), ("folders", "a folder")):
        with pytest.raises(InvalidArgumentError, match=f"it is {kind}; give the path of a file") as refused:
            WRITERS[name](tmp_path / place / name)
        assert "\n" not in str(refused.value)
        assert len(list((tmp_path / place).iterdir())) == 1
    assert stat.S_ISFIFO((tmp_path / "pipes" / name).stat().st_mode)


def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    """A file that was not there gets the mode that any program would give it."""
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "new.txt", "text")
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_a_link_that_leads_nowhere_makes_its_target(tmp_path: Path) -> None:
    """A dangling link stays, and the file that it names is made."""
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", "text")

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text("utf-8") == "text"


def test_a_ring_of_links_is_refused(tmp_path: Path) -> None:
    """Links that lead to each other are refused with a sentence."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    with pytest.raises(InvalidArgumentError, match="cannot write"):
        write_text(tmp_path / "a", "text")


def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path) -> None:
    """The draft beside a file has a short name of its own."""
    write_text(tmp_path / ("x" * 255), "text")

    assert (tmp_path / ("x" * 255)).read_text("utf-8") == "text"


def test_a_failure_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """What was there stays when writing fails half way, and no draft is left."""
    (tmp_path / "file").write_text("before", "utf-8")

    def fail() -> None:
        with atomic_file(tmp_path / "file") as draft:
            draft.write_text("half", "utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert [one.read_text("utf-8") for one in tmp_path.iterdir()] == ["before"]


def test_standard_output_gets_the_whole_content(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """/dev/stdout stands for standard output in every writer."""
    part = learn(network("cancer"), "Cancer")
    part.save(tmp_path / "part.json")
    part.save("/dev/stdout")

    assert capfd.readouterr().out == (tmp_path / "part.json").read_text("utf-8")


def test_a_lone_surrogate_is_refused_in_a_part_and_escaped_in_a_page(tmp_path: Path) -> None:
    """A label that UTF-8 cannot hold is named when the part is saved, and shown as an escape in the report."""
    part = learn(Dag({"a\ud800": [], "b": ["a\ud800"]}), "b")

    with pytest.raises(InvalidArgumentError, match=r"lone surrogate '\\ud800', which UTF-8 cannot hold; rename"):
        part.save(tmp_path / "part.json")
    assert not list(tmp_path.iterdir())
    part.report(tmp_path / "part.html")
    assert r"a\\ud800" in (tmp_path / "part.html").read_text("utf-8")


def test_text_that_utf8_cannot_hold_is_refused_by_every_writer(tmp_path: Path) -> None:
    """No writer lets a lone surrogate through, and none leaves a draft."""
    with pytest.raises(InvalidArgumentError, match="lone surrogate"):
        write_text(tmp_path / "file", "a\udfff")

    assert not list(tmp_path.iterdir())


def test_no_path_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty path is refused, and nothing is written into the current folder."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match="the file to write is ''; give the path of a file"):
        write_text("", "x")
    assert not list(tmp_path.iterdir())
