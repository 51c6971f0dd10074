"""A part drawn with matplotlib: the same boxes and edges at the same places as on the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Pair
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.curves import STUB, Port
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import FONT_SIZE, LETTERS, texts_of, thickness, weights_of
from apsl_rules.views.layout import MARGIN, TITLE_LETTERS, Box, Drawing, DrawnEdge, drawing_of, final_edges
from apsl_rules.views.svg import (
    BACKGROUND,
    BEGINS_WITH_CIRCLE,
    BEGINS_WITH_HEAD,
    BOX,
    ENDS_WITH_CIRCLE,
    ENDS_WITH_HEAD,
    OUTLINE,
    RADIUS,
    SOFT,
    STRIPE,
    STROKES,
    SUGGESTED,
    TEXT,
    circle_of,
    stroke_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS_PER_INCH = 100


def plot(part: Part, ax: Axes | None = None, *, outside: bool = False, figures: EdgeFigures | None = None) -> Axes:
    """Draw a part into axes, new ones if none are given; needs the extra ``plot``.

    With ``figures``, edges at the target have the size of their effect.
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        message = "plotting needs matplotlib; install it with: pip install 'apsl_rules[plot]', or use part.svg()"
        raise InvalidArgumentError(message) from error
    weights = weights_of(part.rows())
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures))
    if ax is None:
        size = (drawing.width / _DOTS_PER_INCH, drawing.height / _DOTS_PER_INCH)
        _, ax = plt.subplots(figsize=size, dpi=_DOTS_PER_INCH, layout="constrained")
    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, drawing.width)
    ax.set_ylim(drawing.height, 0)
    _Plot(ax, part, drawing, weights).draw()
    return ax


