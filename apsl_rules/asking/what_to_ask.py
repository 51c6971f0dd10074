"""What only a person can tell of a part: few questions, in bulk, the one that settles most first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, TypeAlias

import attrs

from apsl_rules._documents import label
from apsl_rules.answers import UNSURE, WAYS, YES
from apsl_rules.directions import shipped_names
from apsl_rules.names import Node, count_of, in_order, shown
from apsl_rules.parts import Part, votes_on

Kind: TypeAlias = Literal["sort", "outcome", "roots", "tiers", "pair"]

#: How many tiers there are to sort columns into, and how many edges away from the target make sorting worth while.
TIERS, _FAR = 4, 2


@attrs.frozen
class Question:
    """A question to a person, which a program can show.

    Attributes
    ----------
    id
        What an answer names.
    kind
        "sort" (the neighbours of the target), "outcome", "roots", "tiers" or "pair".
    target
        The node that a question to sort, of the outcome or of a pair is about.
    text
        The question in words.
    items, choices
        The nodes to give a word to, and the words.
    guess
        The words that names of columns suggest; nothing is taken from them unless a person agrees.
    value
        How many edges it would settle at most, that nothing given decides.
    because
        Why it is asked.
    """

    id: str
    kind: Kind
    text: str
    items: tuple[Node, ...]
    choices: tuple[str, ...]
    value: int
    because: str
    target: Node = None
    guess: Mapping[Node, str] = attrs.field(factory=dict, hash=False)

    def __str__(self) -> str:
        lines = [f"[{self.id}] {self.text}", f"    {self.because}"]
        for one in self.items:
            guess = f"   (by its name: {self.guess[one]})" if one in self.guess else ""
            lines.append(f"    {shown(one)}: {' / '.join(self.choices)}{guess}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data."""
        plain = {name: getattr(self, name) for name in ("id", "kind", "text", "value", "because")}
        nodes = {"items": [label(one) for one in self.items], "choices": list(self.choices)}
        about = {"target": None if self.target is None else label(self.target)}
        return {**plain, **about, **nodes, "guess": [[label(node), word] for node, word in self.guess.items()]}


def questions(part: Part) -> tuple[Question, ...]:
    """Return the questions on a part, best first.

    First come the neighbours of the target, all at once, then what settles more further away. Single pairs are asked
    about only where they are open at the target.
    """
    open_edges = [pair for pair in _edges(part) if not votes_on(pair, part.knowledge) and not _is_given(part, pair)]
    found: list[Question] = []
    at = [other for pair in open_edges if part.target in pair for other in pair if other != part.target]
    far = len(open_edges) - len(at)
    if at:
        found.append(_sort(part, in_order(at)))
    if len(at) > 1:
        found.append(_outcome(part, len(at)))
    if far:
        found.append(_roots(open_edges))
    if far > _FAR:
        found.append(_tiers(open_edges))
    return (*found, *_pairs(part, in_order(at)))


def _edges(part: Part) -> list[tuple[Node, ...]]:
    """Return the edges of a part by name, those beyond the asked depth left out."""
    return sorted((in_order(pair) for pair in part.edges), key=lambda pair: [*map(str, pair)])


def _is_given(part: Part, pair: tuple[Node, ...]) -> bool:
    """Return whether something given decides a pair."""
    x, y = pair
    known = part.knowledge
    return any(known.why_barred(*way) is not None for way in ((x, y), (y, x))) or known.requires(x, y)


def _guesses(nodes: Iterable[Node], word: str) -> dict[Node, str]:
    """Return a word for the columns that come first by their names."""
    names = shipped_names()
    return {node: word for node in nodes if names.group_of(node, 2) is not None}


def _sort(part: Part, others: tuple[Node, ...]) -> Question:
    target = shown(part.target)
    text = f"Which of these come before {target}, so that {target} cannot change them, and which come after it?"
    guess = _guesses(others, "before")
    because = _because(len(others), f"at {target}")
    return Question("sort", "sort", text, others, (*WAYS, UNSURE), len(others), because, part.target, guess)


def _outcome(part: Part, value: int) -> Question:
    target = shown(part.target)
    guess = {part.target: YES} if shipped_names().is_outcome(part.target) else {}
    text = f"Is {target} measured after all other columns, so that it changes none of them?"
    because = _because(value, f"at {target}, with one answer instead of {value}")
    return Question("outcome", "outcome", text, (part.target,), (YES, UNSURE), value, because, part.target, guess)


def _roots(edges: list[tuple[Node, ...]]) -> Question:
    columns = in_order({node for pair in edges for node in pair})
    text = "Which of these can nothing else in the table change (sex, age, year, a random assignment)?"
    because = _because(len(edges), "of the part")
    guess = _guesses(columns, YES)
    return Question("roots", "roots", text, columns, (YES, UNSURE), len(edges), because, guess=guess)


def _tiers(edges: list[tuple[Node, ...]]) -> Question:
    columns = in_order({node for pair in edges for node in pair})
    text = f"In which order do these come to be? Give each a number from 1 (first) to {TIERS}."
    words = (*map(str, range(1, TIERS + 1)), UNSURE)
    because = _because(len(edges), "of the part; columns of one number stay open among themselves")
    return Question("tiers", "tiers", text, columns, words, len(edges), because, guess=_guesses(columns, "1"))


def _pairs(part: Part, others: tuple[Node, ...]) -> Iterator[Question]:
    """Give the pairs that are open at the target one by one, for who knows of a few only."""
    drawn = {node for way in part.arrows for node in way if part.target in way}
    target = part.target
    for one in (one for one in others if one not in drawn):
        text = f"Does {shown(one)} come before {shown(target)}, or after it?"
        why = "the data leave its direction open"
        yield Question(
            pair_id(one, target), "pair", text, (one,), (*WAYS, UNSURE), 1, why, target, _guesses([one], "before")
        )


def pair_id(x: Node, y: Node) -> str:
    """Return the id of a question about one pair."""
    return f"pair:{shown(x)}:{shown(y)}"


def _because(value: int, where: str) -> str:
    return f"it would settle up to {count_of(value, 'edge')} {where}"
