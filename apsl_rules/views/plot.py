"""A part drawn with matplotlib: the same boxes and edges at the same places as on the page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Pair
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.curves import STUB, Port, Route
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import FONT_SIZE, LETTERS, texts_of, thickness, weights_of
from apsl_rules.views.layout import MARGIN, TITLE_LETTERS, Box, Drawing, DrawnEdge, drawing_of, final_edges
from apsl_rules.views.legend import LEGEND_LETTERS, Legend, legend_of, words_of
from apsl_rules.views.svg import (
    BEGINS_WITH_CIRCLE,
    BEGINS_WITH_HEAD,
    ENDS_WITH_CIRCLE,
    ENDS_WITH_HEAD,
    RADIUS,
    SUGGESTED,
    circle_of,
    stroke_name,
)
from apsl_rules.views.themes import LIGHT, Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS_PER_INCH, _FINE = 100, 300
#: The size of the letters of names in a file, in points.
_LETTERS = 8.0


def plot(part: Part, ax: Axes | None = None, *, outside: bool = False, figures: EdgeFigures | None = None) -> Axes:
    """Draw a part into axes, new ones if none are given; needs the extra ``plot``.

    With ``figures``, edges at the target have the size of their effect.
    """
    plt = _pyplot("or use part.svg()")
    weights = weights_of(part.rows())
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures))
    if ax is None:
        size = (drawing.width / _DOTS_PER_INCH, drawing.height / _DOTS_PER_INCH)
        _, ax = plt.subplots(figsize=size, dpi=_DOTS_PER_INCH, layout="constrained")
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    _Plot(ax, part, drawing, weights, LIGHT).draw()
    return ax


def _pyplot(otherwise: str) -> Any:
    """Return matplotlib's functions for figures."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        message = f"plotting needs matplotlib; install it with: pip install 'apsl_rules[plot]', {otherwise}"
        raise InvalidArgumentError(message) from error
    return plt


def write_plot(
    part: Part, path: Path, *, kind: str, theme: Theme, outside: bool = False, figures: EdgeFigures | None = None
) -> None:
    """Write a part with its legend as "pdf" or "png", names in letters of eight points; needs the extra ``plot``."""
    plt = _pyplot("or write an .svg or a .tex file")
    rows = part.rows()
    weights = weights_of(rows)
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures), compact=True)
    legend = legend_of(final_edges(drawing), words_of(part, rows, figures), drawing.width, drawing.height)
    width, height = legend.width, drawing.height + legend.height
    inches = _LETTERS / FONT_SIZE / 72
    with plt.rc_context({"pdf.fonttype": 42, "font.family": "sans-serif"}):
        made = plt.figure(figsize=(width * inches, height * inches), dpi=_FINE, facecolor=theme.background)
        try:
            ax = made.add_axes((0, 0, 1, 1))
            ax.set_axis_off()
            ax.set_xlim(0, width)
            ax.set_ylim(height, 0)
            shown = _Plot(ax, part, drawing, weights, theme)
            shown.draw()
            shown.draw_legend(legend)
            undated = {"CreationDate": None} if kind == "pdf" else {}
            made.savefig(path, format=kind, dpi=_FINE, facecolor=theme.background, metadata=undated)
        finally:
            plt.close(made)


