"""Load the compiled kernels: the layout of their structures, checked addresses, a sensible number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from ctypes import CDLL, CFUNCTYPE, POINTER, addressof, c_char, c_double, c_int32, c_int64, c_void_p
from functools import cache
from itertools import pairwise
from math import ceil, log, log2
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from weakref import finalize

import numpy as np
import numpy.typing as npt

from apsl_backends.kernels import build
from apsl_rules.errors import KernelError
from apsl_rules.stopping import Flag, Workers

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


Codes: TypeAlias = npt.NDArray[np.uint8] | npt.NDArray[np.uint16] | npt.NDArray[np.uint32]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

_CODE_TYPES = (np.uint8, np.uint16, np.uint32)
_MATRIX = 2
_FLAG = (2,)
_DONE, _NO_MEMORY, _STOPPED, _WRONG_INPUT = range(4)

_POINTER, _LONG, _DOUBLE, _INT = c_void_p, c_int64, c_double, c_int32
#: A figure that the library asks for: of some numbers.
FIGURE = CFUNCTYPE(c_int64, POINTER(c_int64), c_int64)
#: The result and the arguments of every function of the library.
_SIGNATURES: dict[str, tuple[type | None, tuple[type, ...]]] = {
    "apsl_log_gamma": (None, (_POINTER, _LONG, _POINTER)),
    "apsl_normal_quantiles": (None, (_POINTER, _LONG, _POINTER)),
    # counts and tests
    "apsl_table_open": (_POINTER, (_POINTER, _INT, _LONG, _LONG, _POINTER, _POINTER, _POINTER, _LONG)),
    "apsl_table_pack": (_LONG, (_POINTER, _LONG, _LONG)),
    "apsl_table_close": (None, (_POINTER,)),
    "apsl_measure_open": (_POINTER, (_INT, _LONG, _DOUBLE, _DOUBLE, _POINTER, _INT, _DOUBLE, _INT)),
    "apsl_measure_close": (None, (_POINTER,)),
    "apsl_tester_open": (_POINTER, (_POINTER, _POINTER)),
    "apsl_tester_close": (None, (_POINTER,)),
    "apsl_run_tests": (_INT, (_POINTER, _POINTER, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER, _POINTER)),
    "apsl_sweep": (_INT, (_POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER, _POINTER, _POINTER)),
    "apsl_search": (_INT, (_POINTER, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER, _POINTER)),
    "apsl_eliminate": (
        _INT,
        (_POINTER, _LONG, _POINTER, _LONG, _LONG, *(_POINTER,) * 7),
    ),
    "apsl_tail": (_DOUBLE, (_DOUBLE, _LONG, _POINTER)),
    "apsl_tails": (None, (_POINTER, _POINTER, _LONG, _POINTER, _POINTER)),
    "apsl_thresholds": (None, (_DOUBLE, _POINTER)),
    "apsl_is_weaker": (_INT, (_DOUBLE, _LONG, _DOUBLE, _LONG)),
    # scores
    "apsl_score_open": (_POINTER, (_LONG, _DOUBLE, _DOUBLE, _LONG, _INT)),
    "apsl_score_close": (None, (_POINTER,)),
    "apsl_score_bytes": (_LONG, (_LONG, _INT)),
    "apsl_score_set_rows": (_INT, (_POINTER, _POINTER, _INT, _LONG, _LONG, _POINTER, _LONG)),
    "apsl_score_add_node": (_INT, (_POINTER, _LONG, _LONG, _LONG, _POINTER)),
    "apsl_score_set_share": (None, (_POINTER, _DOUBLE)),
    "apsl_score_set_moments": (_INT, (_POINTER, *[_POINTER] * 2, *[_DOUBLE] * 3, _LONG, _POINTER, _DOUBLE)),
    "apsl_score_add_level": (_INT, (*(_POINTER,) * 3, *[_DOUBLE] * 3, _LONG)),
    "apsl_score_ask": (_INT, (_POINTER, FIGURE)),
    "apsl_score_forget": (None, (_POINTER,)),
    "apsl_score_allow": (None, (_POINTER, _LONG)),
    "apsl_score_tried": (_LONG, (_POINTER,)),
    "apsl_score_counted": (_LONG, (_POINTER,)),
    "apsl_score_local": (_INT, (_POINTER, _LONG, _POINTER, _LONG, _POINTER)),
    "apsl_score_renamed": (_INT, (*(_POINTER,) * 3, _LONG, _POINTER, _LONG, _POINTER, _LONG, _POINTER)),
    "apsl_score_gains": (_INT, (_POINTER, _LONG, _POINTER, _LONG, _POINTER, _LONG, _POINTER)),
    "apsl_score_counts": (_LONG, (_POINTER, _POINTER, _LONG, _DOUBLE)),
    "apsl_score_joints": (_INT, (_POINTER, _POINTER, _LONG, _POINTER, _POINTER)),
    "apsl_joints_bytes": (_LONG, (_LONG, _LONG, _INT)),
    # searches by score
    "apsl_best_graph": (_INT, (_POINTER, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER, _POINTER)),
    "apsl_best_by_pairs": (_INT, (_POINTER, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER)),
    "apsl_best_graph_bytes": (_LONG, (_LONG,)),
    "apsl_extend": (_INT, (_POINTER, _LONG, _POINTER)),
    "apsl_pattern": (_INT, (_POINTER, _LONG, _POINTER)),
    "apsl_search_open": (_POINTER, (_POINTER, _POINTER, _LONG, _LONG)),
    "apsl_search_close": (None, (_POINTER,)),
    "apsl_search_greedy": (_INT, (_POINTER, _POINTER, _POINTER, _LONG, _LONG, _POINTER, _POINTER)),
    "apsl_search_climb": (_INT, (_POINTER, _POINTER, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER)),
    "apsl_search_order": (_INT, (*(_POINTER,) * 3, _LONG, _POINTER, *(_LONG,) * 5, *(_POINTER,) * 2, _LONG, _POINTER)),
    "apsl_search_rivals": (_INT, (_POINTER, _POINTER, _POINTER, _LONG, _LONG, _POINTER, _LONG, _POINTER, _POINTER)),
    "apsl_search_best_move": (
        _INT,
        (_POINTER, _POINTER, _POINTER, _LONG, _INT, _LONG, _LONG, _POINTER, _POINTER, _POINTER),
    ),
    # tests and scores from moments
    "apsl_find_flaw": (_INT, (_POINTER, _LONG)),
    "apsl_moments_open": (
        _POINTER,
        (*(_POINTER,) * 4, _LONG, _DOUBLE, _DOUBLE, _POINTER, _LONG, *(_DOUBLE,) * 3, _INT),
    ),
    "apsl_moments_close": (None, (_POINTER,)),
    "apsl_moments_add_level": (None, (_POINTER, _POINTER)),
    "apsl_log_determinant_tests": (_INT, (*(_POINTER,) * 3, _LONG, *(_POINTER,) * 4)),
    "apsl_log_determinant_search": (_INT, (_POINTER, _POINTER, _LONG, _LONG, _LONG, *(_POINTER,) * 4)),
    "apsl_log_determinant_elimination": (_INT, (_POINTER, _LONG, _POINTER, _LONG, _LONG, *(_POINTER,) * 6)),
    # moments of embedded columns
    "apsl_embedded_open": (_POINTER, (_LONG, _LONG)),
    "apsl_embedded_close": (None, (_POINTER,)),
    "apsl_embedded_set_number": (_INT, (_POINTER, _LONG, _POINTER, _POINTER, _LONG, _POINTER)),
    "apsl_embedded_set_category": (_INT, (_POINTER, _LONG, _POINTER, _INT, _POINTER, _LONG, _LONG, _POINTER)),
    "apsl_add_rows": (_INT, (_POINTER, _POINTER, _LONG, _LONG, _LONG, *(_POINTER,) * 3)),
    "apsl_add_sums": (None, (*(_POINTER,) * 4, _LONG)),
    "apsl_covariance": (None, (_POINTER, _POINTER, _LONG, _POINTER)),
    "apsl_row_tests": (_INT, (*(_POINTER,) * 3, _LONG, _DOUBLE, *(_POINTER,) * 3)),
    "apsl_matrix_tests": (_INT, (*(_POINTER,) * 4, _LONG, _POINTER, _POINTER, _LONG, _DOUBLE, _POINTER, _POINTER)),
    "apsl_incomplete_covariance": (
        _INT,
        (_POINTER, _POINTER, _LONG, *(_POINTER,) * 3, _LONG, _DOUBLE, _LONG, *(_POINTER,) * 3),
    ),
    "apsl_count_values": (_INT, (_POINTER, _LONG, _POINTER, _LONG, _LONG, _LONG, _POINTER, _POINTER)),
    "apsl_score_values": (_INT, (_POINTER, _LONG, _POINTER, _LONG, _LONG, _LONG, *(_POINTER,) * 4)),
    "apsl_values_outside": (_LONG, (_POINTER, _LONG, _DOUBLE, _DOUBLE, _POINTER, _LONG)),
}


@cache
def kernels() -> CDLL:
    """Return the library with the types of its functions."""
    loaded = library()
    for name, (result, arguments) in _SIGNATURES.items():
        function = function_of(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def address(array: npt.NDArray[np.generic], kind: type[np.generic], shape: tuple[int, ...], name: str) -> int:
    """Return the address of an array after checking its type, its layout and its shape."""
    flags = array.flags
    if array.dtype != kind or array.shape != shape or not (flags.c_contiguous and flags.aligned):
        message = (
            f"{name} must be a contiguous array of {np.dtype(kind)} with shape {shape}, "
            f"not of {array.dtype} with shape {array.shape} and strides {array.strides}"
        )
        raise TypeError(message)
    if array.size and flags.writeable:
        return addressof(c_char.from_buffer(array.data))
    found: int = array.__array_interface__["data"][0]
    return found


def target(array: npt.NDArray[np.generic], kind: type[np.generic], shape: tuple[int, ...], name: str) -> int:
    """Return the address of an array that the kernels write to."""
    if not array.flags.writeable:
        message = f"{name} must be an array that can be written to"
        raise TypeError(message)
    return address(array, kind, shape, name)


def codes(array: Codes) -> tuple[int, int, int, int]:
    """Return the address, bytes of a code, columns and lines of some codes."""
    if array.ndim != _MATRIX or array.dtype not in _CODE_TYPES:
        message = f"codes must be columns by rows of 8, 16 or 32 bits without sign, not {array.ndim}-d {array.dtype}"
        raise TypeError(message)
    return address(array, array.dtype.type, array.shape, "codes"), array.dtype.itemsize, *array.shape


def indices(array: Integers, end: int, name: str) -> int:
    """Return the address of a one-dimensional array of indices below an end."""
    found = address(array, np.int64, (array.size,), name)
    if array.size and int(array.view(np.uint64).max()) >= end:  # a negative one is huge without a sign
        message = f"{name} must be between 0 and {end - 1}, not {array.tolist()}"
        raise ValueError(message)
    return found


def sections(starts: Integers, end: int, shortest: int, name: str) -> int:
    """Return the address of the starts of consecutive sections, with the end of the last."""
    found = address(starts, np.int64, (max(starts.size, 1),), name)
    if starts[0] != 0 or starts[-1] != end or not bool((np.diff(starts) >= shortest).all()):
        message = f"{name} must go from 0 to {end} in steps of at least {shortest}, not {starts.tolist()}"
        raise ValueError(message)
    return found


def flag(stop: Flag) -> int:
    """Return the address of the flag that ends a call; the kernels may set it."""
    return target(stop, np.int64, _FLAG, "stop")


def require_status(status: int) -> bool:
    """Return whether a call was carried out; False if it was stopped."""
    if status == _NO_MEMORY:
        message = "the kernels have not enough memory for this; use fewer columns or rows"
        raise MemoryError(message)
    if status == _WRONG_INPUT:
        message = "a number, a code or a graph that was given to the kernels is out of range"
        raise ValueError(message)
    return status == _DONE


def opened(pointer: int | None) -> int:
    """Return the address of what the library has opened."""
    if pointer is None:
        require_status(_NO_MEMORY)
    assert pointer is not None  # noqa: S101 - an error was raised
    return pointer


def close_with(handle: object, close: Callable[[int], None], pointer: int) -> None:
    """Close what the library has opened when its handle is collected.

    Not when Python ends: a call in another thread may still run then.
    """
    finalize(handle, close, pointer).atexit = False


def require(holds: bool, name: str, value: object) -> None:  # noqa: FBT001 - what must hold
    """Refuse a value that is out of range."""
    if not holds:
        message = f"{name} cannot be {value!r} here"
        raise ValueError(message)


def log_gamma(values: Floats) -> Floats:
    """Return ln Γ of positive values, the same bits on every machine."""
    out, size = np.empty(len(values)), (len(values),)
    known = address(values, np.float64, size, "values")
    kernels().apsl_log_gamma(known, len(values), target(out, np.float64, size, "out"))
    return out


def normal_quantiles(shares: Floats) -> Floats:
    """Return the value of a standard normal variable above each share of its values, the same bits on every machine."""
    out, size = np.empty(len(shares)), (len(shares),)
    known = address(shares, np.float64, size, "shares")
    kernels().apsl_normal_quantiles(known, len(shares), target(out, np.float64, size, "out"))
    return out
