"""The worker as the server sees it: a process that is asked, stopped, and started again when it is gone."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from subprocess import PIPE, Popen
from threading import Thread
from typing import TYPE_CHECKING, Any

from apsl_rules.errors import ApslError
from apsl_rules.notes import sentence_of

if TYPE_CHECKING:  # a worker is begun before the server loads anything else, and loads no more than it needs
    import asyncio

    from apsl_rules.app.study import Study

#: The number of the job that a worker begins with of its own accord.
AHEAD = 1
#: More rows than any file has.
MOST_ROWS = 1 << 40
#: Seconds after which a worker that does not stop is ended.
_PATIENCE = 10.0
#: Where a process begins a group of its own, an interrupt at the terminal does not reach the worker.
_APART: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}


class WorkerError(ApslError, RuntimeError):
    """The worker ended before it was done."""


class Worker:
    """A process that does one job after another in a folder; it begins at once, and again when it is gone.

    It describes a source of its own accord, so that reading a table need not wait for the server.
    """

    def __init__(self, folder: Path, most_bytes: int, source: str | None = None) -> None:
        self._folder, self._most_bytes = folder, most_bytes
        self._ahead = source
        self._numbers = count(AHEAD + 1)
        self._running: int | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._was_ended = False
        self._heard: asyncio.Queue[bytes] | None = None
        self._process = self._begun(*([] if source is None else [source]))

    def _begun(self, *source: str) -> Popen[bytes]:
        # -P: a file of the current folder is never imported in the place of a library.
        words = (sys.executable, "-P", "-m", "apsl_rules.app.worker", str(self._most_bytes), *source)
        return Popen(words, stdin=PIPE, stdout=PIPE, cwd=self._folder, **_APART)  # noqa: S603 - words of our own

    def _start(self) -> asyncio.Queue[bytes]:
        """Return the lines that the process says; it is begun again unless it runs."""
        import asyncio  # not before the first process is begun, and not in that process

        self._loop = asyncio.get_running_loop()
        if self._process.poll() is not None:
            self._process, self._heard, self._ahead = self._begun(), None, None
        if self._heard is None:
            self._heard = asyncio.Queue()
            Thread(target=_hear, args=(self._process, self._loop, self._heard), daemon=True).start()
        return self._heard

    async def ask(
        self,
        what: str,
        study: Study,
        given: Mapping[str, Any],
        progress: Callable[[str, int, int, str | None], None],
    ) -> dict[str, Any]:
        """Return the answer of a job; whatever it is refused for is raised as one sentence."""
        from asyncio import CancelledError

        heard = self._start()
        ahead, self._ahead = self._ahead, None
        is_begun = ahead is not None and what == "describe" and study.read_by == (ahead, {})
        number = self._running = AHEAD if is_begun else next(self._numbers)
        try:
            if not is_begun:
                if ahead is not None:
                    self._say({"stop": AHEAD})
                await self._write({"job": number, "do": what, "study": study.to_dict(), "given": dict(given)})
            while True:
                said = await self._read(heard)
                if said["job"] != number:
                    continue
                if "progress" in said:
                    progress(*said["progress"])
                elif "error" in said:
                    raise ApslError(sentence_of(said["error"], said.get("arguments", ())))
                else:
                    answer: dict[str, Any] = said["answer"]
                    return answer
        except CancelledError:
            self.stop()
            raise
        finally:
            self._running = None
            if self._ending is not None:
                self._ending.cancel()
                self._ending = None

    def stop(self) -> None:
        """Interrupt the job that runs; a worker that does not heed it is ended."""
        if self._running is None:
            return
        self._say({"stop": self._running})
        if self._ending is None:
            self._ending = self._loop.call_later(_PATIENCE, self._end)

    def _end(self) -> None:
        self._was_ended = True
        self._process.kill()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # what was not written yet
                    pipe.close()

    async def _write(self, data: dict[str, Any]) -> None:
        await self._loop.run_in_executor(None, self._say, data)

    def _say(self, data: dict[str, Any]) -> None:
        with suppress(OSError):  # its end is met when it is read
            if self._process.stdin is not None:
                self._process.stdin.write(json.dumps(data).encode() + b"\n")
                self._process.stdin.flush()

    async def _read(self, heard: asyncio.Queue[bytes]) -> dict[str, Any]:
        line = await heard.get()
        if line.endswith(b"\n"):
            said: dict[str, Any] = json.loads(line)
            return said
        await self._loop.run_in_executor(None, self._process.wait)
        if self._was_ended:
            self._was_ended = False
            message = "stopped before anything was found"
            raise WorkerError(message)
        message = (
            "the process that works was ended from outside, perhaps for want of memory; nothing that you said is lost: "
            "try again, or take less of the table"
        )
        raise WorkerError(message)


def _hear(process: Popen[bytes], loop: asyncio.AbstractEventLoop, heard: asyncio.Queue[bytes]) -> None:
    """Pass on what a process says; its end is an empty line."""
    with suppress(RuntimeError):  # the server has ended
        for line in process.stdout or ():
            loop.call_soon_threadsafe(heard.put_nowait, line)
        loop.call_soon_threadsafe(heard.put_nowait, b"")
