"""Threads over independent blocks of work; the kernels hold no lock, and blocks never share results."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_blocks(count: int, threads: int, work: Callable[[int, int], None]) -> None:
    """Do work on the places from 0 to count, cut into one block for each thread."""
    if threads <= 1 or count <= 1:
        work(0, count)
        return
    cuts = [count * block // threads for block in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work, low, high) for low, high in zip(cuts[:-1], cuts[1:], strict=True)]:
            done.result()
