"""Show how far a run is: a notebook shows a bar by itself.

It appears where a run takes longer than a second, and goes at the end. A script shows none; the command line has its
own, which follows the same visits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial, wraps
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, ParamSpec, Protocol, TypeVar

import attrs

from apsl_rules.learning.settings import Request
from apsl_rules.names import count_of, demand, spelt
from apsl_rules.oracles import WATCHING
from apsl_rules.plugins import Progress, hookimpl

Given = ParamSpec("Given")


Result = TypeVar("Result")


#: Seconds after which a bar appears, and between two looks at the figures.
AFTER, EVERY = 1.0, 0.25


class Bar(Protocol):
    """A bar that shows how far the work is."""

    def __call__(self, done: int, of: int) -> None:
        """Show the number of steps done and the total."""


class Visits:
    """A plugin that updates a bar at each visit with the number of nodes visited and of nodes known."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    @hookimpl
    def apsl_progress(self, progress: Progress) -> None:
        """Show the newest visit."""
        self._bar(progress.visited, progress.known)


@attrs.define
class _Bars:
    """Whether notebooks show bars, and the one that is there: a run within another shows none of its own."""

    wanted: bool = True
    current: NotebookBar | None = None
    lock: Any = attrs.field(factory=Lock)


_BARS = _Bars()


def show_progress(on: bool = True) -> None:  # noqa: FBT001, FBT002 - a switch
    """Show bars in notebooks where something takes longer than a second, as at first, or show none.

    ``on`` is whether they are shown. Scripts never show one.

    >>> show_progress(False)
    >>> show_progress(True)
    """
    demand(isinstance(on, bool), f"on is {spelt(on)}; give True or False")
    _BARS.wanted = on


@contextmanager
def progress_bar(what: str, *, of_phases: bool = False) -> Iterator[Bar]:
    """Show a bar in a notebook while a block runs; nothing elsewhere, or where another bar is shown already.

    A bar ``of_phases`` counts nothing itself: it shows the steps of whatever the block does.
    """
    with _BARS.lock:
        bar = NotebookBar(what, of_phases=of_phases) if _BARS.wanted and not _BARS.current and is_notebook() else None
        outer = _BARS.current
        _BARS.current = outer or bar
    if bar is None:
        yield _show_nothing if outer is None or not outer.of_phases else partial(outer.watch, what)
        return
    try:
        with bar.shown():
            yield bar
    finally:
        _BARS.current = None


@contextmanager
def follow_visits(request: Request) -> Iterator[Request]:
    """Return a request whose visits a bar follows, in a notebook; elsewhere the request as it is."""
    with progress_bar("nodes visited") as bar:
        if bar is _show_nothing:
            yield request
            return
        plugins = request.manager.copy()
        plugins.register(Visits(bar), "notebook bar")
        yield attrs.evolve(request, plugins=plugins)


def with_bar(what: str, *, of_phases: bool = False) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """Return a function with a bar in a notebook: of its ``progress``, unless the caller follows that, or of phases."""

    def decorate(function: Callable[Given, Result]) -> Callable[Given, Result]:
        @wraps(function)
        def called(*args: Given.args, **kwargs: Given.kwargs) -> Result:
            if kwargs.get("progress") is not None:
                return function(*args, **kwargs)
            with progress_bar(what, of_phases=of_phases) as bar:
                told: dict[str, Any] = kwargs if of_phases or bar is _show_nothing else {**kwargs, "progress": bar}
                return function(*args, **told)

        return called

    return decorate


def is_notebook() -> bool:
    """Return whether this is a kernel of a notebook; nothing is imported to find out."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel") and shell.kernel is not None


def _show_nothing(done: int, of: int) -> None:
    """Show nothing."""


class NotebookBar:
    """A bar in the output of a cell, drawn by a thread of its own, since a search may be long between two figures."""

    def __init__(self, what: str, *, of_phases: bool = False) -> None:
        self._what = what
        self.of_phases = of_phases
        self._done, self._of = 0, 0
        self._begun = monotonic()
        self._over = Event()

    def __call__(self, done: int, of: int) -> None:
        """Note the number of steps done and the total."""
        self._done, self._of = done, of

    def watch(self, what: str, done: int, of: int) -> None:
        """Note what goes on, if this bar counts nothing itself."""
        if self.of_phases:
            self._what = what if of else f"{what}, {count_of(done, 'test')}"
            self._done, self._of = (done, of) if of else (0, 0)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show the bar while a block runs, from the first second on."""
        thread = Thread(target=copy_context().run, args=(self._draw,), daemon=True)
        thread.start()
        before = WATCHING.set(self.watch)
        try:
            yield
        finally:
            WATCHING.reset(before)
            self._over.set()
            thread.join()

    def _draw(self) -> None:
        if self._over.wait(AFTER):
            return
        from IPython.display import HTML, display

        shown = display(HTML(self.html()), display_id=True)
        while not self._over.wait(EVERY):
            shown.update(HTML(self.html()))
        shown.update(HTML(""))

    def html(self) -> str:
        """Return the bar as HTML; without figures yet it says only for how long the run takes."""
        from html import escape

        seconds = count_of(int(monotonic() - self._begun), "second")
        figures = f' value="{self._done}" max="{self._of}"' if self._of else ""
        told = f"{self._done:,} of {self._of:,}, {seconds}" if self._of else seconds
        return f"<progress{figures}></progress> {escape(self._what)}: {told}"
