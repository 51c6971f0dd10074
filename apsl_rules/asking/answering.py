"""What becomes of answers: a part with them laid over it, what they change, and a new search under them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs

from apsl_rules.answers import UNSURE, Answer
from apsl_rules.asking.what_to_ask import TIERS, pair_id
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning import Settings, learn
from apsl_rules.names import Node, Pair, chosen, in_order, mapping, nearest, shown
from apsl_rules.notes import Note
from apsl_rules.parts import Part, said_of, with_answers, without_answers
from apsl_rules.rules import Finding, Ledger, Mark, barred, knowing, ledger

Reply = Mapping[Node, str] | str
_BULK = ("sort", "outcome", "roots", "tiers")


def answer(
    part: Part,
    id: str,  # noqa: A002 - the word of questions
    reply: Reply,
    *,
    by: str = "you",
    date: str = "",
    hidden: Literal["possible", "excluded"] = "possible",
) -> Part:
    """Return a part with an answer laid over it; ``part.answer`` says what is what."""
    chosen("hidden", hidden, ("possible", "excluded"))
    for name, value in (("by", by), ("date", date)):
        if not isinstance(value, str) or (name == "by" and not value):
            raise InvalidArgumentError(argument=name, value=value, advice="give text, such as 'ward 3'")
    given = _answer(part, id, reply, by, date)
    known = attrs.evolve(part.knowledge, answers=[*part.knowledge.answers, given])
    bare = without_answers(part)
    if hidden == "excluded":
        bare = _with_consequences(bare, known)
    return with_answers(bare, known)


def _answer(part: Part, id: str, reply: Reply, by: str, date: str) -> Answer:  # noqa: A002 - as above
    """Return an answer whose words and nodes there are."""
    target, items = _asked(part, id)
    if isinstance(reply, str):
        if len(items) != 1:
            message = f"the answer to {id!r} is {reply!r}; give a word for each column, such as {{'age': 'before'}}"
            raise InvalidArgumentError(message)
        reply = {items[0]: reply}
    mapping("reply", reply, "{'age': 'before'}")
    for node in reply:
        if node not in items:
            hint = nearest(str(node), map(str, items)) or f"; it asks about {', '.join(map(shown, items))}"
            message = f"the question {id!r} does not ask about {node!r}{hint}"
            raise InvalidArgumentError(message)
    given = Answer(id, tuple(reply.items()), by, date, target)
    if given.kind == "tiers":
        for node, word in given.reply:
            if word != UNSURE and not 1 <= int(word) <= TIERS:
                message = f"the tier of {node!r} is {word}; give 1 to {TIERS}"
                raise InvalidArgumentError(message)
    return given


def _asked(part: Part, id: str) -> tuple[Node, tuple[Node, ...]]:  # noqa: A002 - as above
    """Return what a question is about, and the columns that it asks about."""
    others = tuple(node for node in part.nodes if node != part.target)
    if id in _BULK:
        about = part.target if id in ("sort", "outcome") else None
        return about, {"sort": others, "outcome": (part.target,)}.get(id, part.nodes)
    pairs = (way for pair in part.edges for way in (in_order(pair), in_order(pair)[::-1]))
    known = {pair_id(x, y): (y, (x,)) for x, y in pairs}
    if id not in known:
        hint = nearest(id, (*_BULK, *known)) or f"; there are {', '.join((*_BULK, *sorted(known)[:3]))}"
        message = f"there is no question {id!r}{hint}"
        raise InvalidArgumentError(message)
    return known[id]


def _with_consequences(part: Part, known: Knowledge) -> Part:
    """Tell what is barred to the rules, so that all that follows from it is drawn: no cause is missing."""
    said = said_of(part, known)
    ways = [way for way in said.barred if way[::-1] not in said.barred]
    fresh = [Finding(barred.fact(*way), Evidence(GIVEN, note=said.barred[way])) for way in ways]
    return _told_again(part, fresh)


def _told_again(part: Part, fresh: list[Finding]) -> Part:
    """Return a part that was told more at its last visit, by rules that know what to do with it."""
    book: Ledger = ledger(knowing(part.ledger.rulebook), "given")
    visits = []
    for at, (visit, told) in enumerate(zip(part.visits, part.ledger.told, strict=True)):
        begin = len(book.history)
        book = book.with_findings([*told, *fresh] if at == len(part.visits) - 1 else told)
        visits.append(attrs.evolve(visit, begin=begin, end=len(book.history)))
    return attrs.evolve(part, ledger=book, visits=tuple(visits))


# --- what changes ----------------------------------------------------------------------------------------------------


@attrs.frozen
class Changed:
    """A pair that two parts draw differently.

    Attributes
    ----------
    pair
        The two nodes by name.
    before, after
        How each part draws the pair, such as "a -> b".
    """

    pair: tuple[Node, ...]
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before}  becomes  {self.after}"


@attrs.frozen
class Difference:
    """The pairs that two parts draw differently, by name; nothing if they draw all alike.

    Attributes
    ----------
    changed
        The pairs with what each part draws.
    lost, gained
        The edges that only the first part has, and those that only the second has.
    """

    changed: tuple[Changed, ...]
    lost: tuple[Pair, ...]
    gained: tuple[Pair, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.changed)) or "nothing changes"

    def __bool__(self) -> bool:
        return bool(self.changed)


def difference(part: Part, other: Part) -> Difference:
    """Return what changes from another part to this one."""
    if not isinstance(other, Part):
        raise InvalidArgumentError(argument="other", value=other, advice="give the part to compare with")
    pairs = sorted(map(in_order, part.edges | other.edges), key=lambda pair: [*map(str, pair)])
    rows = [Changed(pair, _drawn(other, pair), _drawn(part, pair)) for pair in pairs]
    lost, gained = (
        tuple(frozenset(pair) for pair in pairs if frozenset(pair) in one.edges - two.edges)
        for one, two in ((other, part), (part, other))
    )
    return Difference(tuple(row for row in rows if row.before != row.after), lost, gained)


def _drawn(part: Part, pair: tuple[Node, ...]) -> str:
    """Say in words how a part draws a pair."""
    x, y = pair
    if not {x, y} <= {*part.nodes} or frozenset(pair) not in part.edges:
        return f"no edge of {shown(x)} and {shown(y)}"
    mark = part.mark(x, y)
    if mark is Mark.ARROW:
        return f"{shown(x)} -> {shown(y)}" if (x, y) in part.arrows else f"{shown(y)} -> {shown(x)}"
    if mark is Mark.PARTIAL:
        return f"{shown(x)} o-> {shown(y)}" if (x, y) in part.partial else f"{shown(y)} o-> {shown(x)}"
    if mark is Mark.SUGGESTED:
        return f"{shown(x)} -?> {shown(y)}" if (x, y) in part.suggested else f"{shown(y)} -?> {shown(x)}"
    return f"{shown(x)} {_SIGNS[mark]} {shown(y)}"


_SIGNS = {Mark.LINE: "--", Mark.CONFLICT: "-x-", Mark.BIDIRECTED: "<->"}


def relearn(part: Part, data: Any, **settings: Any) -> Part:
    """Search again under the answers, and say in a note what that loses and gains."""
    known = part.knowledge
    forbidden = {way for one in known.answers for way in _barred_ways(one, part.nodes)}
    both = {way for way in forbidden if way[::-1] in forbidden}
    under = attrs.evolve(known, forbidden=[*known.forbidden, *sorted(forbidden - both, key=str)])
    wanted: Settings = {"knowledge": under, **settings}  # type: ignore[typeddict-item]
    if part.allows_hidden:
        wanted.setdefault("hidden", "allowed")
    elif part.settings.get("hidden") == "possible":
        wanted.setdefault("hidden", "possible")
    found = with_answers(learn(data, part.target, depth=part.depth, **wanted), known)
    changed = difference(found, part)
    told = [f"{verb} {_listed(pairs)}" for verb, pairs in (("loses", changed.lost), ("gains", changed.gained)) if pairs]
    words = f"a new search under the answers {' and '.join(told) or 'loses and gains no edge'}"
    return attrs.evolve(found, notes=(*found.notes, Note(words, "searched again")))


def _barred_ways(given: Answer, nodes: Iterable[Node]) -> list[tuple[Node, Node]]:
    """Return the directions that an answer bars, of all pairs of nodes."""
    named = [node for node in nodes if node in given.nodes]
    others = nodes if given.kind in ("roots", "outcome") else named
    found = []
    for x in named:
        for y in others:
            word = None if x == y else given.about(x, y)
            found += [] if word is None else [(y, x)] if word == "before" else [(x, y)] if word == "after" else []
            found += [(x, y), (y, x)] if word == "neither" else []
    return found


def _listed(pairs: Iterable[Pair]) -> str:
    return ", ".join(" -- ".join(map(shown, in_order(pair))) for pair in pairs)


# --- files of answers ------------------------------------------------------------------------------------------------


@attrs.frozen
class Replies:
    """The answers in a file, for a part."""

    answers: tuple[Answer, ...]

    def over(self, part: Part) -> Part:
        """Lay all of them over a part, one after another."""
        for one in self.answers:
            if one.target is not None and one.kind != "pair" and one.target != part.target:
                message = f"the answer to {one.id!r} is about {one.target!r}, and the part around {part.target!r}"
                raise InvalidArgumentError(message)
            part = answer(part, one.id, dict(one.reply), by=one.by, date=one.date)
        return part


def read_replies(path: str | Path, by: str = "") -> Replies:
    """Read the answers of a knowledge file; ``by`` names who gave those that do not say it themselves."""
    known = Knowledge.read(path)
    if not known.answers:
        message = f"the file {str(path)!r} has no answers; write them as [[answers]] with id and reply"
        raise InvalidArgumentError(message)
    told = (attrs.evolve(one, by=by) if by and one.by == "you" else one for one in known.answers)
    return Replies(tuple(told))
