"""Check that a part read from a file is consistent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain

from apsl_rules.names import count_of, in_order, listing
from apsl_rules.parts._replay import wrong_steps
from apsl_rules.parts.part import Part
from apsl_rules.rules import (
    PAG,
    RELATIONS,
    Fact,
    Finding,
    Firing,
    MarkStore,
    Relation,
    adjacent,
    arrow,
    by_name,
    conflict,
    gap,
    settled,
)

_NEEDED = (adjacent, arrow, conflict, gap, settled)


def check_relations(relations: Sequence[Relation]) -> dict[str, Relation]:
    """Return relations by name, once none contradicts ours or reads as more than its nodes."""
    known = by_name((*relations, *RELATIONS, *PAG.relations))
    missing = {one.name for one in _NEEDED} - {one.name for one in relations}
    if missing:
        message = f"the relation {min(missing)!r} is missing"
        raise ValueError(message)
    for relation in relations:
        places = "|".join(map(str, range(relation.arity)))
        if re.search(r"[{}]", re.sub(rf"\{{({places})\}}", "", relation.reads)):
            message = f"the relation {relation.name!r} reads as {relation.reads!r}"
            raise ValueError(message)
    return known


def check_part(part: Part) -> None:
    """Refuse a part whose pieces contradict each other, with what is wrong."""
    for wrong in chain(
        _wrong_entries(part.history),
        _wrong_entries(part.store),
        _wrong_entries(part.proofs),
        _wrong_frame(part),
        _wrong_evidence(part),
        _wrong_edges(part),
        _wrong_conflicts(part),
        wrong_steps(part),
    ):
        raise ValueError(wrong)


def _wrong_entries(store: MarkStore) -> Iterable[str]:
    """Name entries that rest on what was not there."""
    seen: set[Fact] = set()
    for place, entry in enumerate(store.entries):
        if isinstance(entry, Firing) and not seen.issuperset(entry.premises):
            yield f"entry {place} rests on facts that do not come before it"
        seen.add(entry.fact)


def _wrong_frame(part: Part) -> Iterable[str]:
    """Describe what does not fit together: visits, distances and nodes."""
    end = len(part.history)
    places = [place for visit in part.visits for place in (visit.begin, visit.end)]
    if places != sorted(places) or any(place > end for place in places):
        yield "the visits are not in the order of the history"
    if [0, *(visit.end for visit in part.visits)] != [*(visit.begin for visit in part.visits), end]:
        yield "the visits do not make up the history"
    if part.distances.get(part.target) != 0:
        yield "the target is not at distance 0"
    visited = {visit.node for visit in part.visits}
    for (node,) in (fact.nodes for fact in part.history.facts(settled)):
        if node not in visited:
            yield f"{settled.text((node,))}, but it was not visited"
    unvisited = [node for node in part.distances if part.is_inner(node) and node not in visited]
    if part.incomplete is None and unvisited:
        verb = "was" if len(unvisited) == 1 else "were"
        yield f"{listing(in_order(unvisited))} of the asked part {verb} not visited, but it is said to be complete"
    if max(part.distances.values()) >= len(part.nodes):
        yield f"a distance is {max(part.distances.values())}, but the part has {count_of(len(part.nodes), 'node')}"


def _wrong_evidence(part: Part) -> Iterable[str]:
    """Describe tests of unknown nodes."""
    known = set(part.nodes)
    for finding in (entry for entry in part.history.entries if isinstance(entry, Finding)):
        for verdict in finding.evidence.verdicts:
            if not known.issuperset((verdict.x, verdict.y, *verdict.given)):
                yield f"a test of {listing((verdict.x, verdict.y))} is reported, but these are no nodes of the part"


def _wrong_edges(part: Part) -> Iterable[str]:
    """Describe edges whose ends have no distance, and marks without a proof."""
    for pair in part.edges:
        if not part.distances.keys() >= pair:
            yield f"{listing(in_order(pair))} are joined in the part, but the distance of one is not given"
    for relation in part.store.relations.values():
        for fact in part.store.facts(relation):
            if fact not in part.proofs:
                yield f"{relation.text(fact.nodes)} has no proof"
        for fact in part.proofs.facts(relation):
            if fact not in part.store:
                yield f"{relation.text(fact.nodes)} has a proof, but does not hold"
    if not part.support.keys() <= part.edges or not all(0 <= share <= 1 for share in part.support.values()):
        yield "the support is not that of the edges"


def _wrong_conflicts(part: Part) -> Iterable[str]:
    """Describe marks of conflict without an entry, and entries whose proofs are circular."""
    reported = {frozenset(one.pair) for one in part.all_conflicts}
    for fact in part.proofs.facts(conflict):
        if frozenset(fact.nodes) not in reported:
            yield f"{conflict.text(fact.nodes)}, but no conflict tells why"
    for one in part.all_conflicts:
        for proof in one.proofs:
            if any(at >= place for place, step in enumerate(proof.steps) for at in step.premises):
                yield "a step of a conflict's proof rests on a later step"
