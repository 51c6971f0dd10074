"""The compiling of kernels: no order of first calls matters, and it is said when it takes time."""

from __future__ import annotations

import inspect
import os
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher

import apsl_backends

pytestmark = pytest.mark.slow

#: Two kernels that are compiled within a second each; the third line uses the first one again.
USE_TWO = """
from apsl_backends.search.layers import _next, _size_of
print(_size_of(0b1011), _next(0b0111))
print(_size_of(0b1000))
"""


def kernels() -> dict[str, Dispatcher]:
    """Return all functions that are compiled, by their full names."""
    found = {}
    for module in pkgutil.walk_packages(apsl_backends.__path__, "apsl_backends."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Dispatcher):
                found[f"{value.py_func.__module__}.{value.py_func.__name__}"] = value
    return found


def python(script: str, cache: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a plain process that takes warnings as errors, with a folder for what is compiled."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)


@pytest.mark.slow
def test_no_kernel_takes_options_over_from_its_first_caller() -> None:
    """Each kernel sets whatever numba would hand down to it; stored code does not tell who was compiled first."""
    handed_down = re.findall(r'inherit_if_not_set\("(\w+)"', inspect.getsource(CPUTargetOptions.finalize))
    needed = {"_nrt" if flag == "nrt" else flag for flag in handed_down}
    found = kernels()

    assert "_nrt" in needed
    assert {"apsl_backends.scores.kernels.local", "apsl_backends.search.greedy.search"} <= set(found)
    assert [name for name, kernel in found.items() if not needed <= set(kernel.targetoptions)] == []


@pytest.mark.slow
def test_compiling_is_said_once_and_only_where_it_happens(tmp_path: Path) -> None:
    """A plain session says one line before the first kernel is compiled; the next one finds the code and says none."""
    first, second = python(USE_TWO, tmp_path), python(USE_TWO, tmp_path)

    assert first.stdout == second.stdout == "3 11\n1\n"
    assert len(first.stderr.splitlines()) == 1
    assert "apsl_rules is compiling its kernels" in first.stderr
    assert first.stderr.endswith("; later runs find them\n")
    assert second.stderr == ""


@pytest.mark.slow
def test_where_nothing_can_be_stored_that_is_said(tmp_path: Path) -> None:
    """Kernels work where numba may write nowhere, and the line says what every run costs and what to do."""
    nowhere = "from numba.core.caching import CompileResultCacheImpl as Kept\nKept._locator_classes = []\n"
    done = python(nowhere + USE_TWO, tmp_path)

    assert done.stdout == "3 11\n1\n"
    assert "so every run does this; set NUMBA_CACHE_DIR" in done.stderr
    assert list(tmp_path.iterdir()) == []
