"""Tiers with hidden causes, some nodes in no tier: the marks that all graphs share that agree with the tiers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Knowledge, learn
from apsl_rules.evaluation.exactness import MagClasses, faults_of, mag_classes
from apsl_rules.graphs import Mag, Pag
from apsl_rules.names import Depth, Node
from apsl_rules.parts.file import parse_part, part_json
from support.drawing import some_of


def test_a_node_in_no_tier_passes_on_what_tiers_say_of_those_around_it() -> None:
    """In a -> x -> b with b after a, b cannot be a cause of x: x would pass it on to a."""
    graph = Dag({"a": [], "x": ["a"], "b": ["x"]})
    part = learn(graph, "x", depth=2, hidden="allowed", knowledge=Knowledge(tiers=[["a"], ["b"]]))

    assert part.partial == {("x", "b")}
    assert part.lines == {frozenset(("a", "x"))}
    assert "b is no cause of a   [given: b is in tier 2 and a in tier 1]" in str(part.why("b", "x"))
    assert parse_part(part_json(part), "file") == part


def test_a_forbidden_arrow_bars_ways_through_others() -> None:
    """That b is no cause of a, although they are not adjacent, puts an arrowhead at b."""
    graph = Dag({"a": [], "x": ["a"], "b": ["x"]})
    part = learn(graph, "x", depth=2, hidden="allowed", knowledge=Knowledge(forbidden=[("b", "a")]))

    assert part.partial == {("x", "b")}


def test_tiers_that_the_answers_contradict_are_a_conflict() -> None:
    """The arrows c -> x -> a are proved, and c is said to be no cause of a: both sides are told."""
    graph = Dag({"p": [], "q": [], "c": ["p", "q"], "x": ["c"], "a": ["x"]})
    part = learn(graph, "c", depth="max", hidden="allowed", knowledge=Knowledge(tiers=[["a"], ["c"]]))

    assert part.all_conflicts
    said = {finding.fact.relation for one in part.all_conflicts for proof in one.proofs for finding in proof.findings}
    assert {"noncause", "collider"} <= said


def causes(graph: Mag) -> set[tuple[Node, Node]]:
    """Return every pair of nodes of which the first is a cause of the second, also through others."""
    found = set(graph.arrows)
    for middle, x, y in product(graph.nodes, repeat=3):
        if (x, middle) in found and (middle, y) in found:
            found.add((x, y))
    return found


def shared(graphs: list[Mag]) -> Pag:
    """Return the marks that graphs share."""
    first = graphs[0]
    ends = {pair: end if all(one.ends[pair] == end for one in graphs) else "circle" for pair, end in first.ends.items()}
    return Pag(first.nodes, ends)


def split(numbers: tuple[int, ...]) -> Knowledge:
    """Put nodes into tiers by their numbers; those numbered 0 are in none."""
    return Knowledge(tiers=[[node for node, one in enumerate(numbers) if one == tier] for tier in (1, 2, 3)])


def truths(
    classes: MagClasses, at: int, splits: list[tuple[int, ...]]
) -> Iterator[tuple[DSeparation, Knowledge, Pag, list[Mag]]]:
    """Give a class with tiers that some of its graphs agree with, and the marks that all those share."""
    members = [(graph, causes(graph)) for graph in classes.members(at)]
    for numbers in splits:
        if len({*numbers} - {0}) < 2:
            continue
        knowledge = split(numbers)
        fitting = [graph for graph, pairs in members if not any(knowledge.why_barred(*pair) for pair in pairs)]
        if fitting:
            yield DSeparation(fitting[0].canonical()), knowledge, shared(fitting), fitting


@pytest.mark.slow
def test_all_tiers_on_three_nodes_are_used_exactly() -> None:
    """All classes on three nodes, all tiers, with or without a node in none, targets and depths in turn."""
    classes = mag_classes(3)
    splits = list(product(range(4), repeat=3))
    depths: tuple[Depth, ...] = (1, "max")
    runs = 0
    for at in range(len(classes)):
        for oracle, knowledge, truth, _ in truths(classes, at, splits):
            part = learn(oracle, runs % 3, depth=depths[runs % 2], hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            assert not part.all_conflicts

    assert runs == 447


@pytest.mark.slow
def test_tiers_on_four_nodes_are_used_exactly() -> None:
    """All 248 classes on four nodes, every one with 5 of the tiers, or 25, targets and depths in turn."""
    classes, random = mag_classes(4), Random(5)
    splits = list(product(range(4), repeat=4))
    depths: tuple[Depth, ...] = (1, 2, "max")
    runs = 0
    for at in range(len(classes)):
        for oracle, knowledge, truth, _ in truths(classes, at, random.sample(splits, some_of(25))):
            part = learn(oracle, runs % 4, depth=depths[runs % 3], hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            assert not part.all_conflicts

    assert runs > some_of(2000)


@pytest.mark.slow
def test_tiers_on_five_nodes_are_used_exactly_when_all_is_visited() -> None:
    """Up to 600 of the classes on five nodes: all marks with depth "max", and no false one with depth 1."""
    classes, random = mag_classes(5), Random(7)
    splits = list(product(range(4), repeat=5))
    runs = 0
    for at in random.sample(range(len(classes)), some_of(600, one_in=12)):
        for oracle, knowledge, truth, fitting in truths(classes, at, random.sample(splits, 3)):
            target = runs % 5
            part = learn(oracle, target, depth="max", hidden="allowed", knowledge=knowledge)
            near = learn(oracle, target, hidden="allowed", knowledge=knowledge)
            runs += 1

            assert not list(faults_of(part, truth))
            for pair in truth.region(target, 1):
                assert near.end(*pair) == "circle" or all(near.end(*pair) == one.ends[pair] for one in fitting)

    assert runs > some_of(600, one_in=12)
