"""What the limits of a request leave for each of several runs."""

from __future__ import annotations

from time import monotonic

import attrs

from apsl_rules.learning.request import Request


@attrs.frozen
class Budget:
    """The tests and seconds that several runs may take together, and when they began."""

    max_tests: int | None
    max_seconds: float | None
    begun: float = attrs.field(factory=monotonic)

    @classmethod
    def of(cls, request: Request) -> Budget:
        """Return the budget of a request whose runs begin now."""
        return cls(request.max_tests, request.max_seconds)

    def left(self, request: Request, tests: int) -> Request:
        """Return the request with what is left after so many tests."""
        return attrs.evolve(
            request,
            max_tests=None if self.max_tests is None else max(1, self.max_tests - tests),
            max_seconds=None if self.max_seconds is None else max(0.0, self.max_seconds - self._elapsed),
        )

    def is_spent(self, tests: int) -> bool:
        """Return whether nothing is left for another run."""
        no_tests = self.max_tests is not None and tests >= self.max_tests
        return no_tests or (self.max_seconds is not None and self._elapsed >= self.max_seconds)

    @property
    def _elapsed(self) -> float:
        return monotonic() - self.begun
