"""Rows in time in a run: columns of earlier steps come first, and what holds among them alone is not told.

Columns of earlier steps depend on each other by a past that is not in the table, so an edge between two of them says
nothing of its own: it is what the same columns have at the present step, or what came before.
"""

from __future__ import annotations

from collections.abc import Collection

import attrs

from apsl_rules.data import Dataset, earlier
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node
from apsl_rules.parts import Part, Visit, found_distances
from apsl_rules.rules import Fact, Finding, ledger


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
