"""The answer of a part in one or two sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from apsl_rules.names import shown
from apsl_rules.parts.part import Part
from apsl_rules.parts.statements import ANSWERING, Statement, statements_on

_NAMED = 4  # so many columns are named again where directions are explained


def summarize(part: Part) -> str:
    """Return a part as one or two sentences: the answer with percentages, and what its directions rest on.

    >>> from apsl_rules import Dag, learn
    >>> summarize(learn(Dag({"rain": [], "sprinkler": [], "wet": ["rain", "sprinkler"]}), "wet"))
    'wet: caused by rain, sprinkler.'
    """
    told = statements_on(part)
    so_far = "" if part.incomplete is None else ", so far"
    answer = "; ".join(str(one) for one in told if one.kind in ANSWERING) or "no column is kept"
    sentences = [f"{shown(part.target)}{so_far}: {answer}.", *_on_grounds(part, told)]
    nothing = ("advice", "undecided") if not part.edges else ()
    sentences += [_sentence(str(one)) for one in told if one.kind in ("incomplete", *nothing)]
    return " ".join(sentences)


def _on_grounds(part: Part, told: Iterable[Statement]) -> Iterator[str]:
    """Say in one sentence what the directions rest on, and what is thought of missing causes."""
    if not (part.edges and part.is_from_data):
        return
    bases = [_short(one) for one in told if one.kind == "basis"]
    yield _sentence("; ".join([*bases, _on_missing_causes(part)]))


def _short(one: Statement) -> str:
    """Return a statement with few names: the answer has them all."""
    if len(one.nodes) <= _NAMED:
        return str(one)
    rest = len(one.nodes) - _NAMED
    return f"{one.words} {', '.join(map(shown, one.nodes[:_NAMED]))} and {rest:,} more{one.end}"


def _on_missing_causes(part: Part) -> str:
    if part.allows_hidden:
        return "common causes may be hidden, and the marks show where"
    if part.settings.get("hidden") == "possible":
        few = "" if part.arrows and not part.lines else ", so few arrows are drawn"
        return f"common causes may be missing from the table{few}"
    return "arrows assume that no common cause is missing from the table"


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
