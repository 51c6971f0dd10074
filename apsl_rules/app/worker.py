"""The process that works for the page: jobs as lines of JSON on standard input, what comes of them on standard output.

Whatever a table does to it, the server lives on. A line {"stop": 7} ends job 7 if it runs; what was learned by then is
its answer. The arguments are the most bytes of a file, and a source that is described at once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from _thread import interrupt_main
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any

from apsl_rules.app.controls import clickable
from apsl_rules.app.study import Study
from apsl_rules.app.work import Work
from apsl_rules.app.workers import AHEAD, MOST_ROWS
from apsl_rules.errors import ApslError, MissingPackageError
from apsl_rules.masking import masked
from apsl_rules.notes import Sentence
from apsl_rules.server import Limits

#: What the report needs, which is loaded when there is nothing else to do.
_LATER = ("apsl_rules.effects", "apsl_rules.views.page")
#: Seconds between two lines that say how far a job is.
_BETWEEN = 0.1
_STOPPED = "stopped before anything was found"


class Desk:
    """Where jobs lie until they are done, one after another; the one that runs can be stopped."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._lock = Lock()
        self._running: int | None = None

    def begin(self, number: int) -> None:
        """Say which job runs."""
        with self._lock:
            self._running = number

    def end(self) -> None:
        """Say that none runs."""
        with self._lock:
            self._running = None

    def stop(self, number: int) -> None:
        """Interrupt a job if it is the one that runs."""
        with self._lock:
            if self._running == number:
                interrupt_main(signal.SIGINT)

    def listen(self) -> None:
        """Take jobs until the server is gone; then the process ends, whatever it does."""
        for line in sys.stdin.buffer:
            said = json.loads(line)
            if "stop" in said:
                self.stop(said["stop"])
            else:
                self.jobs.put(said)
        os._exit(0)


def main() -> None:
    """Work until the server is gone."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process of a script ignores interrupts
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    most_bytes, *sources = sys.argv[1:]
    work = Work(Limits((Path.cwd(),), int(most_bytes), MOST_ROWS))
    desk, later = Desk(), list(_LATER)
    for source in sources:
        desk.jobs.put({"job": AHEAD, "do": "describe", "study": Study(source).to_dict(), "given": {}})
    Thread(target=desk.listen, daemon=True).start()

    def write(data: dict[str, Any]) -> None:
        out.write(json.dumps(data, allow_nan=False).encode() + b"\n")
        out.flush()

    with redirect_stdout(sys.stderr):
        while True:
            try:
                while later and desk.jobs.empty():
                    import_module(later.pop(0))
                job = desk.jobs.get()
                if job is not None:
                    write({"job": job["job"], **_answered(work, desk, job, write)})
            except KeyboardInterrupt:  # it came just after the job that it was meant for
                continue


def _answered(work: Work, desk: Desk, job: dict[str, Any], write: Any) -> dict[str, Any]:
    """Return what comes of a job: an answer, or one sentence."""
    told = 0.0

    def tell(what: str, done: int, of: int, drawing: str | None) -> None:
        nonlocal told
        if drawing is not None or done in {0, of} or monotonic() - told > _BETWEEN:
            told = monotonic()
            write({"job": job["job"], "progress": [what, done, of, drawing]})

    try:
        desk.begin(job["job"])
        try:
            return {"answer": _plain(work.do(job["do"], Study.of(job["study"]), job["given"], tell))}
        finally:
            desk.end()
    except KeyboardInterrupt:
        return {"error": _STOPPED}
    except ImportError as error:
        return {"error": str(error) if isinstance(error, MissingPackageError) else f"a package is missing: {error}"}
    except ApslError as error:
        return {"error": str(error), "arguments": error.sentence.arguments()}
    except MemoryError:
        return {"error": "it takes more memory than there is; ask for less depth, or take a sample of the table"}
    except Exception as error:  # noqa: BLE001 - the page gets a sentence, whatever went wrong
        first = (str(error).splitlines() or [""])[0]
        return {"error": masked(f"internal error ({type(error).__name__}: {first}); please report it")}


def _plain(data: Any) -> Any:
    """Return data for JSON, numbers that it does not have as null."""
    if isinstance(data, float):
        return data if abs(data) < float("inf") else None
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(one) for one in data]
    if isinstance(data, Sentence):
        return clickable(data)
    return data if data is None or isinstance(data, str | int) else str(data)


if __name__ == "__main__":
    main()
