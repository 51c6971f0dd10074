"""Other names of the columns, or another order of columns or rows, leave a part as it is."""

from __future__ import annotations

import attrs
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apsl_backends.independence.count_tests import GSquare
from apsl_backends.scores.columns import ContentOrder
from apsl_rules import learn, network
from apsl_rules.data import describe
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import random_network, sample
from apsl_rules.names import Depth, Node, Pair
from apsl_rules.parts.probability import DEFAULT_DIRECTION

#: Parts that other names of the columns changed, by how their table is drawn: from a shipped network, or a random one.
CHANGED: tuple[tuple[str, str | int, int, int, Node, Depth], ...] = (
    ("apsl-score", "insurance", 500, 2, "PropCost", 1),
    ("apsl-score", "alarm", 500, 1, "VENTALV", 1),
    ("apsl-score", 15, 1000, 10, "X11", "max"),
    ("apsl-score", 17, 200, 12, "X03", "max"),
    ("apsl-score", 29, 200, 24, "X21", 1),
    ("apsl", "insurance", 500, 2, "MakeModel", 1),
    ("apsl", 15, 1000, 10, "X10", 1),
    ("apsl", 15, 1000, 10, "X12", 1),
    ("apsl", 31, 1000, 26, "X30", 1),
)


def drawn(source: str | int, rows: int, seed: int) -> Table:
    """Draw rows from a shipped network, or from a random one of so many nodes."""
    return sample(random_network(source, seed=seed) if isinstance(source, int) else network(source), rows, seed=seed)


def renamed(table: Table, order: list[int]) -> tuple[Table, dict[Node, Node]]:
    """Return a table with its names dealt out anew, and the old name of each new one."""
    names = tuple(table.names[at] for at in order)
    return attrs.evolve(table, names=names), dict(zip(names, table.names, strict=True))


def rearranged(table: Table, columns: list[int], rows: list[int]) -> Table:
    """Return a table with its columns and rows in another order."""
    return Table(
        tuple(table.names[at] for at in columns),
        table.codes[columns][:, rows].copy(),
        table.cards[columns],
        tuple(table.levels[at] for at in columns),
        table.incomplete[columns],
    )


def marks(
    table: Table, target: Node, learner: str, depth: Depth, old: dict[Node, Node], least: float = DEFAULT_DIRECTION
) -> dict[Pair, Node | None]:
    """Learn a part and give the head of each edge, or None where it has none, under the old names."""
    new = {before: name for name, before in old.items()}
    part = learn(table, new[target], learner=learner, depth=depth, min_direction=least)
    edges: dict[Pair, Node | None] = {frozenset(old[node] for node in pair): None for pair in part.edges}
    return edges | {frozenset((old[tail], old[head])): old[head] for tail, head in part.arrows}


@pytest.mark.parametrize(("learner", "source", "rows", "seed", "target", "depth"), CHANGED)
def test_parts_that_other_names_used_to_change_stay(
    learner: str, source: str | int, rows: int, seed: int, target: Node, depth: Depth
) -> None:
    """Names reversed or dealt out at random give the same part, where ties went by name once and gave another one."""
    table = drawn(source, rows, seed)
    same = {node: node for node in table.names}
    before = marks(table, target, learner, depth, same)
    assert before
    orders = [
        list(range(len(same)))[::-1],
        *(np.random.default_rng(at).permutation(len(same)).tolist() for at in (1, 2)),
    ]
    for order in orders:
        again, old = renamed(table, order)
        assert marks(again, target, learner, depth, old) == before


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["apsl-score", "apsl"])
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 9999), st.integers(4, 9), st.integers(150, 400))
def test_neither_names_nor_orders_change_a_part(learner: str, seed: int, width: int, rows: int) -> None:
    """A table without exact ties gives the same part under other names and with columns and rows in another order.

    All arrows are drawn: the probability of a direction is that of the first of its shortest proofs by name.
    """
    table = drawn(width, rows, seed)
    assume(not ties(table))
    shuffle = np.random.default_rng(seed)
    target = table.names[seed % width]
    same = {node: node for node in table.names}
    before = marks(table, target, learner, "max", same, 0.0)
    again, old = renamed(table, shuffle.permutation(width).tolist())
    assert marks(again, target, learner, "max", old, 0.0) == before
    moved = rearranged(table, shuffle.permutation(width).tolist(), shuffle.permutation(rows).tolist())
    assert marks(moved, target, learner, "max", same, 0.0) == before


def ties(table: Table) -> bool:
    """Return whether two columns have the same content, or exactly the same association with a third one."""
    oracle = GSquare(table, alpha=0.05)
    associations = [[one.association for one in oracle.associations(node) if one.dependent] for node in table.names]
    return bool(describe(table).duplicates) or any(len(set(one)) < len(one) for one in associations)


def by_content(table: Table) -> tuple[Node, ...]:
    """Return the columns of a table in the order of their numbers, when all of them are met at once."""
    order = ContentOrder.of(table.heading)
    places = list(range(len(table.names)))
    numbers = order.numbers(places, places, table.codes, np.empty(0, np.int64))
    return tuple(table.names[place] for place in sorted(places, key=numbers.__getitem__))


@given(st.integers(0, 9999), st.integers(4, 9), st.integers(20, 60))
def test_an_order_by_content_is_that_of_the_columns_alone(seed: int, width: int, rows: int) -> None:
    """Other names, places and orders of rows leave each column where it was among those that differ."""
    table = drawn(width, rows, seed)
    shuffle = np.random.default_rng(seed)
    assume(not describe(table).constant and not describe(table).duplicates)
    again, old = renamed(table, shuffle.permutation(width).tolist())
    moved = rearranged(again, shuffle.permutation(width).tolist(), shuffle.permutation(rows).tolist())
    assert tuple(old[name] for name in by_content(moved)) == by_content(table)


def test_columns_with_the_same_content_follow_each_other_by_name() -> None:
    """Of two copies of a column the first by name comes first, wherever they stand."""
    table = rearranged(drawn(5, 50, 3), [4, 0, 1, 0, 2], list(range(50)))
    for names in ("pbqar", "paqbr"):
        found = by_content(attrs.evolve(table, names=tuple(names)))
        assert found.index("b") == found.index("a") + 1
