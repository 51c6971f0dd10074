"""Rows that lie on the workers of a cluster, and come back when workers are lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from apsl_backends.counting.dask_watch import ask_cluster

Result = TypeVar("Result")


class PlacedRows:
    """The partitions of a table on the workers, in the order of the rows, and how to place them again.

    Rows that came from files are read again by another worker; rows that came from this process are sent again.
    """

    def __init__(self, client: Any, place: Callable[[], list[Any]]) -> None:
        self.client = client
        self._place = place
        self._partitions = ask_cluster(client, place)

    def ask(self, round_of: Callable[[list[Any]], Result]) -> Result:
        """Ask the cluster in one round over all partitions, and again with new partitions if some were lost."""
        return ask_cluster(self.client, lambda: round_of(self._partitions), self._place_again)

    def ask_each(self, work: Callable[..., Any], *given: Any) -> list[Any]:
        """Do the same work on every partition, and return the answers in the order of the rows."""

        def round_of(partitions: list[Any]) -> list[Any]:
            return list(self.client.gather([self.client.submit(work, rows, *given, pure=False) for rows in partitions]))

        return self.ask(round_of)

    def _place_again(self) -> None:
        """Place the rows once more if some of them are gone for good."""
        if any(rows.status not in {"finished", "pending"} for rows in self._partitions):
            self._partitions = self._place()
