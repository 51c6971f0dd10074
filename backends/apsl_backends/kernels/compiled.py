"""Compile the counting kernels. None of them makes arrays: all memory is handed in."""

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
    """Compile a function as a part of each kernel that calls it."""
    return compiling.compiled(function, _SOURCES, forceinline=True, no_cpython_wrapper=True)


def kernel(function: Function) -> Function:
    """Compile a function that kernels call; it says ``keep_apart`` so as not to become a part of each of them."""
    return compiling.compiled(function, _SOURCES, no_cpython_wrapper=True)


def entry(function: Function) -> Function:
    """Compile a function that Python calls, without the interpreter's lock."""
    return compiling.compiled(function, _SOURCES, nogil=True)


def machine_code(emitter: Callable[..., Any]) -> Any:
    """Make a function for kernels out of one that says how to emit it."""
    return intrinsic(emitter)


@machine_code
def keep_apart(_context: Any) -> Any:
    """Have the function that says this called, not made a part of its callers, each of which would compile it again."""

    def emit(_context: Any, builder: Any, _signature: Any, _values: Any) -> None:
        builder.function.attributes.add("noinline")

    return numba.types.void(), emit
