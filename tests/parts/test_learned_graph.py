"""A graph of several runs says the same of a pair wherever it is asked."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn_graph
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.parts import LearnedGraph
from apsl_rules.parts.marked_graph import ENDS
from apsl_rules.rules import Mark


def few_rows(seed: int) -> pd.DataFrame:
    """Draw a table of few rows in which columns are joined by "or" and by "either or", so that tests contradict."""
    random = np.random.default_rng(seed)
    columns, rows = int(random.integers(5, 13)), int(random.integers(12, 120))
    drawn = random.integers(0, 2, (rows, columns))
    for column in range(2, columns):
        follows = random.random(rows) < 0.8
        one, other = (drawn[follows, at] for at in random.integers(0, column, 2))
        drawn[follows, column] = one ^ other if random.random() < 0.4 else one | other
    return pd.DataFrame(drawn, columns=list("abcdefghijklm")[:columns]).astype("category")


def check_pairs(graph: LearnedGraph) -> None:
    """Hold the rows of a graph against its marks and ends, pair by pair."""
    rows = {frozenset((row["source"], row["target"])): row for row in graph.rows()}
    sets = graph.lines | graph.bidirected | {frozenset(pair) for pair in (*graph.arrows, *graph.partial)}
    for x, y in combinations(graph.nodes, 2):
        row = rows.get(frozenset((x, y)))
        if row is None:
            assert graph.mark(x, y) in (Mark.GAP, Mark.UNKNOWN)
            with pytest.raises(InvalidArgumentError):
                graph.end(x, y)
            continue
        mark = Mark(row["mark"])
        assert graph.mark(x, y) is mark
        ways = ((row["source"], row["target"]), (row["target"], row["source"]))
        assert tuple(graph.end(*way) for way in ways) == ENDS[mark]
        assert (frozenset((x, y)) in sets) == (mark is not Mark.CONFLICT)


@pytest.mark.parametrize("seed", [22, 26, 78])
def test_rows_agree_with_marks_where_runs_contradict_each_other(seed: int) -> None:
    """One run finds a pair apart and another joins it, or two draw it differently: all answers agree."""
    graph = learn_graph(few_rows(seed), hidden="allowed")

    assert len(graph.parts) > 1
    check_pairs(graph)


@pytest.mark.slow
def test_rows_agree_with_marks_on_many_tables() -> None:
    """Tables of few rows, half of them with every row twice."""
    for seed in range(200, 240):
        table = few_rows(seed)
        check_pairs(learn_graph(pd.concat([table] * (1 + seed % 2), ignore_index=True), hidden="allowed"))


def test_a_graph_with_duplicates_of_all_its_columns_is_learned() -> None:
    """Duplicates that are nodes of the graph like others are no duplicates of themselves."""
    table = few_rows(26)
    twins = table.rename(columns={name: f"{name}2" for name in table.columns})
    graph = learn_graph(pd.concat([table, twins], axis=1), hidden="allowed")

    assert {*table.columns} <= {*graph.nodes}
    check_pairs(graph)
