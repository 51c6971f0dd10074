"""Set aside the columns that say by definition what a target says, before anything is learned around it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import attrs

from apsl_rules.data import Dataset, Definition, definitions, taken_apart_for
from apsl_rules.learning.source import Source
from apsl_rules.names import Node, listed, require_known
from apsl_rules.notes import named

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
