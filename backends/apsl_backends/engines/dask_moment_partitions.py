"""What a worker of a cluster does for moments: keep some rows as numbers and codes, and add up their products."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from apsl_backends.engines.coders import Coder
from apsl_backends.engines.dask_partitions import OpenPiece, Piece
from apsl_backends.engines.memory import EmbeddedRows
from apsl_backends.kernels.bindings import CategoryColumn, EmbeddedHandle, Floats, NumberColumn

Part: TypeAlias = list[NumberColumn | CategoryColumn]
Answer = TypeVar("Answer")


def read_part(piece: Piece, coders: Sequence[Coder]) -> Part:
    """Read a piece of files as numbers and codes."""
    opened = OpenPiece.of(piece)
    part: Part = []
    for number, coder in enumerate(coders):
        with opened.naming(number):
            part.append(coder.code(opened.column(number)))
    return part


def work_on(part: Part, places: Sequence[int], work: Callable[[Part], Answer]) -> Answer:
    """Do work on some columns of a partition."""
    return work([part[place] for place in places])


def same(part: Any) -> Any:
    """Return the columns themselves, to gather them."""
    return part


def part_sums(part: Part) -> tuple[Floats, Floats]:
    """Return the sums of products over a partition, and what their additions lost."""
    handle = EmbeddedHandle(part, len(part[0][0]) if part else 0)
    found = EmbeddedRows(handle, ()).sums(np.arange(len(part), dtype=np.int64))
    return found.sums, found.errors
