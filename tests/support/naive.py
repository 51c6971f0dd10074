"""The rules carried out by plain loops over everything: slow, and too simple to be wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import permutations

import networkx as nx

from apsl_rules.names import Node
from apsl_rules.rules import MarkStore, adjacent, arrow, gap, head
from apsl_rules.rules.proof import Proof
from apsl_rules.rules.vocabulary import Atom, Fact, Finding, Firing, Rule, Rulebook, Variable


def instance(atom: Atom, bound: Mapping[Variable, Node]) -> Fact:
    """Return the fact that an atom becomes when nodes stand for its variables."""
    return atom.relation.fact(*(bound[variable] for variable in atom.variables))


def bindings(rule: Rule, nodes: Collection[Node]) -> Iterator[dict[Variable, Node]]:
    """Enumerate all ways in which different nodes can stand for the variables of a rule."""
    for chosen in permutations(nodes, len(rule.variables)):
        yield dict(zip(rule.variables, chosen, strict=True))


def depths_by_iteration(
    rulebook: Rulebook, findings: Iterable[Fact], *, blocked: Collection[Fact] = ()
) -> dict[Fact, int]:
    """Return every fact that follows from findings with the least depth of its proofs; findings have depth 0."""
    depths = {fact: 0 for fact in findings if fact not in blocked}
    nodes = sorted({node for fact in depths for node in fact.nodes}, key=repr)
    depth = 0
    while depth in depths.values():
        depth += 1
        held = set(depths)
        for rule in rulebook.rules:
            for bound in bindings(rule, nodes):
                if held.issuperset(instance(atom, bound) for atom in rule.when):
                    for atom in rule.then:
                        fact = instance(atom, bound)
                        if fact not in blocked:
                            depths.setdefault(fact, depth)
    return depths


def replays(rulebook: Rulebook, proof: Proof, findings: Collection[Finding]) -> bool:
    """Return whether every step of a proof is one of the findings, or follows by its rule from the steps it names."""
    rules = {rule.name: rule for rule in rulebook.rules}
    for at, step in enumerate(proof.steps):
        if isinstance(step.reason, Firing):
            rule = rules[step.reason.rule]
            bound = dict(zip(rule.variables, step.reason.bindings, strict=True))
            used = [proof.steps[premise].fact for premise in step.premises]
            follows = (
                all(premise < at for premise in step.premises)
                and used == [instance(atom, bound) for atom in rule.when]
                and step.fact in [instance(atom, bound) for atom in rule.then]
            )
        else:
            follows = step.reason in findings and step.fact == step.reason.fact
        if not follows:
            return False
    return True


def is_consistent(store: MarkStore) -> bool:
    """Return whether a store holds no edge that is a gap too, no directed cycle, and no arrowhead at a cause."""
    arrows = nx.DiGraph([fact.nodes for fact in store.facts(arrow)])
    torn = any(store.relates(gap, *fact.nodes) for fact in store.facts(adjacent))
    heads = [fact.nodes for fact in store.facts(head) if fact.nodes[0] in arrows and fact.nodes[1] in arrows]
    return not torn and nx.is_directed_acyclic_graph(arrows) and not any(nx.has_path(arrows, *one) for one in heads)
