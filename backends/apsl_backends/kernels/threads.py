"""Threads over independent blocks of work; the kernels release the GIL, and blocks never share results."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from apsl_rules.stopping import Workers

_CODES_PER_THREAD = 1 << 21


def useful_threads(threads: int, codes: int) -> int:
    """Return how many threads are worth starting to read this number of codes."""
    return max(1, min(threads, codes // _CODES_PER_THREAD))


def in_blocks(count: int, threads: int, work: Callable[[int, int], object]) -> None:
    """Do work on the places from 0 to count, split into one block for each thread."""
    blocks = min(threads, count)
    if blocks <= 1:
        work(0, count)
        return
    cuts = [count * block // blocks for block in range(blocks + 1)]
    with Workers(blocks) as pool:
        for done in [pool.submit(work, low, high) for low, high in pairwise(cuts)]:
            done.result()
