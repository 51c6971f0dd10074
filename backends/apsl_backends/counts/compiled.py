"""Compile kernels once and keep the machine code on disk.

Numba stores a compiled function beside its source and drops it when that one file changes; a kernel that calls
a kernel of another file would go stale unseen. All kernel sources therefore share one stamp, kept beside the
stored code, and code stored under another stamp is thrown away.

No kernel makes arrays: all memory is handed in, and nothing counts references.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

_jit: Any = numba.njit  # its hints do not know the options that it takes
_STAMP = "apsl_kernels.stamp"


def inlined(function: Function) -> Function:
    """Compile a function as a part of each kernel that calls it."""
    return _compiled(function, forceinline=True, no_cpython_wrapper=True)


def kernel(function: Function) -> Function:
    """Compile a function that kernels call; it says ``keep_apart`` so as not to become a part of each of them."""
    return _compiled(function, no_cpython_wrapper=True)


def entry(function: Function) -> Function:
    """Compile a function that Python calls, without the interpreter's lock."""
    return _compiled(function, nogil=True)


def machine_code(emitter: Callable[..., Any]) -> Any:
    """Make a function for kernels out of one that says how to emit it."""
    return intrinsic(emitter)


@machine_code
def keep_apart(_context: Any) -> Any:
    """Have the function that says this called, not made a part of its callers, each of which would compile it again."""

    def emit(_context: Any, builder: Any, _signature: Any, _values: Any) -> None:
        builder.function.attributes.add("noinline")

    return numba.types.void(), emit


def is_stored(entry_kernel: Any) -> bool:
    """Say whether the machine code of an entry is on disk."""
    where = entry_kernel.stats.cache_path
    function = entry_kernel.py_func
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}-{function.__code__.co_firstlineno}"
    return where is not None and any(Path(where).glob(f"{name}.*.nbi"))


def _compiled(function: Function, **options: bool) -> Function:
    options |= {"_nrt": False, "no_cfunc_wrapper": True}
    try:
        dispatcher = _jit(cache=True, error_model="numpy", **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        dispatcher = _jit(error_model="numpy", **options)(function)
    else:
        _drop_stale(Path(dispatcher.stats.cache_path))
    return cast("Function", dispatcher)


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
