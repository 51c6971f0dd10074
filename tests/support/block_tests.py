"""Single questions to the log-determinant kernels."""

from __future__ import annotations

import numpy as np

from apsl_backends.kernels.bindings.moments import BlockTests, MomentRules, MomentsHandle
from apsl_backends.kernels.bindings.tables import thresholds
from support.determinants import Blocks, Floats, Integers, Plain

ALPHA = 0.05
RULES = MomentRules(thresholds(ALPHA), ALPHA, corrected=False)
INDEPENDENT, DEPENDENT, UNRELIABLE = range(3)


def opened(table: Blocks, rules: MomentRules = RULES) -> MomentsHandle:
    """Return the handle of a table."""
    return MomentsHandle(table.matrix, table.starts, table.rows, rules)


def outcome(handle: MomentsHandle, x: int, y: int, given_blocks: tuple[int, ...] = ()) -> Plain:
    """Return the outcome of one test."""
    blocks = integers(x, y, *given_blocks)
    done = handle.run_tests(integers(0, len(blocks)), blocks)
    return Plain(int(done.decisions[0]), float(done.statistics[0]), int(done.dofs[0]), int(done.ranks[0]))


def integers(*values: int) -> Integers:
    """Return an array of integers."""
    return np.array(values, np.int64)


def unset() -> Integers:
    """Return a flag that is not set."""
    return np.zeros(2, np.int64)


def numbers(matrix: Floats, rows: float, rules: MomentRules = RULES) -> MomentsHandle:
    """Return the handle of a matrix whose columns are a block each."""
    return MomentsHandle(matrix, np.arange(len(matrix) + 1), rows, rules)


def sweep(handle: MomentsHandle, others: Integers) -> BlockTests:
    """Return the outcomes of tests of the first block against others."""
    blocks = np.column_stack([np.zeros_like(others), others]).ravel()
    return handle.run_tests(np.arange(len(others) + 1) * 2, blocks)
