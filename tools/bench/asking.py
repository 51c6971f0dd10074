"""Answers of people laid over parts: what they draw, what else they move, and what wrong ones cost.

Usage: python tools/bench/asking.py [--quick] [--list LIST.py]. The tables and the list are those of directions.py, with
the orders that are beyond doubt; the person answers exactly what these imply, and "don't know" else. Networks, of which
no column is hidden, are asked about every edge at every target, with one answer in ten wrong. No setting was chosen on
these figures.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator

from apsl_rules import Knowledge, Part, learn, network
from apsl_rules.cycles import cyclic_groups
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import sample
from apsl_rules.names import Node
from directions import Known, tables_of

Pair = frozenset[Node]
_SHARE = 0.7
_WRONG = 0.1
#: Larger tables are left out of the quick form.
_MOST_ROWS_QUICK = 2000


def known_edges(part: Part, before: set[tuple[str, str]]) -> list[tuple[Node, Node]]:
    """Return the edges between columns of known order, the earlier one first."""
    return [(x, y) for x, y in sorted(before) if frozenset((x, y)) in part.edges]


def outcome(part: Part, way: tuple[Node, Node]) -> str:
    """Return whether a known direction is drawn right, wrong, or not at all."""
    return "right" if way in part.arrows else "wrong" if way[::-1] in part.arrows else "open"


def drawn(part: Part) -> dict[Pair, tuple[str, bool]]:
    """Return the mark of each edge, and whether its arrow points at the later end by name."""
    found = {}
    for pair in part.edges:
        x, y = sorted(pair, key=str)
        found[pair] = (str(part.mark(x, y)), (x, y) in part.arrows)
    return found


def tiers_of(before: set[tuple[str, str]]) -> dict[Node, str]:
    """Return a number from 1 to 4 for each column of a known order, as a person would sort it."""
    depth = dict.fromkeys({name for pair in before for name in pair}, 0)
    for _ in depth:
        for one, other in before:
            depth[other] = max(depth[other], depth[one] + 1)
    last = max(depth.values(), default=0)
    return {name: str(1 + round(3 * at / max(1, last))) for name, at in depth.items()}


def target_of(known: Known, before: set[tuple[str, str]]) -> str:
    """Return the target of a table; where none is named, the column that the most others come before."""
    latest = Counter(other for _, other in before)
    return str(getattr(known, "target", None) or min(latest, key=lambda name: (-latest[name], name)))


def closes_circle(part: Part, ways: list[tuple[Node, Node]], pair: Pair) -> bool:
    """Return whether an arrow of a part lies on a circle with what is told."""
    told = {frozenset(way) for way in ways}
    arrows = [*ways, *(way for way in part.arrows if frozenset(way) not in told)]
    return any(pair <= circle for circle in cyclic_groups(arrows))


def may_fall(part: Part, way: tuple[Node, Node]) -> bool:
    """Return whether a right arrow is so little surer than an opinion against it that the odds of both do not draw it.

    This is what the opinion weighs: the odds of the data times its own, by the bound from which arrows are drawn.
    """
    sure, least = part.direction_probability(*way), part.settings.get("min_direction") or 0.5
    if way not in part.arrows or sure is None:
        return False
    odds = sure / (1 - sure) * (1 - _SHARE) / _SHARE
    return bool(odds / (1 + odds) < least)


def told_at(part: Part, before: set[tuple[str, str]]) -> dict[Node, str]:
    """Return what a person who knows the orders says of the neighbours of the target."""
    target = part.target
    words = {}
    for one in part.neighbours_of(target):
        if (one, target) in before:
            words[one] = "before"
        elif (target, one) in before:
            words[one] = "after"
    return words


def real_tables(listed: Iterable[Known], *, quick: bool) -> Iterator[str]:
    """Give what answers do on real tables."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("before", "tiers", "opinions", "turned")}
    clicks, named, through, told_drawn, moved, gave_way, tables, light, beyond = 0, 0, 0, 0, 0, 0, 0, 0, 0
    for known in listed:
        frame = known.frame()
        if quick and len(frame) > _MOST_ROWS_QUICK:
            continue
        tables += 1
        before = known.truth(list(frame.columns))
        target, settings = target_of(known, before), getattr(known, "settings", {})
        part = learn(frame, target, depth="max", **settings)
        edges = known_edges(part, before)
        words = told_at(part, before)
        clicks += len(part.neighbours_of(part.target))
        sorted_part = part.answer("sort", words, by="person")
        ways = [(one, part.target) if word == "before" else (part.target, one) for one, word in words.items()]
        across = [(one, other) for one, to in ways for at, other in ways if to == at == part.target]
        ways += [way for way in across if frozenset(way) in part.edges]
        names = {frozenset(way) for way in ways}
        named, through = named + len(ways), through + len(ways) - len(words)
        told_drawn += sum(way in sorted_part.arrows for way in ways)
        one, other = drawn(part), drawn(sorted_part)
        changed = [pair for pair in one.keys() | other.keys() if pair not in names and one.get(pair) != other.get(pair)]
        moved += len(changed)
        gave_way += sum(closes_circle(part, ways, pair) for pair in changed)
        sorting = {name: word for name, word in tiers_of(before).items() if name in part.nodes}
        tiered = part.answer("tiers", sorting, by="person")
        opinions = Knowledge(likely=dict.fromkeys(edges, _SHARE))
        turned = Knowledge(likely=dict.fromkeys([way[::-1] for way in edges], _SHARE))
        parts = {"before": part, "tiers": tiered}
        for name, given in (("opinions", opinions), ("turned", turned)):
            parts[name] = learn(frame, target, depth="max", knowledge=given, **settings)
        light += sum(may_fall(part, way) for way in edges)
        fell = [way for way in edges if way in part.arrows and way not in parts["turned"].arrows]
        beyond += sum(not may_fall(part, way) for way in fell)
        for name, found in parts.items():
            counts[name].update(outcome(found, way) for way in edges)
    yield f"sort question on {tables} tables: {clicks / tables:.1f} clicks per target, {named} directions told"
    yield f"of these from a column before the target to one after it: {through}"
    yield f"told and drawn: {told_drawn} of {named}"
    yield f"marks that no answer names, changed: {moved}, of which {gave_way} would close a circle with what is told"
    yield f"\n| known directions of edges ({sum(counts['before'].values())}) | right % | wrong % | open % |"
    yield "|---|---|---|---|"
    titles = {"opinions": f"all opinions {_SHARE:.0%} right", "turned": "the same opinions turned round"}
    for name, outcomes in counts.items():
        whole = max(1, sum(outcomes.values()))
        cells = " | ".join(f"{100 * outcomes[one] / whole:.1f}" for one in ("right", "wrong", "open"))
        yield f"| {titles.get(name, name)} | {cells} |"
    share = 100 * light / max(1, sum(counts["before"].values()))
    yield (
        f"\nright arrows that an opinion of {_SHARE:.0%} against them outweighs, by the odds of both: {share:.1f} %; "
        f"lost beyond these: {beyond}"
    )


