"""Compile the counting kernels. None of them allocates arrays: callers pass all memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.extending import intrinsic

from apsl_backends.kernels import compiling
from apsl_backends.kernels.compiling import Function

_SOURCES = (Path(__file__).parent,)


def inlined(function: Function) -> Function:
    """Compile a function that is inlined into each kernel that calls it."""
    return compiling.compiled(function, _SOURCES, forceinline=True, no_cpython_wrapper=True)


def kernel(function: Function) -> Function:
    """Compile a function that kernels call; it calls ``keep_apart`` so that it is not inlined."""
    return compiling.compiled(function, _SOURCES, no_cpython_wrapper=True)


def entry(function: Function) -> Function:
    """Compile a function that Python calls; it releases the GIL."""
    return compiling.compiled(function, _SOURCES, nogil=True)


def machine_code(emitter: Callable[..., Any]) -> Any:
    """Make a function for kernels from one that emits its machine code."""
    return intrinsic(emitter)


@machine_code
def keep_apart(_context: Any) -> Any:
    """Prevent the calling function from being inlined, which would compile it again for each of its callers."""

    def emit(_context: Any, builder: Any, _signature: Any, _values: Any) -> None:
        builder.function.attributes.add("noinline")

    return numba.types.void(), emit
