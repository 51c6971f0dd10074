"""Notes on the table behind a part: constant, duplicate and derived columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from apsl_rules.data.counts.cache import CachedCounts
from apsl_rules.data.counts.source import Heading
from apsl_rules.data.derived import find_derived
from apsl_rules.data.describe import find_duplicates
from apsl_rules.data.mixed_table import MixedTable
from apsl_rules.data.table import Table
from apsl_rules.data.traffic import NO_TRAFFIC, Traffic, traffic_of
from apsl_rules.names import Node, in_order, listing, order_key


def notes_on(table: Table | MixedTable, members: Sequence[Node]) -> tuple[str, ...]:
    """Return a sentence for each thing that stands out.

    Duplicates are looked for among the members only. In a table with numbers, derived columns are named if a member
    follows from others, or others from it.
    """
    if isinstance(table, MixedTable):
        alike = find_duplicates(table.categories, [name for name in members if name in table.categories.place])
        return (*table.notes, *notes_on_duplicates(alike), *find_derived(table, table.names, members))
    return (*_on_columns(table), *notes_on_duplicates(find_duplicates(table, members)))


def notes_on_counts(kept: CachedCounts, members: Sequence[Node], before: Traffic = NO_TRAFFIC) -> tuple[str, ...]:
    """Return the same sentences from counts alone, and where the counts came from."""
    notes = (*_on_columns(kept.heading), *notes_on_duplicates(_duplicates(kept, members)))
    chosen = () if kept.note is None else (kept.note,)
    return (*notes, *chosen, f"counts came from {kept.kind} {traffic_of(kept).since(before)}")


def _on_columns(table: Table | Heading) -> list[str]:
    notes = list(table.notes)
    constant = [table.names[place] for place in np.flatnonzero(table.cards == 1).tolist()]
    if constant:
        notes.append(f"columns that never vary and so are adjacent to nothing: {listing(constant)}")
    return notes


def notes_on_duplicates(groups: Iterable[Sequence[Node]]) -> list[str]:
    """Return a sentence for each group of duplicate columns, once."""
    told = "no data can tell which of them has an edge"
    return list(dict.fromkeys(f"duplicate columns: {listing(in_order(group))}; {told}" for group in groups))


def _duplicates(kept: CachedCounts, members: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Return the groups of members that differ at most in the names of their levels."""
    heading = kept.heading
    alike: dict[tuple[object, ...], list[int]] = {}
    for name in in_order(members):
        place = heading.place[name]
        if heading.varied[place]:
            levels = np.sort(heading.totals[place][: heading.cards[place]])
            gone = heading.totals[place][heading.cards[place] :]
            alike.setdefault((*levels[levels > 0].tolist(), "missing", *gone.tolist()), []).append(place)
    pairs = [pair for places in alike.values() for pair in combinations(places, 2)]
    kept.fetch(pairs)
    found = [group for places in alike.values() for group in _group_duplicates(kept, places) if len(group) > 1]
    named = [tuple(heading.names[place] for place in group) for group in found]
    return sorted(named, key=lambda group: order_key(group[0]))


def _group_duplicates(kept: CachedCounts, places: Sequence[int]) -> list[list[int]]:
    """Group the columns that are duplicates of each other."""
    groups: list[list[int]] = []
    for place in places:
        group = next((group for group in groups if _are_duplicates(kept, group[0], place)), None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _are_duplicates(kept: CachedCounts, one: int, other: int) -> bool:
    """Return whether each code of one column goes with one code of the other, and missing values with missing ones."""
    heading = kept.heading
    codes = [np.count_nonzero(heading.totals[place]) for place in (one, other)]
    if codes[0] != codes[1] or heading.incomplete[one] != heading.incomplete[other]:
        return False
    joint = kept.joint((one, other))
    gone = joint.codes >= heading.cards[[one, other]][:, None]
    return len(joint.weights) == codes[0] and bool((gone[0] == gone[1]).all())
