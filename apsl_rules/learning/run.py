"""Run a learner once: visit, fire the rules, visit further, within limits; and show how far the run is.

A notebook shows a bar by itself, where a run takes longer than a second, and takes it away at the end. A script shows
none; the command line has its own, which follows the same visits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial, wraps
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, ParamSpec, Protocol, TypeVar

import attrs

from apsl_rules.data import Dataset, codes_by_column
from apsl_rules.errors import DataError, Interrupted, LimitReachedError
from apsl_rules.knowledge import SAME_IN_GROUP, Knowledge
from apsl_rules.learning.copies import without_copies
from apsl_rules.learning.environments import Told, told_by_environments
from apsl_rules.learning.frontier import LAST_WORDS, Assembly, is_cut, learn_or_cut
from apsl_rules.learning.in_time import earlier_of, known_in_time, without_past
from apsl_rules.learning.notes import (
    NEAREST,
    notes_against_given,
    notes_on_hidden,
    notes_on_part,
    notes_on_survival,
    notes_on_untested,
)
from apsl_rules.learning.possible import draw_possible, with_roots
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import (
    Source,
    allows_hidden,
    choose_learner,
    false_discovery_rate,
    in_world,
)
from apsl_rules.memory import rarely_collecting
from apsl_rules.names import Depth, Node, count_of, demand, in_order, listing, require_known, spelt
from apsl_rules.notes import Note, empty_note, marked
from apsl_rules.oracles import WATCHING, Asker, Oracle, SharedOracle
from apsl_rules.parts import Part, with_answers
from apsl_rules.plugins import Context, FinderSettings, LearnerOffer, Progress, Visited, hookimpl, pick
from apsl_rules.stopping import Stop

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


@attrs.frozen
class Budget:
    """The tests and seconds that several runs may take together, and when they began."""

    max_tests: int | None
    max_seconds: float | None
    begun: float = attrs.field(factory=monotonic)

    @classmethod
    def of(cls, request: Request) -> Budget:
        """Return the budget of a request whose runs begin now."""
        return cls(request.max_tests, request.max_seconds)

    def left(self, request: Request, tests: int) -> Request:
        """Return the request with what is left after so many tests."""
        return attrs.evolve(
            request,
            max_tests=None if self.max_tests is None else max(1, self.max_tests - tests),
            max_seconds=None if self.max_seconds is None else max(0.0, self.max_seconds - self._elapsed),
        )

    def is_spent(self, tests: int) -> bool:
        """Return whether nothing is left for another run."""
        no_tests = self.max_tests is not None and tests >= self.max_tests
        return no_tests or (self.max_seconds is not None and self._elapsed >= self.max_seconds)

    @property
    def _elapsed(self) -> float:
        return monotonic() - self.begun


#: The fewest rows for which several threads work on one run.
_ROWS_FOR_THREADS = 10_000
#: Sweeps over more nodes than this are not all kept during a run.
_WIDE = 1 << 16


@rarely_collecting()
def run_once(
    request: Request,
    source: Source,
    target: Node,
    depth: Depth,
    *,
    oracle: Oracle | None = None,
    whole: bool = False,
) -> Part:
    """Learn one part; ``oracle`` is one that other runs on the same source ask as well.

    ``whole`` says that the graph of all nodes is wanted: a learner that can find it at once does so.
    The part says how its learner was chosen. An interrupt raises ``Interrupted``, which carries the part so far.
    """
    if not whole:
        settled = without_copies(source, (target,), request.keep)
        if settled.opened is not source.opened:
            oracle = None
        source = settled
    request = in_world(request, source.gives)
    offer, chosen = choose_learner(request, source.gives)
    answering = oracle or source.oracle(offer.spec.tests.alpha, _useful_threads(request, source))
    if oracle is None and len(answering.nodes) > _WIDE:
        answering = SharedOracle(answering)  # keeps few sweeps
    asker = Asker(answering, origin=source.origin, max_tests=request.max_tests, max_seconds=request.max_seconds)
    require_target(target, asker.nodes, source)
    known, spoken = known_of(request, source, asker.nodes)
    drawn = None if asker.perfect or request.hidden != "possible" else source.data
    at_once = whole or is_cut(request, source, offer, len(asker.nodes))
    before = source.traffic
    with follow_visits(attrs.evolve(request, knowledge=known)) as followed:
        context = _context(followed, source, offer, asker, target=target, depth=depth, whole=at_once)
        context = attrs.evolve(context, copies=whole)
        why = None if source.data is None or target in asker.nodes else source.data.why_constant(target)
        part = learn_or_cut(offer, context, is_asked=whole) if why is None else _empty_part(context, why)
    part = without_past(part, earlier_of(source.data))
    shared = notes_on_hidden(part)
    try:
        told_by = told_by_environments(part, asker, source.data, request)
        if told_by.pairs:
            part = told_by.into(part, part.ledger.rulebook, with_colliders=drawn is None)
        if drawn is not None:
            part = _drawn(part, asker, drawn, request, told_by)
        part = attrs.evolve(part, depth=depth)
        asker.flush()
        near = () if part.edges else asker.nearest(target, NEAREST)
        told = () if asker.perfect or why else notes_on_part(part, source.row_count, near, whole=whole)
        duplicates = _duplicates(source, part)
        notes = (
            chosen,
            *part.notes,
            *told_by.notes,
            *notes_on_untested(part, duplicates),
            *shared,
            *spoken,
            *notes_against_given(part, part.members),
            *told,
            *notes_on_survival(part, source.columns),
            *source.notes(part, duplicates, before),
        )
        part = attrs.evolve(part, notes=_listed(notes), columns=source.columns, data=source.fingerprint)
        part = with_answers(part, known)
    except KeyboardInterrupt:
        raise Interrupted(part=part) from None
    if asker.stop.is_interrupted:
        raise Interrupted(part=part)
    return part


def _drawn(part: Part, asker: Asker, data: Dataset, request: Request, told: Told) -> Part:
    """Return a part as it is drawn where hidden causes are possible; after its end no more is asked."""
    if part.incomplete is None:
        try:
            return asker.stop.run(lambda: draw_possible(part, asker, data, request, told.arrows))
        except LimitReachedError as limit:
            part = attrs.evolve(part, incomplete=f"stopped at {limit} before the shapes of columns were compared")
    return draw_possible(part, None, data, request, told.arrows)


def known_of(request: Request, source: Source, nodes: Collection[Node]) -> tuple[Knowledge, tuple[Note, ...]]:
    """Return what is known of the nodes, and notes on what is assumed by name and on names that were set aside."""
    aside = {column.name for column in source.columns if column.kind == "set aside"}
    lost = in_order(aside.intersection(request.known.nodes).difference(nodes))
    known, notes = request.known.resolved(nodes, aside), tuple[Note, ...]()
    if source.data is not None and (past := earlier_of(source.data)):
        known = known_in_time(known, source.data, past, nodes)
    elif source.data is not None and source.data.roles:
        spoken = frozenset(known.nodes)
        first = [node for node in in_order(source.data.constant_in_groups) if node not in spoken]
        known = attrs.evolve(known, assumed=(*known.assumed, *((node, SAME_IN_GROUP) for node in first)))
    if request.hidden == "possible" and source.data is not None:
        known, notes = with_roots(request, known, source.data)
    if environments := request.environments:
        known = environments.known(known, nodes)
    if not lost:
        return known, notes
    told = (
        f"the knowledge names {listing(lost)}, set aside, so what it says of {'them' if lost[1:] else 'it'} is left out"
    )
    return known, (*notes, Note(told, "knowledge", columns=[*lost]))


def _duplicates(source: Source, part: Part) -> Sequence[Sequence[Node]]:
    """Return the groups of duplicate columns; after a limit there is little time to look for them."""
    if part.incomplete is None:
        return source.duplicates()
    try:
        return Stop(monotonic() + LAST_WORDS).run(source.duplicates)
    except LimitReachedError:
        return ()


def require_target(target: Node, nodes: Collection[Node], source: Source) -> None:
    """Refuse a target that is no node, and say why if it is a column that was set aside; one may never vary."""
    data = source.data
    if target in nodes or (data is not None and data.why_constant(target)):
        return
    if data is not None and (why := data.why_not(target)) is not None:
        message = f"the target cannot be learned: {marked(why)}"
        raise DataError(message)
    require_known(target, nodes, "target")


def _empty_part(context: Context, why: str) -> Part:
    """Return the part around a column that never varies, which is no node of the oracle."""
    told = empty_note(f"nothing can be learned of {context.target!r}, since {why}", target=context.target)
    visited = Assembly.start(context).told(Visited(context.target, (), ()), notes=(told,))
    return attrs.evolve(visited.part(), nodes=(*context.asker.nodes, context.target))


def _listed(notes: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(note for note in notes if note))


def _useful_threads(request: Request, source: Source) -> int:
    """Return how many threads a run is worth: with few rows Python itself takes most of the time, one at a time."""
    return 1 if source.row_count is not None and source.row_count < _ROWS_FOR_THREADS else request.threads


def _context(
    request: Request, source: Source, offer: LearnerOffer, asker: Asker, *, target: Node, depth: Depth, whole: bool
) -> Context:
    """Put together what a learner is given."""
    spec, plugins = offer.spec, request.manager
    unlimited = request.max_conditioning == "none" or (asker.perfect and request.max_conditioning is None)
    largest = None if unlimited else spec.tests.max_conditioning
    heeds_bound = pick(plugins.finders, spec.neighbours.finder, "finder").heeds_bound
    rate = false_discovery_rate(request.fdr, len(asker.nodes), perfect=asker.perfect) if heeds_bound else None
    unreliable = None if spec.neighbours.unreliable == "finder" else spec.neighbours.unreliable
    reading: dict[str, Any] = {
        name: value for name, value in request.reading.items() if isinstance(value, str | int | float)
    }
    reading.pop("cache", None)
    roles = {} if source.data is None else dict(source.data.roles)
    if roles.get("groups") or request.reading.get("groups") is not None:
        reading["groups"] = [*roles.get("groups", ())]
    if source.data is not None and (in_time := source.data.in_time):
        reading |= {"time": in_time.fields["time"], "lags": in_time.fields["lags"]}
    codes = codes_by_column(request.na)
    if codes and all(isinstance(name, str) for name in codes):
        reading["na"] = {name: [*listed] for name, listed in codes.items()}
    return Context(
        target=target,
        depth=depth,
        spec=spec,
        asker=asker,
        plugins=plugins,
        finder_settings=FinderSettings(largest, unreliable, rate, spec.options),
        settings={
            "alpha": None if asker.perfect else spec.tests.alpha,
            "max_conditioning": largest,
            "fdr": rate,
            "min_direction": None if asker.perfect else request.least_direction,
            **({} if asker.perfect else _world(request, offer)),
            **spec.options,
            **reading,
        },
        data=source.data,
        # a limit is met at one place, and counts from elsewhere are asked for in the same rounds
        threads=1 if request.is_limited or source.is_elsewhere else _useful_threads(request, source),
        knowledge=request.known,
        whole=whole,
    )


def _world(request: Request, offer: LearnerOffer) -> dict[str, str]:
    """Return what is said of hidden causes, and of names where these say anything."""
    if allows_hidden(offer, request.manager):
        return {"hidden": "allowed"}
    return {"hidden": request.hidden, **({"roots": str(request.roots)} if request.hidden == "possible" else {})}
