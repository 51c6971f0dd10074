"""Proofs: the firings behind a fact, down to findings with their evidence, as text and as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from math import inf
from typing import Any, Literal, cast

import attrs

from apsl_rules._documents import label
from apsl_rules.evidence import OPINION, SHAPES, Verdict, evidence_data, evidence_strength, evidence_text
from apsl_rules.names import count_of, order_key
from apsl_rules.rules.engine import MarkStore, compile_rulebook, extend
from apsl_rules.rules.vocabulary import Fact, Finding, Firing, Reason, Rulebook
from apsl_rules.showing import NotebookView


@attrs.frozen
class Step:
    """One fact of a proof: ``text`` is how it reads, ``reason`` the finding or the rule that fired.

    ``premises`` are the places of the earlier steps that it uses, ``fact`` is what holds.
    """

    fact: Fact
    text: str
    reason: Reason
    premises: tuple[int, ...]

    @property
    def because(self) -> str:
        """Return why it holds, in words: the name of a rule, or the evidence of a finding."""
        return self.reason.rule if isinstance(self.reason, Firing) else evidence_text(self.reason.evidence)


@attrs.frozen(repr=False)
class Proof(NotebookView):
    """All steps that a fact rests on, findings first, the fact itself last.

    Where a score, an opinion or the shapes of columns decided, it is support and no proof; ``word`` says which.
    The proof of a conflict has the proofs of the contradicting facts as its ``sides``. Where scores were asked,
    ``edge_probability`` says how often an edge with this much evidence exists, and ``direction_probability`` how often
    the direction of an arrow with this much evidence is right, if its edge exists. ``suggested`` says that the latter
    is too low for the arrow to be drawn as one, ``unlikely`` that it is likelier wrong than right.

    Attributes
    ----------
    steps
        The steps, each after those that it uses.
    """

    steps: tuple[Step, ...]
    sides: tuple[Proof, ...] = ()
    edge_probability: float | None = None
    direction_probability: float | None = None
    suggested: bool = False
    unlikely: bool = False

    @property
    def fact(self) -> Fact:
        """Return what is proved."""
        return self.steps[-1].fact

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the leaves: the findings that all of it rests on."""
        return tuple(step.reason for step in self.steps if isinstance(step.reason, Finding))

    @property
    def depth(self) -> int:
        """Return the length of the longest path from the fact down to a finding, in firings."""
        depths: list[int] = []
        for step in self.steps:
            derived = isinstance(step.reason, Firing)
            depths.append(1 + max(depths[at] for at in step.premises) if derived else 0)
        return depths[-1]

    @property
    def weakest_evidence(self) -> float:
        """Return the strength of the evidence of the weakest finding."""
        return min((evidence_strength(finding.evidence) for finding in self.findings), default=inf)

    def __str__(self) -> str:
        sides = [f"side {number}:\n{side}" for number, side in enumerate(self.sides, start=1)]
        return "\n".join([*self._lines(), *sides, *self.probability_lines])

    def __repr__(self) -> str:
        steps, findings = count_of(len(self.steps), "step"), count_of(len(self.findings), "finding")
        return f"<{self.word.capitalize()} of {self.steps[-1].text}: {steps}, {findings}>"

    @property
    def word(self) -> Literal["proof", "support"]:
        """Return what it is called: a proof rests on tests, perfect answers and what was given alone."""
        told = [one.evidence for one in self.findings]
        return "support" if any(one.kind == "score" or one.source in (SHAPES, OPINION) for one in told) else "proof"

    @property
    def probability_lines(self) -> tuple[str, ...]:
        """Return how often an edge and a direction with this much evidence are right, in sentences."""
        return tuple(self._probability_lines())

    def _probability_lines(self) -> Iterator[str]:
        edge, direction = self.edge_probability, self.direction_probability
        figures = [] if edge is None else [f"edge {_two_digits(edge)}"]
        figures += [] if direction is None else [f"direction {_two_digits(direction)}"]
        meaning = [] if edge is None else [f"of such edges {_percent(edge)} exist"]
        if direction is not None:
            meaning.append(f"of {'such' if edge is None else 'their'} directions {_percent(direction)} are right")
        if figures:
            where = "simulated data; real tables do worse"
            if any(one.evidence.source == SHAPES for one in self.findings):
                where = "simulated data for edges, in real tables for directions"
            yield f"{', '.join(figures)}: {', and '.join(meaning)} (in {where})"
        if self.suggested:
            yield "the direction is only suggested, so the edge is drawn as a line"
        if self.unlikely:
            yield "the direction is likelier wrong than right, so the edge is drawn as a line"

    def _lines(self) -> Iterator[str]:
        """Print the tree from the fact down; a step that is used again is printed once."""
        shown: set[int] = set()
        stack = [(len(self.steps) - 1, 0)]
        while stack:
            at, level = stack.pop()
            step = self.steps[at]
            again = at in shown and bool(step.premises)
            yield f"{'  ' * level}{step.text}   [{'shown above' if again else step.because}]"
            if not again:
                shown.add(at)
                stack.extend((premise, level + 1) for premise in reversed(step.premises))

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain data: numbered steps, each with its rule or its evidence."""
        steps = [_step_data(at, step) for at, step in enumerate(self.steps)]
        sides = {"sides": [side.to_dict() for side in self.sides]} if self.sides else {}
        figures = {
            "edge_probability": self.edge_probability,
            "direction_probability": self.direction_probability,
            "suggested": self.suggested or None,
            "unlikely": self.unlikely or None,
        }
        known = {name: figure for name, figure in figures.items() if figure is not None}
        return {"proves": self.steps[-1].text, "steps": steps, **sides, **known}

    def to_json(self) -> str:
        """Return the proof as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def shortest_proofs(rulebook: Rulebook, findings: Iterable[Finding]) -> MarkStore:
    """Return a store of all that findings prove by the rules of a rulebook, each fact with a proof of least depth."""
    program = compile_rulebook(rulebook)
    return extend(program, program.start(), as_a_set(findings)).store


