"""Critical-difference diagrams: mean ranks on a scale, with a bar over methods that do not differ significantly.

The picture is plain SVG, written without any plot library, and takes its colours from the page around it or from the
reader's choice of a light or dark screen. The text says the same for terminals:

>>> from apsl_rules.evaluation.published import table3_columns
>>> from apsl_rules.evaluation.ranking import rank
>>> print(DifferenceDiagram(rank(table3_columns("ar_distance"), better="lower"), title="Ar_Distance"))
Ar_Distance: mean ranks over 12 tasks, highest best; critical difference 1.354 at alpha 0.05
APSL-FS     3.250  │
APSL        3.042  │
CMB         2.167  │ │
PCD-by-PCD  1.542    │
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import attrs

from apsl_rules._files import write_text
from apsl_rules.evaluation.ranking import Ranking
from apsl_rules.names import shown

_SCALE = 400.0  # least width of the scale
_TICK = 26.0  # least distance of two ticks
_EDGE = 16.0
_ROW = 24.0
_BAR = 10.0
_LETTER = 8.2  # space for one letter of a name
_FIGURE = 60.0  # space for the rank beside it

_STYLE = """
.apsl-difference { color: #1f2328; font: 14px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { .apsl-difference { color: #e6edf3; } }
.apsl-difference text { fill: currentColor; }
.apsl-difference path { stroke: currentColor; fill: none; stroke-width: 1.2; }
.apsl-difference .bar { stroke: #d1495b; stroke-width: 5; stroke-linecap: round; }
.apsl-difference .small { font-size: 12px; }
.apsl-difference .title { font-weight: 600; }
"""


@attrs.frozen
class DifferenceDiagram:
    """A ranking as a diagram of critical differences at a significance level, as SVG and as text."""

    ranking: Ranking
    title: str = attrs.field(default="", kw_only=True)
    alpha: float = attrs.field(default=0.05, kw_only=True)

    def __str__(self) -> str:
        ranking, groups = self.ranking, self.ranking.groups(alpha=self.alpha)
        names = {name: shown(name) for name in ranking.order}
        width = max(map(len, names.values()))
        lines = [self._head()]
        for name, words in names.items():
            bars = " ".join("│" if name in group else " " for group in groups)
            lines.append(f"{words:<{width}}  {ranking.ranks[name]:.3f}  {bars}".rstrip())
        return "\n".join(lines)

    def _head(self) -> str:
        difference = self.ranking.critical_difference(alpha=self.alpha)
        what = f"{shown(self.title)}: mean ranks" if self.title else "Mean ranks"
        best = "highest" if self.ranking.best == "high" else "lowest"
        tasks = f"{self.ranking.tasks} task{'s' if self.ranking.tasks > 1 else ''}"
        return f"{what} over {tasks}, {best} best; critical difference {difference:.3f} at alpha {self.alpha:g}"

    def save(self, path: str | Path) -> None:
        """Write the picture to an SVG file, whole or not at all."""
        write_text(path, self.svg())

    def svg(self) -> str:
        """Return the picture as SVG text: the same text for the same ranking."""
        return _Drawing(self).text()


class _Drawing:
    """The places of all that is drawn, from top to bottom: title, ruler, scale, bars, names."""

    def __init__(self, diagram: DifferenceDiagram) -> None:
        self._diagram = diagram
        self._ranks = diagram.ranking.ranks
        ascending = sorted(self._ranks, key=lambda name: (self._ranks[name], name))
        half = (len(ascending) + 1) // 2
        self._sides = (ascending[:half], ascending[half:][::-1])
        widths = [max((len(shown(name)) for name in side), default=0) * _LETTER + _FIGURE for side in self._sides]
        self._begin = _EDGE + widths[0]
        self._scale = max(_SCALE, _TICK * (len(ascending) - 1))
        self._difference = diagram.ranking.critical_difference(alpha=diagram.alpha)
        ends = (
            self._scale + widths[1],
            self._place(1 + self._difference) - self._begin,
            len(shown(diagram.title)) * _LETTER,
        )
        self._width = self._begin + max(ends) + _EDGE
        self._shapes: list[str] = []

    def text(self) -> str:
        """Draw everything and give the file."""
        top = _EDGE
        if self._diagram.title:
            self._write(self._begin, top + 12, shown(self._diagram.title), "start", "title")
            top += 30
        axis = self._ruler(top)
        self._axis(axis)
        bottom = self._names(axis, self._bars(axis + 14))
        width, height = round(self._width), round(bottom)
        shapes = "\n".join(self._shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="apsl-difference" role="img" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}">\n<title>{escape(str(self._diagram))}</title>\n'
            f"<style>{_STYLE}</style>\n{shapes}\n</svg>\n"
        )

    def _place(self, rank: float) -> float:
        return self._begin + self._scale * (rank - 1) / (len(self._ranks) - 1)

    def _ruler(self, top: float) -> float:
        """Draw the critical difference to scale, and give the height of the scale."""
        begin, end = self._begin, self._place(1 + self._difference)
        self._line(f"M{begin:.1f} {top + 20} v10 m0 -5 H{end:.1f} m0 -5 v10")
        text = f"critical difference {self._difference:.2f} (alpha {self._diagram.alpha:g})"
        self._write(begin, top + 12, text, "start", "small")
        return top + 66

    def _axis(self, top: float) -> None:
        """Draw the scale of ranks, and say which end is better."""
        self._line(f"M{self._begin:.1f} {top} h{self._scale:.1f}")
        for rank in range(1, len(self._ranks) + 1):
            self._line(f"M{self._place(rank):.1f} {top} v-7")
            self._write(self._place(rank), top - 12, str(rank), "middle", "small")
        if self._diagram.ranking.best == "high":
            self._write(self._begin + self._scale + 8, top + 4, "better →", "start", "small")
        else:
            self._write(self._begin - 8, top + 4, "← better", "end", "small")

    def _bars(self, top: float) -> float:
        """Draw a bar over each group of methods that do not differ; bars that would overlap go below each other."""
        ends: list[float] = []  # where the last bar of each level ends
        for group in self._diagram.ranking.groups(alpha=self._diagram.alpha):
            low, high = sorted(self._ranks[name] for name in (group[0], group[-1]))
            begin, end = self._place(low) - 4, self._place(high) + 4
            level = 0
            while level < len(ends) and ends[level] >= begin - 6:
                level += 1
            ends[level : level + 1] = [end]
            self._line(f"M{begin:.1f} {top + level * _BAR} H{end:.1f}", "bar")
        return top + len(ends) * _BAR

    def _names(self, axis: float, top: float) -> float:
        """Write the methods beside the scale, the outermost highest, each joined to its rank; return the bottom."""
        for side, anchor in zip(self._sides, ("end", "start"), strict=True):
            outward = -1 if anchor == "end" else 1
            edge = self._begin - 8 if anchor == "end" else self._begin + self._scale + 8
            for row, name in enumerate(side):
                height = top + 12 + row * _ROW
                self._line(f"M{self._place(self._ranks[name]):.1f} {axis} V{height} H{edge:.1f}")
                figure = f"{self._ranks[name]:.2f}"
                text = f"{shown(name)} {figure}" if anchor == "end" else f"{figure} {shown(name)}"
                self._write(edge + outward * 5, height + 5, text, anchor)
        return top + 12 + (len(self._sides[0]) - 1) * _ROW + 12 + _EDGE / 2

    def _line(self, path: str, kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self._shapes.append(f'<path{named} d="{path}"/>')

    def _write(self, x: float, y: float, text: str, anchor: str, kind: str = "") -> None:
        named = f' class="{kind}"' if kind else ""
        self._shapes.append(f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')
