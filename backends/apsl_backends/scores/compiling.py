"""Compile the functions of the scores."""

from __future__ import annotations

from pathlib import Path

from apsl_backends.kernels import compiling
from apsl_backends.kernels.compiling import Function

_SOURCES = (Path(__file__).parent,)


def compiled(function: Function) -> Function:
    """Compile a function that releases the GIL and allocates no arrays."""
    return compiling.compiled(function, _SOURCES, nogil=True)


def allocating(function: Function) -> Function:
    """Compile a function that releases the GIL and allocates arrays."""
    return compiling.compiled(function, _SOURCES, nogil=True, allocates=True)
