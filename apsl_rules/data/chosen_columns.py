"""Counts of some columns of a source, wherever its rows are: the others were set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from apsl_rules.data.counts import CountSource
from apsl_rules.data.dataset import Codes, Heading, Joint


@attrs.frozen(eq=False)
class ChosenCounts:
    """The columns at some places of a source of counts.

    Attributes
    ----------
    source, places
        The source, and which of its columns these are.
    heading
        The heading of these columns.
    """

    source: CountSource
    places: tuple[int, ...]
    heading: Heading

    @property
    def kind(self) -> str:
        """Return the name of the counting method."""
        return self.source.kind

    @property
    def cheap(self) -> int:
        """Return how many combinations are counted as quickly as fewer."""
        return self.source.cheap

    def joints(self, sets: Sequence[tuple[int, ...]], most: int) -> list[Joint | None]:
        """Count sets of columns in one round."""
        found = self.source.joints(self._within(sets), most)
        return [
            None if one is None else attrs.evolve(one, places=places) for places, one in zip(sets, found, strict=True)
        ]

    def complete(self, sets: Sequence[tuple[int, ...]]) -> Sequence[int]:
        """Count, for each set of columns, the rows in which none of them is missing."""
        return self.source.complete(self._within(sets))

    def sample(self) -> Codes:
        """Return the codes of some rows."""
        codes: Codes = self.source.sample()[list(self.places)]
        return codes

    @property
    def fingerprint(self) -> Callable[[int], bytes] | None:
        """Return what names the contents of a column, where the source can tell."""
        of_column: Callable[[int], bytes] | None = getattr(self.source, "fingerprint", None)
        return None if of_column is None else lambda place: of_column(self.places[place])

    def _within(self, sets: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        return [tuple(self.places[place] for place in one) for one in sets]
