"""Check saved parts with nothing but Python: ``python recheck.py part.json`` imports no line of apsl_rules.

The rules in the file are fired from its findings to a fixpoint, contradictions are put in quarantine, and conclusions
are compared. It ends with 0 if all follow, with 1 if not, and with 2 for what it does not know, such as other policies.
Of the probability of a suggested direction only the bounds are checked. Nodes are places in the order of names here.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

ATOM, RULE = re.compile(r"([^(), ]+)\(([^()]+)\)"), re.compile(r"(.+?): ([^=]+?) => (.+?)  # .*")
_CONFLICT = ("pair", "kind", "outcome", "sides", "kept", "dropped")
Fact: TypeAlias = tuple[Any, ...]


class State:
    """Facts with a reason each: None for a finding, else a rule, its premises and its nodes; and their depths."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data, self.depth, self.index = data, dict[Fact, int](), dict[Any, list[Fact]]()
        self.turns = {one["name"] for one in data["relations"] if one["symmetric"] and one["arity"] > 1}
        self.reason: dict[Fact, Any] = {}

    def fact(self, name: str, nodes: list[int]) -> Fact:
        """Return a fact as files name it."""
        return (name, *(nodes[::-1] if name in self.turns and nodes[-1] < nodes[0] else nodes))

    def add(self, fact: Fact, reason: Any) -> bool:
        """Take up a fact; return whether it is new."""
        is_new = fact not in self.reason
        for nodes in (fact[1:], fact[:0:-1])[: 1 + (fact[0] in self.turns)] if is_new else ():
            for at, node in [(None, None), *enumerate(nodes)]:
                self.index.setdefault((fact[0], at, node), []).append(nodes)
        self.reason.setdefault(fact, reason)
        return is_new

    def fire(self, told: Any, blocked: Any = ()) -> State:
        """Add findings and fire the rules round by round; of several firings for a fact take the first by name."""
        fresh, rules = {one for one in told if one not in blocked and self.add(one, None)}, []
        for line in self.data["rulebook"]["rules"]:
            if not (found := RULE.fullmatch(line)):
                raise NotImplementedError(line)
            when, then = ([(one[1], one[2].split(", ")) for one in ATOM.finditer(found[at])] for at in (2, 3))
            rules.append((found[1], when, then, list(dict.fromkeys(chain(*(terms for _, terms in when))))))
        rounds = 0
        while fresh:
            rounds, best = rounds + 1, dict[Fact, Any]()
            for name, when, then, terms in rules:
                for at, first in enumerate(when):
                    for bound in self.join([first, *when[:at], *when[at + 1 :]], {}, fresh):
                        spell = [self.fact(one, [bound[term] for term in named]) for one, named in when]
                        for fact in (self.fact(one, [bound[term] for term in named]) for one, named in then):
                            if fact not in self.reason and fact not in blocked:
                                firing = (name, spell, [bound[term] for term in terms])
                                best[fact] = min(best.get(fact, firing), firing)
            self.depth |= {fact: rounds for fact in best if self.add(fact, best[fact])}
            fresh = set(best)
        return self

    def join(self, left: Any, bound: dict[str, int], fresh: set[Fact] | None = None) -> Any:
        """Give the ways to bind variables to different nodes such that all premises hold, the first by a fresh fact."""
        if not left:
            yield bound
            return
        atom = left[0] if fresh else max(left, key=lambda one: sum(term in bound for term in one[1]) / len(one[1]))
        (name, terms), at = atom, next((at for at, term in enumerate(atom[1]) if term in bound), None)
        for nodes in list(self.index.get((name, at, None if at is None else bound[terms[at]]), ())):
            known = dict(bound)
            fits = all(known.setdefault(term, node) == node for term, node in zip(terms, nodes, strict=True))
            if fits and len({*known.values()}) == len(known) and (not fresh or self.fact(name, [*nodes]) in fresh):
                yield from self.join([one for one in left if one is not atom], known)

    def of(self, name: str) -> list[Fact]:
        """Return the facts of a relation in their order."""
        return sorted(one for one in self.reason if one[0] == name)

    def mark(self, x: int, y: int) -> str:
        """Return what is known of a pair."""
        marks = {"conflict": "conflict", "arrow": "arrow", "head": "partial", "adjacent": "line", "gap": "gap"}
        for name, mark in marks.items():
            if count := sum((name, *pair) in self.reason for pair in ((x, y), (y, x))):
                return "bidirected" if name == "head" and count > 1 else mark
        settled = {("settled", x), ("settled", y)} & self.reason.keys()
        return "gap" if settled and ("untested", min(x, y), max(x, y)) not in self.reason else "unknown"


