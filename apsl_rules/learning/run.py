"""Run a learner once: set copies of the target aside, visit, fire the rules, visit further, within limits.

Columns of earlier steps depend on each other by a past that is not in the table, so an edge between two of them says
nothing of its own, and is not told: it is what the same columns have at the present step, or what came before.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any

import attrs

from apsl_rules.data import Dataset, Definition, codes_by_column, definitions, earlier, taken_apart_for
from apsl_rules.errors import DataError, Interrupted, LimitReachedError
from apsl_rules.knowledge import SAME_IN_GROUP, Knowledge
from apsl_rules.learning.environments import Told, told_by_environments
from apsl_rules.learning.frontier import LAST_WORDS, Assembly, is_cut, learn_or_cut
from apsl_rules.learning.notes import (
    NEAREST,
    notes_against_given,
    notes_on_hidden,
    notes_on_part,
    notes_on_survival,
    notes_on_untested,
)
from apsl_rules.learning.possible import draw_possible, with_roots
from apsl_rules.learning.progress import follow_visits
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import (
    Source,
    allows_hidden,
    choose_learner,
    false_discovery_rate,
    in_world,
    with_checked,
)
from apsl_rules.memory import rarely_collecting
from apsl_rules.names import Depth, Node, in_order, listed, listing, require_known
from apsl_rules.notes import Note, empty_note, marked, named
from apsl_rules.oracles import Asker, Oracle, SharedOracle
from apsl_rules.parts import Part, Visit, with_answers
from apsl_rules.plugins import Context, FinderSettings, LearnerOffer, Visited, pick
from apsl_rules.rules import Fact, Finding, found_distances, ledger
from apsl_rules.stopping import Stop


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
    asked = with_checked(request, knowledge=known)
    with follow_visits(asked) if "IPython" in sys.modules else nullcontext(asked) as followed:
        context = _context(followed, source, offer, asker, target=target, depth=depth, whole=at_once)
        context = attrs.evolve(context, copies=whole)
        why = None if source.data is None or target in asker.nodes else source.data.why_constant(target)
        part = learn_or_cut(offer, context, is_asked=whole) if why is None else _empty_part(context, why)
    part = without_past(part, earlier_of(source.data))
    shared = notes_on_hidden(part)
    try:
        told_by = (
            told_by_environments(part, asker, source.data, request) if request.environments is not None else Told()
        )
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
        part = with_answers(part, known) if known.answers or known.likely else attrs.evolve(part, knowledge=known)
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
    if request.environments is not None:
        known = request.environments.known(known, nodes)
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
    codes = {} if request.na is None else codes_by_column(request.na)
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


#: The word that keeps all columns.
EVERY = "*"


def without_copies(source: Source, targets: Sequence[Node], keep: object = None, *, functions: bool = False) -> Source:
    """Return a source without the columns that targets define, or that define them, but for those to keep.

    With ``functions`` these are functions of one target alone, and no terms of sums or products.
    """
    if source.is_settled or source.offer is None or source.data is None:
        return source
    kept, source = _kept(source, keep), taken_apart(source, targets, keep)
    data = source.data
    if kept is None or data is None or not all(target in data.place for target in targets):
        return attrs.evolve(source, is_settled=True)
    every = [definitions(data, target, (*kept, *targets), functions=functions) for target in targets]
    return attrs.evolve(_without(source, data, every), is_settled=True)


def _without(source: Source, data: Dataset, every: Iterable[Definition]) -> Source:
    """Return a source of a dataset without the columns that were found, with the oracle that suits what is left."""
    found = [one for one in every if one]
    reasons = {column: one.reason(column) for one in found for column in one.told}
    left = data.set_aside(reasons, [one.note() for one in found]) if found else data
    if left is source.opened:
        return source
    offer, origin = next((one for one in source.asked if one[0].needs <= left.can), (source.offer, source.origin))
    return attrs.evolve(source, opened=left, offer=offer, origin=origin, oracles={})


def taken_apart(source: Source, nodes: Collection[Node], keep: object = None) -> Source:
    """Return a source in which joined columns are apart where one of them is asked about or is to be kept.

    Those that make one category with a node that is asked about follow from it, and are set aside.
    """
    data = source.data
    if data is None or source.offer is None:
        return source
    left, told = taken_apart_for(data, nodes, _kept(source, keep))
    return attrs.evolve(_without(source, left, told), apart=source.apart.union(data.names).difference(left.names))


def _kept(source: Source, keep: object) -> tuple[Node, ...] | None:
    """Return the columns to keep, or None for all."""
    if isinstance(keep, str) and keep == EVERY:
        return None
    names = () if keep is None else listed("keep", keep, "names of columns, such as ['lwage']")
    known = {one.name for one in source.columns}.union(source.apart, () if source.data is None else source.data.names)
    for name in names:
        require_known(name, known, f"column in {named('keep')}")
    return tuple(names)


def earlier_of(data: Dataset | None) -> frozenset[Node]:
    """Return the columns of earlier steps of a table whose rows are in time."""
    note = None if data is None else data.in_time
    return frozenset() if note is None or data is None else frozenset(earlier(data.names, note.fields["lags"]))


def known_in_time(known: Knowledge, data: Dataset, past: Collection[Node], nodes: Collection[Node]) -> Knowledge:
    """Return what is known of nodes where earlier steps come first, and with them what never varies in a group."""
    constant = [node for node in data.constant_in_groups if node in nodes]
    return known.after([*past, *constant], nodes, apart=False)


def without_past(part: Part, past: Collection[Node]) -> Part:
    """Return a part without what was found among columns of earlier steps alone."""
    if not past:
        return part
    found, visits = ledger(part.ledger.rulebook, part.ledger.policy), list[Visit]()
    for visit in part.visits:
        entries = part.history.entries[visit.begin : visit.end]
        kept = [one for one in entries if isinstance(one, Finding) and not _is_past(one.fact, past)]
        begin = len(found.history)
        found = found.with_findings(kept)
        near = tuple(one for one in visit.neighbours if not (visit.node in past and one in past))
        visits.append(Visit(visit.node, near, begin, len(found.history)))
    distances = found_distances(found, part.target, part.knowledge)
    return attrs.evolve(part, ledger=found, visits=tuple(visits), distances=distances)


def _is_past(fact: Fact, past: Collection[Node]) -> bool:
    """Return whether a fact says something of two columns of earlier steps."""
    return sum(one in past for one in fact.nodes) > 1
