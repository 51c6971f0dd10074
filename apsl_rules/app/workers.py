"""The worker as the server sees it: a process that is asked, stopped, and started again when it is gone."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count
from typing import Any

from apsl_rules.app.study import Study
from apsl_rules.errors import ApslError
from apsl_rules.server import Limits

#: The longest line that a worker writes: a report with a large part is some megabytes.
_LINE = 1 << 28
#: Seconds after which a worker that does not stop is ended.
_PATIENCE = 5.0
#: Where a process begins a group of its own, an interrupt at the terminal does not reach the worker.
_APART: dict[str, Any] = {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}


class WorkerError(ApslError, RuntimeError):
    """The worker ended before it was done."""


class Worker:
    """A process that does one job after another; it begins with the first one."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._numbers = count(1)
        self._running: int | None = None
        self._ending: asyncio.TimerHandle | None = None
        self._was_ended = False

    @property
    def pid(self) -> int | None:
        """Return the number of the process, if there is one."""
        return None if self._process is None else self._process.pid

    async def start(self) -> asyncio.subprocess.Process:
        """Start the process unless it runs."""
        if self._process is None or self._process.returncode is not None:
            # -P: a file of the current folder is never imported in the place of a library.
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "apsl_rules.app.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LINE,
                cwd=self._limits.folders[0],
                **_APART,
            )
            await self._write(self._limits.to_dict())
        return self._process

    async def ask(
        self, what: str, study: Study, given: Mapping[str, Any], progress: Callable[[str, int, int], None]
    ) -> dict[str, Any]:
        """Return the answer of a job; whatever it is refused for is raised as one sentence."""
        process = await self.start()
        number = self._running = next(self._numbers)
        try:
            await self._write({"job": number, "do": what, "study": study.to_dict(), "given": dict(given)})
            while True:
                said = await self._read(process)
                if said["job"] != number:
                    continue
                if "progress" in said:
                    progress(*said["progress"])
                elif "error" in said:
                    raise ApslError(said["error"])
                else:
                    answer: dict[str, Any] = said["answer"]
                    return answer
        except asyncio.CancelledError:
            self.stop()
            raise
        finally:
            self._running = None
            if self._ending is not None:
                self._ending.cancel()
                self._ending = None

    def stop(self) -> None:
        """Interrupt the job that runs; a worker that does not heed it is ended."""
        process = self._process
        if self._running is None or process is None or process.stdin is None:
            return
        with suppress(OSError, RuntimeError):
            process.stdin.write(json.dumps({"stop": self._running}).encode() + b"\n")
        if self._ending is None:
            self._ending = asyncio.get_running_loop().call_later(_PATIENCE, self._end)

    def _end(self) -> None:
        self._was_ended = True
        with suppress(ProcessLookupError):
            if self._process is not None:
                self._process.kill()

    async def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def _write(self, data: dict[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise AssertionError(data)
        with suppress(BrokenPipeError, ConnectionResetError):  # its end is met when it is read
            process.stdin.write(json.dumps(data).encode() + b"\n")
            await process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process) -> dict[str, Any]:
        line = b"" if process.stdout is None else await process.stdout.readline()
        if line.endswith(b"\n"):
            said: dict[str, Any] = json.loads(line)
            return said
        await process.wait()
        if self._was_ended:
            self._was_ended = False
            message = "stopped before anything was found"
            raise WorkerError(message)
        message = (
            "the process that works was ended from outside, perhaps for want of memory; nothing that you said is lost: "
            "try again, or take less of the table"
        )
        raise WorkerError(message)
