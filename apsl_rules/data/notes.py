"""Notes on the table behind a part: constant, duplicate and derived columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from apsl_rules.data.counts.cache import CachedCounts
from apsl_rules.data.counts.source import Heading
from apsl_rules.data.derived import find_derived
from apsl_rules.data.mixed_table import MixedTable
from apsl_rules.data.table import Table
from apsl_rules.data.traffic import NO_TRAFFIC, Traffic, traffic_of
from apsl_rules.names import Node, in_order, listing

#: So many groups of duplicates are told one by one.
_SHOWN = 10


def notes_on(
    table: Table | MixedTable, members: Sequence[Node], duplicates: Iterable[Sequence[Node]] = ()
) -> tuple[str, ...]:
    """Return a sentence for each thing that stands out.

    In a table with numbers, derived columns are named if a member follows from others, or others from it. Of
    each group of ``duplicates`` one is looked at.
    """
    if isinstance(table, Table):
        return _on_columns(table)
    near = frozenset(members)
    firsts = (sorted(group, key=lambda node: node not in near) for group in duplicates)
    others = {node for first in firsts for node in first[1:]}
    one_of_each = ([name for name in names if name not in others] for names in (table.names, members))
    return (*table.notes, *find_derived(table, *one_of_each))


def notes_on_counts(kept: CachedCounts, before: Traffic = NO_TRAFFIC) -> tuple[str, ...]:
    """Return the same sentences from counts alone, and where the counts came from."""
    chosen = () if kept.note is None else (kept.note,)
    return (*_on_columns(kept.heading), *chosen, f"counts came from {kept.kind} {traffic_of(kept).since(before)}")


def _on_columns(table: Table | Heading) -> tuple[str, ...]:
    constant = [table.names[place] for place in np.flatnonzero(table.cards == 1).tolist()]
    if not constant:
        return tuple(table.notes)
    return (*table.notes, f"columns that never vary and so are adjacent to nothing: {listing(constant)}")


def notes_on_duplicates(groups: Iterable[Sequence[Node]]) -> list[str]:
    """Return a sentence for each group of duplicate columns; of very many only the first are told."""
    told, few = "no data can tell which of them has an edge", list(groups)
    notes = [f"duplicate columns: {listing(in_order(group))}; {told}" for group in few[:_SHOWN]]
    if len(few) > _SHOWN:
        notes.append(f"duplicate columns: {len(few) - _SHOWN:,} more groups; {told}")
    return notes
