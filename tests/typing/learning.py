"""The public functions with all kinds of sources and targets, as a typed program calls them."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import pandas as pd
import polars as pl

from apsl_rules import (
    Dag,
    Knowledge,
    Part,
    blanket,
    compare,
    learn,
    learn_graph,
    learn_many,
    network,
    score,
    stability,
    table,
)
from apsl_rules.data import MixedTable, Table
from apsl_rules.evaluation.scoring import Score
from apsl_rules.graphs import DagWithHidden
from apsl_rules.graphs.networks import Network
from apsl_rules.learning import show_progress
from apsl_rules.neighbours import Blanket
from apsl_rules.parts import Comparison, LearnedGraph, Parts, Stability, load_part


def learn_from_everything(frame: pd.DataFrame, rows: pl.DataFrame, path: Path) -> None:
    """Learn from every kind of source."""
    assert_type(learn(frame, "cost"), Part)
    assert_type(learn(rows, "cost", depth="max"), Part)
    assert_type(learn(path, 3, depth=2, alpha=0.05, missing="complete"), Part)
    assert_type(learn("table.csv", ("a", 1), kinds={"age": "number"}, max_seconds=60), Part)
    assert_type(learn(network("alarm"), "HR", hidden="allowed", conflicts="strongest"), Part)
    assert_type(learn(table(frame), "cost", knowledge=Knowledge(tiers=[["age"], ["cost"]])), Part)


def learn_x_and_y(frame: pd.DataFrame, rows: pl.DataFrame) -> None:
    """Give the target as values."""
    values = np.zeros(3)
    assert_type(learn(frame[["a"]], frame["b"]), Part)
    assert_type(learn(frame, values), Part)
    assert_type(learn(rows, rows["b"]), Part)
    assert_type(stability(frame, frame["b"], resamples=10, seed=1), Stability)
    assert_type(compare(frame, frame["b"], learners=["auto", "apsl"]), Comparison)


def use_the_other_doors(frame: pd.DataFrame) -> None:
    """Call every other function that learns or opens something."""
    assert_type(learn_many(frame, ["a", "b"], progress=print), Parts)
    assert_type(learn_many(frame, "all"), Parts)
    assert_type(learn_graph(frame), LearnedGraph)
    assert_type(blanket(frame, "a"), Blanket)
    assert_type(load_part("part.json"), Part)
    assert_type(network("asia"), Network)
    assert_type(Dag({"a": [], "b": ["a"]}), Dag)
    assert_type(Dag({"a": [], "b": ["a"]}).hiding("a"), DagWithHidden)
    assert_type(table(frame), Table | MixedTable)
    assert_type(score(learn(frame, "a"), network("asia")), Score)
    show_progress(on=False)
