"""Compile a function to machine code that is kept on disk.

Numba drops stored code when the file of the function itself changes, not when that of a function it calls does. All
kernels that call each other therefore stand in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile a function, without the interpreter's lock; where nothing can be written it is compiled each time."""
    try:
        dispatcher = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no directory that it may write to
        dispatcher = njit(nogil=True, error_model="numpy")(function)
    return cast("Function", dispatcher)
