"""What came from rows that stay elsewhere: in how many rounds, and how many bytes."""

from __future__ import annotations

import attrs

from apsl_rules.names import count_of, spell_bytes


@attrs.frozen
class Traffic:
    """Rounds in which a source was asked, and the bytes that came back."""

    rounds: int = 0
    moved: int = 0

    def since(self, before: Traffic) -> Traffic:
        """Return what came after a point in time."""
        return Traffic(self.rounds - before.rounds, self.moved - before.moved)

    def __str__(self) -> str:
        size = f", {spell_bytes(self.moved)}" if self.moved else ""
        return f"in {count_of(self.rounds, 'round')}{size}"


NO_TRAFFIC = Traffic()


def traffic_of(source: object) -> Traffic:
    """Return what came from a source so far; nothing where it does not say."""
    return Traffic(getattr(source, "rounds", 0), getattr(source, "moved", 0))
