"""A page that ``apsl open`` serves in a process of its own, and a client that speaks with it as a browser does."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

_MAIN = "from apsl_rules.cli.entry import main; import sys; sys.argv[0] = 'apsl'; sys.exit(main())"


@attrs.frozen
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """Return the body as data."""
        return json.loads(self.body)

    @property
    def sentence(self) -> str:
        """Return what the answer complains of."""
        text = self.body.decode()
        return str(json.loads(text)["error"]) if text.startswith("{") else text


@attrs.define
class OpenPage:
    """A page that is served, with its address."""

    process: subprocess.Popen[str]
    address: str
    port: int
    token: str

    def ask(self, path: str, data: Any = None, *, body: bytes | None = None, **headers: str) -> Answer:
        """Send a request with the token; data makes it a POST. Headers replace those of a browser."""
        sent = json.dumps(data).encode() if data is not None else body
        told = {
            "authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): one for name, one in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest("GET" if sent is None else "POST", path, skip_host="host" in told)
            for name, value in told.items():
                connection.putheader(name, value)
            if sent is not None and "content-length" not in told:
                connection.putheader("content-length", str(len(sent)))
            connection.endheaders(sent)
            answer = connection.getresponse()
            return Answer(answer.status, {name.lower(): one for name, one in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def change(self, what: str, **given: Any) -> Answer:
        """Make a change, as the page does."""
        return self.ask("/api/change", {"what": what, **given})

    def state(self) -> dict[str, Any]:
        """Return what the page shows."""
        found: dict[str, Any] = self.ask("/api/state").data
        return found

    def until(self, is_so: Callable[[dict[str, Any]], Any], seconds: float = 60) -> dict[str, Any]:
        """Wait until the page shows something, and return what it shows then."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            state = self.state()
            if is_so(state):
                return state
            time.sleep(0.05)
        message = f"the page never showed it: {json.dumps(self.state())[:2000]}"
        raise AssertionError(message)

    def settled(self) -> dict[str, Any]:
        """Wait until everything is worked out."""
        return self.until(lambda state: not state["busy"] and state["fresh"] and (state["report"] or state["error"]))


@contextmanager
def open_page(folder: Path, *words: str, setup: str = "") -> Iterator[OpenPage]:
    """Serve a page in a folder until the end of the block; ``setup`` is code that runs first."""
    command = [sys.executable, "-c", f"{setup}\n{_MAIN}", "open", "--no-browser", *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"(http://127\.0\.0\.1:(\d+)/)#(\S+)", line)
    assert found is not None, line + process.stdout.read()
    try:
        yield OpenPage(process, found[0], int(found[2]), found[3])
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stdout.close()
