"""The parts of several learners on one task, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from apsl_rules.names import Pair
from apsl_rules.notebook_view import NotebookView
from apsl_rules.parts.part import Part

if TYPE_CHECKING:
    import pandas as pd


@attrs.frozen(repr=False)
class Comparison(NotebookView):
    """The part of each learner, by its name, and its CPU seconds; all are compared with the first.

    Attributes
    ----------
    parts
        The part of each learner, by its name.
    seconds
        The CPU seconds of each learner, by its name.
    """

    parts: Mapping[str, Part]
    seconds: Mapping[str, float] = attrs.field(eq=False)

    def __hash__(self) -> int:
        return hash((Comparison, *self.parts))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each learner.

        ``edges`` are those of the asked part, ``arrows``, ``lines`` and ``conflicts`` how they are marked, and
        ``partial`` and ``bidirected`` too where causes may be hidden; ``shared`` counts the edges that the first
        learner has too, ``same`` those of them with the same mark and direction.
        """
        first = next(iter(self.parts.values()))
        with_ends = any(part.allows_hidden for part in self.parts.values())
        return [
            {
                "learner": name,
                "edges": len(part.edges),
                "arrows": len(part.arrows),
                **({"partial": len(part.partial), "bidirected": len(part.bidirected)} if with_ends else {}),
                "lines": len(part.lines),
                "conflicts": len(part.conflicts),
                "shared": len(part.edges & first.edges),
                "same": sum(
                    _mark_and_arrows(part, pair) == _mark_and_arrows(first, pair) for pair in part.edges & first.edges
                ),
                "visited": len(part.visited),
                "tests": part.counts.asked,
                "cpu": round(self.seconds[name], 4),
                "complete": part.incomplete is None,
            }
            for name, part in self.parts.items()
        ]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def __str__(self) -> str:
        rows = self.rows()
        cells = [list(rows[0]), *([_cell(value) for value in row.values()] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = []
        for name, *figures in cells:
            right = [figure.rjust(width) for figure, width in zip(figures, widths[1:], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *right]))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.parts)}>"


def _mark_and_arrows(part: Part, pair: Pair) -> tuple[bool, bool, str]:
    """Return the mark of an edge and the direction of its arrow."""
    x, y = sorted(pair, key=part.nodes.index)
    return (x, y) in part.arrows, (y, x) in part.arrows, str(part.mark(x, y))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
