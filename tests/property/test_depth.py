"""A mark depends neither on the depth nor on what else is asked, on tables and on known graphs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_rules import Dag, Knowledge, Part, learn, learn_graph, learn_many
from apsl_rules.names import Node
from apsl_rules.parts import LearnedGraph
from support.drawing import some_of

NAMES = [f"x{place}" for place in range(9)]


def drawn(seed: int, kind: str) -> tuple[pd.DataFrame, Dag]:
    """Return a table of numbers, of categories or of both, and the graph behind it."""
    random = np.random.default_rng(seed)
    width = len(NAMES)
    weights = np.triu(random.normal(size=(width, width)) * (random.random((width, width)) < 0.35), 1)
    rows = np.zeros((int(random.choice([120, 400])), width))
    for place in range(width):
        rows[:, place] = rows @ weights[:, place] + random.normal(size=len(rows))
    frame = pd.DataFrame(rows.round(2), columns=NAMES)
    for place, name in enumerate(NAMES):
        if kind == "categories" or (kind == "both" and place % 2):
            cuts = frame[name].quantile([0.33, 0.66])
            frame[name] = np.array(["low", "middle", "high"])[np.digitize(frame[name], cuts)]
    parents = {name: [NAMES[at] for at in np.flatnonzero(weights[:, place])] for place, name in enumerate(NAMES)}
    return frame[[NAMES[at] for at in random.permutation(width)]], Dag(parents)


def marks_at(found: Part | LearnedGraph, part: Part) -> Iterator[tuple[Node, Node, str, bool, bool]]:
    """Yield the mark of each pair with an inner node of a part, as a part or a graph has it."""
    for x, y in combinations(NAMES, 2):
        if part.is_inner(x) or part.is_inner(y):
            yield x, y, str(found.mark(x, y)), (x, y) in found.arrows, (y, x) in found.arrows


@settings(max_examples=some_of(40), deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from(["numbers", "categories", "both", "graph"]),
    st.sampled_from(["possible", "excluded"]),
    st.permutations(NAMES),
    st.booleans(),
)
def test_marks_depend_neither_on_depth_nor_on_what_is_asked(
    seed: int, kind: str, hidden: Any, order: list[str], knows: bool
) -> None:
    """One part of any depth, many parts and the whole graph agree on every pair at an inner node."""
    frame, dag = drawn(seed, kind)
    source: Any = dag if kind == "graph" else frame
    world: Any = "auto" if kind == "graph" else hidden
    tiers = [order[:3], order[3:6]] if knows else []
    if kind == "graph":
        tiers = [[str(node) for node in dag.topological_order[at : at + 3]] for at in (0, 3)] if knows else []
    known = Knowledge(tiers=tiers)
    whole = learn_graph(source, hidden=world, knowledge=known)
    for depth in (1, 2):
        targets = order[: 3 - depth]
        many = learn_many(source, targets, depth=depth, hidden=world, knowledge=known)
        for target in targets:
            part = learn(source, target, depth=depth, hidden=world, knowledge=known)
            here = list(marks_at(part, part))
            assert here == list(marks_at(whole, part))
            assert here == list(marks_at(many[target], part))
