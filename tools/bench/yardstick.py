"""The plain C row loop that our kernels are measured against, compiled with the machine's compiler."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import numpy.typing as npt

from apsl_rules.data.tables import Table

_SOURCE = Path(__file__).with_name("reference.c")


def compiled() -> ctypes.CDLL:
    """Compile the reference and load it."""
    library = Path(tempfile.mkdtemp()) / "reference.so"
    options = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, "-o", str(library), str(_SOURCE)], check=True)  # noqa: S607 - the machine's gcc
    return ctypes.CDLL(str(library))


class Yardstick:
    """Times the C loop on a table."""

    def __init__(self, rows: Table) -> None:
        self._library = compiled()
        self._rows = rows
        counts = np.arange(rows.rows + 1, dtype=np.float64)
        self._terms = counts * np.log(np.maximum(counts, 1.0))

    def run(self, tests: npt.NDArray[np.int64]) -> float:
        """Carry out tests, a row of columns (x, y, given...) each, and give the CPU seconds."""
        rows, count = self._rows, len(tests)
        asked = np.ascontiguousarray(tests, dtype=np.int64)
        cells = np.zeros(1 << 20, np.int64)
        statistics, degrees = np.empty(count), np.empty(count, np.int64)

        def pointer(array: npt.NDArray[np.generic]) -> ctypes.c_void_p:
            return ctypes.c_void_p(array.ctypes.data)

        begun = process_time()
        self._library.g_squares(
            pointer(rows.codes),
            ctypes.c_int64(rows.rows),
            pointer(rows.cards),
            pointer(asked),
            ctypes.c_int64(count),
            ctypes.c_int64(asked.shape[1]),
            pointer(self._terms),
            pointer(cells),
            pointer(statistics),
            pointer(degrees),
        )
        return process_time() - begun

    def sweep(self, place: int) -> float:
        """Test one column against all others and give the CPU seconds: the best of three."""
        others = np.array([at for at in range(len(self._rows.names)) if at != place])
        tests = np.stack([np.full_like(others, place), others], axis=1)
        return min(self.run(tests) for _ in range(3))
