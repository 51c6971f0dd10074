"""The drawings of a part, each as a method; what draws is imported when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from apsl_rules.parts.part import Part


class Viewable:
    """Ways to look at a part, which is the one class that has them; all show one and the same drawing."""

    __slots__ = ()

    def svg(self, *, outside: bool = False) -> str:
        """Draw the part as SVG text, ``outside`` with what was learned beyond the asked depth, in grey."""
        from apsl_rules.report.svg import svg

        return svg(cast("Part", self), outside=outside)

    def plot(self, ax: Axes | None = None, *, outside: bool = False) -> Axes:
        """Draw the part with matplotlib into axes, new ones if none are given."""
        from apsl_rules.report.matplotlib_plot import plot

        return plot(cast("Part", self), ax, outside=outside)

    def report(self, path: str | Path) -> None:
        """Write the part as one HTML file: a drawing with every proof and a replay of the run, for any browser."""
        from apsl_rules.report.page import write_report

        write_report(cast("Part", self), path)

    def _repr_html_(self) -> str:
        from apsl_rules.report.notebook import notebook_html

        return notebook_html(cast("Part", self))
