"""How far a run is: a bar with the time left on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from results import Advance, Watch

EVERY = 10.0


@contextmanager
def shown_progress(name: str) -> Iterator[Watch]:
    """Show on standard error how an experiment advances."""
    if not sys.stderr.isatty():
        yield _Lines(name)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("parts"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=None)

        def watch(advance: Advance) -> None:
            doing = (
                "" if advance.unit is None else f" {advance.unit.network} {advance.unit.size} {advance.unit.learner}"
            )
            progress.update(task, description=name + doing, completed=advance.done, total=advance.total)

        yield watch


class _Lines:
    """A line at the beginning, at the end, and every few seconds between."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun = monotonic()
        self._told = float("-inf")

    def __call__(self, advance: Advance) -> None:
        """Tell how far the run is, unless that was told a moment ago."""
        now = monotonic()
        if now - self._told < EVERY and advance.done < advance.total:
            return
        self._told = now
        fresh = advance.done - advance.before
        left = ""
        if fresh and advance.done < advance.total:
            seconds = (now - self._begun) / fresh * (advance.total - advance.done)
            left = f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"
        print(f"{self._name}: {advance.done} of {advance.total} parts{left}", file=sys.stderr, flush=True)
