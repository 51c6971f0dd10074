"""A source that was opened once, with its oracle, for all runs on it and on resamples of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import (
    ColumnKind,
    FileTable,
    MixedTable,
    Table,
    Traffic,
    content_fingerprint,
    is_countable,
    is_left_in_place,
    notes_on,
    notes_on_counts,
    notes_on_duplicates,
    traffic_of,
)
from apsl_rules.data.counts import CachedCounts, CountSource, heading_of
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database
from apsl_rules.data.moments import MomentSource
from apsl_rules.data.readers import split_sheet
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError, UnknownNameError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network, network, network_names
from apsl_rules.learning.choose import natural_oracle
from apsl_rules.learning.settings import Request
from apsl_rules.names import Node, nearest
from apsl_rules.oracles import Oracle, complete_oracle
from apsl_rules.parts import Part
from apsl_rules.plugins import OracleOffer, OracleSettings, Plugins, pick
from apsl_rules.rules import untested

Rows = npt.NDArray[np.int64]


@overload
def resample_table(table: Table, rows: Rows, *, declared: bool) -> Table: ...
@overload
def resample_table(table: MixedTable, rows: Rows, *, declared: bool) -> MixedTable: ...
def resample_table(table: Table | MixedTable, rows: Rows, *, declared: bool) -> Table | MixedTable:
    """Return a table of some rows. Levels that they do not show are none of its levels, unless all are declared."""
    if isinstance(table, MixedTable):
        categories = resample_table(table.categories, rows, declared=declared)
        return attrs.evolve(table, categories=categories, numbers=np.ascontiguousarray(table.numbers[:, rows]))
    codes: Any = table.codes.take(rows, axis=1)  # in C order, as the kernels want it
    cards, incomplete = table.cards.copy(), table.incomplete.copy()
    levels = list(table.levels)
    for place, (column, card) in enumerate(zip(codes, table.cards.tolist(), strict=True)):
        seen = np.bincount(column, minlength=card + 1) > 0
        incomplete[place] = seen[card]
        kept = seen[:card]
        if declared:
            kept[: np.flatnonzero(kept)[-1:].sum() + 1] = True
        if not kept.any():
            kept[0] = True  # nothing but missing values: a column that never varies
        if kept.all():
            continue
        cards[place] = kept.sum()
        levels[place] = tuple(level for level, keep in zip(table.levels[place], kept.tolist(), strict=False) if keep)
        column[:] = np.append(np.cumsum(kept) - 1, kept.sum()).astype(codes.dtype)[column]
    return Table(table.names, codes, cards, tuple(levels), incomplete)


def draw_rows(rows: int, seeds: np.random.SeedSequence, size: int | None) -> Rows:
    """Draw the rows of one resample, sorted: as many as there are with repetition, or so many without."""
    random = np.random.default_rng(seeds)
    drawn = random.integers(0, rows, rows) if size is None else random.choice(rows, size, replace=False, shuffle=False)
    return np.sort(drawn)


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
    for reader in plugins.readers.values():
        if split_sheet(name)[0].casefold().endswith(reader.endings):
            return reader.read(Path(name))
    endings = ", ".join(ending for one in plugins.readers.values() for ending in one.endings)
    known = f"; there are the networks {', '.join(network_names())}, and files may end in {endings}"
    hint = nearest(name, network_names()) or known
    message = f"{name!r} is neither a network nor a file that can be read{hint}"
    raise UnknownNameError(message)


def nodes_of(source: Any) -> tuple[Node, ...]:
    """Return the nodes of a network, a graph, a table, an oracle or a frame."""
    if isinstance(source, Network):
        return source.dag.nodes
    if isinstance(source, Table | MixedTable):
        return source.names
    if isinstance(source, Dag | DagWithHidden) or callable(getattr(source, "verdict", None)):
        return tuple(source.nodes)
    resolve = getattr(source, "collect_schema", None)  # polars, whose lazy frames warn when asked for their columns
    if callable(resolve):
        return tuple(resolve().names())
    columns = getattr(source, "column_names", None)  # pyarrow
    if not isinstance(columns, list):
        columns = getattr(source, "columns", None)
    if columns is None:
        message = f"a reader gave {type(source).__name__}, which has neither nodes nor columns"
        raise PluginError(message)
    return tuple(columns)


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
            return complete_oracle(self.data)
        if (alpha, threads) not in self._oracles:
            settings = OracleSettings(alpha, threads, self.options)
            self._oracles[alpha, threads] = _guard(self.origin, lambda: offer.make(self.data, settings))
        return self._oracles[alpha, threads]

    @cached_property
    def fingerprint(self) -> str | None:
        """Return a hash of what the columns hold, each by itself: the same wherever the rows are.

        Each column that is used counts with its kind, its range and its missing values, a category with the rows of
        each level. An oracle tells nothing that could be compared.
        """
        if self._graph is not None:
            return content_fingerprint(self._graph)
        if self.row_count is None:
            return None
        heading = heading_of(self.table) if isinstance(self.table, Table) else self._heading
        totals = getattr(heading, "totals", ())
        used = [one for one in self.columns if one.kind != "set aside"]
        return content_fingerprint((self.row_count, used, *(total.tolist() for total in totals)))

    @cached_property
    def content(self) -> str | None:
        """Return a hash of every row in memory, of files that stay where they are, or of a graph.

        A database tells only how often each value of a column occurs. An oracle tells nothing that could be compared.
        """
        if self._graph is not None or isinstance(self.data, Table | MixedTable):
            return content_fingerprint(self.data if self._graph is None else self._graph)
        heading = getattr(self.table, "heading", None)
        if heading is None:
            return None
        of_column = getattr(getattr(self.table, "source", None), "fingerprint", None)
        return content_fingerprint((heading, of_column(0) if of_column is not None else b""))

    @property
    def _graph(self) -> Dag | DagWithHidden | None:
        data = self.data.dag if isinstance(self.data, Network) else self.data
        return data if isinstance(data, Dag | DagWithHidden) else None

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