class _Plot:
    """Axes while a drawing is put into them; lengths in points follow from how large the axes are."""

    def __init__(self, ax: Axes, part: Part, drawing: Drawing, weights: Mapping[Pair, float], theme: Theme) -> None:
        self._ax = ax
        self._part = part
        self._drawing = drawing
        self._weights = weights
        self._theme = theme
        window = ax.get_window_extent()
        scale = min(window.width / drawing.width, window.height / drawing.height)
        self._points = scale * 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]  # axes stand in a figure

    def draw(self) -> None:
        theme = self._theme
        for band in self._drawing.bands:
            width, height = band.right - band.left, self._drawing.height - MARGIN
            self._add_rounded_box(
                band.left, MARGIN / 2, width, height, facecolor=theme.stripe, edgecolor="none", zorder=0
            )
            self._words((band.left + band.right) / 2, MARGIN / 2 + 16, band.title, size=11, color=theme.soft)
        for frame in self._drawing.frames:
            how = {"facecolor": "none", "edgecolor": theme.strokes["line"], "linestyle": ":", "linewidth": self._points}
            self._add_rounded_box(frame.left, frame.top, frame.width, frame.height, zorder=1, alpha=0.6, **how)
            middle = frame.left + frame.width / 2
            self._words(middle, frame.top + 10, frame.title, size=TITLE_LETTERS, color=theme.strokes["line"])
        for drawn in final_edges(self._drawing):
            self._edge(drawn, self._weights.get(frozenset(drawn.edge.pair)))
        for box in self._drawing.boxes:
            self._box(box, is_target=box.node == self._part.target)

    def _add_rounded_box(self, left: float, top: float, width: float, height: float, **how: Any) -> None:
        from matplotlib.patches import FancyBboxPatch

        self._ax.add_patch(FancyBboxPatch((left, top), width, height, boxstyle="round,pad=0,rounding_size=7", **how))

    def _words(self, x: float, y: float, words: str, *, size: float, align: str = "center", **how: Any) -> None:
        """Write words as they are: a dollar sign begins no formula."""
        self._ax.text(x, y, words, fontsize=size * self._points, ha=align, va="center", parse_math=False, **how)

    def _box(self, box: Box, *, is_target: bool) -> None:
        theme = self._theme
        fill = theme.target if is_target else theme.box
        colour = theme.on_target if is_target else theme.text if box.within else theme.soft
        border = {"edgecolor": theme.outline, "linewidth": self._points, "linestyle": "-" if box.within else ":"}
        self._add_rounded_box(box.left, box.top, box.width, box.height, facecolor=fill, zorder=3, gid="node", **border)
        weight = "bold" if is_target else "normal"
        self._words(*box.middle, box.label, size=FONT_SIZE * 0.95, color=colour, zorder=4, weight=weight)

    def draw_legend(self, legend: Legend) -> None:
        """Draw the signs of a legend with their words."""
        for item in legend.items:
            if item.route is not None:
                self._strokes(item.look, item.route, within=item.within, width=thickness(None), gid=None)
            size, colour = LEGEND_LETTERS * 0.9, self._theme.soft
            self._words(item.left, item.middle, item.words, size=size, align="left", color=colour)

    def _edge(self, drawn: DrawnEdge, weight: float | None) -> None:
        look, within = drawn.edge.last, drawn.edge.within
        gid = _gid(drawn, stroke_name(look))
        colour = self._strokes(look, drawn.route, within=within, width=thickness(weight), gid=gid)
        if drawn.label is not None and drawn.text is not None:
            halo = {"boxstyle": "round,pad=0.12", "facecolor": self._theme.background, "edgecolor": "none"}
            self._words(*drawn.label.middle, drawn.text, size=LETTERS * 0.95, color=colour, zorder=5, bbox=halo)

    def _strokes(self, look: Look, route: Route, *, within: bool, width: float, gid: str | None) -> str:
        """Draw the strokes of an edge, and return their colour."""
        from matplotlib.patches import Circle, PathPatch
        from matplotlib.path import Path as Line

        kind, ground = stroke_name(look), self._theme.background
        colour = self._theme.strokes[kind if within else "beyond"]
        if kind == "conflict":
            points = [*route.zigzag()]
            codes = [Line.LINETO] * len(points)
        else:
            points = [route.curves[0][0], *(point for curve in route.curves for point in curve[1:])]
            codes = [Line.LINETO, *[Line.CURVE4] * (len(points) - 1)]
        if look not in BEGINS_WITH_HEAD | BEGINS_WITH_CIRCLE:
            points, codes = [(route.start.x, route.start.y), *points], [Line.LINETO, *codes]
        if look not in ENDS_WITH_HEAD | ENDS_WITH_CIRCLE:
            points, codes = [*points, (route.end.x, route.end.y)], [*codes, Line.LINETO]
        dashes: Any = "-" if kind != "line" else (0, (4, 2.3))
        how: dict[str, Any] = {"linestyle": dashes if within else ":", "gid": gid}
        path = Line(points, [Line.MOVETO, *codes[1:]])
        self._ax.add_patch(
            PathPatch(path, fill=False, edgecolor=colour, linewidth=width * self._points, zorder=1, **how)
        )
        fill = ground if look in SUGGESTED else colour
        if look in ENDS_WITH_HEAD:
            self._head(route.end, colour, fill)
        if look in BEGINS_WITH_HEAD:
            self._head(route.start, colour, fill)
        thin = {"edgecolor": colour, "linewidth": 1.5 * self._points, "zorder": 2}
        for port, looks in ((route.end, ENDS_WITH_CIRCLE), (route.start, BEGINS_WITH_CIRCLE)):
            if look in looks:
                self._ax.add_patch(Circle(circle_of(port), RADIUS, facecolor=ground, **thin))
        x, y = route.middle
        if kind == "conflict":
            size = 15 * self._points
            self._ax.plot([x], [y], marker="o", markersize=size, color=ground, markeredgecolor=colour, zorder=2)
            self._ax.plot([x], [y], marker="x", markersize=7 * self._points, color=colour, zorder=2)
        return colour

    def _head(self, port: Port, colour: str, fill: str) -> None:
        from matplotlib.patches import Polygon

        x, y = port.stub
        corners = [(port.x, port.y), (x, y - STUB / 2), (x, y + STUB / 2)]
        self._ax.add_patch(
            Polygon(corners, closed=True, facecolor=fill, edgecolor=colour, linewidth=self._points, zorder=2)
        )


def _gid(drawn: DrawnEdge, kind: str) -> str:
    """Return the id of the stroke of an edge, by which the figure and saved files identify it."""
    is_turned = drawn.edge.last in {Look.BACK, Look.MAYBE_BACK, Look.PARTIAL_BACK}
    first, second = drawn.edge.pair[::-1] if is_turned else drawn.edge.pair
    return f"{kind} {first!r} {second!r}"
