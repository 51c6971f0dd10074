"""What a table holds: what stands out in it, and the hash of its columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.data import array_fingerprint, coded_table, describe
from apsl_rules.errors import UnknownNodeError

# --- what stands out -----------------------------------------------------------------------------------------------


def test_describe() -> None:
    """Constants, copies up to relabelling and incomplete columns are reported by name; nothing is dropped."""
    frame = pd.DataFrame(
        {
            "z": ["u", "v", "u", "w"],
            "k": [5, 5, 5, 5],
            "a": [2, 0, 2, 1],
            "gap": ["u", "v", "u", None],
            "gap2": ["v", "u", "v", None],
            "hole": [7, None, 7, 7],
            "b": [0, 0, 1, 1],
        },
    )
    encoded = coded_table(frame, missing="testwise")
    report = describe(encoded)
    assert (report.rows, report.columns, report.bytes) == (4, 7, 28)
    assert report.constant == ("hole", "k")
    assert report.duplicates == (("a", "z"), ("gap", "gap2"))
    assert report.incomplete == ("gap", "gap2", "hole")
    assert str(report).splitlines()[8:] == [
        "constant: 'hole', 'k'",
        "duplicate columns: 'a', 'z'",
        "duplicate columns: 'gap', 'gap2'",
        "with missing values: 'gap', 'gap2', 'hole'",
        "note: values are missing in columns 'gap', 'gap2', 'hole' (1, 1, 1 of 4 rows); each test leaves out such rows",
    ]
    assert len(encoded.names) == 7


@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=12))
def test_describe_against_brute_force(columns: list[list[int]]) -> None:
    """Two columns are copies exactly when their values pair off one to one, constants apart."""
    report = describe(coded_table(np.array(columns).T))
    names = [f"X{place}" for place in range(1, len(columns) + 1)]
    constant = {name for name, column in zip(names, columns, strict=True) if len(set(column)) == 1}
    assert set(report.constant) == constant
    grouped = {frozenset(group) for group in report.duplicates}
    for one, first in zip(names, columns, strict=True):
        for other, second in zip(names, columns, strict=True):
            if one != other and not constant & {one, other}:
                pairs = set(zip(first, second, strict=True))
                copies = len(pairs) == len(set(first)) == len(set(second))
                assert copies == any({one, other} <= group for group in grouped)


def test_fingerprints() -> None:
    """The hash of a column follows its contents: a changed cell changes it, another column or a name does not."""
    rng = np.random.default_rng(3)
    matrix = rng.integers(0, 3, (50, 4))
    first = coded_table(matrix)
    assert first.fingerprint_of("X1") != first.fingerprint_of("X2")
    changed = matrix.copy()
    changed[17, 1] = (changed[17, 1] + 1) % 3
    second = coded_table(changed, names="abcd")
    same = [first.fingerprint_of(x) == second.fingerprint_of(y) for x, y in zip(first.names, "abcd", strict=True)]
    assert same == [True, False, True, True]
    with pytest.raises(UnknownNodeError, match="unknown column 'X9'"):
        first.fingerprint_of("X9")


def test_fingerprints_do_not_depend_on_other_columns() -> None:
    """A column hashes alike beside a column that makes codes two bytes wide; a missing value is not a level."""
    rows = np.arange(300)
    narrow, wide = coded_table((rows % 3)[:, None]), coded_table(np.stack([rows % 3, rows], axis=1))
    assert wide.codes.dtype == np.uint16
    assert narrow.fingerprint_of("X1") == wide.fingerprint_of("X1")
    gap = coded_table(pd.DataFrame({"X1": [0, 1, None]}), missing="testwise")
    full = coded_table(pd.DataFrame({"X1": [0, 1, 2]}))
    assert gap.codes.tolist() == full.codes.tolist()
    assert gap.fingerprint_of("X1") != full.fingerprint_of("X1")
    assert array_fingerprint(np.arange(3.0), kind="float") != array_fingerprint(np.arange(3.0), kind="other")
