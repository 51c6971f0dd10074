"""What the server keeps: the study with its history, the worker, what it found last, and who wants to know."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from apsl_rules.app.controls import Piece, clickable
from apsl_rules.app.study import History, Study, changed
from apsl_rules.app.takeaway import COMMAND, study_text
from apsl_rules.app.workers import Worker
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.graphs.networks import network_names
from apsl_rules.server import ENDINGS, Limits

#: How many reports can be opened at a time; each new one puts an old one out of reach.
_REPORTS = 8
#: The most files of the folder that are offered.
_MOST_FILES = 500


@attrs.define
class Found:
    """What the worker found of a study: an answer or a sentence for each step, and the study that it is about."""

    study: Study | None = None
    answer: dict[str, Any] | None = None
    error: str | list[Piece] | None = None


class Session:
    """One page with all its tabs. Changes come in any order; what follows from the last one is worked out in turn."""

    def __init__(self, worker: Worker, limits: Limits, study: Study, keep: Path | None = None) -> None:
        self.limits = limits
        self.history = History([study])
        self.worker = worker
        self._keep = keep
        self._columns, self._part, self._report = Found(), Found(), Found()
        self._reports: dict[str, str] = {}
        self._busy: dict[str, Any] | None = None
        self.drawing: str | None = None
        self._drawn = 0
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        self._listeners: set[asyncio.Event] = set()
        self._charts = False
        self._following: tuple[str, Study] | None = None
        self._again = False
        self._described = 0
        self.closing = asyncio.Event()
        self.version = 0
        self.jobs = 0

    # --- what is seen ------------------------------------------------------------------------------------------------

    @property
    def study(self) -> Study:
        """Return the study as it is now."""
        return self.history.now

    @property
    def is_busy(self) -> bool:
        """Return whether the worker works."""
        return self._busy is not None

    def state(self) -> dict[str, Any]:
        """Return all that the page shows, but for the columns, which are many."""
        study = self.study
        is_fresh = self._part.study is not None and self._part.study.learned_by == study.learned_by
        return {
            "version": self.version,
            "folder": self.limits.folders[0].name,
            "study": study.to_dict(),
            "command": COMMAND,
            "undo": self.history.can_undo,
            "redo": self.history.can_redo,
            "busy": self._busy,
            "columns": {"error": self._columns.error, "of": self._described},
            "part": self._part.answer if study.target else None,
            "error": self._part.error or self._report.error,
            "fresh": is_fresh,
            "report": next(reversed(self._reports), None) if self._report.answer and study.target else None,
            "charts": bool(self._report.answer and self._report.answer["charts"]),
        }

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table."""
        return {
            "version": self.version,
            "error": self._columns.error,
            **(self._columns.answer or {"columns": [], "rows": None}),
        }

    def report(self, ticket: str) -> str | None:
        """Return a report by its ticket, which nobody can guess."""
        return self._reports.get(ticket)

    def files(self) -> dict[str, Any]:
        """Return what can be opened: the files of the folder, and the networks."""
        folder = self.limits.folders[0]
        endings = tuple(one for one in ENDINGS if one != ".json")
        found = sorted(one.name for one in folder.iterdir() if one.name.casefold().endswith(endings) and one.is_file())
        return {"files": found[:_MOST_FILES], "more": max(0, len(found) - _MOST_FILES), "networks": network_names()}

    # --- who wants to know -------------------------------------------------------------------------------------------

    def listen(self) -> asyncio.Event:
        """Return an event that is set whenever something changes."""
        event = asyncio.Event()
        event.set()
        self._listeners.add(event)
        return event

    def leave(self, event: asyncio.Event) -> None:
        """Forget a listener."""
        self._listeners.discard(event)

    def tell(self) -> None:
        """Say that something changed."""
        self.version += 1
        for event in self._listeners:
            event.set()

    # --- what a person does ------------------------------------------------------------------------------------------

    def change(self, what: str, given: Mapping[str, Any]) -> None:
        """Change the study, or take a change back; what follows is worked out afterwards."""
        match what:
            case "undo":
                self.history.move(-1)
            case "redo":
                self.history.move(1)
            case "charts":
                self._charts, self._report = True, Found()
            case "again":
                self._columns, self._part, self._report, self._again = Found(), Found(), Found(), True
            case _:
                if what == "open":
                    require_source(self.limits, str(given.get("source")))
                self.history.add(changed(self.study, what, given))
        if self._is_stale():
            self._again = True  # what was found by now is a piece, and nobody asked for it
            self.worker.stop()
        if self._keep is not None:
            from apsl_rules._files import write_text

            write_text(self._keep, study_text(self.study))
        self._wake.set()
        self.tell()

    async def ask(self, what: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the worker something about the study as it is now; an answer to a question becomes part of it."""
        found = await self._work(what, self.study, given)
        if what == "answer":
            self.change("answer", found)
        return found

    def stop(self) -> None:
        """Stop what the worker does; the part so far is shown."""
        self.worker.stop()

    # --- what follows ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work out what follows from each change, for as long as the server runs."""
        self._wake.set()
        while True:
            await self._wake.wait()
            self._wake.clear()
            study = self.study
            for step in (self._describe, self._learn, self._draw):
                await step(study)
                self.tell()
                if study != self.study:
                    break

    async def _describe(self, study: Study) -> None:
        if study.source is None or (self._columns.study is not None and self._columns.study.read_by == study.read_by):
            return
        self._columns = await self._found("describe", study)
        self._described += 1

    async def _learn(self, study: Study) -> None:
        if study.target is None or self._columns.error is not None or self._part.study == study:
            return
        again, self._again = self._again, False
        self._part = await self._found("learn", study, {"again": again})
        self._report = Found()

    async def _draw(self, study: Study) -> None:
        if self._part.answer is None or self._part.study != study or self._report.study == study:
            return
        found = await self._found("report", study, {"charts": self._charts})
        self._report, self._charts = found, False
        if found.answer is not None:
            while len(self._reports) >= _REPORTS:
                del self._reports[next(iter(self._reports))]
            self._reports[secrets.token_urlsafe(24)] = found.answer.pop("html")

    async def _found(self, what: str, study: Study, given: Mapping[str, Any] | None = None) -> Found:
        """Return what the worker says of a study, an answer or a sentence."""
        self._following = what, study
        try:
            return Found(study, await self._work(what, study, given or {}))
        except ApslError as error:
            # what a change has stopped says nothing of the study as it is now
            return Found() if self._is_stale() else Found(study, None, clickable(error.sentence))
        finally:
            self._following = None

    def _is_stale(self) -> bool:
        """Return whether what is being worked out is no longer wanted."""
        if self._following is None:
            return False
        what, study = self._following
        if what == "describe":
            return study.read_by != self.study.read_by
        return study.learned_by != self.study.learned_by

    async def _work(self, what: str, study: Study, given: Mapping[str, Any]) -> dict[str, Any]:
        """Let the worker do a job, when it is its turn."""

        def progress(words: str, done: int, of: int, drawing: str | None) -> None:
            if drawing is not None:
                self.drawing, self._drawn = drawing, self._drawn + 1
            number = self._drawn if self.drawing else None
            self._busy = {"what": words, "done": done, "of": of, "drawing": number}
            self.tell()

        async with self._turn:
            self.jobs += 1
            progress("at work", 0, 0, None)
            try:
                return await self.worker.ask(what, study, given, progress)
            finally:
                self._busy = self.drawing = None
                self.tell()


def require_source(limits: Limits, name: str) -> str:
    """Return what a study may open under a name: a network, or a table in the folder."""
    if name.casefold().endswith(".json"):
        message = f"{name!r} is a saved part, which has no rows; open the table that it was learned from"
        raise InvalidArgumentError(message)
    return limits.source(name)
