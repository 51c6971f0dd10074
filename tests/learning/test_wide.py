"""Wide tables: a memory map is taken as it is, and what keeps cost and memory low changes no result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from apsl_backends.finders.by_tests import FirstCut, discoveries
from apsl_backends.independence.count_tests import GSquare
from apsl_backends.scores import columns
from apsl_backends.search import local_score
from apsl_rules import learn, network
from apsl_rules.data import coded_table, table
from apsl_rules.data.tables import Table
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning import frontier, run
from apsl_rules.oracles.protocol import Sweep
from apsl_rules.parts.file import part_json


def mapped(path: Path, columns: npt.NDArray[Any], mode: Any = "r") -> npt.NDArray[Any]:
    """Write columns one after the other, and return them as a memory map, rows by columns."""
    np.save(path, columns)
    written: npt.NDArray[Any] = np.load(path, mmap_mode=mode)
    return written.T


@pytest.fixture(scope="module")
def rows() -> Table:
    """Return 400 rows of ALARM."""
    return sample(network("alarm"), 400, seed=7)


def test_a_memory_map_of_codes_is_not_copied(tmp_path: Path) -> None:
    """Columns of bytes that are their own codes are read where they are; others, and maps for writing, are copied."""
    random = np.random.default_rng(1)
    columns = random.integers(0, 3, (50, 40), dtype=np.uint8)
    source = mapped(tmp_path / "codes.npy", columns)

    lent = table(source)

    assert isinstance(lent, Table)
    assert np.shares_memory(lent.codes, source)
    assert not lent.codes.flags.writeable
    plain = table(np.ascontiguousarray(source))
    assert isinstance(plain, Table)
    assert (lent.names, lent.levels, lent.columns) == (plain.names, plain.levels, plain.columns)
    assert np.array_equal(lent.codes, plain.codes)
    assert part_json(learn(lent, "X3")) == part_json(learn(plain, "X3"))
    writable = mapped(tmp_path / "codes.npy", columns, "r+")
    assert not np.shares_memory(coded_table(writable).codes, writable)
    columns[30] = columns[30] * 2 + 5
    holes = mapped(tmp_path / "holes.npy", columns)
    copied = coded_table(holes)
    assert not np.shares_memory(copied.codes, holes)
    assert copied.levels[30] == (5, 7, 9)
    assert np.array_equal(copied.codes, plain.codes)


def test_duplicates_among_very_many_columns_are_found() -> None:
    """Signatures only leave out columns without a duplicate: renamed levels are found, near-copies are not taken."""
    random = np.random.default_rng(2)
    columns = random.integers(0, 3, (10_500, 70), dtype=np.uint8)
    columns[17] = np.array([2, 0, 1], np.uint8)[columns[10_400]]
    columns[5_000] = columns[10_400]
    columns[6_000] = columns[6_001]
    columns[6_000, 69] = (columns[6_000, 69] + 1) % 3
    columns[9_000:9_003] = 0
    columns[9_001, 3] = columns[9_002, 3] = 1
    wide = coded_table(columns.T)

    assert wide.find_duplicates() == (("X10401", "X18", "X5001"), ("X9002", "X9003"))


@pytest.mark.parametrize("share", [0.001, 0.01, 0.2])
def test_the_cut_of_false_discoveries_needs_few_p_values(rows: Table, share: float) -> None:
    """It marks what the cut through all p-values marks, on sweeps as arrays and on plain ones."""
    oracle = GSquare(rows)
    for node in rows.names[:12]:
        swept = oracle.associations(node)
        plain = Sweep(node, list(swept))
        expected = discoveries(swept.log_p(), share).tolist()
        for sweep in (swept, plain):
            marked = FirstCut(share, ())(sweep)
            assert marked is not None
            assert marked.tolist() == expected


def test_few_sweeps_are_kept_in_a_wide_run(rows: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that keeps few sweeps ends with the same part, counts included."""
    usual = {target: part_json(learn(rows, target, depth=2)) for target in ("HR", "CO")}
    monkeypatch.setattr(run, "_WIDE", 1)

    for target, text in usual.items():
        assert part_json(learn(rows, target, depth=2)) == text


def test_more_columns_than_numbers_are_numbered_by_their_content(rows: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few numbers for all columns the part has the same edges and marks, under other names too."""
    monkeypatch.setattr(frontier, "_MOST_CELLS_CUT", 0)  # a whole graph has a number for each column
    usual = learn(rows, "HR", depth=2, hidden="excluded")
    for module in (columns, local_score):
        monkeypatch.setattr(module, "MOST_NUMBERS", 30)
    renamed = Table(
        tuple(f"{number:02}" for number in range(len(rows.names), 0, -1)),
        rows.codes,
        rows.cards,
        rows.levels,
        rows.incomplete,
    )
    place = dict(zip(renamed.names, rows.names, strict=True))

    fresh = Table(rows.names, rows.codes, rows.cards, rows.levels, rows.incomplete)
    part = learn(fresh, "HR", depth=2, hidden="excluded")
    other = learn(renamed, renamed.names[rows.place["HR"]], depth=2, hidden="excluded")

    assert (part.arrows, part.lines) == (usual.arrows, usual.lines)
    assert {(place[tail], place[head]) for tail, head in other.arrows} == part.arrows
