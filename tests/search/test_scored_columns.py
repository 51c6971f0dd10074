"""Which numbers are taken as they are: groups whose relations are straight then, and no others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from apsl_backends.engines.opener import moments_of
from apsl_backends.scores.columns import JointRows
from apsl_backends.search.scored_columns import ScoredColumns, read_columns
from apsl_rules.data import table
from apsl_rules.data.moments import KeptMoments
from apsl_rules.names import in_order


def _read(frame: pd.DataFrame) -> ScoredColumns:
    source = moments_of(table(frame))
    return read_columns(source, in_order(source.names), JointRows(source), squares=True, whole=True)


def _chain(noise: str, rows: int = 800) -> pd.DataFrame:
    """Draw a linear chain of six numbers with a kind of noise."""
    random = np.random.default_rng(8)
    noises = random.exponential(size=(6, rows)) - 1 if noise == "exponential" else random.normal(size=(6, rows))
    columns = [noises[0]]
    for further in noises[1:]:
        columns.append(1.2 * columns[-1] + further)
    return pd.DataFrame({f"x{at}": values for at, values in enumerate(columns)})


def test_linear_relations_with_skewed_noise_are_taken_as_they_are() -> None:
    """The group goes back to its values, a note says so, and nothing is curved."""
    found = _read(_chain("exponential"))
    assert not found.bent.any()
    assert any("taken as they are, since their relations are straight then" in note for note in found.notes)


def test_transformed_columns_stay_by_their_ranks() -> None:
    """A normal chain seen through exponentials is straight by its scores, and not by its values."""
    assert _read((0.27 * _chain("normal")).map(np.exp)).notes == ()


def test_nothing_depends_on_names_or_orders() -> None:
    """The columns come in the same order by content whatever they are called, and wherever their rows stand."""
    frame = _chain("exponential")
    names = dict(zip(frame.columns, "qwerty", strict=True))
    other = _read(frame.rename(columns=names)[list("ytrewq")].sample(frac=1, random_state=1).reset_index(drop=True))
    found = _read(frame)
    assert [names[str(node)] for node in found.nodes] == [*other.nodes]
    assert np.allclose(found.blocks.matrix, other.blocks.matrix)


def test_a_note_says_where_rows_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """With sums alone skewed numbers are taken by their ranks."""
    monkeypatch.setattr(KeptMoments, "rows_for_scores", lambda _self, _places: None)
    (note,) = _read(_chain("exponential")).notes
    assert note.startswith("the rows are too many, or stay elsewhere")
