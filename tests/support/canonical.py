"""The canonical form of a part: all that it concludes and rests on, without a word of prose.

Marks, findings, firings, figures and counts stand in it; notes, texts and the layout of files do not. A change of the
code that moves nothing leaves the form of every part as it was, so its hash tells whether anything moved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.parts.part import Part
from apsl_rules.rules import Conflict, Drop, Fact, Finding, Reason

#: Rules that got another name since the hashes were written: the new name, and the old one.
RENAMED_RULES: Mapping[str, str] = {"V-from-spouse": "V-non-collider", "V-from-middle": "V-collider"}


def canonical(part: Part) -> dict[str, Any]:
    """Return a part as plain data: what was asked, the marks, the run with its evidence, conflicts and counts."""
    return {
        "asked": [_name(part.target), part.depth, part.learner, part.oracle],
        "nodes": [_name(node) for node in part.nodes],
        "arrows": _sorted(part.arrows),
        "lines": _sorted(map(sorted_pair, part.lines)),
        "partial": _sorted(part.partial),
        "bidirected": _sorted(map(sorted_pair, part.bidirected)),
        "suggested": sorted([*map(_name, pair), share.hex()] for pair, share in part.suggested.items()),
        "distances": sorted([_name(node), distance] for node, distance in part.distances.items()),
        "visits": [[_name(visit.node), [*map(_name, visit.neighbours)]] for visit in part.visits],
        "run": [_entry(entry) for entry in part.history.entries],
        "held": sorted(_fact(fact) for one in part.store.relations.values() for fact in part.store.facts(one)),
        "proofs": [_entry(entry) for entry in part.proofs.entries],
        "probabilities": _probabilities(part),
        "conflicts": [_conflict(one) for one in part.ledger.settled.conflicts],
        "rules": sorted((RENAMED_RULES.get(rule, rule), times) for rule, times in part.ledger.rule_use().items()),
        "counts": [part.counts.asked, part.counts.distinct],
        "incomplete": part.incomplete is not None,
    }


def canonical_hash(part: Part) -> str:
    """Return a short hash of the canonical form."""
    text = json.dumps(canonical(part), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def sorted_pair(pair: Iterable[Any]) -> list[Any]:
    """Return the two nodes of an edge in the order of their names."""
    return sorted(pair, key=str)


def _name(node: object) -> str:
    return f"{type(node).__name__}:{node}"


def _sorted(pairs: Iterable[Iterable[object]]) -> list[list[str]]:
    return sorted([*map(_name, pair)] for pair in pairs)


def _fact(fact: Fact) -> list[str]:
    return [fact.relation, *map(_name, fact.nodes)]


def _entry(entry: Reason | Drop) -> list[Any]:
    if isinstance(entry, Drop):
        return ["drop", _fact(entry.fact), _entry(entry.because)]
    if isinstance(entry, Finding):
        return ["found", _fact(entry.fact), _evidence(entry.evidence)]
    rule = RENAMED_RULES.get(entry.rule, entry.rule)
    return ["fired", _fact(entry.fact), rule, [*map(_name, entry.bindings)], [*map(_fact, entry.premises)]]


def _evidence(evidence: Evidence) -> list[Any]:
    figures = [_figure(evidence.nats), _figure(evidence.strength)]
    return [evidence.source, figures, [_verdict(verdict) for verdict in evidence.verdicts]]


def _verdict(verdict: Verdict) -> list[Any]:
    question = [_name(verdict.x), _name(verdict.y), [*map(_name, verdict.given)]]
    figures = [*map(_figure, (verdict.statistic, verdict.p, verdict.log_p))]
    return [*question, verdict.decision, verdict.test, *figures, verdict.dof, verdict.n, verdict.rank]


def _figure(value: float | None) -> str | None:
    return None if value is None else float(value).hex()


def _conflict(one: Conflict) -> list[Any]:
    return [[*map(_name, one.pair)], one.kind, [[_fact(step.fact) for step in proof.steps] for proof in one.proofs]]


def _probabilities(part: Part) -> list[list[Any]]:
    return sorted(
        [_name(x), _name(y), _figure(part.edge_probability(x, y)), _figure(part.direction_probability(x, y))]
        for x, y in (*map(sorted_pair, part.edges), *part.arrows)
    )
