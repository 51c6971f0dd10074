"""Sampling from networks: right frequencies, the same rows for the same seed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from apsl_rules import network
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import BLOCK, sample


def test_the_same_seed_draws_the_same_rows() -> None:
    """Two draws with one seed are equal, with another seed they are not, and a longer draw begins alike."""
    asia = network("asia")
    once, again, other = (sample(asia, 500, seed=seed).codes for seed in (3, 3, 4))
    longer = sample(asia, BLOCK + 500, seed=3).codes

    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)
    assert longer.shape == (8, BLOCK + 500)
    assert np.array_equal(sample(asia, BLOCK, seed=3).codes, longer[:, :BLOCK])


@pytest.mark.parametrize("name", ["asia", "child", "sachs"])
def test_each_table_is_drawn_from(name: str) -> None:
    """In each setting of the parents the levels occur as often as the network's table says."""
    known = network(name)
    drawn = sample(known, 40_000, seed=11)
    for node in known.dag.nodes:
        parents = known.dag.parents_of(node)
        own = drawn.codes[drawn.place[node]]
        for setting in np.ndindex(*(len(known.levels[parent]) for parent in parents)):
            among = np.all(
                [drawn.codes[drawn.place[one]] == at for one, at in zip(parents, setting, strict=True)], axis=0
            )
            rows = own[among] if parents else own
            expected = known.tables[node][setting]
            possible = expected > 0
            if rows.size >= 200 and possible.sum() > 1:
                counts = np.bincount(rows, minlength=expected.size)
                assert not counts[~possible].any()
                figures = chisquare(counts[possible], expected[possible] / expected[possible].sum() * rows.size)
                assert figures.pvalue > 1e-6


def test_no_rows_are_refused() -> None:
    """Drawing nothing is a mistake that is named."""
    with pytest.raises(InvalidArgumentError, match="the number of rows is 0; give 1 or more"):
        sample(network("asia"), 0, seed=1)
