"""Load the compiled kernels, with the layout of their structures and a sensible number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import CDLL, c_int32
from functools import cache
from itertools import pairwise
from math import ceil, log, log2
from pathlib import Path
from typing import Any, NamedTuple

from apsl_backends.kernels import build
from apsl_rules.errors import KernelError
from apsl_rules.stopping import Workers

#: The sums of a test (``sums_t``).
JOINT, OF_X, OF_Y, OF_ALL, DOF, ROWS = range(6)
SUM_FIELDS = 6

#: The last test of a candidate in an elimination (``outcome_t``).
STATE, DOF_MET, ROWS_MET, SIZE = range(4)
OUTCOME_FIELDS = 4

G_SQUARE, CHI_SQUARE = range(2)
ANY_METHOD, BY_ROWS, BY_BITS, BY_SORTING = range(4)
INDEPENDENT, DEPENDENT, UNRELIABLE = range(3)

#: The degrees of freedom with a critical value.
TABLED_DOFS = 256

#: The most cells of a table that is held in memory.
MOST_CELLS = 1 << 24

_BITS_OF_SUMS = 61


class Measure(NamedTuple):
    """How to decide from counts: the statistic, its degrees of freedom, the level and the reliability rule.

    It is for tables of at most ``rows`` rows whose columns have at most ``levels`` levels. ``method`` is the counting
    method; only comparisons of the methods fix it.
    """

    kind: int
    rows: int
    levels: int
    alpha: float
    full_dof: bool = False
    rows_per_cell: float = 0.0
    method: int = ANY_METHOD

    @property
    def scale(self) -> float:
        """The units in 1 of the integers that are summed; no sum is above 2⁶¹ units."""
        largest = self.rows * log(self.rows) if self.kind == G_SQUARE else float(self.rows) * self.levels
        return float(2.0 ** (_BITS_OF_SUMS - ceil(log2(largest))))


#: Names the level of processors to use, instead of the highest that this one supports.
LEVEL_VARIABLE = "APSL_CPU_LEVEL"
#: Names a folder of libraries that were built in another way, such as with a sanitizer, from the same sources.
FOLDER_VARIABLE = "APSL_KERNELS"


@cache
def library() -> CDLL:
    """Return the library for this processor; it is built first if it is missing or out of date in a checkout."""
    return load(level())


@cache
def folder() -> Path:
    """Return the folder of the libraries, which are up to date with the sources where there are any."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not build.sources():
        return Path(named or build.BUILT)
    if named and not build.is_current(Path(named)):
        message = f"{FOLDER_VARIABLE} is {named!r}, and the libraries there are not built from the sources as they are"
        raise KernelError(message)
    if not named and not build.is_current():
        try:
            build.build()
        except build.BuildError as error:
            raise KernelError(str(error)) from None
    return Path(named or build.BUILT)


def level() -> str:
    """Return the level that the environment names, or the highest that this processor supports."""
    supported = supported_levels()
    asked = os.environ.get(LEVEL_VARIABLE) or supported[-1]
    if asked not in supported:
        message = f"{LEVEL_VARIABLE} is {asked!r}; this processor supports {', '.join(supported)}"
        raise KernelError(message)
    return asked


def supported_levels() -> tuple[str, ...]:
    """Return the levels that this processor supports, the lowest first."""
    known = build.levels()
    highest = function_of(load(known[0]), "apsl_cpu_level")
    highest.restype, highest.argtypes = c_int32, ()
    return known[: highest() + 1]


def description() -> str:
    """Return a sentence on the library that is in use."""
    chosen, supported = level(), supported_levels()
    return f"{build.library_of(chosen, folder()).name}; this processor supports {', '.join(supported)}"


def function_of(loaded: CDLL, name: str) -> Any:
    """Return a function of a library."""
    try:
        return getattr(loaded, name)
    except AttributeError as error:
        message = f"the kernels of apsl_rules are of another version than it ({error}); install apsl_rules again"
        raise KernelError(message) from error


def load(name: str) -> CDLL:
    """Return the library of a level."""
    try:
        return CDLL(str(build.library_of(name, folder())))
    except OSError as error:
        message = f"the kernels of apsl_rules cannot be loaded ({error}); install apsl_rules again"
        raise KernelError(message) from error


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