def path(start: int, goal: int, arrows: list[Fact]) -> list[Fact]:
    """Return a shortest path of arrows, none if there is none."""
    came: dict[int, Any] = {start: None}
    for node in (layer := [start]):
        for arrow in arrows:
            if arrow[1] == node and arrow[2] not in came:
                came[arrow[2]] = arrow
                layer.append(arrow[2])
    steps: list[Fact] = []
    while came.get(goal):
        steps.insert(0, came[goal])
        goal = came[goal][1]
    return steps


def contradictions(state: State, torn: Any = ()) -> list[tuple[str, list[Fact]]]:
    """Return the contradictions with the shallowest proofs: the kind and the sides of each."""
    edges = [("edge", [one, ("gap", *one[1:])]) for one in state.of("adjacent") if ("gap", *one[1:]) in state.reason]
    if edges := [one for one in edges if one[1][0][1:] not in torn]:
        return edges
    arrows, heads, depth = state.of("arrow"), state.of("head"), state.depth
    for deep in sorted({depth.get(one, 0) for one in [*arrows, *heads]}):
        near = [one for one in arrows if depth.get(one, 0) <= deep]
        ends = {one: path(one[1], one[2], near) for one in heads if depth.get(one, 0) <= deep}
        found = [("cause", [one, *way]) for one, way in ends.items() if way]
        if not heads:
            turned = {one: ("arrow", *one[:0:-1]) for one in near if one[1] < one[2]}
            found = [("opposed", [one, other]) for one, other in turned.items() if other in near]
        if not heads and not found:
            on = {one[1]: {end for _, _, end in near if path(one[1], end, near)} for one in near}
            groups = {node: {end for end in ends if node in on.get(end, ())} for node, ends in on.items()}
            lows = sorted({min({node} | ends) for node, ends in groups.items() if ends})
            found = [("cycle", [one for one in near if {*one[1:]} <= groups[low] | {low}]) for low in lows]
        if found:
            return found
    return []


def report(kind: str, sides: list[Fact], blocked: Any) -> list[list[Any]]:
    """Return the conflicts of a contradiction: pair, kind, outcome, sides, and the facts kept and dropped."""
    if kind == "cycle":
        ways = [[one, *path(one[2], one[1], sides)] for one in sides]
        return [[sorted(way[0][1:]), kind, "no arrow", way, [], way[:1]] for way in ways]
    kept, dropped = ([one for one in sides if (one in blocked) == lost] for lost in (False, True))
    pairs = dict.fromkeys(tuple(sorted(one[1:])) for one in sides)
    return [[[*pair], kind, "no arrow", sides, kept, dropped] for pair in pairs]


def settle(data: dict[str, Any], told: set[Fact]) -> tuple[State, list[list[Any]]]:
    """Return what holds once contradicted marks are blocked, and the conflicts."""
    conflicts, torn, blocked = list[list[Any]](), set[Fact](), set[Fact]()
    while met := contradictions(state := State(data).fire(told, blocked), torn):
        for kind, sides in met:
            pairs = [pair for one in sides for pair in (one[1:], one[:0:-1])]
            blocked.update((name, *pair) for name in ("arrow", "head") for pair in pairs)
            torn.update(one[1:] for one in sides if kind == "edge")
            conflicts += report(kind, sides, blocked)
    for pair, *_ in conflicts:
        if state.mark(*pair) in ("line", "gap", "unknown"):
            state.add(("conflict", *pair), None)
    return state, conflicts


def finding_of(data: dict[str, Any], rank: dict[int, int]) -> Fact:
    """Return the fact of a finding; refuse evidence of kinds that are not known."""
    evidence = data["evidence"]
    kind = "score" if "nats" in evidence else "test" if evidence["verdicts"] else "stated"
    if evidence["kind"] != ("given" if evidence["source"] == "given" else kind):
        raise NotImplementedError(evidence["kind"])
    return (data["fact"][0], *(rank[at] for at in data["fact"][1:]))


def name_key(label: Any) -> Any:
    """Return the key that puts names in their order."""
    if isinstance(label, dict):
        return "tuple", tuple(map(name_key, label["tuple"]))
    return ("NoneType", "None") if label is None else ("str" if isinstance(label, str) else "number", label)


