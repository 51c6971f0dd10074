"""The counting kernels: every way of counting gives the same figures, whatever the table and the threads."""

from __future__ import annotations

import subprocess
import sys
from itertools import combinations
from math import log, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import chdtrc, gammaincc, log_ndtr, ndtri

from apsl_backends.independence.count_tests import ChiSquare, GSquare, Reliability, statistic_of
from apsl_backends.kernels.bindings.tables import tail, tails, thresholds
from apsl_backends.kernels.library import normal_quantiles
from apsl_rules.data.tables import Table
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.oracles.protocol import Oracle, Search
from support.counting import METHODS, by_loops, coded, tables, with_method


def all_tests(table: Table, most: int = 3) -> list[tuple[int, int, tuple[int, ...]]]:
    """List every test with two of the first three columns as ends."""
    places = range(len(table.names))
    return [
        (x, y, given_places)
        for x, y in ((0, 1), (2, 0))
        for size in range(most + 1)
        for given_places in combinations([place for place in places if place not in {x, y}], size)
    ]


@pytest.mark.slow
@given(tables(), st.booleans(), st.sampled_from([GSquare, ChiSquare]))
def test_every_way_of_counting_agrees_with_plain_loops(
    table: Table, full: bool, kind: type[GSquare | ChiSquare]
) -> None:
    """Row scan, bitmaps, sorting and the free choice give bit by bit the same verdicts, and those of plain loops."""
    tests = all_tests(table)
    names = table.names
    queries = [(names[x], names[y], tuple(names[z] for z in places)) for x, y, places in tests]
    oracles = [
        with_method(kind(table, dof="full" if full else "adjusted", reliability="none"), method) for method in METHODS
    ]
    verdicts = [oracle.verdicts(queries) for oracle in oracles]

    assert all(answers == verdicts[0] for answers in verdicts)
    for (x, y, places), verdict in zip(tests, verdicts[0], strict=True):
        statistic, dof, rows = by_loops(table, x, y, places, chi=kind is ChiSquare, full=full)
        assert verdict.n == rows
        if verdict.decision == "unreliable":
            assert dof == 0
            continue
        assert verdict.statistic == pytest.approx(statistic, abs=1e-9)
        if verdict.dof != dof:  # a column that never varies has no degree of freedom, whatever its cardinality
            assert (verdict.dof, verdict.statistic, full) == (0, 0.0, True)


@given(
    tables(),
    st.sampled_from(["none", "five-per-cell"]),
    st.sampled_from([None, 0, 1, 2, 3]),
    st.sampled_from([0.3, 0.01, 1e-6]),
    st.integers(0, 2),
)
def test_a_search_is_the_plain_enumeration(
    table: Table, reliability: Reliability, most: int | None, alpha: float, fixed: int
) -> None:
    """In every way of counting a search gives the subset, verdict, weakest dependence and number of tests of loops."""
    x, y, *pool = table.names
    for method in METHODS:
        oracle = with_method(GSquare(table, alpha=alpha, reliability=reliability), method)
        must = pool[1 : 1 + fixed]
        plain = Oracle.separator(oracle, x, y, pool, must_include=must, max_size=most)

        assert oracle.separator(x, y, pool, must_include=must, max_size=most) == plain


@given(tables(max_rows=80, columns=6, missing=False))
@settings(max_examples=20)
def test_a_search_without_limit_goes_through_all_subsets(table: Table) -> None:
    """With no largest size all 16 subsets of four columns are tried, in the order of the plain enumeration."""
    x, y, *pool = table.names
    oracle = ChiSquare(table, alpha=1e-12, reliability="none")

    assert oracle.separator(x, y, pool) == Oracle.separator(oracle, x, y, pool)


