"""Clients that mean harm, or meet it: nothing is lost, nothing is shown to them, and each gets one clear sentence."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pytest

from apsl_rules.data import example_table
from support.open_page import Answer, OpenPage, open_page

#: Short times, so that the tests need not wait for long ones.
HASTY = """
import apsl_rules.app.guard as guard
guard.SECONDS = guard.BETWEEN_PIECES = guard._HEADERS = 2.0
guard._FORGOTTEN_SECONDS = 0.3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, inside one with a secret."""
    outer = tmp_path_factory.mktemp("outer")
    (outer / "secret.csv").write_text("a,b\nhush,1\nhush,2\n")
    inner = outer / "inner"
    inner.mkdir()
    pd.read_csv(example_table()).head(500).to_csv(inner / "asia.csv", index=False)
    (inner / "link.csv").symlink_to(outer / "secret.csv")
    return inner


@pytest.fixture(scope="module")
def page(folder: Path) -> Iterator[OpenPage]:
    """Return a page with a part."""
    with open_page(folder, "asia.csv", "--target", "dysp", "--max-megabytes", "2", setup=HASTY) as opened:
        opened.settled()
        yield opened


def refused(answer: Answer, status: int, *words: str) -> None:
    """Check that an answer is a refusal in one sentence, and says nothing of the table."""
    assert answer.status == status, answer
    assert all(word in answer.sentence for word in words), answer.sentence
    assert len(answer.sentence) < 500
    assert "\n" not in answer.sentence
    assert "Traceback" not in answer.sentence
    assert "dysp" not in answer.sentence


PATHS = ("state", "columns", "files", "events", "take/study.toml")


@pytest.mark.parametrize("path", PATHS)
def test_a_wrong_token_opens_nothing(page: OpenPage, path: str) -> None:
    """Nor does none, or a part of the right one."""
    for token in ("", "Bearer", "Bearer wrong", f"Bearer {page.token[:-1]}", f"bearer {page.token}", "Bearer ü"):
        answer = page.ask(f"/api/{path}", authorization=token.encode().decode("latin-1"))
        refused(answer, 401, "token", "apsl open")
    refused(page.ask("/api/change", {"what": "undo"}, authorization="Bearer wrong"), 401, "token")
    assert page.ask(f"/api/state?token={page.token}", authorization="").status == 401


def test_another_host_or_page_is_not_answered(page: OpenPage) -> None:
    """A name that was made to lead here, and a page elsewhere that posts here, get nothing."""
    for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", f"127.0.0.1:{page.port}.evil.example", ""):
        refused(page.ask("/api/state", host=host), 421, "127.0.0.1")
        refused(page.ask("/", host=host), 421, "127.0.0.1")
    for origin in (
        "http://evil.example",
        "null",
        f"http://127.0.0.1:{page.port + 1}",
        f"https://127.0.0.1:{page.port}",
    ):
        refused(page.ask("/api/change", {"what": "undo"}, origin=origin), 403, "other pages")
    refused(page.ask("/api/state", sec_fetch_site="cross-site"), 403, "other pages")
    assert page.ask("/api/state", host=f"localhost:{page.port}", origin=f"http://localhost:{page.port}").status == 200


def test_no_path_leads_out_of_the_folder(page: OpenPage) -> None:
    """Neither for reading nor for writing, nor through links, nor among the files of the page."""
    study = page.state()["study"]
    for name in (
        "../secret.csv",
        "/etc/passwd",
        "link.csv",
        "..\\secret.csv",
        "%2e%2e/secret.csv",
        "a\0.csv",
        "../../x",
    ):
        refused(page.change("open", source=name), 400)
    for name in (
        "../x.csv",
        "/srv/x.csv",
        ".hidden.csv",
        "a/b.csv",
        "c:x.csv",
        "x.toml",
        "x.py",
        "",
        "a\0.csv",
        "x" * 300,
    ):
        refused(page.ask(f"/api/file?name={quote(name)}", body=b"a,b\n1,2\n"), 400)
    for path in ("/page/../app/guard.py", "/page/%2e%2e/guard.py", "/page/guard.py", "/report/x", "/page//etc/passwd"):
        answer = page.ask(path)
        assert answer.status == 404
        assert b"import" not in answer.body
    assert page.ask("/api/take/..%2f..%2fsecret.csv").status == 404
    assert page.state()["study"] == study
    assert {one.name for one in page_folder(page).iterdir()} == {"asia.csv", "link.csv"}


def page_folder(page: OpenPage) -> Path:
    """Return the folder of a page."""
    return Path(f"/proc/{page.process.pid}/cwd").readlink()


def test_a_huge_body_is_not_read(page: OpenPage) -> None:
    """Neither one that says its size, nor one that lies about it; nothing is left of it."""
    refused(page.ask("/api/change", body=b"[" * 1_100_000), 413, "larger")
    refused(page.ask("/api/change", body=b"", content_length=str(10**12)), 413, "larger")
    refused(page.ask("/api/file?name=big.csv", body=b"x" * 2_100_000), 413, "2 MB")
    refused(page.ask("/api/change", body=b"[" * 500_000), 400, "JSON")
    refused(page.ask("/api/change", body=b"\xff\xfe"), 400, "JSON")
    assert {one.name for one in page_folder(page).iterdir()} == {"asia.csv", "link.csv"}
    assert page.state()["part"]["target"] == "dysp"


def test_a_slow_body_is_not_waited_for(page: OpenPage) -> None:
    """Whoever says nothing more, or letter by letter, is told so; a connection that asks nothing is closed."""
    head = f"POST /api/change HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nAuthorization: Bearer {page.token}\r\n"
    for pause, pieces in ((0.0, 0), (0.2, 40)):
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as slow:
            slow.sendall(f"{head}Content-Length: 1000\r\n\r\n".encode())
            for _ in range(pieces):
                time.sleep(pause)
                try:
                    slow.sendall(b"x")
                except OSError:
                    break
            answer = slow.recv(1 << 16).decode()
            assert answer.startswith("HTTP/1.1 408")
    with socket.create_connection(("127.0.0.1", page.port), timeout=30) as silent:
        assert silent.recv(100) == b""
    assert page.state()["part"]


def test_a_thousand_connections_end_and_the_page_goes_on(page: OpenPage) -> None:
    """While they are open others may be turned away; afterwards the page answers as before."""
    before = page.state()["study"]
    with ExitStack() as stack:
        for _ in range(1000):
            try:
                stack.enter_context(socket.create_connection(("127.0.0.1", page.port), timeout=1))
            except OSError:
                break
    end = time.monotonic() + 30
    while (answer := page.ask("/api/state")).status != 200 and time.monotonic() < end:
        time.sleep(0.2)
    assert answer.data["study"] == before


def test_two_tabs_at_once_lose_nothing(page: OpenPage) -> None:
    """Changes of both are made, one after another, and both are told of all."""

    def forbid(number: int) -> int:
        ends = {"from": "asia", "to": ["tub", "lung", "bronc", "smoke", "dysp", "xray"][number % 6]}
        return page.change("arrow", **ends, says="forbidden").status

    with ThreadPoolExecutor(6) as tabs:
        assert set(tabs.map(forbid, range(12))) == {200}
    state = page.settled()
    assert len(state["study"]["forbidden"]) == 6
    for _ in range(6):
        page.change("undo")
    assert page.settled()["study"]["forbidden"] == []


def test_a_browser_that_dies_leaves_the_study(page: OpenPage) -> None:
    """Its streams are closed, and another browser finds everything; more tabs than there are streams are refused."""
    head = f"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nAuthorization: Bearer {page.token}\r\n\r\n"
    streams = []
    for _ in range(20):
        stream = socket.create_connection(("127.0.0.1", page.port), timeout=30)
        stream.sendall(head.encode())
        assert b"200 OK" in stream.recv(1 << 16)
        streams.append(stream)
    refused(page.ask("/api/events"), 503, "tabs")
    for stream in streams:
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # a reset, as of a process killed
        stream.close()
    page.change("depth", depth=2)
    assert page.settled()["study"]["depth"] == 2
    with socket.create_connection(("127.0.0.1", page.port), timeout=30) as stream:
        stream.sendall(head.encode())
        assert b"200 OK" in stream.recv(1 << 16)


def test_a_worker_that_is_killed_starts_again(page: OpenPage) -> None:
    """What was said is there, the next question is answered, and the part is what it was."""
    before = page.settled()
    os.kill(worker_of(page), signal.SIGKILL)
    answer = page.ask("/api/take/part.json")
    if answer.status != 200:
        refused(answer, 400, "nothing that you said is lost")
        answer = page.ask("/api/take/part.json")
    assert answer.status == 200
    assert page.settled()["study"] == before["study"]
    page.change("again")
    assert page.settled()["part"]["neighbours"] == before["part"]["neighbours"]


def worker_of(page: OpenPage) -> int:
    """Return the process that works for a page."""
    found = Path(f"/proc/{page.process.pid}/task/{page.process.pid}/children").read_text().split()
    (worker,) = map(int, found)
    return worker


def test_every_answer_says_what_may_run_and_be_kept(page: OpenPage) -> None:
    """The policy allows nothing from elsewhere and nothing inline, and nobody else may show the page."""
    answer = page.ask("/", authorization="")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    report = page.ask(f"/report/{page.settled()['report']}", authorization="")
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert b"default-src 'none'; script-src 'sha256-" in report.body
    for one in (answer, report, page.ask("/api/state")):
        assert one.headers["cache-control"] == "no-store"
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in one.headers
        assert "access-control-allow-origin" not in one.headers
    assert page.token.encode() not in answer.body + report.body


def test_names_that_are_scripts_are_data(tmp_path: Path) -> None:
    """They are asked about, left out and written into the script as what they are."""
    name = "</script><script>window.canary=1</script>"
    table = pd.read_csv(example_table()).head(300).rename(columns={"tub": name, "lung": "' + exit() + '"})
    table.to_csv(tmp_path / "odd.csv", index=False)
    with open_page(tmp_path, "odd.csv") as page:
        page.change("target", column=name)
        state = page.settled()
        assert state["part"]["target"] == name
        assert b"<script>window.canary" not in page.ask(f"/report/{state['report']}").body
        answer = page.ask("/api/columns")
        assert answer.headers["content-type"] == "application/json"
        script = page.ask("/api/take/study.py").body.decode()
        compile(script, "study.py", "exec")
        assert repr(name) in script
