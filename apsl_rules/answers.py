"""Answers of people to questions on a part: a word for each node, who said it, and when."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from apsl_rules._documents import label, node_of
from apsl_rules.errors import KnowledgeError
from apsl_rules.names import Node, check_labels, in_order, spelt

#: What may be answered about two nodes, and about one.
WAYS, UNSURE, YES = ("before", "after", "neither"), "don't know", "yes"


def _reply(value: Any) -> tuple[tuple[Node, str], ...]:
    if not isinstance(value, Mapping | Iterable) or isinstance(value, str):
        raise KnowledgeError(argument="reply", value=value, advice="give a word for each node, {'age': 'before'}")
    found = {}
    for one in value.items() if isinstance(value, Mapping) else value:
        if not isinstance(one, list | tuple) or len(one) != 2:  # noqa: PLR2004 - a node, a word
            message = f"a reply has {spelt(one)}; give a word for each node, such as {{'age': 'before'}}"
            raise KnowledgeError(message)
        check_labels([one[0]])
        found[one[0]] = str(one[1])
    return tuple((node, found[node]) for node in in_order(found))


@attrs.frozen
class Answer:
    """What a person said to a question.

    "sort" and "pair" say of nodes whether they come "before" or "after" the target, or "neither"; what comes before it
    then comes before what comes after it. "outcome" says that the target comes after all others ("yes"); "roots" which
    nodes come before all others ("yes"); "tiers" gives nodes the number of their tier. Any other word is refused,
    "don't know" says nothing.

    Attributes
    ----------
    id
        What was asked; it begins with the kind of question.
    reply
        A word for each node, as pairs.
    by, date
        Who said so, and when.
    target
        The node that the question is about, if it is about one.
    """

    id: str
    reply: tuple[tuple[Node, str], ...] = attrs.field(converter=_reply)
    by: str = "you"
    date: str = ""
    target: Node = None

    def __attrs_post_init__(self) -> None:
        words = {"sort": WAYS, "pair": WAYS, "outcome": (YES,), "roots": (YES,)}.get(self.kind)
        if words is None and self.kind != "tiers":
            message = f"there is no question {self.id!r}; questions are sort, outcome, roots, tiers and pairs"
            raise KnowledgeError(message)
        for node, word in self.reply:
            if word != UNSURE and not (word.isdecimal() if words is None else word in words):
                known = "the number of a tier" if words is None else ", ".join(map(repr, words))
                message = f"the answer for {node!r} is {word!r}; give {known} or {UNSURE!r}"
                raise KnowledgeError(message)
            if self.kind in ("sort", "pair") and node == self.target:
                message = f"the answer to {self.id!r} names {node!r}, which the question is about; name other nodes"
                raise KnowledgeError(message)

    @property
    def kind(self) -> str:
        """Return the kind of the question."""
        return self.id.partition(":")[0]

    @property
    def who(self) -> str:
        """Return who said it, when, and to which question."""
        return ", ".join([f'by "{self.by}"', *([self.date] if self.date else []), f'question "{self.id}"'])

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Return the nodes that it names."""
        about = () if self.target is None else (self.target,)
        return (*about, *(node for node, _ in self.reply))

    def without(self, nodes: Collection[Node]) -> Answer:
        """Return the answer without what it says of some nodes."""
        return attrs.evolve(self, reply=[one for one in self.reply if one[0] not in nodes])

    def about(self, x: Node, y: Node) -> str | None:
        """Return whether one node comes "before" or "after" another, or "neither"; None if it does not say."""
        said = dict(self.reply)
        if self.kind in ("sort", "pair"):
            if self.target not in (x, y):
                words = said.get(x, UNSURE), said.get(y, UNSURE)
                return words[0] if set(words) == {"before", "after"} else None
            word = said.get(x if y == self.target else y, UNSURE)
            turned = {"before": "after", "after": "before"}.get(word, word)
            return None if word == UNSURE else word if y == self.target else turned
        if self.kind == "tiers":
            one, other = (int(said[node]) if said.get(node, UNSURE) != UNSURE else None for node in (x, y))
            return None if one is None or other is None or one == other else "before" if one < other else "after"
        early, late = (said.get(node) == YES for node in ((x, y) if self.kind == "roots" else (y, x)))
        return None if early == late else "before" if early else "after"


def answer_text(answer: Answer) -> str:
    """Return an answer as a table of TOML."""
    about = [] if answer.target is None else [f"target = {spelt_label(answer.target)}"]
    said = [f"{key} = {_label(getattr(answer, key))}" for key in ("id", "by", "date") if getattr(answer, key)]
    reply = ", ".join(f"[{spelt_label(node)}, {_label(word)}]" for node, word in answer.reply)
    return "\n".join(["[[answers]]", *said, *about, f"reply = [{reply}]"])


def answer_of(data: Any) -> Answer:
    """Return the answer that a table of TOML stands for."""
    if not isinstance(data, dict) or not {"id", "reply"} <= data.keys() <= {"id", "reply", "by", "date", "target"}:
        message = f"an answer is {spelt(data)}; give id, reply, and who says so (by), date and target"
        raise KnowledgeError(message)
    reply = data["reply"]
    pairs = reply.items() if isinstance(reply, dict) else reply if isinstance(reply, list) else ()
    named = [(node_of(one[0]), one[1]) if isinstance(one, list | tuple) and len(one) == 2 else one for one in pairs]  # noqa: PLR2004 - a node, a word
    target = node_of(data["target"]) if "target" in data else None
    return Answer(str(data["id"]), named, str(data.get("by", "you")), str(data.get("date", "")), target)


def spelt_label(node: Node) -> str:
    """Spell a node as TOML."""
    return _label(label(node))


def is_writable(node: Node) -> bool:
    """Return whether TOML can spell a node."""
    try:
        spelt_label(node)
    except KnowledgeError:
        return False
    return True


def _label(data: Any) -> str:
    """Spell a label as TOML."""
    match data:
        case {"tuple": parts}:
            return f"{{tuple = [{', '.join(map(_label, parts))}]}}"
        case str() if not data.isascii() and any("\ud800" <= letter <= "\udfff" for letter in data):
            message = f"the label {data!r} is no valid text and cannot be written"
            raise KnowledgeError(message)
        case str():
            return json.dumps(data, ensure_ascii=False).replace("\x7f", "\\u007f")
        case None:
            message = "the label None cannot be written to a TOML file; rename the column"
            raise KnowledgeError(message)
        case _:
            return json.dumps(data)
