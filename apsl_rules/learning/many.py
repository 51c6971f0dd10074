"""Many runs on one source: the parts around many targets, and a part on many resamples.

Targets share what they know of the table. Resamples show how often each edge comes out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import closing, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack

import attrs
import numpy as np

from apsl_rules.data import Target, content_fingerprint, join_target
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.progress import with_bar
from apsl_rules.learning.run import Budget, known_of, require_target, run_once, taken_apart, without_copies
from apsl_rules.learning.settings import Request, Settings, with_settings
from apsl_rules.learning.source import Rows, Source, choose_learner, in_world, open_data
from apsl_rules.names import Depth, Node, check_depth, demand, in_order, is_whole, path_text, spelt
from apsl_rules.notes import argument, named
from apsl_rules.oracles import SharedOracle
from apsl_rules.parts import Frame, Part, Parts, PartsJournal, Stability, Tally, TallyJournal, count_support, tally
from apsl_rules.plugins import LearnerOffer, Spec
from apsl_rules.rules import POSSIBLE, Rulebook
from apsl_rules.stopping import Workers, interruptible

#: Settings that change no part, or that the data and the learner say already.
_NO_MATTER = frozenset(
    {"max_tests", "max_seconds", "threads", "cache", "plugins", "learner", "knowledge", "drop", "only"}
)


def describe_task(request: Request, source: Source, spec: Spec, depth: Depth, **further: Any) -> dict[str, str]:
    """Return the data, the depth, the learner and the settings of a run, each as text or as a hash."""
    given = {name: getattr(request, name) for name in attrs.fields_dict(Request) if name not in _NO_MATTER}
    plain = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
    return {
        "data": _content(source),
        "version": version("apsl_rules"),
        "depth": str(depth),
        **{name: str(value) for name, value in further.items()},
        **{name: str(value) for name, value in plain.items()},
        "learner": spec.name,
        "spec": content_fingerprint((spec, request.options or {})),
        "knowledge": content_fingerprint(request.known),
    }


def _content(source: Source) -> str:
    """Return a hash of what is learned from; the journal of another oracle could be taken for that of this one."""
    if source.content is None:
        message = (
            "a journal is for tables and graphs, and this oracle cannot say whether it is the same; leave journal out"
        )
        raise InvalidArgumentError(message)
    return source.content


Item = TypeVar("Item")
Result = TypeVar("Result")


def work_in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result]:
    """Work on items, several at a time, and give the results in their order; none is begun that nobody awaits."""
    if threads == 1:
        yield from map(work, items)
        return
    ahead: deque[Future[Result]] = deque()
    with Workers(threads) as pool:
        try:
            for one in items:
                ahead.append(pool.submit(work, one))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()


@with_settings()
@interruptible
@with_bar("parts learned")
def learn_many(
    source: Any,
    targets: Iterable[Node] | Literal["all"],
    depth: Depth = 1,
    *,
    journal: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[Settings],
) -> Parts:
    """Learn the parts around many targets, asking nothing twice.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    targets
        The nodes of interest, or "all": then the union is the whole graph, made of parts.
    depth
        As for ``learn``.
    journal
        A file that gets each part as soon as it is learned. The same call, made again after a kill, an interrupt or a
        limit, takes the parts from there and goes on with the others. The parts then stay in the file and are read when
        they are asked for, so that memory does not grow with their number; ``load_parts`` reads them later. A file of
        other data or other settings is refused.
    progress
        A function that is told the number of parts learned, and of all.
    settings
        The settings of ``learn``; limits hold for all parts together, ``threads`` learn that many parts at a time.
        An interrupt raises ``Interrupted``, whose ``result`` has the parts that were learned.

    Examples
    --------
    >>> from apsl_rules import Dag
    >>> parts = learn_many(Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}), ["a", "d"])
    >>> sorted(parts["d"].arrows), sorted(parts.union.arrows)
    ([('c', 'd')], [('a', 'c'), ('c', 'd')])
    """
    check_depth(depth)
    known = progress is None or callable(progress)
    demand(
        known,
        f"{named('progress')} is {spelt(progress)}; give a function that takes the parts learned and of all",
        argument="progress",
    )
    request = Request.of(settings, "learn_many")
    opened = taken_apart(open_data(source, request), (), request.keep)
    if isinstance(targets, str):  # the union is to have every column
        opened = attrs.evolve(opened, is_settled=True)
    request = in_world(request, opened.gives)
    offer, _ = choose_learner(request, opened.gives)
    oracle = SharedOracle(opened.oracle(offer.spec.tests.alpha, 1))
    wanted = _check_targets(targets, oracle.nodes, opened)
    kept: PartsJournal | None = None
    if journal is not None:
        task = describe_task(request, opened, offer.spec, depth)
        frame = Frame(oracle.nodes, opened.columns, known_of(request, opened, oracle.nodes)[0])
        kept = PartsJournal(Path(path_text(journal, "journal")), task, frame)
    with kept or nullcontext():
        return _Many(
            request=request,
            source=opened,
            offer=offer,
            oracle=oracle,
            targets=wanted,
            depth=depth,
            journal=kept,
            progress=progress,
        ).learn()


@attrs.define(eq=False, kw_only=True)
class _Many:
    """One call: what is asked for, and the parts learned so far, in a journal or in memory."""

    request: Request
    source: Source
    offer: LearnerOffer
    oracle: SharedOracle
    targets: tuple[Node, ...]
    depth: Depth
    journal: PartsJournal | None
    progress: Callable[[int, int], None] | None
    parts: dict[Node, Part] = attrs.field(factory=dict, init=False)

    def learn(self) -> Parts:
        """Learn what is not learned yet, within the limits."""
        targets = self.targets
        if self.journal is not None:
            self.oracle.count_computed(self.journal.computed)
        try:
            self._learn_all()
        except KeyboardInterrupt as stop:
            left = len(targets) - len(self._learned)
            told = f"stopped at an interrupt before {left} of {len(targets)} targets were learned"
            so_far = self._gather(told) if self._learned else None
            raise Interrupted(part=stop.part if isinstance(stop, Interrupted) else None, result=so_far) from None
        learned = self._learned
        if not learned:
            message = "the limits allow no part at all; allow more tests or seconds"
            raise InvalidArgumentError(message)
        if len(learned) < len(targets):
            return self._gather(
                f"stopped at the limit before {len(targets) - len(learned)} of {len(targets)} targets were begun"
            )
        return self._gather(next((part.incomplete for part in self.parts.values() if part.incomplete), None))

    @property
    def _learned(self) -> Mapping[Node, Part]:
        """Return the parts learned so far, by name; those that met a limit or never vary are not in the journal."""
        if self.journal is None:
            return self.parts
        kept = self.journal.parts.only(self.targets)
        if not self.parts:
            return kept
        both = {**{target: kept[target] for target in kept}, **self.parts}
        return {target: both[target] for target in self.targets if target in both}

    def _learn_all(self) -> None:
        """Learn one part after the other, or several at a time, within what the limits leave."""
        request, source, oracle, journal = self.request, self.source, self.oracle, self.journal
        budget, before = Budget.of(request), oracle.tests
        left = [target for target in self.targets if journal is None or target not in journal]
        done = len(self.targets) - len(left)
        self._tell(done)

        def learn_one(target: Node) -> Part | None:
            if budget.is_spent(oracle.tests - before):
                return None
            return run_once(budget.left(request, oracle.tests - before), source, target, self.depth, oracle=oracle)

        # One at a time where a limit is to be met at one place, or rows are counted elsewhere in rounds.
        is_single = request.is_limited or source.is_elsewhere
        with closing(work_in_order(learn_one, left, 1 if is_single else request.threads)) as ahead:
            for part in ahead:
                if part is None:
                    break
                self._keep(part)
                done += 1
                self._tell(done)

    def _keep(self, part: Part) -> None:
        computed = self.oracle.collect_computed()
        is_framed = part.target in self.oracle.nodes and len(part.nodes) == len(self.oracle.nodes)
        if self.journal is None or part.incomplete or not is_framed:
            self.parts[part.target] = part
        else:
            self.journal.add(part, computed)

    def _tell(self, done: int) -> None:
        if self.progress is not None:
            self.progress(done, len(self.targets))

    def _gather(self, incomplete: str | None) -> Parts:
        rules, learned = self.offer.spec.rules, self._learned
        asked = {} if self.journal is None else self.journal.asked
        asked = asked | {target: part.counts.distinct for target, part in self.parts.items()}
        return Parts(
            self.depth,
            self.offer.name,
            learned,
            sum(asked[target] for target in learned),
            self.oracle.tests,
            tuple(dict.fromkeys((*self.oracle.nodes, *learned))),
            self._rulebook(),
            rules.conflicts,
            incomplete,
        )

    def _rulebook(self) -> Rulebook:
        """Return the rules of the union: those of the parts."""
        is_possible = self.request.hidden == "possible" and self.source.data is not None
        return POSSIBLE if is_possible else self.request.manager.rulebook_of(self.offer.spec)


def _check_targets(
    targets: Iterable[Node] | Literal["all"], nodes: tuple[Node, ...], source: Source
) -> tuple[Node, ...]:
    """Return the targets by name, each once and each a node."""
    if isinstance(targets, str):
        if targets != "all":
            raise InvalidArgumentError(
                argument="targets", value=targets, advice=f"give a list of nodes, such as [{targets!r}], or 'all'"
            )
        return in_order(nodes)
    targets = list(targets) if isinstance(targets, Iterable) else [[]]
    if not all(isinstance(target, Hashable) for target in targets):
        message = "targets must be a list of nodes, such as ['A', 'B'], or 'all'"
        raise InvalidArgumentError(message)
    wanted = in_order(set(targets))
    if not wanted:
        message = "there are no targets; give a list of nodes, or 'all'"
        raise InvalidArgumentError(message)
    for target in wanted:
        require_target(target, nodes, source)
    return wanted


@with_settings()
@interruptible
@with_bar("resamples learned")
def stability(
    source: Any,
    target: Target,
    depth: Depth = 1,
    *,
    resamples: int = 100,
    seed: int = 0,
    subsample: float | None = None,
    journal: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[Settings],
) -> Stability:
    """Learn a part from all rows and again from many resamples of them, and count how often each mark comes back.

    Parameters
    ----------
    source, target, depth
        As for ``learn``; the source is a table. Plugins that watch see the run on all rows only.
    resamples
        How many tables to draw.
    seed
        The same seed draws the same tables.
    subsample
        Without it, each resample has as many rows as the table, drawn with repetition (the bootstrap); a share such as
        0.5 draws that share of the rows without repetition, which does not exaggerate dependence as repetition does.
        Where rows belong together, whole groups are drawn.
    threads
        How many resamples to learn at a time; the result is the same for any number.
    journal
        A file that gets what each resample shows as soon as it is learned. The same call, made again after a kill, an
        interrupt or a limit, takes these from there; more resamples may be asked for. A file of other data or other
        settings is refused.
    progress
        A function that is told the number of resamples done, and of all.
    max_tests, max_seconds
        Limits for all runs together; resamples that do not fit are left out, and the result says so. An interrupt
        raises ``Interrupted``, whose ``result`` has the resamples that were counted.
    settings
        Further settings of ``learn``, the same for all runs.

    Examples
    --------
    >>> from apsl_rules import network
    >>> from apsl_rules.graphs.networks import sample
    >>> found = stability(sample(network("cancer"), 20_000, seed=1), "Cancer", resamples=10, seed=1)
    >>> found.of("Cancer", "Xray").edge
    1.0
    """
    source, target = join_target(source, target)
    check_depth(depth)
    known = progress is None or callable(progress)
    demand(
        known,
        f"{named('progress')} is {spelt(progress)}; give a function that takes the resamples done and of all",
        argument="progress",
    )
    request = Request.of(settings, "stability")
    demand(request.hidden != "allowed", f"stability counts arrows and lines; leave out {argument('hidden', 'allowed')}")
    _check(resamples, seed, request)
    opened = without_copies(open_data(source, request), (target,), request.keep)
    request = in_world(request, opened.gives)
    groups = opened.row_groups if opened.rows else None
    size = _size(subsample, opened.rows if groups is None else int(groups.max()) + 1)
    budget = Budget.of(request)
    single = attrs.evolve(request, threads=1)
    part = run_once(single, opened, target, depth)
    quiet = attrs.evolve(single, plugins=request.manager.copy(watched=False))

    kept: TallyJournal | None = None
    if journal is not None:
        spec = choose_learner(request, opened.gives)[0].spec
        task = describe_task(request, opened, spec, depth, target=target, seed=seed, subsample=subsample)
        kept = TallyJournal(Path(path_text(journal, "journal")), task, part.nodes)
    tell = progress or (lambda _done, _of: None)
    seeds = np.random.SeedSequence(seed).spawn(resamples)

    def draw(number: int) -> Tally:
        if kept is not None and number in kept:
            return kept.tally(number)
        if groups is None:
            drawn = opened.resampled(draw_rows(opened.rows, seeds[number], size))
        else:
            drawn = opened.resampled(*draw_groups(groups, seeds[number], size))
        return tally(run_once(budget.left(quiet, 0), drawn, target, depth))

    tallies: list[Tally] = []
    stopped, interrupted = part.incomplete, False
    tests = part.counts.distinct
    wanted = range(0 if stopped else resamples)
    try:
        with kept or nullcontext(), closing(work_in_order(draw, wanted, request.threads)) as ahead:
            for one in ahead:
                tests += one.tests
                stopped = one.incomplete or _over_limit(request, tests)
                if stopped is not None:
                    break
                if kept is not None:
                    kept.add(len(tallies), one)
                tallies.append(one)
                tell(len(tallies), resamples)
    except KeyboardInterrupt:
        stopped, interrupted = "stopped at an interrupt", True
    supports, support = count_support(part, tallies)
    asked = {"resamples": len(tallies), "seed": seed} | ({} if subsample is None else {"subsample": subsample})
    found = Stability(
        attrs.evolve(part, support=support, settings={**part.settings, **asked}),
        supports,
        resamples=resamples,
        counted=len(tallies),
        seed=seed,
        subsample=subsample,
        incomplete=None if stopped is None else f"{len(tallies)} of {resamples} resamples counted: {stopped}",
    )
    if interrupted:
        raise Interrupted(part=found.part, result=found)
    return found


def _over_limit(request: Request, tests: int) -> str | None:
    """Say that all runs together took too many tests, if they did."""
    over = request.max_tests is not None and tests > request.max_tests
    return f"stopped at {request.max_tests} tests" if over else None


def _check(resamples: int, seed: int, request: Request) -> None:
    """Refuse numbers and settings that mean nothing here."""
    for name, value, least in (("resamples", resamples, 1), ("seed", seed, 0)):
        if not is_whole(value) or not least <= value < 2**63:
            raise InvalidArgumentError(argument=name, value=value, advice=f"give a whole number from {least} on")
    if request.cache is not None:
        message = "a cache keeps the figures of one table, but every resample is another; leave it out"
        raise InvalidArgumentError(message)


def _size(subsample: float | None, rows: int) -> int | None:
    """Return the number of rows of a subsample, or None for the bootstrap."""
    if subsample is None:
        return None
    if not isinstance(subsample, float) or not 0 < subsample < 1:
        advice = "give a share between 0 and 1, such as 0.5, or leave it out for the bootstrap"
        raise InvalidArgumentError(argument="subsample", value=subsample, advice=f"{advice}")
    size = round(subsample * rows)
    if size < 2:  # noqa: PLR2004 - nothing varies in one row
        message = f"a subsample of {subsample} has {size} of {rows} rows; at least 2 are needed"
        raise InvalidArgumentError(message)
    return size


def draw_rows(rows: int, seeds: np.random.SeedSequence, size: int | None) -> Rows:
    """Draw the rows of one resample, sorted: as many as there are with repetition, or so many without."""
    random = np.random.default_rng(seeds)
    drawn = random.integers(0, rows, rows) if size is None else random.choice(rows, size, replace=False, shuffle=False)
    return np.sort(drawn)


def draw_groups(groups: Rows, seeds: np.random.SeedSequence, size: int | None) -> tuple[Rows, Rows]:
    """Draw whole groups for one resample, as rows are drawn; return their rows, and a new number of each one's group.

    A group that is drawn twice stands for two groups.
    """
    chosen = draw_rows(int(groups.max()) + 1, seeds, size)
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(int(groups.max()) + 2))
    rows = [order[starts[one] : starts[one + 1]] for one in chosen.tolist()]
    numbers = np.repeat(np.arange(len(rows)), [len(one) for one in rows])
    return np.concatenate(rows).astype(np.int64), numbers.astype(np.int64)
