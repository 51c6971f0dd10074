"""Scores that are kept for later handles."""

from __future__ import annotations

from weakref import finalize, ref

from apsl_backends.kernels.border import checks

#: How many scores a store keeps, and of how many columns: the known scores of one take up to 8 MiB.
_MOST_KEPT, _MOST_COLUMNS_KEPT = 4, 128


class ScoreStore:
    """Scores that handles leave behind for later ones with the same rows and settings, which need not count again.

    A score comes back when its handle is collected, so no call uses it any more. Few are kept, and no large ones.
    """

    def __init__(self) -> None:
        self._free: list[tuple[int, dict[int, int]]] = []
        finalize(self, _close_all, self._free).atexit = False

    def take(self) -> tuple[int, dict[int, int]] | None:
        """Return the address of a score and the columns of its nodes, or None."""
        try:
            return self._free.pop()
        except IndexError:  # another thread may have taken the last one
            return None

    def put(self, pointer: int, columns: dict[int, int]) -> None:
        """Take a score back."""
        if len(self._free) < _MOST_KEPT and len(columns) <= _MOST_COLUMNS_KEPT:
            self._free.append((pointer, columns))
        else:
            checks.kernels().apsl_score_close(pointer)


def _close_all(free: list[tuple[int, dict[int, int]]]) -> None:
    for pointer, _ in free:
        checks.kernels().apsl_score_close(pointer)


def give_back(store: ref[ScoreStore], pointer: int, columns: dict[int, int]) -> None:
    """Take a score back into a store, or close it if the store is gone."""
    found = store()
    if found is None:
        checks.kernels().apsl_score_close(pointer)
    else:
        found.put(pointer, columns)
