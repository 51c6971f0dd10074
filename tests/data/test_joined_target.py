"""``learn(X, y)``: values given as the target join the table, or are refused in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from apsl_rules import blanket, compare, learn, network, stability
from apsl_rules.errors import DataError, UnknownNodeError


def frame() -> pd.DataFrame:
    """Return a table in which ``a`` and ``b`` make ``cost``."""
    random = np.random.default_rng(2)
    a, b = random.integers(0, 2, 400), random.integers(0, 2, 400)
    cost = np.where(random.random(400) < 0.9, a | b, random.integers(0, 2, 400))
    return pd.DataFrame({"a": a, "b": b, "cost": cost})


TABLE = frame()
X, Y = TABLE[["a", "b"]], TABLE["cost"]
SAME = learn(TABLE, "cost").graph()
#: X and y of every library, and what the target is called.
PAIRS: dict[str, tuple[Any, Any, str]] = {
    "pandas": (X, Y, "cost"),
    "a column of the table itself": (TABLE, TABLE["cost"], "cost"),
    "an array as y": (X, Y.to_numpy(), "y"),
    "a frame of one column": (X, TABLE[["cost"]], "cost"),
    "an array of one column": (X, Y.to_numpy()[:, None], "y"),
    "a Series without a name": (X, Y.rename(None), "y"),
    "polars": (pl.DataFrame({"a": X["a"].tolist(), "b": X["b"].tolist()}), pl.Series("cost", Y.tolist()), "cost"),
    "polars and an array": (pl.DataFrame({"a": X["a"].tolist(), "b": X["b"].tolist()}), Y.to_numpy(), "y"),
    "pyarrow": (pa.table({"a": X["a"].tolist(), "b": X["b"].tolist()}), pa.chunked_array([Y.tolist()]), "y"),
    "pandas and polars": (X, pl.Series("cost", Y.tolist()), "cost"),
}


@pytest.mark.parametrize("kind", PAIRS)
def test_values_join_the_table(kind: str) -> None:
    """The part is that of the joined table, under the name of y or as "y"; X itself is not changed."""
    source, target, name = PAIRS[kind]
    before = list(X.columns)
    part = learn(source, target)

    assert part.target == name
    assert {x for x, _ in part.graph().arrows} == {x for x, _ in SAME.arrows} == {"a", "b"}
    assert list(X.columns) == before


def test_arrays_get_the_names_of_an_array() -> None:
    """The columns of a 2-d array are X1 and X2, as without y."""
    part = learn(X.to_numpy(), Y.to_numpy())

    assert (part.target, part.neighbours_of("y")) == ("y", ("X1", "X2"))


def test_a_category_stays_one() -> None:
    """Text and missing values in y are kept as they are."""
    words = Y.map({0: "low", 1: "high"}).where(np.arange(400) % 50 > 0)
    part = learn(X, words)

    assert part.neighbours_of("cost") == ("a", "b")
    assert next(one.missing for one in part.columns if one.name == "cost") == 8


@pytest.mark.parametrize("kind", ["string", "Int64", "boolean", "object"])
def test_a_column_of_the_table_itself_may_have_missing_values(kind: str) -> None:
    """A column with missing values, of whatever type, is found to be the same as that of the table."""
    values = Y.astype(pd.api.types.pandas_dtype(kind)).where(np.arange(400) % 50 > 0, None)
    part = learn(X.assign(cost=values), values)

    assert part.target == "cost"
    assert len(part.columns) == 3


def test_other_front_doors_understand_it_too() -> None:
    """Stability, comparison and blanket take the same values."""
    assert stability(X, Y, resamples=2).part.target == "cost"
    assert compare(X, Y, learners=["apsl"]).parts["apsl"].target == "cost"
    assert blanket(X, Y).neighbours == ("a", "b")


@pytest.mark.parametrize(
    ("source", "target", "words"),
    [
        (X, Y.iloc[:7], "X has 400 rows and y has 7; give one value for each row"),
        (X, Y.iloc[::-1], "have different labels; give y.loc"),
        (X, TABLE, "y has the shape 400 × 3; give one column"),
        (TABLE, Y.iloc[::-1].to_numpy(), None),
        (TABLE, Y.rename("a"), "X has a column 'a' with other values than y"),
        (network("asia"), Y, "name a node of the source instead"),
        ("table.csv", Y, "only a table in memory"),
        (pl.DataFrame({"a": X["a"].tolist()}), Y.rename(7).reset_index(drop=True), "rename y"),
    ],
)
def test_what_cannot_be_joined_is_refused(source: Any, target: Any, words: str | None) -> None:
    """One sentence says what is wrong; an array of other values than any column is a column of its own."""
    if words is None:
        assert learn(source, target).target == "y"
        return
    with pytest.raises(DataError, match=words):
        learn(source, target)


@pytest.mark.parametrize("wrong", [["cost"], {"cost": 1}, [0, 1] * 200])
def test_a_list_is_no_target(wrong: Any) -> None:
    """A list names nothing, and is refused in words."""
    with pytest.raises(UnknownNodeError, match="give the name of one node"):
        learn(TABLE, wrong)