def test_a_large_pool_grows_the_working_space() -> None:
    """A search through 60 columns, and one with columns of many levels, still agree with the plain enumeration."""
    random = np.random.default_rng(1)
    codes = np.stack([random.integers(0, 3, 300) for _ in range(62)])
    codes[1] = codes[0]
    oracle = GSquare(coded(codes, names=[f"c{place:02}" for place in range(62)]), reliability="none")
    x, y, *pool = oracle.nodes
    found = oracle.separator(x, y, pool, max_size=2)

    assert (found.given, found.tests) == (None, 1 + 60 + 60 * 59 // 2)
    assert found.verdict == oracle.verdict(x, y, found.verdict.given if found.verdict else ())
    wide = coded(random.integers(0, 40, (6, 2000)))
    rough = GSquare(wide, reliability="none", alpha=1e-9)
    assert rough.separator("f", "b", "dace", max_size=3) == Oracle.separator(rough, "f", "b", "dace", max_size=3)


def test_tables_beyond_the_limit_are_counted_sparsely() -> None:
    """Five columns of 250 levels, 10¹² cells, give the figures of loops without being allocated."""
    codes = np.random.default_rng(2).integers(0, 250, (5, 3000))
    codes[1, :1500] = codes[0, :1500]
    codes[2:, :] %= 7
    codes[2:, 0] = 249
    table = coded(codes)

    verdict = GSquare(table, reliability="none").verdict("f", "b", "dac")

    statistic, dof, rows = by_loops(table, 0, 1, (2, 3, 4))
    assert (verdict.dof, verdict.n) == (dof, rows)
    assert verdict.statistic == pytest.approx(statistic)


def test_full_degrees_beyond_all_numbers() -> None:
    """Full degrees of freedom of a table of 10²⁵ cells make every statistic independent, with p = 1."""
    codes = np.random.default_rng(7).integers(0, 250, (12, 500))
    codes[2:, :9] = codes[2:, :1]
    table = coded(codes, names="abcdefghijkl")
    verdict = GSquare(table, dof="full", reliability="none").verdict("a", "b", "cdefghijkl")

    assert (verdict.independent, verdict.p, verdict.log_p) == (True, 1.0, 0.0)


@pytest.mark.slow
def test_ten_million_rows() -> None:
    """Margins whose products pass 2³¹ many times over give the figures of exact counts."""
    codes = np.random.default_rng(3).integers(0, 2, (3, 10_000_000), dtype=np.uint8)
    table = coded(codes)
    counts = np.bincount(codes[0] + 2 * codes[1] + 4 * codes[2], minlength=8).reshape(2, 2, 2).transpose(2, 1, 0)
    for oracle in (GSquare(table, threads=2), ChiSquare(table, threads=2)):
        expected = statistic_of(counts, statistic="gsquare" if isinstance(oracle, GSquare) else "chisquare")
        verdict = oracle.verdict("f", "b", "d")

        assert (verdict.dof, verdict.n) == (expected.dof, 10_000_000)
        assert verdict.statistic == pytest.approx(expected.statistic, abs=1e-6)
        assert verdict == with_method(oracle, METHODS[1]).verdict("f", "b", "d")


@pytest.mark.parametrize("threads", [2, 4])
def test_threads_change_nothing(threads: int) -> None:
    """Sweeps over many columns and batches of searches are the same for any number of threads."""
    random = np.random.default_rng(4)
    codes = random.integers(0, 4, (1500, 2000), dtype=np.uint8)
    codes[1:40] = np.where(random.random((39, 2000)) < 0.5, codes[0], codes[1:40])
    table = coded(codes, names=[f"c{place}" for place in range(1500)])
    one, many = GSquare(table), GSquare(table, threads=threads)
    searches = [Search("c0", f"c{place}", ("c1", "c2", "c3"), max_size=2) for place in range(4, 60)]

    assert list(one.associations("c0")) == list(many.associations("c0"))
    assert one.separators(searches) == many.separators(searches)


@given(st.integers(1, 255), st.one_of(st.floats(1e-12, 0.999), st.sampled_from([1e-300, 1e-100, 1 - 1e-9, 1 - 1e-16])))
def test_critical_values_are_exact(dof: int, alpha: float) -> None:
    """At the critical value p is not above alpha, and at the next smaller number it is."""
    critical = thresholds(alpha)[dof]

    assert tail(critical, dof)[0] <= alpha < tail(np.nextafter(critical, 0.0), dof)[0]
    assert chdtrc(dof, critical) == pytest.approx(alpha, rel=1e-11)


@given(st.integers(1, 5000), st.floats(0.0, 3.0))
def test_the_logarithm_of_the_tail_is_that_of_scipy(dof: int, times: float) -> None:
    """Where p does not underflow, ln p agrees with the regularised gamma function."""
    statistic = dof * times
    p = gammaincc(dof / 2, statistic / 2)
    if p > 1e-290:
        assert tail(statistic, dof)[1] == pytest.approx(log(p), rel=1e-9, abs=1e-12)


@given(st.floats(1.0, 1e8))
def test_the_logarithm_of_the_tail_beyond_underflow(statistic: float) -> None:
    """Far in the tail ln p agrees with the closed forms for 1, 2 and 4 degrees of freedom."""
    half = statistic / 2
    expected = [log(2) + float(log_ndtr(-np.sqrt(statistic))), -half, log1p(half) - half]

    found = tails(np.full(3, statistic), np.array([1, 2, 4])).log_p
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_weakest_dependence_is_found_beyond_underflow() -> None:
    """Among dependences whose p is 0 the weakest is the one with the largest ln p, not with the smallest statistic."""
    random = np.random.default_rng(6)
    codes = random.integers(0, 4, (4, 20_000))
    codes[1] = codes[0]
    codes[2] = random.integers(0, 2, 20_000)
    oracle = GSquare(coded(codes))
    verdicts: list[Verdict] = [oracle.verdict("f", "b", given_) for given_ in ((), "d", "a", "da")]
    found = oracle.separator("f", "b", "da", max_size=2)

    assert all(verdict.p == 0.0 for verdict in verdicts)
    assert found.verdict == max(verdicts, key=lambda verdict: verdict.log_p or 0.0)
    assert found == Oracle.separator(oracle, "f", "b", "da", max_size=2)


def test_importing_an_oracle_loads_nothing_heavy() -> None:
    """The modules of the oracles stay light until a table is opened."""
    script = "import sys; from apsl_backends.independence import column_oracle, count_tests; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert not {"numba", "scipy"} & set(done.stdout.split())


def test_tests_and_searches_need_no_scipy() -> None:
    """Verdicts, searches and eliminations load neither scipy nor pandas nor numba."""
    script = """
import sys
import numpy as np
from apsl_backends.independence.count_tests import GSquare
from apsl_rules.data.tables import Table
codes = np.random.default_rng(1).integers(0, 2, (5, 100), dtype=np.uint8)
oracle = GSquare(Table(tuple("abcde"), codes, np.full(5, 2), ((0, 1),) * 5, np.zeros(5, np.bool_)))
oracle.verdict("a", "b", "c")
oracle.separator("a", "b", "cde")
oracle.eliminate(oracle.associations("a"), unreliable="dependent", cut=None, max_size=2)
print(*sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert not {"numba", "scipy", "pandas"} & set(done.stdout.split())


@given(st.lists(st.floats(0, 1), min_size=1), st.lists(st.integers(1, 300)))
def test_normal_quantiles_are_those_of_scipy(shares: list[float], powers: list[int]) -> None:
    """Quantiles have a relative error below 1e-13, in the far tails too, and infinities at the ends."""
    asked = np.array([*shares, *(10.0**-power for power in powers), 0.0, 0.5, 1.0])
    asked[(asked > 0) & (asked < 1e-307)] = 0.25
    found, expected = normal_quantiles(asked), ndtri(asked)
    near_middle = np.abs(asked - 0.5) < 1e-6
    assert np.allclose(found[~near_middle], expected[~near_middle], rtol=1e-13, atol=0)
    assert np.allclose(found[near_middle], expected[near_middle], rtol=0, atol=1e-15)