def distances(data: dict[str, Any], state: State, told: set[Fact], rank: dict[int, int]) -> dict[int, int]:
    """Return how far each node is from the target over the edges found, but for those that knowledge overruled."""
    known = data.get("knowledge", {})
    tier = {rank[at]: place for place, one in enumerate(known.get("tiers", ())) for at in one}
    far, edges = {rank[data["target"]]: 0}, []
    for one in (one[1:] for one in told if one[0] == "adjacent"):
        tiers = [tier.get(node) for node in one]
        shut = [[*pair] in [[rank[at] for at in other] for other in known.get("forbidden", ())]
                or (None not in tiers and tier[pair[0]] > tier[pair[1]]) for pair in (one, one[::-1])]  # fmt: skip
        apart = all(shut) or (tiers[0] == tiers[1] and tiers[0] in known.get("apart_within", ()))
        apart = apart or {*one} in [{rank[at] for at in other} for other in known.get("apart", ())]
        edges += [] if apart and state.mark(*one) == "gap" else [one, one[::-1]]
    for node in (layer := [*far]):
        fresh = dict.fromkeys(end for start, end in edges if start == node and end not in far)
        far |= dict.fromkeys(fresh, far[node] + 1)
        layer += fresh
    return far


def faults(data: dict[str, Any]) -> list[str]:
    """Return a sentence for each conclusion that does not follow."""
    if (data["format"], data["version"], data["policy"]) != ("apsl_rules part", 2, "quarantine"):
        raise NotImplementedError(data["format"], data["version"], data["policy"])
    number = sorted(range(len(data["nodes"])), key=lambda at: name_key(data["nodes"][at]))
    rank, said = {at: place for place, at in enumerate(number)}, data["conclusions"]
    told = {finding_of(finding, rank) for visit in data["visits"] for finding in visit["findings"]}
    state, conflicts = settle(data, told)
    far = distances(data, state, told, rank)
    inner = {node for node, steps in far.items() if data["depth"] == "max" or steps < data["depth"]}

    def plain(facts: Any) -> list[list[Any]]:
        return [[fact[0], *(number[at] for at in fact[1:])] for fact in facts]

    joined = (one[1:] for name in ("arrow", "head", "adjacent") for one in state.of(name))
    pairs = {(min(one), max(one)) for one in joined if not inner.isdisjoint(one)}
    ways = [way for pair in pairs for way in (pair, pair[::-1])]
    marks = {way: state.mark(*way) for way in ways}
    edges = {
        "arrows": [way for way in ways if marks[way] == "arrow" and ("arrow", *way) in state.reason],
        "lines": [way for way in ways if marks[way] == "line" and number[way[0]] < number[way[1]]],
        "partial": [way for way in ways if marks[way] == "partial" and ("head", *way[::-1]) in state.reason],
        "bidirected": [way for way in ways if marks[way] == "bidirected" and number[way[0]] < number[way[1]]],
        "in_conflict": [way for way in ways if marks[way] == "conflict" and ("adjacent", *way) in state.reason],
    }
    right: dict[str, Any] = {key: sorted([number[x], number[y]] for x, y in some) for key, some in edges.items()}
    right["in_conflict"] = sorted(map(sorted, right["in_conflict"]))
    right["members"] = sorted({data["target"], *chain(*chain(*(right[key] for key in edges)))})
    right["facts"] = [{"fact": plain([one])[0], "rule": why[0], "bindings": [number[at] for at in why[2]],
                       "premises": plain(why[1])} for one, why in state.reason.items() if why]  # fmt: skip
    right["facts"].sort(key=lambda one: json.dumps(one["fact"]))
    right["dropped"] = sorted(plain(told - state.reason.keys()))
    spelt = [[[number[at] for at in pair], kind, what, *map(plain, some)] for pair, kind, what, *some in conflicts]
    right["conflicts"] = [dict(zip(_CONFLICT, one, strict=True)) for one in spelt]
    right["distances"] = sorted([number[node], steps] for node, steps in far.items())
    wrong = [f"the {key.replace('_', ' ')} are not those that follow" for key in right if said[key] != right[key]]
    least = 1 if any(one[0] == "duplicate" for one in told) else data["settings"].get("min_direction") or 0
    weak = {(x, y) for x, y, share in said["suggested"] if [x, y] in right["arrows"] and 0 <= share <= least}
    wrong += ["the suggested directions are no weak arrows"] if len(weak) < len(said["suggested"]) else []
    visited = [rank[one["node"]] for one in data["visits"]]
    missed = {one[1] for one in told if one[0] == "settled"} | (inner if data["incomplete"] is None else set())
    is_odd = len({*visited}) < len(visited) or missed - {*visited}
    return [*wrong, "the visits are not those of the asked part"] if is_odd else wrong


def check(name: str) -> int:
    """Check a file, say what came of it, and return the exit code."""
    try:
        wrong, code = faults(json.loads(Path(name).read_text("utf-8"))), 1
    except NotImplementedError as error:
        wrong, code = [f"it has what is not known here: {', '.join(map(str, error.args))}"], 2
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        wrong, code = [f"it cannot be read: {error!r}"], 1
    print(f"{name}: {'; '.join(wrong) or 'every conclusion follows from the findings'}")
    return code if wrong else 0


if __name__ == "__main__":
    sys.exit(max(map(check, sys.argv[1:]), default=2))
