"""A source that was opened once, with its oracle, for all runs on it and on resamples of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import (
    ColumnKind,
    Dataset,
    FileTable,
    Groups,
    Traffic,
    content_fingerprint,
    is_countable,
    is_left_in_place,
    notes_on_duplicates,
)
from apsl_rules.data.counts import CountSource
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database
from apsl_rules.data.readers import split_sheet
from apsl_rules.errors import ApslError, InvalidArgumentError, PluginError, UnknownNameError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network, network, network_names
from apsl_rules.learning.settings import Request
from apsl_rules.names import Node, nearest
from apsl_rules.notes import Note
from apsl_rules.oracles import Oracle, complete_oracle
from apsl_rules.parts import Part
from apsl_rules.plugins import OracleOffer, OracleSettings, Plugins, pick
from apsl_rules.rules import untested

Rows = npt.NDArray[np.int64]


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
    """Return the nodes of a network, a graph, a dataset, an oracle or a frame."""
    if isinstance(source, Network):
        return source.dag.nodes
    if isinstance(source, Dataset):
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


_UNUSED_CACHE = Note("the cache was not used: a test on moments takes less time than looking it up", "cache unused")


@attrs.frozen(eq=False, slots=False)
class Source:
    """An opened source: a dataset, a graph or an oracle, ``opened`` for an offer of an oracle, or an oracle itself."""

    opened: Any
    origin: str
    offer: OracleOffer | None = None
    options: Mapping[str, Any] = attrs.field(factory=dict)
    declared: bool = False
    _oracles: dict[tuple[float, int], Oracle] = attrs.field(factory=dict, init=False)

    @cached_property
    def data(self) -> Dataset | None:
        """Return the dataset that answers come from, if they come from one."""
        data = self.opened if self.offer is not None else getattr(self.opened, "data", None)
        return data if isinstance(data, Dataset) else None

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
            self._oracles[alpha, threads] = _guard(self.origin, lambda: offer.make(self.opened, settings))
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
        near = members.union(*(fact.nodes for fact in part.store.facts(untested)))
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

    def resampled(self, rows: Rows) -> Source:
        """Return a source of some rows, in any order and as often as they are named."""
        return attrs.evolve(self, opened=self.opened.resampled(rows, declared=self.declared))


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
    if callable(getattr(source, "verdict", None)):
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
        return Source(source, plugins.origin("apsl_oracles", offer.name), offer, options)
    return _open_table(source, options, plugins, offer)


def _open_table(source: Any, options: dict[str, Any], plugins: Plugins, offer: OracleOffer | None) -> Source:
    """Open a table as a dataset, for an oracle that needs one or for the first that suits its columns."""
    opener = next((one for one in plugins.datasets.values() if one.takes(source)), None)
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
            message = f"the oracle {asked[0].name!r} has no option {name!r}{hint}"
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
    return Source(data, plugins.origin("apsl_oracles", chosen.name), chosen, left, declared=declared)


def _with_counts(source: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Take a source of counts for the source to learn from."""
    counts = options.get("counts")
    if counts is None or isinstance(counts, str) or not isinstance(counts, CountSource):
        return source, options
    if source is not None and source is not counts:
        message = f"counts come from {counts.kind!r}, so there is no need of {type(source).__name__}; give None for it"
        raise InvalidArgumentError(message)
    return counts, {name: value for name, value in options.items() if name != "counts"}
