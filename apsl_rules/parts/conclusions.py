"""What a part file states: conclusions, with what is wrong in a copy of them, and rules as lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs

from apsl_rules.errors import InvalidArgumentError, RuleError
from apsl_rules.names import Node, count_of, listing
from apsl_rules.parts.part import Part
from apsl_rules.rules import KNOWING, Conflict, Fact, Firing, Mark, Relation, Rule, Rulebook, read_rule, rule_line

#: The rules that got another name, by the name in older files.
RENAMED = {"V-non-collider": "V-from-spouse", "V-collider": "V-from-middle"}
#: How far a stated probability may be from the right one: files have six digits.
_CLOSE = 2e-6
_SAID = {
    "dropped": "findings said to be dropped",
    "arrows": "arrows",
    "lines": "lines",
    "partial": "partial edges",
    "bidirected": "bidirected edges",
    "in_conflict": "edges in conflict",
    "members": "members",
    "distances": "distances",
}


class Numbers:
    """The numbers of nodes in a file: their places in the list of all nodes."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.of = {node: number for number, node in enumerate(nodes)}

    def places(self, nodes: Iterable[Node]) -> list[int]:
        """Return the numbers of nodes."""
        return [self.of[node] for node in nodes]

    def fact(self, fact: Fact) -> list[Any]:
        """Return a fact as plain data."""
        return [fact.relation, *self.places(fact.nodes)]


def conclusions(part: Part) -> dict[str, Any]:
    """Return all that follows from the findings of a part, as the file has it."""
    numbers, store = Numbers(part.nodes), part.store
    found = dict.fromkeys(one.fact for one in part.ledger.findings)
    held = (fact for relation in store.relations.values() for fact in store.facts(relation))
    firings = [reason for fact in held if isinstance(reason := part.proofs.reason(fact), Firing)]
    places = numbers.places
    hidden = (pair for pair in part.store.arrows - part.all_arrows if frozenset(pair) in part.edges)
    undrawn = {pair: part.direction_probability(*pair) or 0.0 for pair in hidden}
    return {
        "facts": sorted((_firing_data(one, numbers) for one in firings), key=lambda one: json.dumps(one["fact"])),
        "dropped": sorted(numbers.fact(one) for one in found if one not in store),
        "conflicts": [_conflict_data(one, numbers) for one in part.ledger.settled.conflicts],
        "arrows": sorted(map(places, (*part.arrows, *undrawn))),
        "suggested": sorted([*places(pair), round(share, 6)] for pair, share in undrawn.items()),
        "lines": sorted(sorted(places(pair)) for pair in part.lines - {*map(frozenset, undrawn)}),
        "partial": sorted(map(places, part.partial)),
        "bidirected": sorted(sorted(places(pair)) for pair in part.bidirected),
        "in_conflict": sorted(sorted(places(one)) for one in part.edges if part.mark(*one) is Mark.CONFLICT),
        "members": sorted(places(part.members)),
        "distances": sorted([numbers.of[node], distance] for node, distance in part.distances.items()),
    }


def _firing_data(firing: Firing, numbers: Numbers) -> dict[str, Any]:
    premises = [numbers.fact(premise) for premise in firing.premises]
    bindings = numbers.places(firing.bindings)
    return {"fact": numbers.fact(firing.fact), "rule": firing.rule, "bindings": bindings, "premises": premises}


def _conflict_data(one: Conflict, numbers: Numbers) -> dict[str, Any]:
    facts = {"sides": [proof.fact for proof in one.proofs], "kept": one.kept, "dropped": one.dropped}
    plain = {"pair": numbers.places(one.pair), "kind": one.kind, "outcome": str(one.outcome)}
    return plain | {key: [*map(numbers.fact, values)] for key, values in facts.items()}


def wrong_conclusions(part: Part, stated: Mapping[str, Any]) -> Iterator[str]:
    """Say in a sentence each where the conclusions that a file states differ from those that follow."""
    right = conclusions(part)
    yield from _wrong_facts(part, stated["facts"], right["facts"])
    if len(stated["conflicts"]) != len(right["conflicts"]):
        yield f"the findings lead to {count_of(len(right['conflicts']), 'conflict')}, not to {len(stated['conflicts'])}"
    for one, other in zip(stated["conflicts"], right["conflicts"], strict=False):
        if one != other:
            yield f"the conflict on {listing([part.nodes[at] for at in other['pair']])} is not as stated"
    for key, said in _SAID.items():
        if stated[key] != right[key]:
            yield f"the {said} are not those that the findings give"
    pairs = [[one[:2] for one in copy["suggested"]] for copy in (stated, right)]
    shares = zip(stated["suggested"], right["suggested"], strict=False)
    if pairs[0] != pairs[1] or any(abs(one[2] - other[2]) > _CLOSE for one, other in shares):
        yield "the suggested directions are not those that the findings give"


def _wrong_facts(part: Part, stated: Sequence[Any], right: Sequence[Any]) -> Iterator[str]:
    said, follows = ({json.dumps(one["fact"]): one for one in facts} for facts in (stated, right))
    for key in follows.keys() - said.keys():
        yield f"{_text(part, follows[key]['fact'])} follows from the findings, but is not there"
    for key in said.keys() - follows.keys():
        yield f"{_text(part, said[key]['fact'])} does not follow from the findings"
    names = {rule.name for rule in part.ledger.rulebook.rules}
    for key, one in follows.items():
        rule = said.get(key, one)["rule"]
        now = rule if rule in names else RENAMED.get(rule, rule)
        if {**said.get(key, one), "rule": now} != one:
            yield f"{_text(part, one['fact'])} does not follow by the rule {rule!r} from the premises stated"
    if len(stated) != len(said):
        yield "a conclusion is stated twice"


def _text(part: Part, fact: Sequence[Any]) -> str:
    """Say a fact of a file in words, as far as it is one."""
    relation = part.store.relations.get(fact[0])
    numbers = [at for at in fact[1:] if isinstance(at, int) and 0 <= at < len(part.nodes)]
    if relation is None or len(numbers) != len(fact) - 1 or len(numbers) != relation.arity:
        return str([*fact])
    return relation.text(tuple(part.nodes[at] for at in numbers))


def rulebook_lines(rulebook: Rulebook) -> list[str]:
    """Write the rules of a rulebook as lines; refuse those that could not be read back."""
    relations = {one.name: one for one in rulebook.relations}
    lines = [rule_line(rule) for rule in rulebook.rules]
    for rule, line in zip(rulebook.rules, lines, strict=True):
        if not _is_read_back(rule, line, relations):
            message = f"the rule {rule.name!r} cannot be saved: a name or the reason in it has signs of the format"
            raise InvalidArgumentError(message)
    return lines


def _is_read_back(rule: Rule, line: str, relations: Mapping[str, Relation]) -> bool:
    try:
        return read_rule(line, relations) == rule
    except RuleError:
        return False


def renamed(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules of a file, those of ours that had another name by the name that they have now."""
    ours = {rule.name: rule for rule in KNOWING.rules}
    new = ((rule, attrs.evolve(rule, name=RENAMED.get(rule.name, rule.name))) for rule in rules)
    return tuple(now if now.name in ours and is_same_rule(now, ours[now.name]) else rule for rule, now in new)


def is_same_rule(one: Rule, other: Rule) -> bool:
    """Return whether two rules are the same but for the words of their reasons."""
    return attrs.evolve(one, reason=other.reason) == other
