"""Dictionary columns of pyarrow: their labels are read by code, whatever their chunks number them by."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from apsl_rules.data import coded_table

pytestmark = pytest.mark.slow

LABELS = st.one_of(st.none(), st.sampled_from(["x", "y", "", "1", "é"]))


@st.composite
def chunks(draw: st.DrawFn) -> pa.DictionaryArray:
    """Draw a chunk whose dictionary has labels unused, repeated or missing, and whose codes may be missing."""
    labels = draw(st.lists(LABELS, min_size=1, max_size=5))
    codes = draw(st.lists(st.one_of(st.none(), st.integers(0, len(labels) - 1)), max_size=6))
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(labels, pa.string()))


@given(st.lists(chunks(), min_size=1, max_size=4).filter(lambda drawn: sum(map(len, drawn)) > 1))
def test_every_label_is_read(drawn: list[pa.DictionaryArray]) -> None:
    """Rows have the labels that pyarrow itself gives them, and levels are sorted, whatever the dictionaries have."""
    column = pa.chunked_array(drawn)
    expected = column.to_pylist()
    assume(any(label is not None for label in expected))
    read = coded_table(pa.table({"a": column, "b": pa.array(range(len(expected)))}), missing="level")
    labels = [read.levels[0][code] for code in read.codes[0]]

    assert labels == ["missing" if label is None else label for label in expected]
    assert [level for level in read.levels[0] if level != "missing"] == sorted({*expected} - {None, "missing"})
