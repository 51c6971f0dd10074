"""Compile the functions of the scores."""

from __future__ import annotations

from pathlib import Path

from apsl_backends.kernels import compiling
from apsl_backends.kernels.compiling import Function

_SOURCES = (Path(__file__).parent,)


def compiled(function: Function) -> Function:
    """Compile a function that Python or another one calls, without the interpreter's lock; it makes no arrays."""
    return compiling.compiled(function, _SOURCES, nogil=True)


def allocating(function: Function) -> Function:
    """Compile a function that Python calls and that makes arrays of its own."""
    return compiling.compiled(function, _SOURCES, nogil=True, allocates=True)
