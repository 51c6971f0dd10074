"""What a run learns from: opened once, before a learner is chosen, and shared by all runs on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import attrs

from apsl_rules.data import (
    ColumnKind,
    MixedTable,
    Table,
    Traffic,
    notes_on,
    notes_on_counts,
    notes_on_duplicates,
    traffic_of,
)
from apsl_rules.data.counts import CachedCounts, CountSource
from apsl_rules.data.moments import MomentSource
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError
from apsl_rules.learning.choose import natural_oracle
from apsl_rules.learning.request import Request
from apsl_rules.learning.resample import Rows, resample_table
from apsl_rules.names import Node
from apsl_rules.oracles import Oracle, complete_oracle
from apsl_rules.parts import Part
from apsl_rules.plugins import OracleOffer, OracleSettings, Plugins, pick
from apsl_rules.rules import untested

_UNUSED_CACHE = "the cache was not used: a test on moments takes less time than looking it up"


@attrs.frozen(eq=False, slots=False)
class Source:
    """An opened source; ``data`` is what its oracles answer from.

    ``gives`` names what learners can build on: "perfect answers"; "scores", from "counts" of categories or from
    "moments" of tables with numbers; or "tests" alone. A source that is an oracle itself gives its "own answers".
    """

    data: Any
    origin: str
    offer: OracleOffer | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    declared: bool = False
    _oracles: dict[tuple[float, int], Oracle] = attrs.field(factory=dict, init=False)

    @cached_property
    def gives(self) -> frozenset[str]:
        """Return what learners can build on."""
        given = {"tests"}
        if isinstance(self.table, Table | CachedCounts):
            given |= {"counts", "scores"}
        elif isinstance(self.table, MixedTable | MomentSource):
            given |= {"moments", "scores"}
        elif self.oracle(0.01).perfect:
            given.add("perfect answers")
        return frozenset(given if self.offer is not None else given | {"own answers"})

    @property
    def table(self) -> object:
        """Return the table, the counts or the moments that scores can be had from, if there are any."""
        return self.data if self.offer is not None else getattr(self.data, "data", None)

    def oracle(self, alpha: float, threads: int = 1) -> Oracle:
        """Return the oracle at an alpha, made once; a source that answers by itself is its own oracle."""
        offer = self.offer
        if offer is None:
            return self.data if isinstance(self.data, Oracle) else complete_oracle(self.data)
        if (alpha, threads) not in self._oracles:
            settings = OracleSettings(alpha, threads, self.options)
            self._oracles[alpha, threads] = _guard(self.origin, lambda: offer.make(self.data, settings))
        return self._oracles[alpha, threads]

    def duplicates(self, plugins: Plugins) -> tuple[Sequence[Node], ...]:
        """Return the groups of columns of the table that agree in every row."""
        counted = self.table.source if isinstance(self.table, CachedCounts) else self.table
        offer = self.offer or next((one for one in plugins.oracles.values() if one.natural_for(counted)), None)
        return () if offer is None else tuple(offer.duplicates(self.table))

    def notes(self, part: Part, duplicates: Sequence[Sequence[Node]], before: Traffic) -> tuple[str, ...]:
        """Return what a reader of a part should know of the table behind it, and of the duplicate columns in it."""
        members = frozenset(part.members)
        near = members.union(*(fact.nodes for fact in part.store.facts(untested)))
        groups = sorted((group for group in duplicates if not near.isdisjoint(group)), key=members.isdisjoint)
        return (*notes_on_duplicates(groups), *self._notes_on_table(part, duplicates, before))

    def _notes_on_table(self, part: Part, duplicates: Sequence[Sequence[Node]], before: Traffic) -> tuple[str, ...]:
        if isinstance(self.table, CachedCounts):
            return notes_on_counts(self.table, before)
        if isinstance(self.table, Table):
            return notes_on(self.table, part.members)
        unused = (_UNUSED_CACHE,) if "cache" in self.options else ()
        if isinstance(self.table, MomentSource):
            came = traffic_of(self.table).since(before)
            told = f" {came}" if hasattr(self.table, "rounds") else ""
            return (*self.table.heading.notes, *unused, f"moments came from {self.table.kind}{told}")
        return (*notes_on(self.table, part.members, duplicates), *unused) if isinstance(self.table, MixedTable) else ()

    @cached_property
    def columns(self) -> tuple[ColumnKind, ...]:
        """Return how each column of the table was read, where that is known."""
        told = getattr(self._heading, "columns", ())
        return tuple(one for one in told if isinstance(one, ColumnKind)) if isinstance(told, tuple) else ()

    @property
    def row_count(self) -> int | None:
        """Return the number of rows that answers rest on, where that is known."""
        rows = getattr(self._heading, "rows", None)
        return rows if isinstance(rows, int) else None

    @property
    def _heading(self) -> object:
        """Return what tells the columns and rows: the heading of rows that stay elsewhere, or the table itself."""
        return getattr(self.table, "heading", self.table)

    @property
    def traffic(self) -> Traffic:
        """Return what came from rows that stay elsewhere so far."""
        return traffic_of(self.table)

    # --- resamples ---------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> int:
        """Return the number of rows that can be drawn from."""
        if isinstance(self.data, Table | MixedTable):
            return self.data.rows
        is_elsewhere = isinstance(self.data, CachedCounts | MomentSource)
        kind = "source whose rows stay elsewhere" if is_elsewhere else type(self.data).__name__
        message = f"stability draws rows from a table, but a {kind} has none; give the data, or sample some from it"
        raise InvalidArgumentError(message)

    def resampled(self, rows: Rows) -> Source:
        """Return a source of some rows, in any order and as often as they are named."""
        return attrs.evolve(self, data=resample_table(self.data, rows, declared=self.declared))


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
    if callable(getattr(source, "verdict", None)):
        if request.oracle is not None or options:
            given = "another oracle" if request.oracle is not None else f"the option {next(iter(options))!r}"
            message = f"the source is an oracle itself, so {given} cannot be given with it; leave it out"
            raise InvalidArgumentError(message)
        return Source(source, f"the oracle {type(source).__name__}")
    plugins: Plugins = request.manager
    name = natural_oracle(source, plugins) if request.oracle is None else request.oracle
    offer = pick(plugins.oracles, name, "oracle")
    origin = plugins.origin("apsl_oracles", offer.name)
    opening = offer.open if request.oracle is not None or offer.open_natural is None else offer.open_natural
    data, left = _guard(origin, lambda: opening(source, options))
    if opening is offer.open_natural:  # a table may turn out to have numbers
        offer = next((one for one in plugins.oracles.values() if one.natural_for(data)), offer)
        origin = plugins.origin("apsl_oracles", offer.name)
    return Source(data, origin, offer, left, declared=options.get("levels") == "declared")


def _with_counts(source: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take a source of counts for the source to learn from."""
    counts = options.get("counts")
    if counts is None or isinstance(counts, str) or not isinstance(counts, CountSource):
        return source, options
    if source is not None and source is not counts:
        message = f"counts come from {counts.kind!r}, so there is no need of {type(source).__name__}; give None for it"
        raise InvalidArgumentError(message)
    return counts, {name: value for name, value in options.items() if name != "counts"}
