"""Compile searches; most of them allocate no arrays, and callers pass all memory."""

from __future__ import annotations

from pathlib import Path

from apsl_backends.kernels import compiling
from apsl_backends.kernels.compiled import keep_apart
from apsl_backends.kernels.compiling import Function

__all__ = ["allocating", "compiled", "inner", "keep_apart"]

_SOURCES = (Path(__file__).parent, Path(__file__).parents[1] / "scores")


def compiled(function: Function) -> Function:
    """Compile a function that Python calls; it releases the GIL."""
    return compiling.compiled(function, _SOURCES, nogil=True)


def allocating(function: Function) -> Function:
    """Compile a function that Python calls and that allocates arrays."""
    return compiling.compiled(function, _SOURCES, nogil=True, allocates=True)


def inner(function: Function) -> Function:
    """Compile a function that only compiled ones call; it has no Python wrapper, which would take long to compile."""
    return compiling.compiled(function, _SOURCES, no_cpython_wrapper=True)
