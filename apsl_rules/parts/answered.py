"""A part with the answers and opinions of people laid over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, log

import attrs

from apsl_rules.answers import Answer
from apsl_rules.evidence import OPINION, Evidence
from apsl_rules.knowledge import Knowledge
from apsl_rules.names import Node, Pair, in_order
from apsl_rules.parts.part import Part
from apsl_rules.rules import Answered, MarkStore, Said, adjacent, read_pair

Arrow = tuple[Node, Node]
#: The directions that a word bars, of a pair in order: "before" says that the second node does not cause the first.
_BARS: Mapping[str, tuple[bool, bool]] = {"before": (False, True), "after": (True, False), "neither": (True, True)}


def with_answers(part: Part, knowledge: Knowledge | None = None) -> Part:
    """Return a part with the answers and opinions of its knowledge, or of another, in the place of any before."""
    known = part.knowledge if knowledge is None else knowledge
    bare = without_answers(part)
    said = said_of(bare, known)
    book = Answered.over(bare.ledger, said) if said else bare.ledger
    return attrs.evolve(bare, ledger=book, knowledge=known)


def without_answers(part: Part) -> Part:
    """Return a part as it was found."""
    return attrs.evolve(part, ledger=part.ledger.base) if isinstance(part.ledger, Answered) else part


def said_of(part: Part, known: Knowledge) -> Said:
    """Return what answers and opinions say of the edges of a part."""
    if not known.answers and not known.likely:
        return Said()
    edges = [in_order(fact.nodes) for fact in part.store.facts(adjacent)]
    barred: dict[Arrow, str] = {}
    apart: dict[Pair, str] = {}
    for x, y in edges:
        votes = votes_on((x, y), known)
        if votes and all(word == "neither" for word, _ in votes):
            apart[frozenset((x, y))] = _joined(who for _, who in votes)
            continue
        for at, way in enumerate(((x, y), (y, x))):
            who = [told for word, told in votes if _BARS[word][at]]
            if who:
                barred[way] = _joined(who)
    undrawn = part.store.arrows - part.all_arrows
    return Said(barred, apart, _opinions(part, known, {*map(frozenset, barred), *apart}), undrawn)


def votes_on(pair: tuple[Node, ...], known: Knowledge) -> list[tuple[str, str]]:
    """Return what is said of a pair: whether the first node comes before the second, after it or neither, and by whom.

    Of the same person the last answer counts. Where there is an answer, what was given before counts as well.
    """
    x, y = pair
    latest: dict[str, tuple[str, Answer]] = {}
    for one in known.answers:
        word = one.about(x, y)
        if word is not None:
            latest[one.by] = word, one
    votes = [(word, one.who) for word, one in latest.values()]
    barred = [known.why_barred(*way) is not None for way in ((x, y), (y, x))]
    barred = [one or way in known.required for one, way in zip(barred, ((y, x), (x, y)), strict=True)]
    if votes and barred[0] != barred[1]:
        votes.append(("after" if barred[0] else "before", "by the knowledge"))
    return votes


def _joined(who: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(who))


def _opinions(part: Part, known: Knowledge, decided: set[Pair]) -> dict[Arrow, Evidence]:
    """Return the arrows that opinions and the data together find likelier than their opposites."""
    found = {}
    for tail, head, sure in known.likely:
        pair = frozenset((tail, head))
        is_given = known.why_barred(tail, head) is not None or known.why_barred(head, tail) is not None
        if pair in decided or is_given or known.requires(tail, head) or adjacent.fact(tail, head) not in part.store:
            continue
        alone = _alone(part, part.store, tail, head)
        if alone is None:
            continue
        odds = log(alone) - log(1 - alone) + log(sure) - log(1 - sure)
        share = 1 / (1 + exp(-odds))
        way, likelier = ((tail, head), share) if share >= 1 - share else ((head, tail), 1 - share)
        says = (
            f"{100 * sure:.0f} % sure that {tail} -> {head}{f', by {chr(34)}{known.by}{chr(34)}' if known.by else ''}"
        )
        data = f"the data alone: {read_pair(part.store, pair)}, {100 * alone:.0f} % for it"
        note = f"{says}; {data}; together {100 * share:.0f} %"
        found[way] = Evidence(OPINION, note=note, strength=-log(1 - likelier))
    return found


def _alone(part: Part, store: MarkStore, tail: Node, head: Node) -> float | None:
    """Return how likely a direction is by the data alone; None where it is certain, or no probability is known."""
    for way in ((tail, head), (head, tail)):
        if store.has_arrow(*way):
            share = part.direction_probability(*way)
            if share is None:
                return None
            return min(max(share if way == (tail, head) else 1 - share, 1e-6), 1 - 1e-6)
    return 0.5
