"""Near-copies and hubs: the number of tests grows with the square of the neighbours, and what was left out is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_backends.search import rounds
from apsl_rules import learn


def near_copies(count: int) -> pd.DataFrame:
    """Return a column of three levels and near-copies of it."""
    random = np.random.default_rng(3)
    codes = random.integers(0, 3, 600)
    others = [np.where(random.random(600) < 0.02, random.integers(0, 3, 600), codes) for _ in range(count)]
    return pd.DataFrame({"t": codes, **{f"c{place:03}": other for place, other in enumerate(others)}}).astype(
        "category"
    )


@pytest.mark.slow
def test_tests_at_near_copies_grow_with_their_square() -> None:
    """Each of k near-copies has k others to be tested against; notes that need the cube of k are left out and told."""
    for count in (30, 60):
        part = learn(near_copies(count), "t")
        assert part.counts.asked < 10 * count**2
        assert len(part.edges) >= count - 1
    assert any("share a hidden cause; they were not made" in note for note in part.notes)


def test_an_ordinary_part_is_looked_at_for_hidden_causes() -> None:
    """Few neighbours need few tests, and nothing is left out."""
    assert not any("they were not made" in note for note in learn(near_copies(4), "t").notes)


@pytest.mark.parametrize(("core", "near", "moved"), [(1, 30, 30), (1, 300, 100), (7, 300, 100), (300, 300, 300)])
def test_a_hub_gets_no_more_kicks_than_a_hundred_nodes(core: int, near: int, moved: int) -> None:
    """Whole graphs, where all nodes are in the core, keep their kicks."""
    assert rounds.moved_nodes(near, core) == moved


@pytest.mark.parametrize("rows", [2_000, 20_000])
def test_columns_of_very_many_levels_are_told_and_take_few_tests(rows: int) -> None:
    """No test can use them, so the part says so after one sweep."""
    random = np.random.default_rng(5)
    frame = pd.DataFrame({"t": random.integers(0, 2, rows), "u": random.integers(0, 2, rows)})
    for place in range(3):
        frame[f"c{place}"] = random.integers(0, rows // 3, rows)
    frame = frame.astype("category")

    part = learn(frame, "t", depth=2)

    assert part.counts.asked <= 3 * 4
    assert any("too few rows to test 't' against 'c0', 'c1', 'c2'" in note for note in part.notes)
