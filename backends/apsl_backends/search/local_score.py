"""The score of graphs over the columns near a target, which join it as a search meets them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from apsl_backends.kernels.border import ScoreHandle
from apsl_backends.scores.missing_values import JointRows
from apsl_rules.names import Node

if TYPE_CHECKING:
    from apsl_backends.search.rounds import Found


class LocalScore(Protocol):
    """What the search of a ball needs of a score; joined nodes have numbers."""

    @property
    def name(self) -> str:
        """Return the name of the score, as shown in proofs."""

    @property
    def rows(self) -> float:
        """Return the number of rows that scores rest on."""

    @property
    def together(self) -> JointRows:
        """Return in how many rows columns are seen together."""

    @property
    def nodes(self) -> Mapping[int, Node]:
        """Return the joined nodes by number."""

    @property
    def handle(self) -> ScoreHandle:
        """Return the score that searches use; joining nodes may replace it."""

    @property
    def is_changed(self) -> bool:
        """Return whether families of nodes that joined before may now score otherwise."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of the part should know of the score."""

    def join(self, nodes: Collection[Node]) -> tuple[int, ...]:
        """Add nodes to the score, and return their numbers in ascending order."""

    def settle(self, search: Callable[[ScoreHandle], Found]) -> None:
        """Settle how to score the joined nodes before they are searched; a quick search may tell."""

    def local(self, node: int, parents: Iterable[int]) -> int:
        """Score a node given its parents, in units, minus their penalty."""

    def pays(self, node: int, parents: Collection[int], other: int, rows: int) -> bool:
        """Return whether another parent is worth its price, besides these, if only so many rows speak for it."""

    def nats(self, units: int) -> float:
        """Convert units to nats."""
