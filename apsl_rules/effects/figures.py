"""Counts and covariances of the columns behind an effect, wherever the rows are.

A table that was opened to learn from is used again where it can give the figures. The moments that tests use are those
of ranks; effects are in units of the table, so such a source is opened once more, for the columns in question only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from math import prod
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data import Codes, CountedDataset, Dataset, counted, groups_of_rows, one_hot_sets, weights_of_rows
from apsl_rules.data.moments import MomentSource
from apsl_rules.effects.samples import Covariance, Integers, Sample, sample_of
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.learning import READING as TABLE_READING
from apsl_rules.learning import Request, Settings, Source, open_data, without_copies
from apsl_rules.names import Node, listing, require_known
from apsl_rules.notes import argument, marked, named
from apsl_rules.parts import Part

#: The settings of ``learn`` that say how a table is read.
READING = (*TABLE_READING, "counts", "options", "plugins")
#: The most cells of a table of counts.
MOST_CELLS = 1 << 24
_NO_ROWS = (
    "a {kind} has no rows to estimate from; give a table as {data}, for example one that was sampled from the network"
)


@attrs.frozen(eq=False)
class CountedColumns:
    """The combinations of codes that occur in some columns, each with its rows; a missing value has the last code."""

    columns: tuple[Node, ...]
    levels: tuple[tuple[Any, ...], ...]
    codes: Codes
    weights: npt.NDArray[np.int64]

    def known(self) -> tuple[Integers, Integers]:
        """Return the combinations without missing values, and the rows of each."""
        cards = np.array([len(one) for one in self.levels])
        there = np.all(self.codes < cards[:, None], axis=0)
        return self.codes[:, there].astype(np.int64), self.weights[there]

    def table(self) -> npt.NDArray[np.int64]:
        """Return the counts with an axis for each column, without missing values."""
        cards = [len(one) for one in self.levels]
        if prod(cards) > MOST_CELLS:
            message = (
                f"the table of {listing(self.columns)} has {prod(cards):,} cells, and at most {MOST_CELLS:,} are "
                "filled; join levels, or take a smaller part"
            )
            raise DataError(message)
        codes, weights = self.known()
        places = np.ravel_multi_index(tuple(codes), cards)
        return np.bincount(places, weights, prod(cards)).astype(np.int64).reshape(cards)


@attrs.frozen(eq=False, slots=False)
class Figures:
    """A table with rows: ``given`` as the caller gave it, ``opened`` as a run opened it to learn from.

    Columns with a role say how much of the population a row stands for, and which rows belong together. ``keep`` has
    the columns that may be held although they say by definition what others say.
    """

    given: Any
    opened: Source
    settings: Settings
    keep: object = None
    _copies: dict[tuple[Node, ...], frozenset[Node]] = attrs.field(factory=dict, init=False, repr=False)

    @cached_property
    def data(self) -> Dataset:
        """Return the dataset."""
        if self.opened.data is None:
            raise InvalidArgumentError(_NO_ROWS.format(kind=type(self.given).__name__, data=argument("data")))
        return self.opened.data

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        return int(self.data.rows)

    def has(self, node: Node) -> bool:
        """Return whether a node is a column of the table."""
        return node in self.data.place

    def require(self, node: Node, role: str) -> None:
        """Refuse a node that is no column of the table, and say why if it was set aside."""
        if self.has(node):
            return
        if (why := self.data.why_not(node)) is not None:
            message = f"the {role} {node!r} cannot be used: {marked(why)}"
            raise DataError(message)
        require_known(node, self.data.names, role)

    def copies_of(self, *nodes: Node) -> frozenset[Node]:
        """Return the columns that say by definition what some nodes say; where rows stay elsewhere none is known."""
        if nodes not in self._copies:
            left = without_copies(self.opened, nodes, self.keep, functions=True).data
            self._copies[nodes] = frozenset(self.data.names).difference(() if left is None else left.names)
        return self._copies[nodes]

    def is_category(self, node: Node) -> bool:
        """Return whether a column is a category."""
        return self.data.is_category(node)

    def levels(self, node: Node) -> tuple[Any, ...]:
        """Return the levels of a category."""
        return self._counted((node,)).levels_of(node)

    def are_counted(self, columns: Collection[Node]) -> bool:
        """Return whether columns are counted: all are categories. A source of moments of one's own counts nothing."""
        return not self._is_own and all(self.is_category(node) for node in columns)

    @cached_property
    def _is_own(self) -> bool:
        return isinstance(self.given, MomentSource)

    # --- counts ------------------------------------------------------------------------------------------------------

    def joints(self, sets: Sequence[tuple[Node, ...]]) -> list[CountedColumns]:
        """Count sets of categories in one round."""
        if not sets:
            return []
        data = self._counted(tuple(dict.fromkeys(node for one in sets for node in one)))
        place = data.place
        data.fetch([tuple(place[node] for node in columns) for columns in sets], needed=True)
        joints = [data.joint([place[node] for node in columns]) for columns in sets]
        return [
            CountedColumns(columns, tuple(map(data.levels_of, columns)), joint.codes, joint.weights)
            for columns, joint in zip(sets, joints, strict=True)
        ]

    def samples(self, sets: Sequence[tuple[Node, ...]]) -> list[Sample | Covariance]:
        """Return the rows of sets of columns, each a cause, a target and what is adjusted for, in one round.

        Categories are counted wherever they are. Numbers whose rows stay elsewhere have a covariance alone.
        """
        found: dict[tuple[Node, ...], Sample | Covariance] = {}
        plain = not self.data.roles
        counted = [columns for columns in sets if plain and self.are_counted(columns)]
        for columns, one in zip(counted, self.joints(counted), strict=True):
            found[columns] = sample_of(columns, tuple(one.codes), one.levels, one.weights)
        others = [columns for columns in sets if columns not in found]
        if not self._is_own and "rows" in self.data.can:
            found.update((columns, self._rows_of(columns)) for columns in others)
        elif others and not plain:
            none = argument("groups", "none", python="groups=None")
            message = (
                "weights with fractions and groups need the rows, which stay elsewhere; take a sample into memory, or "
                f"give {none}, which takes rows as independent"
            )
            raise InvalidArgumentError(message)
        else:
            found.update(zip(others, self.covariances(others), strict=True))
        return [found[columns] for columns in sets]

    def _rows_of(self, columns: tuple[Node, ...]) -> Sample:
        """Return the rows of columns that are in memory."""
        values, levels = zip(*(self._column(node) for node in columns), strict=True)
        weights, groups = weights_of_rows(self.data), groups_of_rows(self.data)
        return sample_of(columns, values, levels, np.ones(self.rows), weights=weights, groups=groups)

    def _column(self, node: Node) -> tuple[npt.NDArray[Any], tuple[Any, ...]]:
        if not self.is_category(node):
            return self.data.values(node), ()
        categories = self.data.categories
        return categories.codes_of(node), categories.levels_of(node)

    def counts(self, sets: Sequence[tuple[Node, ...]]) -> list[npt.NDArray[np.int64]]:
        """Count sets of categories in one round, as tables with an axis for each; missing values are left out."""
        return [one.table() for one in self.joints(sets)]

    def _counted(self, columns: tuple[Node, ...]) -> CountedDataset:
        if self.data.can & {"counts", "rows"}:
            return self.data.categories
        return counted(self._reopened("gsquare", columns).data, "an effect of categories")

    # --- covariances -------------------------------------------------------------------------------------------------

    def covariances(self, sets: Sequence[tuple[Node, ...]]) -> list[Covariance]:
        """Return the covariance of sets of columns, each a cause, a target and what is adjusted for."""
        if not sets:
            return []
        moments = self._moments(tuple(dict.fromkeys(node for one in sets for node in one)))
        return [_covariance(moments, columns) for columns in sets]

    def _moments(self, columns: tuple[Node, ...]) -> MomentSource:
        if self._is_own:
            return cast("MomentSource", self.given)
        if "rows" in self.data.can:
            return _moments_of(self._in_memory)
        return _moments_of(self._reopened("fisherz", columns))

    @cached_property
    def _in_memory(self) -> Source:
        return open_data(self.data, Request.of({"oracle": "fisherz", **_plugins(self.settings)}))

    def _reopened(self, oracle: str, columns: tuple[Node, ...]) -> Source:
        """Open the source once more for some columns, with the kinds that they have."""
        if self._is_own:
            message = "a source of moments counts nothing; give the table itself"
            raise InvalidArgumentError(message)
        settings = self.settings
        sets = {one.name: one.members for one in one_hot_sets(self.data.notes)}  # they are joined again
        kinds = {one.name: one.kind for one in self.data.columns if one.name in columns and one.name not in sets}
        columns = tuple(each for name in columns for each in sets.get(name, (name,)))
        if settings.get("discretize") is not None:
            kinds = {}
        again: Settings = {**settings, "oracle": oracle, "only": columns}
        again.pop("drop", None)
        if kinds or settings.get("kinds"):
            own = {node: kind for node, kind in (settings.get("kinds") or {}).items() if node in columns}
            again["kinds"] = {**kinds, **own}
        return open_data(self.given, Request.of(again))


