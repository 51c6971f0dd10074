"""Scores of plugins: a search by them, and what they may not do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import log, nan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from apsl_rules import hookimpl, learn, network, table
from apsl_rules.data import CountedDataset
from apsl_rules.errors import PluginError, UnknownNameError
from apsl_rules.graphs.networks import sample
from apsl_rules.names import Node
from apsl_rules.plugins import ScoreOffer, parse_spec

ROWS = sample(network("asia"), 3000, seed=1)
BY_MINE = parse_spec('name = "by-mine"\nsummary = ""\nkind = "score"\n[options]\nscore = "mine"\n', "this test")
Score = Callable[[Node, tuple[Node, ...]], float]


class Scoring:
    """A plugin with one score."""

    def __init__(self, make: Callable[[CountedDataset], Score]) -> None:
        self.make = make

    @hookimpl
    def apsl_scores(self) -> Iterable[ScoreOffer]:
        """Offer the score."""
        return [ScoreOffer("mine", "a score of a test", self.make)]


def bic(data: CountedDataset) -> Score:
    """Return BIC of a table of categories."""

    def score(node: Node, parents: tuple[Node, ...]) -> float:
        counts = np.zeros([len(data.levels_of(one)) for one in (*parents, node)])
        found = data.joint(sorted(data.place[one] for one in (*parents, node)))
        codes = dict(zip(found.places, found.codes, strict=True))
        np.add.at(counts, tuple(codes[data.place[one]] for one in (*parents, node)), found.weights)
        given = counts.sum(-1, keepdims=True)
        shares = np.divide(counts, given, out=np.ones_like(counts), where=counts > 0)
        return float((counts * np.log(shares)).sum() - 0.5 * log(data.rows) * given.size * (counts.shape[-1] - 1))

    return score


def test_a_search_goes_by_the_score_of_a_plugin() -> None:
    """On 3,000 rows of asia BIC finds what BDe finds around a node, and the part says by what it was learned."""
    part = learn(ROWS, "either", depth=2, learner=BY_MINE, plugins=[Scoring(bic)], hidden="excluded")
    default = learn(ROWS, "either", depth=2, hidden="excluded")

    assert part.arrows == default.arrows != frozenset()
    assert part.lines == default.lines
    assert any("as probable as one without edges (mine, " in note for note in part.notes)


def test_the_gain_of_the_graph_found_is_that_of_the_score() -> None:
    """The nats in the note are the sum over the nodes of what their parents add to the score."""
    rows = table(pd.DataFrame({"a": list("xyxyxyyx") * 40, "b": list("xyxyxyxy") * 40}))
    part = learn(rows, "a", learner=BY_MINE, plugins=[Scoring(bic)], hidden="excluded")
    assert isinstance(rows, CountedDataset)
    own = bic(rows)

    assert any(f"(mine, {own('a', ('b',)) - own('a', ()):.2f} nats)" in note for note in part.notes)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda _data: lambda node, parents: -len(parents) * len(str(node)) * 1.0, "gives .* -> .* nats and"),
        (lambda data: lambda node, parents: 1 / 0 if len(parents) > 1 else bic(data)(node, parents), "ZeroDivision"),
        (lambda _data: lambda _node, _parents: nan, "is nan; give a finite number of nats"),
    ],
    ids=["that tells directions apart", "that fails in a search", "that is no number"],
)
def test_a_score_is_refused(make: Callable[[CountedDataset], Score], sentence: str) -> None:
    """A score that breaks its contract ends the run with a sentence that names it."""
    with pytest.raises(PluginError, match=f"the score 'mine' .*{sentence}"):
        learn(ROWS, "either", depth=2, learner=BY_MINE, plugins=[Scoring(make)], hidden="excluded")


def test_a_score_that_nobody_offers_is_unknown() -> None:
    """Without the plugin the name means nothing."""
    with pytest.raises(UnknownNameError, match="unknown score 'mine'"):
        learn(ROWS, "either", learner=BY_MINE, hidden="excluded")


def test_a_score_that_counts_needs_no_rows_here(tmp_path: Path) -> None:
    """From rows in a file that DuckDB counts, the part is the one from rows in memory."""
    columns = zip(ROWS.names, ROWS.levels, ROWS.codes, strict=True)
    frame = pd.DataFrame({str(name): np.array(levels)[codes] for name, levels, codes in columns})
    frame.to_parquet(tmp_path / "rows.parquet")

    there = learn(
        tmp_path / "rows.parquet",
        "either",
        depth=2,
        counts="duckdb",
        learner=BY_MINE,
        plugins=[Scoring(bic)],
        hidden="excluded",
    )

    assert (
        there.arrows
        == learn(frame, "either", depth=2, learner=BY_MINE, plugins=[Scoring(bic)], hidden="excluded").arrows
    )
