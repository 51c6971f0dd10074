"""Check a part that was read: fire its rules again, and compare what follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from apsl_rules.names import Node, Pair, count_of, in_order, listing
from apsl_rules.parts.edges import Distances
from apsl_rules.parts.part import Part
from apsl_rules.parts.shortcuts import installed_rulebooks
from apsl_rules.rules import (
    KNOWING,
    LEFT_OUT,
    PAG,
    PAPER,
    RELATIONS,
    SOUND,
    Conflict,
    Drop,
    Fact,
    Finding,
    Firing,
    Mark,
    MarkStore,
    Program,
    Proof,
    Relation,
    Rule,
    Rulebook,
    adjacent,
    arrow,
    by_name,
    compile_rulebook,
    conflict,
    extend,
    gap,
    head,
    is_consistent,
    knowing,
    left_standing,
    marks_on,
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


_DECIDED = "kept "
_STANDING = "left as it is"


def wrong_steps(part: Part) -> Iterator[str]:
    """Describe what does not follow in a part; the first fault is enough to refuse it."""
    books = _books(part)
    yield from _wrong_firings(part)
    yield from _wrong_distances(part)
    yield from _wrong_settling(part)
    yield from _wrong_sides(part)
    if books and not part.order_dependent and books[0].positive:
        yield from _wrong_closure(part, compile_rulebook(books[0]))


def _books(part: Part) -> list[Rulebook]:
    """Return the rulebooks whose rules a run had, as far as we know them: the sound one before the one with guards."""
    names = tuple(part.rule_use)
    return [book for book in _known() if tuple(rule.name for rule in book.rules) == names]


def _known() -> Sequence[Rulebook]:
    ours = (SOUND, KNOWING, PAPER, PAG, knowing(PAG))
    return (*ours, *(book for book in installed_rulebooks() if book not in ours))


def _facts(store: MarkStore) -> set[Fact]:
    return {fact for relation in store.relations.values() for fact in store.facts(relation)}


def _findings(store: MarkStore) -> list[Finding]:
    return [entry for entry in store.entries if isinstance(entry, Finding)]


def _wrong_firings(part: Part) -> Iterator[str]:
    """Describe firings that are no instance of their rule, and wrong counts of firings."""
    fired = dict.fromkeys(part.rule_use, 0)
    for firing in (entry for entry in part.history.entries if isinstance(entry, Firing)):
        if firing.rule not in fired:
            yield f"the rule {firing.rule!r} fired, but rule_use does not name it"
            return
        fired[firing.rule] += 1
    for name, times in part.rule_use.items():
        if times != fired[name]:
            yield f"the rule {name!r} fired {fired[name]} times, but rule_use says {times}"
    named: dict[str, list[tuple[Program, Rule]]] = {}
    for program in map(compile_rulebook, _known()):
        for rule in program.rulebook.rules:
            named.setdefault(rule.name, []).append((program, rule))
    proofs = (step.reason for one in part.all_conflicts for proof in one.proofs for step in proof.steps)
    for entry in chain(part.history.entries, part.store.entries, part.proofs.entries, proofs):
        reason = entry.because if isinstance(entry, Drop) else entry
        if isinstance(reason, Firing) and reason.rule in named and not _is_instance(reason, named[reason.rule]):
            yield f"{_text(part, reason.fact)} does not follow by the rule {reason.rule!r}"


def _is_instance(firing: Firing, rules: Iterable[tuple[Program, Rule]]) -> bool:
    return any(
        len(firing.bindings) == len(rule.variables) and firing in program.firings_of(rule.name, firing.bindings)
        for program, rule in rules
    )


def _wrong_distances(part: Part) -> Iterator[str]:
    """Describe distances other than those over the edges found; knowledge may have overruled some edges."""
    found = [fact.nodes for fact in part.history.facts(adjacent)]
    if any(isinstance(part.history.reason(adjacent.fact(*pair)), Firing) for pair in found):
        return  # a rule of a plugin concludes edges, and the file does not say which of these were also found
    believed = [pair for pair in found if not _is_overruled(part, *pair)]
    if dict(part.distances) not in (_distances(part.target, believed), _distances(part.target, found)):
        yield "the distances are not those over the edges found"


def _is_overruled(part: Part, x: Node, y: Node) -> bool:
    return part.knowledge.why_apart(x, y) is not None and part.store.mark(x, y) is Mark.GAP


def _distances(target: Node, edges: Iterable[tuple[Node, ...]]) -> dict[Node, int]:
    distances = Distances(target)
    for x, y in edges:
        distances.add(x, y)
    return distances.of


def _wrong_settling(part: Part) -> Iterator[str]:
    """Describe contradictions that are not reported, and marks of conflict without a contradiction."""
    reported = {frozenset(one.pair) for one in part.all_conflicts}
    if part.order_dependent:
        if part.store is not part.history:
            yield "what holds in the end differs from the history, although findings were taken one by one"
        standing = [(one.pair, one.kind) for one in left_standing(part.store)]
        if standing != [(one.pair, one.kind) for one in part.all_conflicts if one.outcome == _STANDING]:
            yield "the conflicts are not those that the history leaves standing"
        for entry in part.history.entries:
            if isinstance(entry, Drop) and frozenset(entry.fact.nodes) not in reported:
                yield f"{_text(part, entry.fact)} was dropped, but no conflict tells why"
        return
    consistent = is_consistent(part.history) and not any(one.kind == "untested" for one in part.all_conflicts)
    if consistent != (part.store is part.history) or consistent != (not part.all_conflicts):
        yield "the findings contradict each other" if not consistent else "nothing contradicts the findings"
        return
    marked = {one for one in _undecided(part.all_conflicts) if not part.store.has_mark(*one)}
    for pair in part.store.conflicts ^ marked:
        yield f"whether {listing(in_order(pair))} are in conflict is stated inconsistently"


def _undecided(conflicts: Iterable[Conflict]) -> set[Pair]:
    return {frozenset(one.pair) for one in conflicts if not _is_decided(one)}


def _is_decided(one: Conflict) -> bool:
    """Return whether a conflict leaves no mark of its own."""
    kept = one.kind == "edge" and one.outcome.startswith(_DECIDED)
    return kept or one.kind == "untested" or one.outcome.startswith(LEFT_OUT)


def _wrong_sides(part: Part) -> Iterator[str]:
    """Describe conflicts whose proofs do not prove a contradiction on their pair."""
    for one in part.all_conflicts:
        x, y = one.pair
        sides = [proof.fact for proof in one.proofs]
        kind: str = one.kind  # as the file says, which may be anything
        if kind == "opposed":
            right = {*sides} == {arrow.fact(x, y), arrow.fact(y, x)} and len(sides) == 2  # noqa: PLR2004 - two sides
        elif kind == "edge":
            right = sides == [adjacent.fact(x, y), gap.fact(x, y)]
        elif kind == "untested":
            right = sides == [head.fact(x, y), head.fact(y, x)]
        elif kind == "cause":
            right = _is_cause_and_none(sides, frozenset(one.pair))
        else:
            right = kind == "cycle" and _is_cycle(sides, frozenset(one.pair))
        if not right:
            yield f"the conflict on {listing(one.pair)} has proofs of something else"
        for proof in one.proofs:
            yield from _wrong_proof(part, proof)


def _is_cycle(sides: Sequence[Fact], pair: Pair) -> bool:
    arrows = [fact.nodes for fact in sides if fact.relation == arrow.name]
    ends = sorted(map(str, (nodes[0] for nodes in arrows))), sorted(map(str, (nodes[1] for nodes in arrows)))
    return len(arrows) == len(sides) > 1 and ends[0] == ends[1] and pair in map(frozenset, arrows)


def _is_cause_and_none(sides: Sequence[Fact], pair: Pair) -> bool:
    """Return whether arrows lead from a node with an arrowhead to the other end of its edge."""
    (relation, (at, end)), *path = sides
    steps = [fact.nodes for fact in path if fact.relation == arrow.name]
    joined = [step[0] for step in steps] == [at, *(step[1] for step in steps[:-1])]
    leads = bool(steps) and len(steps) == len(path) and joined and steps[-1][1] == end
    return relation == head.name and leads and pair in (frozenset(fact.nodes) for fact in sides)


def _wrong_proof(part: Part, proof: Proof) -> Iterator[str]:
    """Describe steps whose text or premises do not match their fact.

    Where findings are taken one by one, the last step may be a finding that was refused and so stands nowhere else.
    """
    found = {entry.fact for entry in part.history.entries if isinstance(entry, Finding)}
    for step in proof.steps:
        if step.text != _text(part, step.fact):
            yield f"a step of a conflict reads {step.text!r}, but it is {_text(part, step.fact)!r}"
        premises = step.reason.premises if isinstance(step.reason, Firing) else ()
        if tuple(proof.steps[at].fact for at in step.premises) != premises:
            yield f"{_text(part, step.fact)} rests on other steps than it names"
        refused = part.order_dependent and step is proof.steps[-1]
        if isinstance(step.reason, Finding) and step.fact not in found and not refused:
            yield f"{_text(part, step.fact)} is said to be found, but it was not"


def _wrong_closure(part: Part, program: Program) -> Iterator[str]:
    """Describe facts that follow from the findings and are missing, and facts that do not follow."""
    told = _findings(part.history)
    if not {one.fact.relation for one in told} <= program.start().relations.keys():
        return
    yield from _differences(part, _facts(extend(program, program.start(), told).store), _facts(part.history))
    if part.store is part.history:
        return
    torn = {frozenset(one.pair) for one in part.all_conflicts}
    sides = (side for pair in torn for side in _on(*pair))
    blocked = {fact for fact in sides if fact not in part.store}
    marks = set(part.store.facts(conflict))
    if any(one.outcome.startswith(LEFT_OUT) for one in part.all_conflicts):
        left_out = {one.fact for one in told} - _facts(part.store)
        yield from (_unexplained(part, fact) for fact in left_out if not _is_left_out(part, fact))
        told = [one for one in told if one.fact not in left_out]
        blocked = {fact for one in part.all_conflicts if one.kind == "untested" for fact in marks_on(one.pair)}
        blocked -= _facts(part.store)
    judged = extend(program, program.start(), told, blocked).store
    yield from _differences(part, _facts(judged) | marks, _facts(part.store))


def _is_left_out(part: Part, fact: Fact) -> bool:
    """Return whether a conflict says that a finding was left out."""
    return any(one.outcome == f"{LEFT_OUT}{_text(part, fact)}" for one in part.all_conflicts)


def _unexplained(part: Part, fact: Fact) -> str:
    return f"{_text(part, fact)} was found and does not hold, but no conflict tells why"


def _on(x: Node, y: Node) -> Iterator[Fact]:
    """Return all that a contradiction on a pair may block."""
    yield from (*marks_on((x, y)), adjacent.fact(x, y), gap.fact(x, y))


def _differences(part: Part, expected: set[Fact], seen: set[Fact]) -> Iterator[str]:
    for fact in expected - seen:
        yield f"{_text(part, fact)} follows from the findings, but is not there"
    for fact in seen - expected:
        yield f"{_text(part, fact)} does not follow from the findings"


def _text(part: Part, fact: Fact) -> str:
    return part.store.relations[fact.relation].text(fact.nodes)
