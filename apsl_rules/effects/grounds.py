"""What an effect rests on: its arrows with their proofs, its adjustment, its assumptions; as text and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import attrs

from apsl_rules._documents import label
from apsl_rules.effects.contrasts import Change, figure
from apsl_rules.effects.queries import Effect, PossibleEffect
from apsl_rules.effects.wording import effect_data, effect_text
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.notes import Sentence, marked
from apsl_rules.rules import Proof, untested
from apsl_rules.showing import NotebookView


@attrs.frozen
class Turned:
    """What the effect would be for either direction of an open line at the cause, smallest first.

    Attributes
    ----------
    other
        The other end of the line.
    into_cause, out_of_cause
        The possible effects if the line points at the cause, and if it points away from it.
    """

    other: Node
    into_cause: tuple[float, ...]
    out_of_cause: tuple[float, ...]


@attrs.frozen(slots=False, repr=False)
class Grounds(NotebookView):
    """What an effect rests on. It prints as text, and ``to_json()`` gives it as data.

    ``proofs`` has the proof of each arrow at the cause, ``turned`` what each open line would change, ``untested`` the
    nodes that the cause could not be tested against, and ``assumptions`` what no data can show.

    Attributes
    ----------
    effect
        The effect itself.
    """

    effect: Effect
    proofs: tuple[Proof, ...]
    turned: tuple[Turned, ...]
    untested: tuple[Node, ...]
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        return Sentence("\n".join(self._lines()))

    def __repr__(self) -> str:
        cause, target = shown(self.effect.cause), shown(self.effect.target)
        arrows, lines = count_of(len(self.proofs), "arrow"), count_of(len(self.turned), "open line")
        return f"<Grounds of the effect of {cause} on {target}: {arrows} and {lines}>"

    def _lines(self) -> Iterator[str]:
        cause = shown(self.effect.cause)
        yield marked(effect_text(self.effect))
        yield ""
        yield f"arrows at {cause}:" if self.proofs else f"arrows at {cause}: none"
        for proof in self.proofs:
            yield from (f"  {line}" for line in str(proof).split("\n"))
        if self.turned:
            yield f"open lines at {cause}:"
        for one in self.turned:
            other = shown(one.other)
            told = f"{other} -> {cause}: {_values(one.into_cause)}; {cause} -> {other}: {_values(one.out_of_cause)}"
            yield f"  {told}{self._suggested(one.other)}"
        if self.untested:
            yield f"not tested against {cause}, so possibly adjacent: {', '.join(map(shown, self.untested))}"
        yield "assumed:"
        yield from (f"  {one}" for one in self.assumptions)

    def _suggested(self, other: Node) -> str:
        """Say which direction of an open line is only suggested."""
        part, cause = self.effect.part, self.effect.cause
        for tail, head in ((other, cause), (cause, other)):
            share = part.all_suggested.get((tail, head))
            if share is not None:
                return f" ({shown(tail)} -> {shown(head)} is suggested, {share:.2f})"
        return ""

    def to_dict(self) -> dict[str, Any]:
        """Return the grounds as plain data."""
        return {
            "effect": effect_data(self.effect),
            "arrows": [proof.to_dict() for proof in self.proofs],
            "open_lines": [
                {
                    "other": label(one.other),
                    "into_cause": list(one.into_cause),
                    "out_of_cause": list(one.out_of_cause),
                }
                for one in self.turned
            ],
            "untested": [label(node) for node in self.untested],
            "assumptions": list(self.assumptions),
        }

    def to_json(self) -> str:
        """Return the grounds as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)


def grounds_of(effect: Effect) -> Grounds:
    """Gather what an effect rests on."""
    part, cause = effect.part, effect.cause
    arrows = sorted((pair for pair in part.all_arrows if cause in pair), key=lambda pair: [str(node) for node in pair])
    lines = in_order(other for pair in part.all_lines if cause in pair for other in pair if other != cause)
    unseen = in_order(
        other for fact in part.store.facts(untested) if cause in fact.nodes for other in fact.nodes if other != cause
    )
    return Grounds(
        effect,
        tuple(part.why(*pair) for pair in arrows),
        () if effect.is_weighed else tuple(_turned(effect, other) for other in lines),
        unseen,
        _assumptions(effect),
    )


def _turned(effect: Effect, other: Node) -> Turned:
    into = [one for one in effect.possible if other in one.orientation.parents]
    out = [one for one in effect.possible if other in one.orientation.children]
    return Turned(other, _estimates(into, effect.main), _estimates(out, effect.main))


def _estimates(possible: list[PossibleEffect], change: Change) -> tuple[float, ...]:
    found = (one.interval(change) for one in possible)
    return tuple(sorted({one.estimate for one in found if one is not None}))


def _values(values: tuple[float, ...]) -> str:
    return " or ".join(map(figure, values)) if values else "not possible"


def _assumptions(effect: Effect) -> tuple[str, ...]:
    cause, target = shown(effect.cause), shown(effect.target)
    shown_none = f"hidden common causes were allowed, and the arrows at {cause} show that none acts there"
    assumed = (
        f"no hidden common cause of {cause} and {target}, or of {cause} and one of its neighbours; one would bias the "
        "effect, and nothing here can show it"
    )
    told = [
        shown_none if effect.part.allows_hidden else assumed,
        f"the edges at {cause} are right; each arrow is as good as what it rests on",
        "rows are independent of each other and were not selected by the target or its effects",
        f"setting {cause} changes nothing else than what follows from {cause}",
    ]
    if any(one.estimates is not None and not one.estimates.distribution for one in effect.possible):
        told.append("relations are linear, without interactions")
    return tuple(told)
