"""Pairs that no test could decide: too few rows have both columns or fill their levels, or one never varied there.

Such a pair is told as ``untested``. It is neither an edge nor a gap, and no rule builds on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

from apsl_rules.data import Table
from apsl_rules.data.counts import CachedCounts, Heading
from apsl_rules.evidence import ROWS, Evidence, Verdict
from apsl_rules.names import Node, in_order, listing
from apsl_rules.oracles import Asker
from apsl_rules.parts import Part
from apsl_rules.rules import Finding, adjacent, gap, settled, untested

_ROWS_PER_CELL = 5
_HELP = "fewer levels would help: cut numbers (discretize) or join rare levels"
_HELP_WITH_ROWS = "more rows or fewer columns would help"
_HELP_WITH_BOTH = "more rows with values of both would help"
_MOMENTS = "moments"
_SHOWN = 3


def with_untested(findings: Sequence[Finding], oracle: Asker, *, scored: Collection[Node] = ()) -> list[Finding]:
    """Return findings and, for each node that they settle, the pairs at it that could not be tested.

    ``scored`` are nodes that a score compared with each other, which says more than the test that was not made.
    """
    known = [
        finding_of(verdict, oracle)
        for finding in findings
        if finding.fact.relation == settled.name
        for verdict in oracle.untested(finding.fact.nodes[0])
        if not (verdict.x in scored and verdict.y in scored)
    ]
    if not known:
        return list(findings)
    told = {finding.fact for finding in findings}
    return [*findings, *(one for one in _once(known) if told.isdisjoint((one.fact, *_of_pair(one))))]


def finding_of(verdict: Verdict, oracle: Asker) -> Finding:
    """Return that a pair could not be tested, with what would help."""
    return Finding(untested.fact(verdict.x, verdict.y), Evidence(oracle.name, (verdict,), _advice(verdict, oracle)))


def notes_on_untested(part: Part, duplicates: Iterable[Sequence[Node]] = ()) -> tuple[str, ...]:
    """Return a sentence for each of the nearest nodes of a part that could not be tested against others."""
    others: dict[Node, set[Node]] = {}
    twins = {node for group in duplicates for node in group}
    both = {one.fact for one in part.findings if one.fact.relation == untested.name and one.evidence.source == ROWS}
    lacking: set[Node] = set()
    for fact in part.store.facts(untested):
        if not twins.isdisjoint(fact.nodes):
            continue  # the note on duplicate columns says it
        if gap.fact(*fact.nodes) in part.store or adjacent.fact(*fact.nodes) in part.store:
            continue
        for one, other in (fact.nodes, fact.nodes[::-1]):
            if part.is_inner(one):
                others.setdefault(one, set()).add(other)
                lacking |= {one} if fact in both else set()
    nearest = sorted(in_order(others), key=part.distances.__getitem__)
    shown, left = nearest[:_SHOWN], nearest[_SHOWN:]
    notes = [(f"too few rows to test {one!r} against {listing(others[one])}", one in lacking) for one in shown]
    if left:
        notes.append((f"too few rows to test {len(left)} more nodes against others", not lacking.isdisjoint(left)))
    advice = {True: _HELP_WITH_BOTH, False: _HELP_WITH_ROWS if part.oracle == _MOMENTS else _HELP}
    return tuple(f"{note}: whether they are adjacent is unknown; {advice[lacks]}" for note, lacks in notes)


def _of_pair(finding: Finding) -> tuple[object, ...]:
    return adjacent.fact(*finding.fact.nodes), gap.fact(*finding.fact.nodes)


def _once(findings: Iterable[Finding]) -> Iterable[Finding]:
    return {finding.fact: finding for finding in findings}.values()


def _advice(verdict: Verdict, oracle: Asker) -> str:
    if oracle.name == _MOMENTS:
        return f"a test needs more rows than it has columns; {_HELP_WITH_ROWS}"
    data = oracle.data.heading if isinstance(oracle.data, CachedCounts) else oracle.data
    if not isinstance(data, Table | Heading):
        return ""
    cells = prod(int(data.cards[data.place[node]]) for node in (verdict.x, verdict.y, *verdict.given))
    if verdict.n is not None and verdict.n >= _ROWS_PER_CELL * cells:
        return "one of the two never varies in rows that are alike in all else, so that nothing can be compared"
    return f"{cells:,} cells need {_ROWS_PER_CELL * cells:,} rows; {_HELP}"