def as_a_set(findings: Iterable[Finding]) -> list[Finding]:
    """Return each fact once, with the best evidence told for it, whatever the order."""
    best: dict[Fact, Finding] = {}
    for finding in findings:
        rival = best.setdefault(finding.fact, finding)
        if rival is not finding and _is_preferred(finding, rival):
            best[finding.fact] = finding
    return list(best.values())


def _is_preferred(finding: Finding, rival: Finding) -> bool:
    """Prefer the stronger evidence; among equals, the one whose verdicts read first."""
    evidence, other = finding.evidence, rival.evidence
    strength, against = evidence_strength(evidence), evidence_strength(other)
    if strength != against:
        return strength > against
    words, further = (evidence.source, evidence.note), (other.source, other.note)
    if words != further:
        return words < further
    return [*map(_reading, evidence.verdicts)] < [*map(_reading, other.verdicts)]


def _reading(verdict: Verdict) -> list[object]:
    return [*map(order_key, (verdict.x, verdict.y, *verdict.given))]


def proof_of(store: MarkStore, fact: Fact) -> Proof:
    """Collect the steps behind a fact that a store holds or once held."""
    (place,) = store.log.places_of([fact], len(store))
    return proof_at(store, place)


def proof_of_reason(store: MarkStore, reason: Reason) -> Proof:
    """Collect the steps behind a reason whose premises a store holds, though it may have refused the reason itself."""
    return proof_at(store, len(store), reason)


def proof_at(store: MarkStore, last: int, reason: Reason | None = None) -> Proof:
    """Collect the steps behind a place of the log, or behind a reason that would stand there.

    They go by depth and then by name, so that they do not depend on the order of the findings.
    """
    log = store.log
    uses: dict[int, list[int]] = {}
    if reason is not None:
        uses[last] = log.places_of(reason.premises if isinstance(reason, Firing) else (), last)
    ahead = [*uses.get(last, [last])]
    while ahead:
        place = ahead.pop()
        if place not in uses:
            uses[place] = log.premises(place)
            ahead += uses[place]
    depth: dict[int, int] = {}
    for at in sorted(uses):  # premises were written before what they prove
        depth[at] = 1 + max((depth[one] for one in uses[at]), default=-1)
    order = sorted(uses.keys() - {last}, key=lambda at: (depth[at], log.rows[at][:2], at))
    number = {at: step for step, at in enumerate((*order, last))}
    reasons = {at: cast("Reason", log.entry(at)) for at in order}
    reasons[last] = cast("Reason", log.entry(last)) if reason is None else reason
    return Proof(tuple(_step(store, one, tuple(number[at] for at in uses[place])) for place, one in reasons.items()))


def _step(store: MarkStore, reason: Reason, premises: tuple[int, ...]) -> Step:
    relation, nodes = reason.fact
    return Step(reason.fact, store.relations[relation].text(nodes), reason, premises)


def _two_digits(share: float) -> str:
    """Write a probability without the leading zero.

    >>> _two_digits(0.974), _two_digits(0.999)
    ('.97', '1.00')
    """
    return f"{share:.2f}".removeprefix("0")


def _percent(share: float) -> str:
    """Write a probability in words; what is found from data is never certain.

    >>> _percent(0.974), _percent(0.999)
    ('about 97 %', 'more than 99 %')
    """
    return f"about {100 * share:.0f} %" if round(100 * share) < 100 else "more than 99 %"  # noqa: PLR2004 - all


def _step_data(at: int, step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {
        "step": at,
        "relation": step.fact.relation,
        "nodes": [label(node) for node in step.fact.nodes],
        "text": step.text,
    }
    if isinstance(step.reason, Firing):
        return data | {"rule": step.reason.rule, "premises": list(step.premises)}
    return data | {"evidence": evidence_data(step.reason.evidence)}