def distance(part: Part, truth: Dag) -> int:
    """Return in how many edges at its target a part differs from the true graph; an open edge counts as one."""
    target = part.target
    others = {*part.neighbours_of(target), *truth.neighbours_of(target)}
    wrong = 0
    for one in others:
        true = (one, target) in truth.edges, (target, one) in truth.edges
        wrong += ((one, target) in part.arrows, (target, one) in part.arrows) != true
        wrong -= not any(true) and one not in part.neighbours_of(target)
    return wrong


def networks(names: list[str], rows: int, seeds: range) -> Iterator[str]:
    """Give the distance per target with answers to every edge, one in ten wrong."""
    yield "\n| network | before | true answers | 10 % wrong, laid over | 10 % wrong, new search |"
    yield "|---|---|---|---|---|"
    for name in names:
        known = network(name)
        sums: Counter[str] = Counter()
        for seed in seeds:
            data = sample(known, rows, seed=seed)
            drawing = random.Random(f"{name} {seed}")
            for target in known.dag.nodes:
                part = learn(data, target, hidden="excluded")
                right, noisy = {}, {}
                for one in part.neighbours_of(target):
                    parents, children = known.dag.parents_of(target), known.dag.children_of(target)
                    word = "before" if one in parents else "after" if one in children else None
                    if word is None:
                        continue
                    right[one] = word
                    turned = "after" if word == "before" else "before"
                    noisy[one] = turned if drawing.random() < _WRONG else word
                wrong = part.answer("sort", noisy, by="person")
                sums["before"] += distance(part, known.dag)
                sums["true"] += distance(part.answer("sort", right, by="person"), known.dag)
                sums["over"] += distance(wrong, known.dag)
                sums["again"] += distance(wrong.relearn(data), known.dag)
                sums["targets"] += 1
        cells = " | ".join(f"{sums[one] / sums['targets']:.2f}" for one in ("before", "true", "over", "again"))
        yield f"| {name} {rows:,} | {cells} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small tables, and one network")
    parser.add_argument("--list", help="a file with the tables, as directions.py takes one")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for line in real_tables(tables_of(given.list), quick=given.quick):
        print(line, flush=True)
    names = ["child"] if given.quick else ["child", "insurance", "alarm"]
    for line in networks(names, 1000, range(7001, 7002 if given.quick else 7003)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