class _Plot:
    """Axes while a drawing is put into them; lengths in points follow from how large the axes are."""

    def __init__(self, ax: Axes, part: Part, drawing: Drawing, weights: Mapping[Pair, float]) -> None:
        self._ax = ax
        self._part = part
        self._drawing = drawing
        self._weights = weights
        window = ax.get_window_extent()
        scale = min(window.width / drawing.width, window.height / drawing.height)
        self._points = scale * 72 / ax.get_figure(root=True).dpi  # type: ignore[union-attr]  # axes stand in a figure

    def draw(self) -> None:
        for band in self._drawing.bands:
            width, height = band.right - band.left, self._drawing.height - MARGIN
            self._add_rounded_box(band.left, MARGIN / 2, width, height, facecolor=STRIPE, edgecolor="none", zorder=0)
            self._words((band.left + band.right) / 2, MARGIN / 2 + 16, band.title, size=11, color=SOFT)
        for frame in self._drawing.frames:
            how = {"facecolor": "none", "edgecolor": STROKES["line"], "linestyle": ":", "linewidth": self._points}
            self._add_rounded_box(frame.left, frame.top, frame.width, frame.height, zorder=1, alpha=0.6, **how)
            middle = frame.left + frame.width / 2
            self._words(middle, frame.top + 10, frame.title, size=TITLE_LETTERS, color=STROKES["line"])
        for drawn in final_edges(self._drawing):
            self._edge(drawn, self._weights.get(frozenset(drawn.edge.pair)))
        for box in self._drawing.boxes:
            self._box(box, is_target=box.node == self._part.target)

    def _add_rounded_box(self, left: float, top: float, width: float, height: float, **how: Any) -> None:
        from matplotlib.patches import FancyBboxPatch

        self._ax.add_patch(FancyBboxPatch((left, top), width, height, boxstyle="round,pad=0,rounding_size=7", **how))

    def _words(self, x: float, y: float, words: str, *, size: float, **how: Any) -> None:
        """Write words as they are: a dollar sign begins no formula."""
        self._ax.text(x, y, words, fontsize=size * self._points, ha="center", va="center", parse_math=False, **how)

    def _box(self, box: Box, *, is_target: bool) -> None:
        fill = STROKES["arrow"] if is_target else BOX
        colour = BACKGROUND if is_target else TEXT if box.within else SOFT
        border = {"edgecolor": OUTLINE, "linewidth": self._points, "linestyle": "-" if box.within else ":"}
        self._add_rounded_box(box.left, box.top, box.width, box.height, facecolor=fill, zorder=3, gid="node", **border)
        weight = "bold" if is_target else "normal"
        self._words(*box.middle, box.label, size=FONT_SIZE * 0.95, color=colour, zorder=4, weight=weight)

    def _edge(self, drawn: DrawnEdge, weight: float | None) -> None:
        from matplotlib.patches import Circle, PathPatch
        from matplotlib.path import Path

        look, route, kind = drawn.edge.last, drawn.route, stroke_name(drawn.edge.last)
        colour = STROKES[kind if drawn.edge.within else "beyond"]
        if kind == "conflict":
            points = [*route.zigzag()]
            codes = [Path.LINETO] * len(points)
        else:
            points = [route.curves[0][0], *(point for curve in route.curves for point in curve[1:])]
            codes = [Path.LINETO, *[Path.CURVE4] * (len(points) - 1)]
        if look not in BEGINS_WITH_HEAD | BEGINS_WITH_CIRCLE:
            points, codes = [(route.start.x, route.start.y), *points], [Path.LINETO, *codes]
        if look not in ENDS_WITH_HEAD | ENDS_WITH_CIRCLE:
            points, codes = [*points, (route.end.x, route.end.y)], [*codes, Path.LINETO]
        dashes: Any = "-" if kind != "line" else (0, (4, 2.3))
        how: dict[str, Any] = {"linestyle": dashes if drawn.edge.within else ":", "gid": _gid(drawn, kind)}
        width = thickness(weight) * self._points
        path = Path(points, [Path.MOVETO, *codes[1:]])
        self._ax.add_patch(PathPatch(path, fill=False, edgecolor=colour, linewidth=width, zorder=1, **how))
        fill = BACKGROUND if look in SUGGESTED else colour
        if look in ENDS_WITH_HEAD:
            self._head(route.end, colour, fill)
        if look in BEGINS_WITH_HEAD:
            self._head(route.start, colour, fill)
        for port, looks in ((route.end, ENDS_WITH_CIRCLE), (route.start, BEGINS_WITH_CIRCLE)):
            if look in looks:
                self._ax.add_patch(Circle(circle_of(port), RADIUS, facecolor=BACKGROUND, edgecolor=colour, zorder=2))
        x, y = route.middle
        if kind == "conflict":
            size = 15 * self._points
            self._ax.plot([x], [y], marker="o", markersize=size, color=BACKGROUND, markeredgecolor=colour, zorder=2)
            self._ax.plot([x], [y], marker="x", markersize=7 * self._points, color=colour, zorder=2)
        if drawn.label is not None and drawn.text is not None:
            halo = {"boxstyle": "round,pad=0.12", "facecolor": BACKGROUND, "edgecolor": "none", "alpha": 0.9}
            self._words(*drawn.label.middle, drawn.text, size=LETTERS * 0.95, color=colour, zorder=5, bbox=halo)

    def _head(self, port: Port, colour: str, fill: str) -> None:
        from matplotlib.patches import Polygon

        x, y = port.stub
        corners = [(port.x, port.y), (x, y - STUB / 2), (x, y + STUB / 2)]
        self._ax.add_patch(Polygon(corners, closed=True, facecolor=fill, edgecolor=colour, zorder=2))


def _gid(drawn: DrawnEdge, kind: str) -> str:
    """Return the id of the stroke of an edge, by which the figure and saved files identify it."""
    is_turned = drawn.edge.last in {Look.BACK, Look.MAYBE_BACK, Look.PARTIAL_BACK}
    first, second = drawn.edge.pair[::-1] if is_turned else drawn.edge.pair
    return f"{kind} {first!r} {second!r}"
