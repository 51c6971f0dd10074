"""Set aside the columns that say by definition what a target says, before anything is learned around it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from apsl_rules.data import definitions
from apsl_rules.learning.source import Source
from apsl_rules.names import Node, listed, require_known
from apsl_rules.notes import named

#: The word that keeps all columns.
EVERY = "*"


def without_copies(source: Source, targets: Sequence[Node], keep: object = None, *, functions: bool = False) -> Source:
    """Return a source without the columns that targets define, or that define them, but for those to keep.

    With ``functions`` these are functions of one target alone, and no terms of sums or products.
    """
    data = source.data
    if source.is_settled or source.offer is None or data is None:
        return source
    kept = _kept(source, keep)
    if kept is None or not all(target in data.place for target in targets):
        return attrs.evolve(source, is_settled=True)
    every = [definitions(data, target, (*kept, *targets), functions=functions) for target in targets]
    found = [one for one in every if one]
    if not found:
        return attrs.evolve(source, is_settled=True)
    reasons = {column: one.reason(column) for one in found for column in one.told}
    left = data.set_aside(reasons, [one.note() for one in found])
    offer, origin = next((one for one in source.asked if one[0].needs <= left.can), (source.offer, source.origin))
    return attrs.evolve(source, opened=left, offer=offer, origin=origin, is_settled=True, oracles={})


def _kept(source: Source, keep: object) -> tuple[Node, ...] | None:
    """Return the columns to keep, or None for all."""
    if isinstance(keep, str) and keep == EVERY:
        return None
    names = () if keep is None else listed("keep", keep, "names of columns, such as ['lwage']")
    known = {one.name for one in source.columns}.union(() if source.data is None else source.data.names)
    for name in names:
        require_known(name, known, f"column in {named('keep')}")
    return tuple(names)
