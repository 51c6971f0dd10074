"""Gaussian scores in plain numpy, and tables of linear relations to search."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels.bindings.moments import TOLERANCE
from apsl_backends.kernels.bindings.scores import ScoreHandle
from support.determinants import Blocks

SCALE = 2.0**30


def gaussian_handle(table: Blocks, penalty: float = 0.0, penalty_factor: float = 1.0) -> ScoreHandle:
    """Open the Gaussian score of a table; a parent costs a penalty in nats."""
    handle = ScoreHandle(table.number, scale=SCALE, penalty=round(penalty * SCALE))
    handle.set_moments(table.matrix, table.starts, table.rows, penalty_factor=penalty_factor, tolerance=TOLERANCE)
    handle.allow(10**9)
    return handle


def plain_family(table: Blocks, node: int, parents: Sequence[int], penalty_factor: float = 1.0) -> float:
    """Score a family of full rank by determinants; without parents it is 0."""
    matrix = table.matrix
    scale = 1 / np.sqrt(np.diag(matrix))
    matrix = matrix * np.outer(scale, scale)

    def part(nodes: Sequence[int]) -> float:
        places = [place for one in nodes for place in range(table.starts[one], table.starts[one + 1])]
        return float(np.linalg.slogdet(matrix[np.ix_(places, places)])[1])

    widths = np.diff(table.starts)
    explained = part([node]) + part(parents) - part([node, *parents])
    parameters = int(widths[node] * widths[list(parents)].sum())
    return table.rows / 2 * explained - penalty_factor * log(table.rows) / 2 * parameters


def draw_linear(dag: npt.NDArray[np.uint8], rows: int, seed: int) -> Blocks:
    """Draw numbers that depend linearly on their parents; the nodes must be in the order of the arrows."""
    random = np.random.default_rng(seed)
    width = len(dag)
    weights = dag * random.uniform(0.5, 1.0, (width, width)) * random.choice([-1, 1], (width, width))
    columns = np.zeros((rows, width))
    for node in range(width):
        columns[:, node] = columns @ weights[:, node] + random.normal(size=rows) * random.uniform(0.8, 1.2)
    return Blocks(columns, np.arange(width + 1))


def draw_dag(width: int, degree: float, seed: int) -> npt.NDArray[np.uint8]:
    """Draw a graph in which each arrow leads from a smaller to a larger number."""
    random = np.random.default_rng(seed)
    dense = random.random((width, width)) < degree / (width - 1)
    return np.triu(dense, 1).astype(np.uint8)
