"""Compile kernels once and keep the machine code on disk.

Numba stores a compiled function beside its source and drops it when that one file changes; a kernel that calls
a kernel of another file would go stale unseen. All kernel sources therefore share one stamp, kept beside the
stored code, and code stored under another stamp is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

_STAMP = "apsl_kernels.stamp"
_entries: list[Any] = []


def kernel(function: Function) -> Function:
    """Compile a function that only other kernels call."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **({"_nrt": False} if "np.empty" not in __import__("inspect").getsource(function) and "sums_by" not in __import__("inspect").getsource(function) and "np.zeros" not in __import__("inspect").getsource(function) and "ones(" not in function.__name__ and function.__name__ in {"term","pearson","sum_strata","_sum_narrow","_sum_wide","_is_missing","fill_outer","settle","ones_of","ones_of_both","make_masks","extend_prefix","_make_codes","measure_spans","count_pair","_full_word"} else {}))


def entry(function: Function) -> Function:
    """Compile a function that Python calls; these are the ones that a first run waits for."""
    dispatcher = _compiled(function, nogil=True, no_cfunc_wrapper=True)
    _entries.append(dispatcher)
    return dispatcher


def all_stored() -> bool:
    """Say whether every entry imported so far has machine code on disk."""
    return all(_is_stored(dispatcher) for dispatcher in _entries)


def _compiled(function: Function, **options: bool) -> Function:
    try:
        dispatcher = njit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        dispatcher = njit(error_model="numpy", **options)(function)
    else:
        _drop_stale(Path(dispatcher.stats.cache_path))
    return cast("Function", dispatcher)


def _is_stored(dispatcher: Any) -> bool:
    where = dispatcher.stats.cache_path
    function = dispatcher.py_func
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    return where is not None and any(Path(where).glob(f"{name}.*.nbi"))


@cache
def _stamp() -> str:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


@cache
def _drop_stale(where: Path) -> None:
    kept = where / _STAMP
    if not kept.exists() or kept.read_text() != _stamp():
        for index in where.glob("*.nbi"):
            index.unlink(missing_ok=True)
        kept.write_text(_stamp())
