"""``apsl open``: what cannot be opened is refused in one sentence, and what was typed wrong is never served."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from support.open_page import open_page
from support.terminal import apsl_here


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the command that brings it."""
    for name in [one for one in sys.modules if one.startswith("apsl_rules.app")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setitem(sys.modules, "uvicorn.protocols.http.h11_impl", None)
    monkeypatch.chdir(tmp_path)
    done = apsl_here("open", "--no-browser")

    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "pip install 'apsl_rules[app]'" in done.err


def test_a_port_that_is_taken_is_named() -> None:
    """And one that is none."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = apsl_here("open", "--no-browser", "--port", str(port))
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert f"port {port} cannot be used" in done.err
    assert "65535" in apsl_here("open", "--port", "70000").err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nothing.csv"], "there is no file 'nothing.csv'"),
        (["asya"], "asya"),
        (["table.docx"], "table.docx"),
        (["part.json"], "part.json"),
        (["asia", "--max-megabytes", "0"], "give a number above 0"),
        (["odd.toml"], "unknown key 'depht'; did you mean 'depth'?"),
        (["broken.toml"], "cannot be read"),
    ],
)
def test_what_cannot_be_opened_is_refused(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one sentence, before anything is served."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.docx").write_text("x")
    (tmp_path / "part.json").write_text("{}")
    (tmp_path / "odd.toml").write_text("depht = 2\n")
    (tmp_path / "broken.toml").write_text("depth = \n")
    done = apsl_here("open", "--no-browser", *words)

    assert (done.code, done.err.count("\n")) == (1, 1), done.err
    assert says in done.err


def test_a_study_by_its_name_is_kept(tmp_path: Path) -> None:
    """From the first change on; Ctrl-C ends the page without a word of complaint."""
    with open_page(tmp_path, "own.toml") as page:
        page.change("open", source="asia")
        page.change("target", column="either")
        page.settled()
    text = (tmp_path / "own.toml").read_text()
    assert 'source = "asia"' in text
    assert 'target = "either"' in text
    with open_page(tmp_path, "own.toml") as page:
        assert page.settled()["part"]["target"] == "either"
        page.process.send_signal(2)
        assert page.process.wait(30) == 0
        assert page.process.stdout is not None
        assert "Ctrl-C ends it" in page.process.stdout.read()
