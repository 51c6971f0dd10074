"""Searches and eliminations with log-determinant tests are the enumerations that they stand for."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.kernels.bindings.moments import BlockTests, MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.tables import thresholds
from apsl_backends.kernels.library import UNRELIABLE
from support.block_tests import (
    INDEPENDENT,
    RULES,
    integers,
    opened,
    outcome,
    sweep,
    unset,
)
from support.determinants import (
    Blocks,
    Plain,
    draw_blocks,
    search_plainly,
    tables_of_blocks,
)


@given(tables_of_blocks(most=7), st.data())
def test_a_search_is_the_plain_enumeration(table: Blocks, data: st.DataObject) -> None:
    """A search gives the subset, figures, weakest dependence and number of tests of an enumeration."""
    x, y, *rest = data.draw(st.permutations(range(table.number)))
    fixed = data.draw(st.integers(0, len(rest)))
    most = data.draw(st.integers(0, len(rest) - fixed))
    alpha = data.draw(st.sampled_from([0.3, 0.01, 1e-6]))
    rules = MomentRules(thresholds(alpha), alpha, data.draw(st.sampled_from([1.0, 8.0])))
    handle, tested = opened(table, rules), opened(table, rules)
    outcomes = {
        chosen: outcome(tested, x, y, chosen)
        for size in range(len(rest) + 1)
        for chosen in combinations(sorted(rest), size)
    }
    found = handle.search([x, y, *rest], fixed, most, unset())
    assert found is not None
    expected, tests, chosen = search_plainly(outcomes, rest[:fixed], rest[fixed:], most)
    assert (Plain(*found[:4]), found.tests, tuple(found.chosen)) == (expected, tests, chosen)


@pytest.mark.parametrize(("rows", "expected"), [(14, UNRELIABLE), (15, INDEPENDENT)])
def test_a_column_without_spread_is_unknown_in_few_rows(rows: int, expected: int) -> None:
    """It may only seem constant there, so that nothing is said of it in tests and searches alike."""
    rules = MomentRules(thresholds(0.01), 0.01, 5.0)
    handle = MomentsHandle(np.diag([1.0, 0.0, 1.0]), np.arange(4), rows, rules)
    assert outcome(handle, 0, 1).decision == expected
    found = handle.search([1, 0, 2], 0, 1, unset())
    assert found is not None
    assert found.decision == expected
    assert outcome(handle, 0, 1, (2,)).decision == UNRELIABLE


def test_a_search_through_blocks_of_different_widths_compares_p() -> None:
    """The weakest dependence is that with the largest p, not the smallest statistic."""
    table = draw_blocks(["number", "number", "curve", "category", "number", "all levels"], 90, 11)
    for x, y in combinations(range(6), 2):
        rest = [block for block in range(6) if block not in {x, y}]
        handle = opened(table, RULES._replace(thresholds=np.zeros(64), alpha=0.999999))
        outcomes = {chosen: outcome(handle, x, y, chosen) for size in range(5) for chosen in combinations(rest, size)}
        found = handle.search([x, y, *rest], 0, 4, unset())
        assert found is not None
        assert found.tests == 16
        assert (Plain(*found[:4]), 16, tuple(found.chosen)) == search_plainly(outcomes, (), rest, 4)


def test_a_search_heeds_its_flag() -> None:
    """A search ends once the flag is set, or after as many tests as the flag allows."""
    handle = opened(draw_blocks(["number", "copy"] + ["number"] * 6, 60, 1))
    blocks = range(8)
    assert handle.search(blocks, 0, 6, integers(1, 0)) is None
    limited = integers(0, 10)
    assert handle.search(blocks, 0, 6, limited) is None
    assert limited.tolist() == [3, 10]
    found = handle.search(blocks, 0, 1, limited := integers(0, 10))
    assert found is not None
    assert (found.tests, limited[0]) == (7, 0)


def eliminate_plainly(
    handle: MomentsHandle, x: int, ranked: list[int], met: dict[int, Plain], most: int
) -> tuple[list[int], dict[int, Plain], int]:
    """Eliminate candidates by one search after the other."""
    members: list[int] = []
    tests = 0
    for newcomer in ranked:
        members.append(newcomer)
        for candidate in members[::-1]:
            must = [newcomer] if candidate != newcomer else []
            pool = [member for member in members if member not in {candidate, newcomer}]
            largest = min(len(pool), most - len(must))
            if largest >= 0 and must + pool:
                found = handle.search([x, candidate, *must, *pool], len(must), largest, unset())
                assert found is not None
                tests += found.tests
                outcomes = {(): met[candidate], (0,): Plain(*found[:4])}
                met[candidate] = search_plainly(outcomes, (), [0], 1)[0]
            if met[candidate].decision == INDEPENDENT:
                members.remove(candidate)
                if candidate == newcomer:
                    break
    return [ranked.index(member) for member in members], met, tests


@given(tables_of_blocks(("number", "curve", "category", "twice"), most=7), st.integers(0, 3))
def test_an_elimination_is_a_series_of_searches(table: Blocks, most: int) -> None:
    """Elimination gives the members, figures and number of tests of one search after the other."""
    handle = opened(table)
    others = np.arange(1, table.number)
    swept = sweep(handle, others)
    order = np.argsort(-swept.statistics)
    swept = BlockTests(swept.decisions[order], swept.statistics[order], swept.dofs[order], swept.ranks[order])
    found = handle.eliminate(0, ranked := others[order], swept, most, unset())
    assert found is not None
    met = {
        block: Plain(int(decision), float(statistic), int(dof), int(rank))
        for block, decision, statistic, dof, rank in zip(ranked.tolist(), *swept, strict=True)
    }
    members, met, tests = eliminate_plainly(handle, 0, ranked.tolist(), met, most)
    assert (found.members.tolist(), found.tests) == (members, tests)
    for place, block in enumerate(ranked.tolist()):
        decision, dof, rank, size = found.outcomes[place].tolist()
        assert Plain(decision, found.statistics[place], dof, rank) == met[block]
        assert outcome(handle, 0, block, tuple(found.given[place, :size].tolist())) == met[block]


def test_an_elimination_heeds_its_flag() -> None:
    """An elimination ends once the flag is set."""
    handle = opened(draw_blocks(["number"] * 6, 60, 1))
    others = np.arange(1, 6)
    assert handle.eliminate(0, others, sweep(handle, others), 3, integers(2, 0)) is None
