"""Derived columns: near-copies, cuts, sums and differences are named, and nothing else is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_rules import learn
from apsl_rules.data import describe, find_derived, table

RANDOM = np.random.default_rng(11)
A, B, C = RANDOM.normal(size=(3, 400))
WEIGHT = RANDOM.integers(1000, 5000, 400)
LEVEL = RANDOM.integers(0, 4, 400)


def told(**columns: object) -> tuple[str, ...]:
    """Return the sentences about all columns of a table."""
    read = table(pd.DataFrame(columns))
    return find_derived(read, read.names)


def test_unrelated_columns_say_nothing() -> None:
    """Independent, correlated and rare columns follow from nothing."""
    rare = {name: (RANDOM.random(400) < 0.01).astype(int) for name in ("r", "s")}
    assert told(a=A, b=B, c=A + 0.2 * B + 0.2 * C, w=WEIGHT, level=LEVEL, **rare) == ()


def test_monotone_copies_of_numbers() -> None:
    """A monotone function of a number is a near-copy of it, also a falling one and one with gaps."""
    gaps = np.where(np.arange(400) % 9 == 0, np.nan, -np.exp(3 * B))
    found = told(a=A, e=np.exp(A * 3), b=B, g=gaps)
    assert found == (
        "columns 'a' and 'e' are nearly copies of each other: their ranks correlate by 1.0000",
        "columns 'b' and 'g' are nearly copies of each other, in reverse: their ranks correlate by 1.0000",
    )


def test_near_copies_of_categories() -> None:
    """Two categories that agree in nearly all rows up to the names of levels are near-copies; 98 % are not enough."""
    words = np.array(["p", "q", "r", "s"])[LEVEL]
    changed = words.copy()
    changed[0] = "q" if words[0] != "q" else "r"
    level = LEVEL.astype(str)
    assert told(level=level, word=changed) == (
        "columns 'level' and 'word' are nearly copies of each other: they agree in 99.75% of the rows",
    )
    noisy = np.where(np.arange(400) % 50 == 0, "p", words)
    assert told(level=level, word=noisy) == ()
    assert told(level=level, word=words) == ()  # a duplicate, which is told elsewhere


def test_cuts_of_a_number() -> None:
    """A category whose levels are intervals of a number is said to follow from it, with the limits."""
    low, size = (WEIGHT < 2500).astype(int), np.digitize(WEIGHT, [2000, 4000])
    found = told(weight=WEIGHT, low=low, size=size)
    assert len(found) == 2
    assert found[0].startswith("column 'low' follows from 'weight': 1, 0 are intervals of it with limit near 2")
    assert found[1].startswith("column 'size' follows from 'weight': 0, 1, 2 are intervals of it with limits near")
    flipped = low.copy()
    flipped[int(np.argmax(WEIGHT))] = 1
    assert told(weight=WEIGHT, low=flipped) == ()


@pytest.mark.parametrize(
    ("total", "sentence"),
    [
        (A + B, "column 'total' follows from others: it is 'a' + 'b', but for a constant"),
        (A - B + 7, "column 'total' follows from others: it is 'a' - 'b', but for a constant"),
        (A + B + C, "column 'total' follows from others: it is 'a' + 'b' + 'c', but for a constant"),
        ((A + B) / 2, "columns 'a', 'b', 'total' follow from each other: a linear rule connects them"),
    ],
)
def test_sums_and_differences(total: np.ndarray[tuple[int, ...], np.dtype[np.float64]], sentence: str) -> None:
    """A number that is a sum, a difference or a mean of others is named once."""
    found = told(a=A, b=B, c=C, total=total)
    assert len(found) == 1
    assert sorted(found[0].split("'")[1::2]) == sorted(sentence.split("'")[1::2])
    if "linear" not in sentence:
        assert "but for a constant" in found[0]


def test_only_what_is_asked_about_is_compared() -> None:
    """The cost follows the columns asked about: others are not looked at."""
    matrix = RANDOM.normal(size=(50, 3000))
    matrix[:, 5] = matrix[:, 4] * 2
    read = table(matrix)
    assert find_derived(read, ["X1", "X2", "X3"]) == ()
    assert len(find_derived(read, ["X5", "X6"])) == 1


def test_a_description_names_them() -> None:
    """The description of a table has its kinds, ranges, shares and derived columns."""
    report = describe(table(pd.DataFrame({"weight": WEIGHT, "low": (WEIGHT < 2500).astype(int), "same": 1})))
    text = str(report)
    assert report.constant == ("same",)
    assert "weight  number     " in text
    assert "low     category   \u2588" in text
    assert "same    set aside " in text
    assert "if weight is the target: 'low' is cut from 'weight'" in text


def test_only_what_touches_some_columns_is_told() -> None:
    """Of all derived columns those that involve a column of interest are told, also by columns beyond the interest."""
    read = table(pd.DataFrame({"a": A, "e": np.exp(A), "w": WEIGHT, "low": (WEIGHT < 2500) * 1, "c": C}))
    assert len(find_derived(read, read.names)) == 2
    assert find_derived(read, read.names, ["c"]) == ()
    for some in (["a"], ["e"], ["c", "e"]):
        (sentence,) = find_derived(read, read.names, some)
        assert sentence.startswith("columns 'a' and 'e' are nearly copies")
    (sentence,) = find_derived(read, read.names, ["low"])
    assert sentence.startswith("column 'low' follows from 'w'")


def test_a_part_names_what_follows_from_its_members() -> None:
    """The notes of a part name near-copies and cuts among its columns, and nothing about other columns."""
    frame = pd.DataFrame({"w": WEIGHT, "low": (WEIGHT < 2500) * 1, "a": A, "e": np.exp(A)})
    notes = " | ".join(learn(frame, "low").notes)
    assert "'w' is what 'low' is cut from" in notes
    assert "'e'" not in notes


def test_repeated_rows_are_counted_as_pandas_counts_them() -> None:
    """A row that equals an earlier one in every column used is counted; missing values are equal to each other."""
    random = np.random.default_rng(1)
    frame = pd.DataFrame({"a": random.normal(size=200).round(1), "b": random.choice(["x", "y"], 200)})
    frame.loc[::5, "a"] = np.nan
    frame["c"] = random.normal(size=200).round(0)
    found = describe(table(frame, kinds={"a": "number", "c": "number"}))

    assert found.repeated == int(frame.duplicated().sum()) > 0
    assert f"{found.repeated} rows repeat an earlier one" in str(found)
    assert found.to_dict()["repeated_rows"] == found.repeated
    assert "repeat" not in str(describe(table(frame[["b"]])))


@pytest.mark.parametrize("size", [1e-310, 1e-165, 1e154, 1e300])
def test_columns_of_any_size_are_compared(size: float) -> None:
    """Numbers whose squares no float holds are copies and sums of each other like others, without a warning."""
    draw = np.random.default_rng(1)
    a, b = draw.integers(0, 1000, (2, 200)) * size
    part = learn(pd.DataFrame({"a": a, "b": b, "sum": a + b, "copy": a, "d": draw.normal(size=200)}), "sum")
    assert "column 'sum' follows from others: it is 'a' + 'b', but for a constant" in part.notes


def test_a_rule_names_only_columns_that_enter_it() -> None:
    """A rule that rests on one extreme row is none, and a column without a share in a rule is not named."""
    draw = np.random.default_rng(3)
    noise = draw.normal(size=(3, 300))
    noise[:, 0] = 1e5, 2e5, 3e5
    assert not [note for note in told(a=noise[0], b=noise[1], c=noise[2]) if "linear" in note or "it is" in note]
    a, b, other = draw.normal(size=(3, 300))
    a[0], b[0] = 1e4, 3e4
    (rule,) = told(a=a, b=b, mean=(a + 3 * b) / 2, c=other)
    assert "a linear rule connects them" in rule
    assert set(rule.split("'")[1::2]) == {"a", "b", "mean"}


@pytest.mark.parametrize("rows", [70, 300])
@pytest.mark.parametrize("columns", [6, 67, 500])
@pytest.mark.parametrize("correlated", [False, True])
def test_a_difference_is_named_among_any_number_of_columns(columns: int, rows: int, correlated: bool) -> None:
    """A target that is the difference of two columns is named so, wherever these stand among the others."""
    draw = np.random.default_rng(columns + rows)
    values = draw.normal(size=(columns - 1, rows))
    if correlated:
        values += 2 * draw.normal(size=rows)
    frame = pd.DataFrame(values.T, columns=[f"v{number:03d}" for number in range(columns - 1)])
    for one, other in ((0, 1), (columns - 2, columns - 3), (1, columns - 2)):
        drawn = frame.assign(target=frame.iloc[:, one] - frame.iloc[:, other], kind=draw.choice(["p", "q"], rows))
        read = table(drawn)
        notes = find_derived(read, read.names, ["target"])
        named = {f"v{one:03d}", f"v{other:03d}", "target"}
        assert any(set(note.split("'")[1::2]) == named and "but for a constant" in note for note in notes), notes
