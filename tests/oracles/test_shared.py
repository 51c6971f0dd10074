"""A shared oracle: each question is computed once for all runs, in bounded memory."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np
import pytest

from apsl_backends.independence.count_tests import GSquare
from apsl_rules import network
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.run import run_once
from apsl_rules.learning.settings import Request
from apsl_rules.learning.source import open_data
from apsl_rules.names import Node
from apsl_rules.oracles.memory import KeptSweep, SharedOracle
from apsl_rules.oracles.protocol import Sweep
from apsl_rules.parts.file import part_json


@pytest.fixture(scope="module")
def rows() -> Table:
    """Return 400 rows of ALARM."""
    return sample(network("alarm"), 400, seed=5)


class CountingOracle(GSquare):
    """A test that counts how often each column is swept."""

    swept: Counter[Node]

    def associations(self, x: Node) -> Sweep:  # type: ignore[override]  # only its use for a sweep
        """Count, and sweep."""
        self.swept[x] += 1
        return super().associations(x)


def counting(rows: Table) -> CountingOracle:
    """Return such an oracle."""
    oracle = CountingOracle(rows)
    oracle.swept = Counter()
    return oracle


@pytest.mark.parametrize("learner", ["auto", "apsl"])
def test_bounded_memory_changes_no_part_and_no_count(rows: Table, learner: str) -> None:
    """With room for a single sweep and a single other answer the parts and the number of tests are the same."""
    request = Request.of({"learner": learner})
    ample, scarce = (
        SharedOracle(GSquare(rows), most_swept=most, most_others=others)
        for most, others in ((1 << 20, 1 << 20), (1, 1))
    )
    twin = attrs.evolve(rows)  # with a memory of its own, in which no graph is kept
    for target in ("HR", "CO", "HR", "BP"):
        texts = [
            part_json(run_once(request, open_data(table, request), target, 1, oracle=oracle))
            for oracle, table in ((ample, rows), (scarce, twin))
        ]
        assert texts[0] == texts[1]
    assert ample.tests == scarce.tests


def test_a_sweep_that_gave_way_is_made_again_only_if_it_is_read(rows: Table) -> None:
    """Later runs need the elimination after a sweep, not the sweep; a verdict that is read is that of the sweep."""
    oracle = counting(rows)
    shared = SharedOracle(oracle, most_swept=1)
    first = shared.associations("HR")
    done = shared.eliminate(first, unreliable="independent", cut=None, max_size=3)
    shared.associations("CO")

    again = shared.associations("HR")

    assert isinstance(again, KeptSweep)
    assert shared.eliminate(again, unreliable="independent", cut=None, max_size=3) is done
    assert (len(again), again.untested()) == (len(first), first.untested())
    assert oracle.swept == {"HR": 1, "CO": 1}
    assert list(again) == list(first)
    assert again.verdict_on("CO") == first.verdict_on("CO") == again[again.place_of("CO")]
    assert np.array_equal(again.log_p(), first.log_p(), equal_nan=True)
    assert again.ranked(unreliable="dependent") == first.ranked(unreliable="dependent")
    assert oracle.swept == {"HR": 2, "CO": 1}
    assert shared.tests == 2 * (len(rows.names) - 1) + done.tests


def test_what_another_process_computed_is_not_counted_again(rows: Table) -> None:
    """Digests of questions are the same in every process, so a count can be continued."""
    first = SharedOracle(GSquare(rows))
    first.associations("HR")
    first.verdict("CO", "HR", ["BP"])
    computed = first.collect_computed()
    assert sum(tests for _, tests in computed) == first.tests
    assert first.collect_computed() == []
    second = SharedOracle(GSquare(rows))

    second.count_computed(computed)
    second.associations("HR")
    second.verdict("HR", "CO", ["BP"])

    assert second.tests == first.tests
    assert second.collect_computed() == []
