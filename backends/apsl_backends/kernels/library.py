"""Find the library of the kernels for this processor and load it.

In a checkout the library is built again when a source has changed. An installed package has no sources.
"""

from __future__ import annotations

import os
from ctypes import CDLL, c_int32
from functools import cache
from pathlib import Path
from typing import Any

from apsl_backends.kernels import build
from apsl_rules.errors import KernelError

#: Names the level of processors to use, instead of the highest that this one supports.
LEVEL_VARIABLE = "APSL_CPU_LEVEL"
#: Names a folder of libraries that were built in another way, such as with a sanitizer, from the same sources.
FOLDER_VARIABLE = "APSL_KERNELS"


@cache
def library() -> CDLL:
    """Return the library for this processor; it is built first if it is missing or out of date in a checkout."""
    return load(level())


@cache
def folder() -> Path:
    """Return the folder of the libraries, which are up to date with the sources where there are any."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not build.sources():
        return Path(named or build.BUILT)
    if named and not build.is_current(Path(named)):
        message = f"{FOLDER_VARIABLE} is {named!r}, and the libraries there are not built from the sources as they are"
        raise KernelError(message)
    if not named and not build.is_current():
        try:
            build.build()
        except build.BuildError as error:
            raise KernelError(str(error)) from None
    return Path(named or build.BUILT)


def level() -> str:
    """Return the level that the environment names, or the highest that this processor supports."""
    supported = supported_levels()
    asked = os.environ.get(LEVEL_VARIABLE) or supported[-1]
    if asked not in supported:
        message = f"{LEVEL_VARIABLE} is {asked!r}; this processor supports {', '.join(supported)}"
        raise KernelError(message)
    return asked


def supported_levels() -> tuple[str, ...]:
    """Return the levels that this processor supports, the lowest first."""
    known = build.levels()
    highest = function_of(load(known[0]), "apsl_cpu_level")
    highest.restype, highest.argtypes = c_int32, ()
    return known[: highest() + 1]


def description() -> str:
    """Return a sentence on the library that is in use."""
    chosen, supported = level(), supported_levels()
    return f"{build.library_of(chosen, folder()).name}; this processor supports {', '.join(supported)}"


def function_of(loaded: CDLL, name: str) -> Any:
    """Return a function of a library."""
    try:
        return getattr(loaded, name)
    except AttributeError as error:
        message = f"the kernels of apsl_rules are of another version than it ({error}); install apsl_rules again"
        raise KernelError(message) from error


def load(name: str) -> CDLL:
    """Return the library of a level."""
    try:
        return CDLL(str(build.library_of(name, folder())))
    except OSError as error:
        message = f"the kernels of apsl_rules cannot be loaded ({error}); install apsl_rules again"
        raise KernelError(message) from error
