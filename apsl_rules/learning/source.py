"""What a request opens and chooses: the source with its oracle, and the learner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules._documents import DocumentError, file_text
from apsl_rules.data import (
    ColumnKind,
    Dataset,
    FileTable,
    Groups,
    Traffic,
    content_fingerprint,
    groups_of_rows,
    is_countable,
    is_left_in_place,
    notes_on_duplicates,
)
from apsl_rules.data.counts import CountSource
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database
from apsl_rules.data.readers import split_sheet
from apsl_rules.environments import Environments
from apsl_rules.errors import ApslError, InvalidArgumentError, KnowledgeError, PluginError, UnknownNameError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network, network, network_names
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning.settings import AUTO, Request
from apsl_rules.names import Node, demand, nearest, require_known, spelt
from apsl_rules.notes import Note, argument, named
from apsl_rules.oracles import Oracle, complete_oracle, is_oracle
from apsl_rules.parts import Part
from apsl_rules.plugins import LearnerOffer, OracleOffer, OracleSettings, Plugins, Spec, parse_spec, pick
from apsl_rules.rules import POSSIBLE, Rulebook, head, untested

Rows: TypeAlias = npt.NDArray[np.int64]


def open_source(name: str, plugins: Plugins, *, counts: str | None = None) -> Any:
    """Return what a name on the command line stands for: a network, a table of a database or the content of a file.

    A table that is counted elsewhere than in memory is left in its file.
    """
    if is_database(name):
        table = DatabaseTable(name)
        path = duckdb_path(table)
        return table if path is None else FileTable(path)
    if name in network_names():
        return network(name)
    if not name:
        message = "the name of the source is empty; give a network by name, or a file"
        raise UnknownNameError(message)
    if is_left_in_place(name) or (counts not in {None, "memory"} and is_countable(name)):
        return FileTable(name)
    file = split_sheet(name)[0].casefold()
    fitting = [(len(end), one) for one in plugins.readers.values() for end in one.endings if file.endswith(end)]
    if fitting:  # the longest ending: a graph in .graph.json is no table in .json
        return max(fitting, key=lambda found: found[0])[1].read(Path(name))
    endings = ", ".join(ending for one in plugins.readers.values() for ending in one.endings)
    known = f"; there are the networks {', '.join(network_names())}, and files may end in {endings}"
    hint = nearest(name, network_names()) or known
    message = f"{name!r} is neither a network nor a file that can be read{hint}"
    raise UnknownNameError(message)


def nodes_of(source: Any) -> tuple[Node, ...]:
    """Return the nodes of a network, a graph, a dataset, an oracle or a frame."""
    if isinstance(source, Network):
        return source.dag.nodes
    if isinstance(source, Dataset):
        return source.names
    if isinstance(source, Dag | DagWithHidden) or is_oracle(source):
        return tuple(source.nodes)
    if hasattr(source, "collect_schema"):  # polars, whose lazy frames warn when asked for their columns
        return tuple(source.collect_schema().names())
    match source:
        case object(column_names=list(names)) | object(columns=names):  # pyarrow, pandas
            return tuple(names)
    message = f"a reader gave {type(source).__name__}, which has neither nodes nor columns"
    raise PluginError(message)


_UNUSED_CACHE = Note("the cache was not used: a test on moments takes less time than looking it up", "cache unused")


@attrs.frozen(eq=False, slots=False)
class Source:
    """An opened source: a dataset, a graph or an oracle, ``opened`` for an offer of an oracle, or an oracle itself.

    ``asked`` are the offers that may be taken, each with its origin. A source ``is_settled`` once columns that a target
    defines were set aside; ``apart`` names the joined columns that were taken apart.
    """

    opened: Any
    origin: str
    offer: OracleOffer | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    declared: bool = False
    is_settled: bool = False
    apart: frozenset[Node] = frozenset()
    asked: tuple[tuple[OracleOffer, str], ...] = ()
    _oracles: dict[tuple[float, int], Oracle] = attrs.field(factory=dict)

    @cached_property
    def data(self) -> Dataset | None:
        """Return the dataset that answers come from, if they come from one."""
        match self.opened:
            case Dataset() as data if self.offer is not None:
                return data
            case object(data=Dataset() as data) if self.offer is None:
                return data
        return None

    @cached_property
    def gives(self) -> frozenset[str]:
        """Return what learners can build on.

        It is "perfect answers"; "scores", from "counts" of categories or from "moments" of tables with numbers; or
        "tests" alone. A source that is an oracle itself gives its "own answers".
        """
        given = {"tests"}
        if self.data is not None:
            given |= {"scores", *self.data.can}
        elif self.oracle(0.01).perfect:
            given.add("perfect answers")
        return frozenset(given if self.offer is not None else given | {"own answers"})

    def oracle(self, alpha: float, threads: int = 1) -> Oracle:
        """Return the oracle at an alpha, made once; a source that answers by itself is its own oracle."""
        offer = self.offer
        if offer is None:
            return complete_oracle(self.opened)
        if (alpha, threads) not in self._oracles:
            settings = OracleSettings(alpha, threads, self.options)
            made = _guard(self.origin, lambda: offer.make(self.opened, settings))
            self._oracles[alpha, threads] = complete_oracle(made)
        return self._oracles[alpha, threads]

    @cached_property
    def fingerprint(self) -> str | None:
        """Return a hash of a graph, or of the columns of a dataset, the same wherever rows are; None for oracles."""
        if self._graph is not None:
            return content_fingerprint(self._graph)
        return None if self.data is None else self.data.fingerprint

    @cached_property
    def content(self) -> str | None:
        """Return a hash of a graph, or of the rows of a dataset as far as its engine can tell; None for oracles."""
        if self._graph is not None:
            return content_fingerprint(self._graph)
        return None if self.data is None else self.data.content

    @property
    def _graph(self) -> Dag | DagWithHidden | None:
        known = self.opened.dag if isinstance(self.opened, Network) else self.opened
        return known if isinstance(known, Dag | DagWithHidden) else None

    @property
    def is_elsewhere(self) -> bool:
        """Return whether rows are counted elsewhere, in rounds that runs share one after another."""
        return self.data is not None and "counts" in self.data.can and "rows" not in self.data.can

    def duplicates(self) -> Groups:
        """Return the groups of columns of the dataset that agree in every row."""
        return () if self.data is None else self.data.duplicates()

    def notes(self, part: Part, duplicates: Sequence[Sequence[Node]], before: Traffic) -> tuple[str, ...]:
        """Return what a reader of a part should know of the table behind it, and of the duplicate columns in it."""
        members = frozenset(part.members)
        untested_pairs = (fact.nodes for fact in part.store.facts(untested))
        near = members.union(*(nodes for nodes in untested_pairs if not members.isdisjoint(nodes)))
        groups = sorted((group for group in duplicates if not near.isdisjoint(group)), key=members.isdisjoint)
        unused = (_UNUSED_CACHE,) if "cache" in self.options else ()
        on_table = () if self.data is None else self.data.notes_on(part.members, before, unused)
        return (*notes_on_duplicates(groups), *on_table)

    @property
    def columns(self) -> tuple[ColumnKind, ...]:
        """Return how each column of the table was read, where that is known."""
        return () if self.data is None else self.data.columns

    @property
    def row_count(self) -> int | None:
        """Return the number of rows that answers rest on, where that is known."""
        return None if self.data is None else self.data.rows

    @property
    def traffic(self) -> Traffic:
        """Return what came from rows that stay elsewhere so far."""
        return Traffic() if self.data is None else self.data.traffic

    # --- resamples ---------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Return the number of rows that can be drawn from."""
        if self.data is not None and self.data is self.opened and "rows" in self.data.can:
            return self.data.rows
        kind = "source whose rows stay elsewhere" if self.data is self.opened else type(self.opened).__name__
        message = f"stability draws rows from a table, but a {kind} has none; give the data, or sample some from it"
        raise InvalidArgumentError(message)

    @property
    def row_groups(self) -> Rows | None:
        """Return the number of the group of each row, None where rows are independent."""
        return None if self.data is None else groups_of_rows(self.data)

    def resampled(self, rows: Rows, groups: Rows | None = None) -> Source:
        """Return a source of some rows, in any order and as often as they are named, in groups of their own."""
        drawn = self.opened.resampled(rows, declared=self.declared)
        return attrs.evolve(self, opened=drawn if groups is None else drawn.regrouped(groups), oracles={})


