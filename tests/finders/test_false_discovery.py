"""The bound on false discoveries: the cut itself, and what it does among many columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from apsl_backends.finders.by_tests import discoveries
from apsl_rules import learn, network
from apsl_rules.data import table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.sampling import sample


@given(
    st.lists(st.floats(min_value=1e-12, max_value=1.0), min_size=1, max_size=30),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_the_cut_is_that_of_benjamini_and_hochberg(p_values: list[float], share: float) -> None:
    """The discoveries are those whose adjusted p-value by SciPy is at most the share."""
    adjusted = false_discovery_control(p_values)
    clear = np.abs(adjusted - share) > 1e-9 * share

    found = discoveries(np.log(p_values), share)

    assert np.array_equal(found[clear], (adjusted <= share)[clear])


def test_hypotheses_that_are_not_given_count_too() -> None:
    """A p-value that passes among ten hypotheses need not pass among a thousand."""
    log_p = np.log([1e-3, 0.5])

    assert discoveries(log_p, 0.05, tested=10).tolist() == [True, False]
    assert discoveries(log_p, 0.05, tested=1000).tolist() == [False, False]


def test_far_tails_and_missing_tests_are_handled() -> None:
    """A p-value below the smallest float is a discovery, an untested one is not."""
    assert discoveries(np.array([-5000.0, np.nan, -0.1]), 0.01).tolist() == [True, False, False]


@pytest.mark.slow
def test_neighbours_stay_put_among_many_columns() -> None:
    """With 2,000 independent columns added, the bound is on by itself and the neighbours stay what they were."""
    alarm = sample(network("alarm"), 1000, seed=7)
    random = np.random.default_rng(3)
    noise = random.integers(0, 3, (1000, 2000), dtype=np.uint8)
    wide = table(np.hstack([alarm.codes.T, noise]), names=[*alarm.names, *(f"noise {at}" for at in range(2000))])
    targets = alarm.names[::6]

    alone = {target: learn(alarm, target).neighbours_of(target) for target in targets}
    among = {target: learn(wide, target) for target in targets}

    assert all(part.settings["fdr"] == 0.01 for part in among.values())
    assert sum(among[target].neighbours_of(target) != alone[target] for target in targets) <= 1


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0, "much"])
def test_a_share_outside_0_to_1_is_refused(share: Any) -> None:
    """The share of false discoveries must be between 0 and 1."""
    with pytest.raises(InvalidArgumentError, match="give a number between 0 and 1, 'auto' or 'none'"):
        learn(sample(network("asia"), 100, seed=1), "lung", fdr=share)


def test_a_finder_that_heeds_no_bound_claims_none() -> None:
    """The filter does not bound false discoveries, so a part learned with it does not say so."""
    part = learn(sample(network("asia"), 200, seed=1), "lung", learner="apsl-fs", fdr=0.1)

    assert part.settings["fdr"] is None
