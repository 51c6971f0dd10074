"""The score of tables with numbers: its formula, equivalence, squares where relations are curved, missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.engines.opener import moments_of
from apsl_backends.search.local_moments import CurvedRelations, LocalMoments
from apsl_rules.data import MixedTable, table
from apsl_rules.errors import DataError
from apsl_rules.graphs import Dag, cpdag
from support.graphs import random_dag


def _read(frame: pd.DataFrame) -> MixedTable:
    read = table(frame)
    assert isinstance(read, MixedTable)
    return read


def _frame(rows: int, seed: int) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    a = random.normal(size=rows)
    b = 0.8 * a + random.normal(size=rows)
    k = np.array(["p", "q", "r"])[np.digitize(b + random.logistic(size=rows), [-1, 1])]
    return pd.DataFrame({"a": a, "b": b, "k": k, "c": b - a + random.normal(size=rows), "u": random.normal(size=rows)})


def _score(frame: pd.DataFrame, *, squares: bool = False, least_effect: float = 0.004) -> LocalMoments:
    score = LocalMoments(moments_of(_read(frame)), least_effect=least_effect, squares=squares)
    score.join(frame.columns)
    return score


def _total(score: LocalMoments, graph: Mapping[str, Sequence[str]]) -> int:
    number = {node: at for at, node in score.nodes.items()}
    return sum(score.local(number[node], [number[one] for one in parents]) for node, parents in graph.items())


@pytest.mark.parametrize("squares", [False, True])
def test_a_family_scores_as_the_formula_says(*, squares: bool) -> None:
    """The score is that of the determinants of the embedded columns, with the penalties of parameters and parents."""
    frame = _frame(300, 1)
    frame["c"] += frame["a"] ** 2
    score, source = _score(frame, squares=squares), moments_of(_read(frame))
    bent = {"a", "c"} if squares else set()
    used = {name: (2 if name == "k" or name in bent else 1) for name in frame.columns}

    def log_det(names: Sequence[str]) -> float:
        places = [source.heading.place[name] for name in names]
        near = frozenset(source.heading.place[name] for name in "abu")
        matrix, end = source.covariance_for_scores(places, near.intersection(places)), 0
        kept: list[int] = []
        for name, place in zip(names, places, strict=True):
            kept += range(end, end + used[name])
            end += min(int(source.heading.widths[place]), 2)
        return float(np.linalg.slogdet(matrix[np.ix_(kept, kept)])[1])

    number = {node: at for at, node in score.nodes.items()}
    for child, parents in (("c", ["a", "b"]), ("k", ["b"]), ("a", ["k", "u", "c"])):
        of_parents = sum(used[one] for one in parents)
        expected = -150 * (log_det([child, *parents]) - log_det(parents) - log_det([child]))
        expected -= 0.5 * log(300) * used[child] * of_parents
        expected -= len(parents) * log(20)
        expected -= 0.004 * 300 * len([one for one in parents if bent & {one, child}])
        found = score.nats(score.local(number[child], [number[one] for one in parents]))
        assert found == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 10_000))
def test_equivalent_graphs_have_equal_scores(seed: int) -> None:
    """To the last unit: every graph of a class sums up to the same score."""
    score = _score(_frame(80, 2), squares=bool(seed % 2))
    drawn = random_dag(seed, 5, 2.5)
    name = dict(zip(drawn.nodes, "abkcu", strict=True))
    graph = {name[child]: [name[one] for one in drawn.parents_of(child)] for child in drawn.nodes}
    pattern = cpdag(Dag(graph))
    for tail, head in ((str(one), str(other)) for one, other in Dag(graph).edges):
        turned = {node: [one for one in parents if (one, node) != (tail, head)] for node, parents in graph.items()}
        turned[tail] = [*turned[tail], head]
        try:
            other = cpdag(Dag(turned))
        except ValueError:
            continue
        if (other.arrows, other.lines) == (pattern.arrows, pattern.lines):
            assert _total(score, turned) == _total(score, graph)


@pytest.mark.parametrize(("bend", "is_curved"), [(0.0, False), (1.0, True)])
def test_squares_are_scored_only_where_relations_are_curved(bend: float, *, is_curved: bool) -> None:
    """The ends of a curved relation have squares, and the notes name them; other numbers have none."""
    random = np.random.default_rng(4)
    x, u = random.normal(size=(2, 800))
    y = x + bend * x**2 + random.normal(size=800)
    score = _score(pd.DataFrame({"x": x, "y": y, "u": u, "v": u + random.normal(size=800)}), squares=True)
    expected = ("relations with 'x', 'y' are curved, so their squares were scored too",) if is_curved else ()
    assert score.notes == expected


def test_a_column_that_has_no_part_in_a_relation_does_not_bend_it() -> None:
    """Families score the same whatever other columns are there, as long as the price of choosing does."""
    random = np.random.default_rng(4)
    x, u = random.normal(size=(2, 800))
    frame = pd.DataFrame({"x": x, "y": x**2 + random.normal(size=800), "u": u, "v": u + random.normal(size=800)})
    whole, part = _score(frame, squares=True), _score(frame[["u", "v"]], squares=True)
    assert _total(whole, {"u": [], "v": ["u"]}) == pytest.approx(_total(part, {"u": [], "v": ["u"]}), rel=1e-9)


def test_nearly_normal_numbers_stand_as_they_are() -> None:
    """Ranks would add noise to a nearly exact linear relation of normal numbers, and so hide it."""
    random = np.random.default_rng(4)
    x = random.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": x + 1e-4 * random.normal(size=200)})
    score = _score(frame)
    assert score.nats(score.local(0, [1])) > 100 * log(1e4)


def test_numbers_are_told_apart_by_content() -> None:
    """Other names and another order of the columns change no number."""
    frame = _frame(300, 6)
    names = dict(zip(frame.columns, "zyxwv", strict=True))
    score, renamed = _score(frame), _score(frame.rename(columns=names)[list("wzxvy")])
    assert {number: names[str(node)] for number, node in score.nodes.items()} == renamed.nodes


def test_relations_that_rise_and_fall_are_found() -> None:
    """A number and its square have no correlation, and are related."""
    random = np.random.default_rng(5)
    x = random.normal(size=500)
    frame = pd.DataFrame({"x": x, "y": x**2 + 0.3 * random.normal(size=500), "u": random.normal(size=500)})
    relations = CurvedRelations(moments_of(_read(frame)))
    assert relations.of("x") == ("y",)
    assert relations.of("u") == ()
    frame.loc[0, "x"] = np.nan
    assert CurvedRelations(moments_of(_read(frame))).of("x") == ()


def test_missing_values_make_the_score_weaker() -> None:
    """All families have the mean number of rows in which two columns are both there."""
    frame = _frame(400, 6)
    whole = _score(frame)
    frame.loc[::10, "a"] = np.nan
    holed = _score(frame)
    assert whole.rows == 400
    assert holed.rows == pytest.approx((4 * 360 + 6 * 400) / 10)
    assert not whole.is_changed
    assert holed.is_changed


def test_equivalent_graphs_tie_where_values_are_missing() -> None:
    """Graphs with the same independences have the same score, also where families have too many columns."""
    frame = _frame(60, 6)
    frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.3)
    score = _score(frame, squares=True)
    chains: list[dict[str, list[str]]] = [
        {"a": [], "b": ["a"], "c": ["a", "b"], "k": ["b"]},
        {"b": [], "k": ["b"], "a": ["b"], "c": ["a", "b"]},
        {"c": [], "b": ["c"], "a": ["b", "c"], "k": ["b"]},
    ]
    first, *others = (_total(score, chain) for chain in chains)
    assert others == [first, first]


def test_no_family_has_too_many_columns_for_the_rows() -> None:
    """Where values are missing, a family with fewer than 10 + 5 rows for each column is worse than any other."""
    frame = _frame(60, 6)
    frame.loc[::2, ["a", "u"]] = np.nan
    score = _score(frame)
    number = {node: at for at, node in score.nodes.items()}
    assert 35 <= score.rows < 40
    assert score.nats(score.local(number["k"], [number[one] for one in "abc"])) > -100
    assert score.nats(score.local(number["k"], [number[one] for one in "abcu"])) < -500


def test_too_many_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball of too many embedded columns ends in a sentence, not in a search without end."""
    monkeypatch.setattr("apsl_backends.search.local_moments._MOST_COLUMNS", 4)
    with pytest.raises(DataError, match=r"5 columns near the target have 10 embedded columns.*at most 4"):
        _score(_frame(50, 1))
