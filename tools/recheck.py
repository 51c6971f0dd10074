"""Check saved parts with nothing but Python: ``python recheck.py part.json`` imports no line of apsl_rules.

The rules in the file are fired from its findings to a fixpoint, contradictions are settled, and conclusions compared.
It ends with 0 if all follow, with 1 if not, and with 2 for what is unknown here, such as policies that go by order. Of
suggested directions only the bounds are checked. Nodes are places in the order of names here.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

ATOM, RULE = re.compile(r"([^(), ]+)\(([^()]+)\)"), re.compile(r"(.+?): ([^=]+?) => (.+?)  # .*")
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
        if is_new := fact not in self.reason:
            self.reason[fact] = reason
            for nodes in (fact[1:], fact[:0:-1])[: 1 + (fact[0] in self.turns)]:
                for at, node in [(None, None), *enumerate(nodes)]:
                    self.index.setdefault((fact[0], at, node), []).append(nodes)
        return is_new

    def fire(self, told: Any, blocked: Any = ()) -> State:
        """Add findings and fire the rules round by round; of several firings for a fact take the first by name."""
        fresh, rules = {one for one in told if one not in blocked and self.add(one, None)}, []
        for line in self.data["rulebook"]["rules"]:
            if not (found := RULE.fullmatch(line)):
                raise NotImplementedError(line)
            when, then = ([(one[1], one[2].split(", ")) for one in ATOM.finditer(found[at])] for at in (2, 3))
            rules.append((found[1], when, then, list(dict.fromkeys(chain(*(terms for _, terms in when))))))
        while fresh:
            best, deep = dict[Fact, Any](), 1 + max(self.depth.values(), default=0)
            for name, when, then, terms in rules:
                for at, first in enumerate(when):
                    for bound in self.join([first, *when[:at], *when[at + 1 :]], {}, fresh):
                        spell = [self.fact(one, [bound[term] for term in named]) for one, named in when]
                        firing = (name, spell, [bound[term] for term in terms])
                        concluded = {self.fact(one, [bound[term] for term in named]) for one, named in then}
                        for fact in concluded.difference(self.reason, blocked):
                            best[fact] = min(best.get(fact, firing), firing)
            self.depth |= {fact: deep for fact in best if self.add(fact, best[fact])}
            fresh = set(best)
        return self

    def join(self, left: Any, bound: dict[str, int], fresh: set[Fact] | None = None) -> Any:
        """Give the ways to bind variables to different nodes such that all premises hold, the first by a fresh fact."""
        if not left:
            return (yield bound)
        atom = left[0] if fresh else max(left, key=lambda one: sum(term in bound for term in one[1]) / len(one[1]))
        (name, terms), at = atom, next((at for at, term in enumerate(atom[1]) if term in bound), None)
        for nodes in list(self.index.get((name, at, None if at is None else bound[terms[at]]), ())):
            known = dict(bound)
            fits = all(known.setdefault(term, node) == node for term, node in zip(terms, nodes, strict=True))
            if fits and len({*known.values()}) == len(known) and (not fresh or self.fact(name, [*nodes]) in fresh):
                yield from self.join([one for one in left if one is not atom], known)

    def is_given(self, fact: Fact, given: set[Fact]) -> bool:
        """Return whether all findings behind a fact are given, but for that of its own edge."""
        for one in (behind := [fact]):
            behind += [other for other in (self.reason[one] or ("", ()))[1] if other not in behind]
        found = {one for one in behind if not self.reason[one]}
        return (found - {("adjacent", *sorted(fact[1:]))} or found) <= given

    def of(self, name: str) -> list[Fact]:
        """Return the facts of a relation in their order."""
        return sorted(one for one in self.reason if one[0] == name)

    def mark(self, x: int, y: int) -> str:
        """Return what is known of a pair."""
        words = {"head": "partial", "adjacent": "line"}
        for name in ("conflict", "arrow", "head", "adjacent", "gap", "open"):
            if count := sum((name, *pair) in self.reason for pair in ((x, y), (y, x))):
                return "bidirected" if name == "head" and count > 1 else words.get(name, name)
        settled = {("settled", x), ("settled", y)} & self.reason.keys()
        return "gap" if settled and ("untested", min(x, y), max(x, y)) not in self.reason else "unknown"


def path(start: int, goal: int, arrows: list[Fact]) -> list[Fact]:
    """Return a shortest path of arrows, none if there is none."""
    ways: dict[int, list[Fact]] = {start: []}
    for node in (layer := [start]):
        for arrow in (one for one in arrows if one[1] == node and one[2] not in ways):
            ways[arrow[2]] = [*ways[node], arrow]
            layer.append(arrow[2])
    return ways.get(goal, [])


def contradictions(state: State, torn: Any = ()) -> list[tuple[str, list[Fact]]]:
    """Return the contradictions with the shallowest proofs: the kind and the sides of each."""
    if cut := [one for one in state.of("adjacent") if ("gap", *one[1:]) in state.reason and one[1:] not in torn]:
        return [("edge", [one, ("gap", *one[1:])]) for one in cut]
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


def report(kind: str, sides: list[Fact], lost: set[Fact]) -> list[list[Any]]:
    """Return the conflicts of a contradiction: pair, kind, outcome, sides, and the facts kept and dropped."""
    if kind == "cycle":
        ways = [[one, *path(one[2], one[1], sides)] for one in sides]
        ends = [("no arrow", way, [], way[:1]) if way[0] in lost else ("kept", way, way[:1], []) for way in ways]
        return [[sorted(end[1][0][1:]), kind, *end] for end in ends]
    kept, dropped = ([one for one in sides if (one in lost) is gone] for gone in (False, True))
    outcome = "dropped" if kind == "cause" and kept and dropped else "kept" if len(kept) == 1 else "no arrow"
    return [[[*pair], kind, outcome, sides, kept, dropped] for pair in {(*sorted(one[1:]),): 0 for one in sides}]


def settle(data: dict[str, Any], told: set[Fact], given: set[Fact]) -> tuple[State, list[list[Any]]]:
    """Return what holds once contradicted marks are blocked, and the conflicts."""
    conflicts, blocked, torn = list[list[Any]](), set[Fact](), set[Fact]()
    while met := contradictions(state := State(data).fire(told, blocked), torn):
        for kind, sides in met:
            weak = [one for one in sides if data["policy"] == "quarantine" or not state.is_given(one, given)] or sides
            pairs = [pair for one in weak for pair in (one[1:], one[:0:-1])]
            lost = {(name, *pair) for name in ("arrow", "head") for pair in pairs} - ({*sides} - {*weak})
            if kind == "edge" and len(weak) == 1:
                lost = {*weak, *lost} if weak[0][0] == "adjacent" else {*weak}
            torn.update(one[1:] for one in sides if kind == "edge")
            conflicts += report(kind, sides, lost)
            blocked |= lost
    for pair, kind, *_, dropped in conflicts:
        if not (kind == "edge" and dropped) and state.mark(*pair) in ("line", "gap", "unknown"):
            state.add(("conflict", *pair), None)
    return state, conflicts


def finding_of(data: dict[str, Any], rank: dict[int, int]) -> Fact:
    """Return the fact of a finding; refuse evidence of kinds that are not known."""
    said = data["evidence"]
    kind = "score" if "nats" in said else "test" if said["verdicts"] else "stated"
    if said["kind"] != ("given" if said["source"] == "given" else kind):
        raise NotImplementedError(said["kind"])
    return (data["fact"][0], *(rank[at] for at in data["fact"][1:]))


def name_key(label: Any) -> Any:
    """Return the key that puts names in their order."""
    if isinstance(label, dict):
        return "tuple", tuple(map(name_key, label["tuple"]))
    return ("NoneType", "None") if label is None else ("str" if isinstance(label, str) else "number", label)


def distances(data: dict[str, Any], state: State, told: set[Fact], rank: dict[int, int]) -> dict[int, int]:
    """Return how far each node is from the target over the edges found, but for those that knowledge overruled."""
    known = data.get("knowledge", {})
    tier = {rank[at]: place for place, one in enumerate(known.get("tiers", ()), start=1) for at in one}
    barred, apart = ([[rank[at] for at in pair] for pair in known.get(key, ())] for key in ("forbidden", "apart"))
    far, edges = {rank[data["target"]]: 0}, []
    for x, y in (one[1:] for one in told if one[0] == "adjacent"):  # a node in no tier comes after the first one only
        shut = [[*pair] in barred or tier.get(pair[0], 1.5) > tier.get(pair[1], 1e9) for pair in ((x, y), (y, x))]
        is_apart = all(shut) or {x, y} in map(set, apart) or tier.get(x) == tier.get(y) in known.get("apart_within", ())
        edges += [] if is_apart and state.mark(x, y) == "gap" else [(x, y), (y, x)]
    for node in (layer := [*far]):
        layer += (fresh := [end for start, end in edges if start == node and end not in far])
        far |= dict.fromkeys(fresh, far[node] + 1)
    return far


def faults(data: dict[str, Any]) -> list[str]:
    """Return a sentence for each conclusion that does not follow."""
    if (data["format"], data["version"], data["policy"] in ("given", "quarantine")) != ("apsl_rules part", 2, True):
        raise NotImplementedError(data["format"], data["version"], data["policy"])
    number = sorted(range(len(data["nodes"])), key=lambda at: name_key(data["nodes"][at]))
    rank, said = {at: place for place, at in enumerate(number)}, data["conclusions"]
    found = [(finding_of(one, rank), one["evidence"]["kind"]) for visit in data["visits"] for one in visit["findings"]]
    told = {one for one, _ in found}
    state, conflicts = settle(data, told, {one for one, kind in found if kind == "given"})
    far = distances(data, state, told, rank)
    inner = {node for node, steps in far.items() if data["depth"] == "max" or steps < data["depth"]}

    def plain(facts: Any) -> list[list[Any]]:
        return [[fact[0], *(number[at] for at in fact[1:])] for fact in facts]

    joined = (one[1:] for name in ("arrow", "head", "adjacent") for one in state.of(name))
    pairs = {(min(one), max(one)) for one in joined if not inner.isdisjoint(one)}
    marks = {way: state.mark(*way) for pair in pairs for way in (pair, pair[::-1])}
    edges = {
        "arrows": [way for way in marks if marks[way] == "arrow" and ("arrow", *way) in state.reason],
        "lines": [way for way in marks if marks[way] == "line" and number[way[0]] < number[way[1]]],
        "partial": [way for way in marks if marks[way] == "partial" and ("head", *way[::-1]) in state.reason],
        "bidirected": [way for way in marks if marks[way] == "bidirected" and number[way[0]] < number[way[1]]],
        "in_conflict": [way for way in marks if marks[way] == "conflict" and ("adjacent", *way) in state.reason],
    }
    right: dict[str, Any] = {key: sorted([number[x], number[y]] for x, y in some) for key, some in edges.items()}
    right["in_conflict"] = sorted(map(sorted, right["in_conflict"]))
    right["members"] = sorted({data["target"], *chain(*chain(*(right[key] for key in edges)))})
    right["facts"] = [{"fact": plain([one])[0], "rule": why[0], "bindings": [number[at] for at in why[2]],
                       "premises": plain(why[1])} for one, why in state.reason.items() if why]  # fmt: skip
    right["facts"].sort(key=lambda one: json.dumps(one["fact"]))
    right["dropped"] = sorted(plain(told - state.reason.keys()))
    right["conflicts"] = [{"pair": [number[at] for at in pair], "kind": kind, "outcome": what, "sides": plain(sides),
                           "kept": plain(kept), "dropped": plain(dropped)}
                          for pair, kind, what, sides, kept, dropped in conflicts]  # fmt: skip
    right["distances"] = sorted([number[node], steps] for node, steps in far.items())
    wrong = [f"the {key.replace('_', ' ')} are not those that follow" for key in right if said[key] != right[key]]
    if not all([x, y] in right["arrows"] and 0 <= share <= 1 for x, y, share in said["suggested"]):
        wrong.append("the suggested directions are no arrows that follow")
    visited = [rank[one["node"]] for one in data["visits"]]
    needed = {one[1] for one in told if one[0] == "settled"} | (inner if data["incomplete"] is None else set())
    is_odd = len({*visited}) < len(visited) or needed - {*visited}
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
