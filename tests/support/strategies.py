"""Hypothesis strategies shared by all tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import attrs
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from apsl_rules.evidence.evidence import Evidence, Verdict
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.names import Node
from apsl_rules.parts.marked_graph import MARKS, MARKS_WITH_HIDDEN, MarkedGraph
from apsl_rules.rules.engine import Mark
from apsl_rules.rules.vocabulary import (
    Fact,
    Finding,
    Relation,
    Rule,
    Rulebook,
    Variable,
    adjacent,
    arrow,
    chain,
    collider,
    gap,
    spouse,
)
from support.graphs import random_dag

#: Labels of several kinds, some of which read alike, so that nothing may rely on their being text or sortable.
LABELS: st.SearchStrategy[Node] = st.one_of(
    st.integers(min_value=-3, max_value=30),
    st.sampled_from(["A", "a", "10", "2", "é", "x y", ""]),
    st.text(max_size=3),
    st.tuples(st.sampled_from("tu"), st.integers(min_value=0, max_value=3)),
)


@st.composite
def dags(draw: st.DrawFn, *, min_nodes: int = 1, max_nodes: int = 8) -> Dag:
    """Draw a graph with odd labels whose node order has nothing to do with its arrows."""
    hidden = draw(st.lists(LABELS, min_size=min_nodes, max_size=max_nodes, unique=True))
    pairs = list(combinations(hidden, 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    arrows = [pair for pair, keep in zip(pairs, kept, strict=True) if keep]
    return Dag({node: [x for x, y in arrows if y == node] for node in draw(st.permutations(hidden))})


#: Labels that other formats would take for their own signs.
ODD_LABELS: st.SearchStrategy[Node] = st.one_of(
    st.sampled_from(
        [
            *(
                "blood pressure",
                'say "no"',
                "it's",
                "a\nb",
                "a\tb\r",
                "\\",
                "a\\",
                '\\"',
                "",
                " ",
                " a ",
                "%",
                "%41",
                "100%",
            ),
            *(
                "Größe",
                "\u5e74\u9f61",
                "\U0001f469\u200d\U0001f52c",
                "\xa0",
                "\x00",
                "\x85",
                "\u2028",
                "\ufffe",
                "\ud800",
            ),
            *(
                "json:3",
                "json:",
                "3",
                "-1.5",
                "node",
                "graph",
                "end",
                "subgraph",
                "strict",
                "x",
                "o",
                "n0",
                "[a]",
                "(a)",
            ),
            *(
                "a->b",
                "a--b",
                "a:b",
                "a|b",
                "a;b",
                "a,b",
                "{a}",
                "<b>",
                "&amp;",
                "#quot;",
                "#35;",
                "//",
                "/*",
                "`a`",
                "1.",
            ),
            *(("t", 1), (), ("a", ("b", 2.5)), 3, -1, 2.5, True, None),
        ]
    ),
    LABELS,
)


@st.composite
def marked_graphs(
    draw: st.DrawFn, *, max_nodes: int = 6, marks: Sequence[Mark] = MARKS, hidden: bool = False
) -> MarkedGraph:
    """Draw a graph with odd labels and every kind of mark, those with hidden causes too; arrows close no cycle."""
    marks = MARKS_WITH_HIDDEN if hidden else marks
    nodes = draw(st.lists(ODD_LABELS, min_size=1, max_size=max_nodes, unique=True))
    pairs = list(combinations(nodes, 2))
    drawn = draw(st.lists(st.sampled_from([None, *marks]), min_size=len(pairs), max_size=len(pairs)))
    edges = [(*pair, mark) for pair, mark in zip(pairs, drawn, strict=True) if mark is not None]
    return MarkedGraph.of_edges(draw(st.permutations(nodes)), edges, hidden=hidden)


def without_conflicts(graph: MarkedGraph) -> MarkedGraph:
    """Return a graph with lines in place of its conflicts, for formats that have no sign for them."""
    return attrs.evolve(graph, lines=graph.lines | graph.conflicts, conflicts=frozenset())


#: Names of nodes and levels that a file must quote, or that look like its keywords, numbers or comments.
WORDS: st.SearchStrategy[str] = st.one_of(
    st.sampled_from(
        ["table", "default", "property", "}", "0.5", "a//b", "/*", "<1", "x y", 'say "no"', "\\n", "\n", ""]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)


@st.composite
def networks(draw: st.DrawFn, *, max_nodes: int = 4, max_levels: int = 3) -> Network:
    """Draw a network with odd names, levels and tables, zeros and rounding included."""
    names = draw(st.lists(WORDS, min_size=1, max_size=max_nodes, unique=True))
    parents = {
        name: draw(st.lists(st.sampled_from(names[:place]), unique=True)) if place else []
        for place, name in enumerate(names)
    }
    dag = Dag({name: parents[name] for name in draw(st.permutations(names))})
    levels: dict[Node, tuple[str, ...]] = {
        name: tuple(draw(st.lists(WORDS, min_size=1, max_size=max_levels, unique=True))) for name in names
    }
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    tables: dict[Node, npt.ArrayLike] = {}
    for name in names:
        shape = [len(levels[other]) for other in (*parents[name], name)]
        weights = random.integers(0, 4, size=shape) * random.random(shape)
        weights[..., 0] += 0.1
        tables[name] = weights / weights.sum(axis=-1, keepdims=True)
    return Network(draw(WORDS), dag, levels, tables, draw(WORDS))


@st.composite
def sparse_dags(draw: st.DrawFn, *, min_nodes: int, max_nodes: int) -> Dag:
    """Draw a graph whose number of edges grows with its nodes, as in real networks."""
    return random_dag(draw(st.integers(0, 10**6)), draw(st.integers(min_nodes, max_nodes)), draw(st.floats(1.0, 3.6)))


_RELATIONS = (adjacent, adjacent, gap, arrow, collider, chain, chain, spouse)


def _fact(relation: Relation, nodes: Sequence[Node]) -> Fact:
    return relation.fact(*nodes[: relation.arity])


@st.composite
def findings(draw: st.DrawFn, *, nodes: str = "abcde", min_size: int = 0, max_size: int = 20) -> list[Finding]:
    """Draw findings over few nodes: contradictory ones, and one fact told twice with different evidence."""
    facts = st.builds(_fact, st.sampled_from(_RELATIONS), st.permutations(nodes))
    p_values = st.sampled_from([None, 1e-9, 0.001, 0.009])
    drawn = draw(st.lists(st.tuples(facts, p_values), min_size=min_size, max_size=max_size))
    return [Finding(fact, Evidence("test", _verdicts(p))) for fact, p in drawn]


def _verdicts(p: float | None) -> tuple[Verdict, ...]:
    return () if p is None else (Verdict("x", "y", (), "dependent", "G²", 1.0, p, 1, 100),)


#: Relations of all shapes that a plugin may bring.
SHAPES = (
    Relation("marked", 1, "{0} is marked"),
    Relation("before", 2, "{0} is before {1}"),
    Relation("beside", 2, "{0} is beside {1}", symmetric=True),
    Relation("between", 3, "{1} is between {0} and {2}", symmetric=True),
)


@st.composite
def rulebooks(draw: st.DrawFn) -> Rulebook:
    """Draw positive rules over relations of all shapes, premises without a common variable included."""
    variables = [Variable(name) for name in "WXYZ"]
    rules = []
    for number in range(draw(st.integers(1, 3))):
        when = [
            relation(*draw(st.permutations(variables))[: relation.arity])
            for relation in draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
        ]
        bound = list(dict.fromkeys(variable for atom in when for variable in atom.variables))
        fitting = [relation for relation in SHAPES if relation.arity <= len(bound)]
        then = [
            relation(*draw(st.permutations(bound))[: relation.arity])
            for relation in draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=2))
        ]
        rules.append(Rule(f"rule {number}", "drawn", when=when, then=then))
    return Rulebook("drawn", tuple(rules), SHAPES)


#: Facts of these relations over four nodes.
SHAPED_FACTS: st.SearchStrategy[Fact] = st.builds(_fact, st.sampled_from(SHAPES), st.permutations("abcd"))
