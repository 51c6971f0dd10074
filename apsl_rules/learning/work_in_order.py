"""Work on many things at a time, with the results in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future
from typing import TypeVar

from apsl_rules.stopping import Workers

Item = TypeVar("Item")
Result = TypeVar("Result")


def work_in_order(work: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Generator[Result]:
    """Work on items, several at a time, and give the results in their order; none is begun that nobody awaits."""
    if threads == 1:
        yield from map(work, items)
        return
    ahead: deque[Future[Result]] = deque()
    with Workers(threads) as pool:
        try:
            for one in items:
                ahead.append(pool.submit(work, one))
                if len(ahead) > 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for waiting in ahead:
                waiting.cancel()
