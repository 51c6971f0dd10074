"""Compile functions to machine code that is cached on disk, and log when this takes long.

Numba passes some options from a caller to the functions it calls, unless these set them. Its cache does not distinguish
these options, so the function that is compiled first would decide for all later ones. Therefore every function sets all
such options itself.

Numba drops cached code when the file of the function itself changes, but not when the file of a function it calls
changes. Therefore the sources of functions that call each other share one stamp, stored beside the cached code. Code
cached under another stamp is deleted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

_STAMP = "apsl_kernels.stamp"
_NOWHERE = "they cannot be stored anywhere, so every run does this; set NUMBA_CACHE_DIR to a folder that can be written"
_jit: Any = numba.njit  # its type hints lack some of its options


def compiled(function: Function, sources: tuple[Path, ...], *, allocates: bool = False, **options: bool) -> Function:
    """Compile a function when it is first called; where no cache can be written, every process compiles it again.

    ``sources`` are the folders with the functions that it calls. Only a function that ``allocates`` may create or
    return arrays: the others do no reference counting, which would cost more than many of them do.
    """
    handed_down = {"_nrt": allocates, "error_model": "numpy", "fastmath": False, "forceinline": False}
    chosen = {"no_cfunc_wrapper": True, **handed_down, **options}
    _watch_compiler()
    try:
        dispatcher = _jit(cache=True, **chosen)(function)
    except RuntimeError:  # numba found no writable directory
        dispatcher = _jit(**chosen)(function)
    else:
        _drop_stale(Path(dispatcher.stats.cache_path), sources)
    return cast("Function", dispatcher)


@cache
def _stamp(sources: tuple[Path, ...]) -> str:
    files = [Path(__file__), *(file for folder in sources for file in sorted(folder.glob("*.py")))]
    return sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


@cache
def _drop_stale(where: Path, sources: tuple[Path, ...]) -> None:
    kept = where / _STAMP
    if not kept.exists() or kept.read_text("utf-8") != _stamp(sources):
        for index in where.glob("*.nbi"):
            index.unlink(missing_ok=True)
        kept.write_text(_stamp(sources), "utf-8")


class _Announcer(event.Listener):
    """Logs once per process that our functions are being compiled, which may take minutes."""

    def __init__(self) -> None:
        self._has_spoken = False

    def on_start(self, event: Any) -> None:
        """Log that numba starts to compile a function that is not in its cache."""
        dispatcher = event.data["dispatcher"]
        if self._has_spoken or not dispatcher.py_func.__module__.startswith("apsl_backends."):
            return
        self._has_spoken = True
        later = "later runs find them" if dispatcher.stats.cache_path else _NOWHERE
        # A warning is the lowest level that Python shows when logging is not configured.
        logging.getLogger("apsl_rules").warning(
            "apsl_rules is compiling its kernels for this machine, which may take one to four minutes; %s", later
        )

    def on_end(self, event: Any) -> None:
        """Do nothing when a function is compiled."""


@cache
def _watch_compiler() -> None:
    register: Any = event.register  # has no hints
    register("numba:compile", _Announcer())
