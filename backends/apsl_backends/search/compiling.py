"""Compile searches to machine code that is kept on disk.

Numba drops stored code when the file of the function itself changes, not when that of a function it calls does. The
sources of all searches and scores therefore share one stamp, kept beside the stored code, and code stored under another
stamp is thrown away.

No search makes arrays: all memory is handed in, and nothing counts references, which would cost more than the searches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

from apsl_backends.counts.compiled import keep_apart

__all__ = ["compiled", "inner", "keep_apart"]

Function = TypeVar("Function", bound=Callable[..., Any])

_STAMP = "apsl_searches.stamp"
_jit: Any = numba.njit  # its hints do not know the options that it takes


def compiled(function: Function) -> Function:
    """Compile a function that Python calls, without the interpreter's lock."""
    return _compiled(function, nogil=True)


def inner(function: Function) -> Function:
    """Compile a function that only compiled ones call: what would hand it arguments from Python takes long to make."""
    return _compiled(function, no_cpython_wrapper=True)


def _compiled(function: Function, **options: bool | str) -> Function:
    options |= {"error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
    try:
        dispatcher = _jit(cache=True, **options)(function)
    except RuntimeError:  # numba found no directory that it may write to
        dispatcher = _jit(**options)(function)
    else:
        _drop_stale(Path(dispatcher.stats.cache_path))
    return cast("Function", dispatcher)


@cache
def _stamp() -> str:
    here = Path(__file__).parent
    sources = sorted([*here.glob("*.py"), *(here.parent / "scores").glob("*.py")])
    return sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()


@cache
def _drop_stale(where: Path) -> None:
    kept = where / _STAMP
    if not kept.exists() or kept.read_text("utf-8") != _stamp():
        for index in where.glob("*.nbi"):
            index.unlink(missing_ok=True)
        kept.write_text(_stamp(), "utf-8")