#: What a table can be opened for, besides what suits its columns.
Need: TypeAlias = Literal["counts", "moments", "either"]


def _guard(origin: str, call: Callable[[], Any]) -> Any:
    """Return what a plugin gives, or name the plugin that fails."""
    try:
        return call()
    except (ApslError, MemoryError):
        raise
    except Exception as error:
        message = f"{origin} cannot be made: it raised {type(error).__name__}: {error}"
        raise PluginError(message) from error


def open_data(source: Any, request: Request) -> Source:
    """Open what a caller gave to learn from, as the request says."""
    if isinstance(source, Source):
        return source
    options = request.reading
    source, options = _with_counts(source, options)
    if is_oracle(source):
        options = _without_none(options)
        if request.oracle is not None or options:
            given = "another oracle" if request.oracle is not None else f"the option {next(iter(options))!r}"
            message = f"the source is an oracle itself, so {given} cannot be given with it; leave it out"
            raise InvalidArgumentError(message)
        return Source(source, f"the oracle {type(source).__name__}")
    plugins: Plugins = request.manager
    source = plugins.engine_of(source)
    natural = (one for one in plugins.oracles.values() if one.natural_for is not None and one.natural_for(source))
    offer = next(natural, None) if request.oracle is None else pick(plugins.oracles, request.oracle, "oracle")
    if offer is not None and not offer.needs:
        return Source(source, plugins.origin("apsl_oracles", offer.name), offer, _without_none(options))
    return _open_table(source, options, plugins, offer, request.environments)


