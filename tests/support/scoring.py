"""Tables drawn for scores, strong networks, and slow references for scores and searches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy.special import gammaln

from apsl_rules.data.tables import Table
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.names import Node


def coded(columns: npt.ArrayLike, names: Iterable[Node]) -> Table:
    """Make a table from columns of codes."""
    codes = np.asarray(columns)
    small = codes.astype(np.uint8 if codes.max(initial=0) < 256 else np.uint16)
    cards = codes.max(axis=1, initial=0).astype(np.int64) + 1
    levels = tuple(tuple(range(card)) for card in cards.tolist())
    return Table(tuple(names), np.ascontiguousarray(small), cards, levels, np.zeros(len(cards), np.bool_))


@st.composite
def tables(
    draw: st.DrawFn, *, min_columns: int = 2, max_columns: int = 5, max_levels: int = 3, max_rows: int = 60
) -> Table:
    """Draw a table in which columns depend on each other, under shuffled names."""
    width = draw(st.integers(min_columns, max_columns))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    rows = draw(st.integers(1, max_rows))
    cards = random.integers(1, draw(st.integers(1, max_levels)) + 1, size=width)
    codes = random.integers(0, cards[:, None], size=(width, rows))
    for column in range(1, width):
        follows = random.random(rows) < random.choice([0.0, 0.5, 0.9])
        codes[column] = np.where(follows, codes[random.integers(column)] % cards[column], codes[column])
    return coded(codes, draw(st.permutations("ABCDEFGH"[:width])))


def naive_local(drawn: Table, node: Node, parents: Sequence[Node], ess: float) -> float:
    """Score a family by the definition: a sum over all configurations of the parents, seen or not."""
    place, cards = drawn.place, drawn.cards
    before = [place[parent] for parent in parents]
    q, r = prod(int(cards[at]) for at in before), int(cards[place[node]])
    rows = drawn.codes.astype(np.int64)
    counts: dict[tuple[int, ...], npt.NDArray[np.int64]] = {}
    for row in rows.T:
        counts.setdefault(tuple(row[before].tolist()), np.zeros(r, np.int64))[row[place[node]]] += 1
    return float(
        sum(
            gammaln(ess / q)
            - gammaln(ess / q + seen.sum())
            + (gammaln(ess / (q * r) + seen) - gammaln(ess / (q * r))).sum()
            for seen in counts.values()
        )
    )


def naive_empirical(drawn: Table, node: Node, parents: Sequence[Node], ess: float, empirical_weight: float) -> float:
    """Score a family with an empirical prior: joint columns of all members, each configuration with its own weight."""

    def joint(members: Sequence[Node]) -> float:
        places = [drawn.place[one] for one in members]
        shares = []
        for at in places:
            card = int(drawn.cards[at])
            observed = np.bincount(drawn.codes[at], minlength=card) / drawn.rows
            expected = np.maximum((1 - empirical_weight) / card + empirical_weight * observed, 0.5 / drawn.rows)
            shares.append(2.0 ** (np.rint(32 * np.log2(expected)) / 32))
        counts: dict[tuple[int, ...], int] = {}
        for row in drawn.codes.T:
            key = tuple(row[places].tolist())
            counts[key] = counts.get(key, 0) + 1
        weights = {key: ess * prod(share[code] for share, code in zip(shares, key, strict=True)) for key in counts}
        return float(sum(gammaln(weights[key] + count) - gammaln(weights[key]) for key, count in counts.items()))

    return joint([node, *parents]) - joint(parents)


def strong_network(dag: Dag, *, seed: int) -> Network:
    """Return a graph binary tables in which each parent matters much, alone and together with the others."""
    random = np.random.default_rng(seed)
    tables_of: dict[Node, npt.NDArray[np.float64]] = {}
    for node in dag.nodes:
        width = len(dag.parents_of(node))
        weights = random.uniform(0.8, 1.6, size=width) * random.choice([-1, 1], size=width)
        chances = np.empty((2,) * width)
        for setting in product((0, 1), repeat=width):
            signs = 2 * np.array(setting) - 1
            together = random.uniform(0.5, 1.0) * signs.prod() if width > 1 else 0.0
            chances[setting] = (
                1 / (1 + np.exp(-2 * (weights @ signs + together))) if width else random.uniform(0.4, 0.6)
            )
        tables_of[node] = np.stack([1 - chances, chances], axis=-1)
    return Network("strong", dag, dict.fromkeys(dag.nodes, ("0", "1")), tables_of)