def open_figures(
    given: Any,
    settings: Settings,
    opened: Source | None = None,
) -> Figures:
    """Open a table to estimate from; ``opened`` is the same table as a run opened it."""
    reading = cast("Settings", {name: value for name, value in settings.items() if name in READING})
    if isinstance(given, Part):
        message = f"{named('data')} is a part, which has no rows; give the table that it was learned from"
        raise InvalidArgumentError(message, argument="data")
    source = opened or open_data(given, Request.of(reading))
    figures = Figures(given, source, reading, settings.get("keep"))
    figures.data  # noqa: B018 - refuses a source without rows at once
    return figures


def _plugins(settings: Settings) -> Settings:
    return {"plugins": settings["plugins"]} if "plugins" in settings else {}


def _moments_of(source: Source) -> MomentSource:
    """Return the moments that the test on moments uses."""
    found = getattr(source.oracle(0.01), "source", None)
    if not isinstance(found, MomentSource):
        message = f"{source.origin} gives no moments; effects of numbers need the built-in test 'fisherz'"
        raise InvalidArgumentError(message)
    return found


def _covariance(moments: MomentSource, columns: tuple[Node, ...]) -> Covariance:
    """Return the covariance of some columns, a number by its first embedded column."""
    heading = moments.heading
    places = [heading.place[node] for node in columns]
    if not heading.units:
        message = "the source of moments does not say the units of its columns (heading.units); effects need them"
        raise InvalidArgumentError(message)
    units = tuple(heading.units[place] for place in places)
    for node, unit in zip(columns, units, strict=True):
        if not unit.levels and unit.scale is None:
            message = (
                f"the source of moments has {node!r} by ranks, and an effect is in units of the table; "
                "open it with Embedding('values', 1)"
            )
            raise InvalidArgumentError(message)
    rows = int(heading.rows)
    if np.any(heading.missing[places] > 0):
        # the complete rows; with them intervals are rather too wide than too narrow
        rows = int(moments.test_rows([tuple(places)]).rows[0])
    widths = [int(heading.widths[place]) for place in places]
    starts = np.cumsum([0, *widths])
    kept = [min(width, 1) if heading.is_number[place] else width for place, width in zip(places, widths, strict=True)]
    chosen = [int(start) + at for start, width in zip(starts, kept, strict=False) for at in range(width)]
    matrix = moments.covariance(places)[np.ix_(chosen, chosen)]
    return Covariance(matrix, rows, columns, tuple(kept), units)