def _without_none(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options without groups that nobody wants, for sources that have no rows anyway."""
    return {name: value for name, value in options.items() if name != "groups" or value}


def _open_table(
    source: Any,
    options: dict[str, Any],
    plugins: Plugins,
    offer: OracleOffer | None,
    environments: Environments | None,
) -> Source:
    """Open a table as a dataset, for an oracle that needs one or for the first that suits its columns."""
    opener = next((one for one in plugins.datasets.values() if one.takes(source)), None)
    if environments is not None and not isinstance(source, Dataset):
        _require_columns(environments.columns, source)
        options["kinds"] = {**dict.fromkeys(environments.columns, "category"), **options.get("kinds", {})}
    if opener is None:
        kind = type(source).__name__
        message = f"cannot learn from {kind}; give a known graph (Dag(...)), a network, a table or an oracle"
        if offer is not None:
            message = f"the oracle {offer.name!r} needs a table, and {kind} is none; give one, or leave the oracle out"
        raise InvalidArgumentError(message)
    on_tables = [one for one in plugins.oracles.values() if one.needs]
    asked = on_tables if offer is None else [offer]
    known = (*opener.options, *dict.fromkeys(name for one in asked for name in one.options))
    given = {name: value for name, value in options.items() if value is not None or name not in known}
    for name in given:
        if name not in known:
            hint = nearest(name, known) or f"; it knows {', '.join(known)}"
            message = f"the oracle {asked[0].name!r} has no option {argument(name, python=repr(name))}{hint}"
            raise InvalidArgumentError(message)
    asks = frozenset() if offer is None else offer.needs
    need: Need = "counts" if "counts" in asks else "moments" if "moments" in asks else "either"
    origin = plugins.origin("apsl_oracles", asked[0].name)
    data = _guard(origin, lambda: opener.open(source, given if offer is None else {**offer.preset, **given}, need))
    chosen = next((one for one in asked if one.needs <= data.can), None)
    if chosen is None:
        lacking = ", ".join(sorted(asked[0].needs - data.can))
        message = f"the oracle {asked[0].name!r} needs {lacking}, and a table in {data.kind} has none"
        raise InvalidArgumentError(message)
    left = {name: value for name, value in given.items() if name not in opener.options}
    declared = options.get("levels") == "declared"
    offers = tuple((one, plugins.origin("apsl_oracles", one.name)) for one in asked)
    return Source(data, plugins.origin("apsl_oracles", chosen.name), chosen, left, declared=declared, asked=offers)


def _require_columns(environments: tuple[Node, ...], source: Any) -> None:
    """Refuse environments that are no columns, where the columns of a source are known before it is read."""
    try:
        columns = nodes_of(source)
    except PluginError:
        return
    for one in environments:
        require_known(one, columns, f"column in {named('environment')}")


def _with_counts(source: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take a source of counts for the source to learn from."""
    counts = options.get("counts")
    if counts is None or isinstance(counts, str) or not isinstance(counts, CountSource):
        return source, options
    if source is not None and source is not counts:
        message = f"counts come from {counts.kind!r}, so there is no need of {type(source).__name__}; give None for it"
        raise InvalidArgumentError(message)
    return counts, {name: value for name, value in options.items() if name != "counts"}


def say_default_learner(data: Dataset, plugins: Plugins) -> str:
    """Return a sentence on the learner that "auto" chooses for a table."""
    offer, note = choose_learner(Request(plugins=plugins), frozenset({"tests", "scores", *data.can}))
    return note or f"learner 'auto' chose {offer.name!r}"


#: The learner that goes by tests.
BY_TESTS = "apsl"
#: The learner that allows hidden causes.
WITH_HIDDEN = "apsl-hidden"
#: The learner by scores for what a source gives, and how its columns are read.
BY_SCORES = {
    "counts": ("apsl-score", "the source is a table, read as discrete columns"),
    "moments": ("apsl-mixed", "the source is a table with numbers"),
}
#: The names of these learners.
SCORING = frozenset(name for name, _ in BY_SCORES.values())
#: Above this many nodes false discoveries are bounded unless the caller says otherwise, by this share.
WIDE, SHARE = 1000, 0.01


def is_auto(learner: object) -> bool:
    """Return whether the choice of a learner is left to the source."""
    return isinstance(learner, str) and learner == AUTO


def in_world(request: Request, gives: frozenset[str]) -> Request:
    """Return a request that says whether common causes may be hidden, where it left that open.

    Nobody knows what is missing from a table. A known graph has perfect answers, and who names a learner gets what that
    learner draws.
    """
    if request.hidden != AUTO:
        return request
    is_open = is_auto(request.learner) and "scores" in gives and "own answers" not in gives
    return with_checked(request, hidden="possible" if is_open else "excluded")


def with_checked(request: Request, **values: Any) -> Request:
    """Return a request with other values, which were checked; nothing is checked again."""
    same = copy(request)
    for name, value in values.items():
        object.__setattr__(same, name, value)
    return same


def choose_learner(request: Request, gives: frozenset[str]) -> tuple[LearnerOffer, Note | None]:
    """Return the learner for a source, with the settings of the request, and how it was chosen if that is to be said.

    On tables the learners that refine parts by scores are right more often than the one that goes by tests alone. Where
    answers are perfect, or the source has no table, there are only tests.
    """
    plugins = request.manager
    note: Note | None = None
    if is_auto(request.learner) and request.hidden == "allowed":
        offer = find_learner(WITH_HIDDEN, plugins)
    elif is_auto(request.learner):
        name = BY_TESTS
        why = "the source is an oracle itself" if "own answers" in gives else "there is no table to score"
        for given, (scoring, reason) in BY_SCORES.items():
            if given in gives and "own answers" not in gives:
                name, why = scoring, reason
        if "perfect answers" not in gives:
            note = Note(f"learner 'auto' chose {name!r}: {why}", "learner", learner=name, why=why)
        offer = find_learner(name, plugins)
    else:
        offer = find_learner(request.learner, plugins)
    if request.certified:
        offer = _certifying(offer, plugins)
    offer = attrs.evolve(offer, spec=_adjust(offer.spec, request))
    relations = frozenset(_rulebook_of(offer, plugins).relations)
    if request.hidden == "possible" and not relations <= frozenset(POSSIBLE.relations):
        message = (
            f"the findings of the learner {offer.name!r} are of another kind than those that "
            f"{argument('hidden', 'possible')} draws; leave the learner out, or leave hidden out"
        )
        raise InvalidArgumentError(message)
    if request.hidden == "allowed" and not allows_hidden(offer, plugins):
        message = (
            f"the learner {offer.name!r} assumes that no common cause is hidden; use "
            f"{argument('learner', WITH_HIDDEN)}, or leave the learner out"
        )
        raise InvalidArgumentError(message)
    _require_honouring(request.known, offer, plugins)
    _require_needs(offer, gives)
    return offer, note


def _require_needs(offer: LearnerOffer, gives: frozenset[str]) -> None:
    """Refuse a source that does not give what a learner needs."""
    lacking = sorted(offer.needs - gives)
    if lacking:
        advice = "learn from a table"
        if "moments" in gives:
            advice = f"cut its numbers ({argument('discretize', 'quantile:3')})"
        elif "counts" in gives:
            advice = f"take {argument('learner', 'apsl-score')}"
        message = (
            f"the learner {offer.name!r} needs {', '.join(lacking)}, but the source has none; {advice}, or learn by "
            f"tests ({argument('learner', 'apsl')})"
        )
        raise InvalidArgumentError(message)


def find_learner(learner: object, plugins: Plugins) -> LearnerOffer:
    """Return the learner of a name, of a spec file or of a spec."""
    if isinstance(learner, LearnerOffer):
        return learner
    if isinstance(learner, Spec):
        return _with_code(learner, plugins)
    known = isinstance(learner, str) or hasattr(learner, "__fspath__")
    demand(
        known,
        f"{named('learner')} is {spelt(learner)}; give the name of one, a spec file *.toml, or a Spec",
        argument="learner",
    )
    if str(learner).endswith(".toml"):
        try:
            text = file_text(str(learner))
        except DocumentError as error:
            message = f"the spec file {str(learner)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        return _with_code(parse_spec(text, f"spec file {str(learner)!r}"), plugins)
    return pick(plugins.learners, str(learner), "learner")


def _with_code(spec: Spec, plugins: Plugins) -> LearnerOffer:
    """Return a user's own spec with the code of any learner of the same kind."""
    known = {"local": LearnerOffer(spec)} | {offer.spec.kind: offer for offer in plugins.learners.values()}
    if spec.kind not in known:
        message = f"unknown kind {spec.kind!r} in spec {spec.name!r}{nearest(spec.kind, known)}"
        raise UnknownNameError(message)
    return attrs.evolve(known[spec.kind], spec=spec)


def _adjust(spec: Spec, request: Request) -> Spec:
    """Replace settings of a spec by those that the caller gave; no limit is no part of a spec."""
    tests, neighbours, rules = spec.tests, spec.neighbours, spec.rules
    if request.alpha is not None:
        tests = attrs.evolve(tests, alpha=request.alpha)
    if isinstance(request.max_conditioning, int):
        tests = attrs.evolve(tests, max_conditioning=int(request.max_conditioning))
    if request.finder is not None:
        neighbours = attrs.evolve(neighbours, finder=request.finder)
    if request.conflicts is not None:
        rules = attrs.evolve(rules, conflicts=request.conflicts)
    return attrs.evolve(spec, tests=tests, neighbours=neighbours, rules=rules)


def _certifying(offer: LearnerOffer, plugins: Plugins) -> LearnerOffer:
    """Return a learner that certifies what its search finds; one that has no such option is refused."""
    if "certified" not in offer.spec.options:
        able = sorted(one.name for one in plugins.learners.values() if "certified" in one.spec.options)
        message = (
            f"{argument('certified', value=True)} needs a learner that searches by score: {', '.join(able)}; "
            f"{offer.name!r} does not"
        )
        raise InvalidArgumentError(message)
    return attrs.evolve(offer, spec=attrs.evolve(offer.spec, options={**offer.spec.options, "certified": True}))


def _require_honouring(knowledge: Knowledge, offer: LearnerOffer, plugins: Plugins) -> None:
    """Refuse background knowledge for a learner that does not honour it."""
    if knowledge and not _honours(offer, plugins):
        able = sorted(one.name for one in plugins.learners.values() if _honours(one, plugins))
        message = f"the learner {offer.name!r} does not honour background knowledge; use one of {', '.join(able)}"
        raise KnowledgeError(message)


def _honours(offer: LearnerOffer, plugins: Plugins) -> bool:
    """Return whether a learner has all its arrows from rules that knowledge can join, or promises to honour it."""
    return (offer.findings is None or offer.honours_knowledge) and _rulebook_of(offer, plugins).positive


def allows_hidden(offer: LearnerOffer, plugins: Plugins) -> bool:
    """Return whether the rules of a learner give each end of an edge a mark of its own."""
    return head in _rulebook_of(offer, plugins).relations


def _rulebook_of(offer: LearnerOffer, plugins: Plugins) -> Rulebook:
    return plugins.rulebook_of(offer.spec)


def false_discovery_rate(fdr: float | Literal["auto", "none"], nodes: int, *, perfect: bool) -> float | None:
    """Return the share of false discoveries to allow among so many nodes, or None for no bound."""
    if fdr == "auto":
        return SHARE if nodes > WIDE and not perfect else None
    return None if perfect or fdr == "none" else fdr


def rivals(plugins: Plugins) -> tuple[str, ...]:
    """Return the learners that are compared when none are named: the default, that by tests, and rivals of plugins."""
    return (AUTO, BY_TESTS, *(offer.name for offer in plugins.learners.values() if offer.rival))
