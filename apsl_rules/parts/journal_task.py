"""The first line of a journal: what its run is about, so that no other run takes it up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from apsl_rules._files import Log
from apsl_rules.errors import InvalidArgumentError

VERSION = 1
#: The key of the first line.
HEAD = "head"
#: How often a run makes sure that the disk has what it wrote.
SECONDS = 1.0
#: What is said of those pieces of a task that are kept as hashes.
_HASHED = {
    "data": "it was written for other data",
    "knowledge": "the background knowledge was another",
    "spec": "the learner had other settings",
}


def take_up_task(log: Log, path: Path, form: str, task: Mapping[str, str], **further: Callable[[], Any]) -> None:
    """Write the first line of a new journal, with further things; refuse an old one that is of another task."""
    if not log.places:
        made = {name: make() for name, make in further.items()}
        log.add({"key": HEAD, "format": form, "version": VERSION, "task": dict(task), **made})
        return
    head = log.get(HEAD, {})
    if head.get("format") != form or head.get("version") != VERSION:
        message = f"{str(path)!r} is no journal of this kind of run; give another path, or delete the file"
        raise InvalidArgumentError(message)
    before = head["task"]
    wrong = next((name for name in {**task, **before} if before.get(name) != task.get(name)), None)
    if wrong is not None:
        now, then = task.get(wrong, "not given"), before.get(wrong, "not given")
        differs = _HASHED.get(wrong) or f"{wrong} is {now} now and was {then} then"
        message = f"the journal {str(path)!r} is of another run: {differs}; give another path, or delete the file"
        raise InvalidArgumentError(message)
