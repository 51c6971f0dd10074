"""Draw a part as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

import attrs

from apsl_rules.names import Pair, shown
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.curves import STUB, Point, Port, Route
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import FONT_SIZE, LETTERS, texts_of, thickness, weights_of
from apsl_rules.views.layout import MARGIN, TITLE_LETTERS, Box, Drawing, DrawnEdge, drawing_of, final_edges
from apsl_rules.views.legend import LEGEND_LETTERS, Legend, LegendItem, legend_of, words_of
from apsl_rules.views.themes import LIGHT, Theme

#: What a dotted edge of the part is.
DOTS = "dotted: doubtful, nothing speaks for the edge in the end"
FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
STROKES = LIGHT.strokes
_LINES = {Look.LINE, Look.MAYBE_AHEAD, Look.MAYBE_BACK, Look.PARTIAL_AHEAD, Look.PARTIAL_BACK, Look.OPEN}
BACKGROUND, STRIPE, TEXT, SOFT = LIGHT.background, LIGHT.stripe, LIGHT.text, LIGHT.soft


def stroke_name(look: Look) -> str:
    """Return the kind of stroke for a look: arrow, hidden, line or conflict."""
    if look in {Look.AHEAD, Look.BACK}:
        return "arrow"
    if look is Look.TWO_HEADS:
        return "hidden"
    return "line" if look in _LINES else "conflict"


#: The looks that have an arrow head at the first node of a pair, and at the second.
BEGINS_WITH_HEAD = frozenset({Look.BACK, Look.MAYBE_BACK, Look.BOTH, Look.PARTIAL_BACK, Look.TWO_HEADS})
ENDS_WITH_HEAD = frozenset({Look.AHEAD, Look.MAYBE_AHEAD, Look.BOTH, Look.PARTIAL_AHEAD, Look.TWO_HEADS})
#: Those that have a circle there.
BEGINS_WITH_CIRCLE = frozenset({Look.PARTIAL_AHEAD, Look.OPEN})
ENDS_WITH_CIRCLE = frozenset({Look.PARTIAL_BACK, Look.OPEN})
#: The radius of such a circle.
RADIUS = STUB / 2 - 0.5
#: The looks of a line with a suggested direction, whose head is hollow.
SUGGESTED = frozenset({Look.MAYBE_AHEAD, Look.MAYBE_BACK})


def num(number: float) -> str:
    """Write a length with at most one digit after the point.

    >>> num(12.04), num(7.25)
    ('12', '7.2')
    """
    return f"{number:.1f}".removesuffix(".0")


def _at(point: Point) -> str:
    return f"{num(point[0])} {num(point[1])}"


def body_of(route: Route) -> str:
    """Return the curves of a path from one stub to the other, without the leading command."""
    curves = " ".join("C" + " ".join(map(_at, curve[1:])) for curve in route.curves)
    return f"{_at(route.curves[0][0])} {curves}"


def corners_of(corners: Iterable[Point]) -> str:
    """Return straight pieces between corners, without the leading command."""
    return "L".join(map(_at, corners))


def head_of(port: Port) -> str:
    """Return an arrow head that points into a box."""
    x, y = port.stub
    return f"M{num(port.x)} {num(port.y)}L{num(x)} {num(y - STUB / 2)}L{num(x)} {num(y + STUB / 2)}Z"


def circle_of(port: Port) -> Point:
    """Return the middle of a circle at the end of an edge; its radius is ``RADIUS``."""
    return port.x + port.out * STUB / 2, port.y


def whole(route: Route, body: str, look: Look) -> str:
    """Lengthen a body to both boxes, except where an arrow head or a circle stands."""
    start = "M" if look in BEGINS_WITH_HEAD | BEGINS_WITH_CIRCLE else f"M{num(route.start.x)} {num(route.start.y)}L"
    end = "" if look in ENDS_WITH_HEAD | ENDS_WITH_CIRCLE else f"L{num(route.end.x)} {num(route.end.y)}"
    return f"{start}{body}{end}"


def svg(
    part: Part,
    *,
    outside: bool = False,
    figures: EdgeFigures | None = None,
    theme: Theme = LIGHT,
    compact: bool = False,
) -> str:
    """Draw a part as SVG text; ``outside`` adds, in grey, what was learned beyond the asked depth.

    With ``figures``, edges at the target have the size of their effect. A ``compact`` drawing has the width of a page.
    """
    rows = part.rows()
    weights = weights_of(rows)
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures), compact=compact)
    edges = final_edges(drawing)
    words = [*words_of(part, rows, figures), *([DOTS] if part.doubtful else [])]
    legend = legend_of(edges, words, drawing.width, drawing.height)
    sheet = _Sheet(drawing, weights, theme, part.doubtful)
    size = [num(legend.width), num(drawing.height + legend.height)]
    pieces = [
        _start(*size),
        f"<title>{escape(f'The part around {shown(part.target)}, depth {part.depth}')}</title>",
        f'<rect width="100%" height="100%" fill="{theme.background}"/>',
        *sheet.stripes(),
        *(piece for drawn in edges for piece in sheet.edge(drawn)),
        *(sheet.box(box, is_target=box.node == part.target) for box in drawing.boxes),
        *(sheet.label(drawn) for drawn in edges if drawn.label is not None),
        *sheet.legend(legend),
        "</svg>",
    ]
    return "\n".join(pieces) + "\n"


def _start(width: str, height: str) -> str:
    """Begin a drawing that keeps its size and can be scaled."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}" font-size="{FONT_SIZE}">'


@attrs.frozen
class _Sheet:
    """Writes the pieces of a drawing in the colours of a theme."""

    drawing: Drawing
    weights: Mapping[Pair, float]
    theme: Theme
    doubtful: frozenset[Pair] = frozenset()

    def stripes(self) -> Iterator[str]:
        """Write the layers and the frames behind the boxes."""
        line = self.theme.strokes["line"]
        for band in self.drawing.bands:
            corner = f'x="{num(band.left)}" y="{num(MARGIN / 2)}" rx="10"'
            size = f'width="{num(band.right - band.left)}" height="{num(self.drawing.height - MARGIN)}"'
            yield f'<rect {corner} {size} fill="{self.theme.stripe}"/>'
            middle = f'x="{num((band.left + band.right) / 2)}" y="{num(MARGIN / 2 + 20)}" text-anchor="middle"'
            yield f'<text {middle} font-size="{LEGEND_LETTERS}" fill="{self.theme.soft}">{band.title}</text>'
        for frame in self.drawing.frames:
            corner = f'x="{num(frame.left)}" y="{num(frame.top)}" rx="8"'
            size = f'width="{num(frame.width)}" height="{num(frame.height)}"'
            yield f'<rect {corner} {size} fill="none" stroke="{line}" stroke-opacity="0.55" stroke-dasharray="2 3"/>'
            place = f'x="{num(frame.left + frame.width / 2)}" y="{num(frame.top + 13)}" text-anchor="middle"'
            yield f'<text {place} font-size="{TITLE_LETTERS}" fill="{line}">{frame.title}</text>'

    def box(self, box: Box, *, is_target: bool) -> str:
        """Write a node."""
        theme = self.theme
        fill, colour = theme.box, theme.text if box.within else theme.soft
        if is_target:
            fill, colour = theme.target, theme.on_target
        dashes = "" if box.within else ' stroke-dasharray="2 3"'
        bold = ' font-weight="600"' if is_target else ""
        x, y = map(num, box.middle)
        return (
            f"<g data-node={quoteattr(box.name)}><title>{escape(box.name)}</title>"
            f'<rect x="{num(box.left)}" y="{num(box.top)}" width="{num(box.width)}" height="{num(box.height)}" rx="7" '
            f'fill="{fill}" stroke="{theme.outline}"{dashes}/>'
            f'<text x="{x}" y="{y}" dy="0.35em" text-anchor="middle" fill="{colour}"{bold}>{escape(box.label)}</text>'
            "</g>"
        )

    def edge(self, drawn: DrawnEdge) -> Iterator[str]:
        """Write the strokes of an edge."""
        look, kind = drawn.edge.last, stroke_name(drawn.edge.last)
        weight = self.weights.get(frozenset(drawn.edge.pair))
        is_turned = look in {Look.BACK, Look.MAYBE_BACK, Look.PARTIAL_BACK}
        first, second = drawn.edge.pair[::-1] if is_turned else drawn.edge.pair
        names = f"data-source={quoteattr(shown(first))} data-target={quoteattr(shown(second))}"
        colour = self._colour(look, within=drawn.edge.within)
        yield f'<g {names} data-mark="{kind}" fill="none" stroke="{colour}" stroke-width="{num(thickness(weight))}">'
        doubted = frozenset(drawn.edge.pair) in self.doubtful
        yield from self._strokes(look, drawn.route, within=drawn.edge.within, doubted=doubted)
        yield "</g>"

    def _colour(self, look: Look, *, within: bool) -> str:
        return self.theme.strokes[stroke_name(look) if within else "beyond"]

    def _strokes(self, look: Look, route: Route, *, within: bool, doubted: bool = False) -> Iterator[str]:
        kind, colour, ground = stroke_name(look), self._colour(look, within=within), self.theme.background
        body = corners_of(route.zigzag()) if kind == "conflict" else body_of(route)
        dashes = _dashes(kind, within=within, doubted=doubted)
        yield f'<path d="{whole(route, body, look)}" stroke-linejoin="round"{dashes}/>'
        for port, looks in ((route.end, ENDS_WITH_HEAD), (route.start, BEGINS_WITH_HEAD)):
            if look in looks and look in SUGGESTED:
                yield f'<path d="{head_of(port)}" fill="{ground}" stroke-width="1.5"/>'
            elif look in looks:
                yield f'<path d="{head_of(port)}" fill="{colour}" stroke="none"/>'
        for port, looks in ((route.end, ENDS_WITH_CIRCLE), (route.start, BEGINS_WITH_CIRCLE)):
            if look in looks:
                place = " ".join(f'{name}="{num(at)}"' for name, at in zip(("cx", "cy"), circle_of(port), strict=True))
                yield f'<circle {place} r="{num(RADIUS)}" fill="{ground}" stroke-width="1.5"/>'
        x, y = route.middle
        if kind == "conflict":
            yield f'<circle cx="{num(x)}" cy="{num(y)}" r="8" fill="{ground}" stroke-width="1.5"/>'
            yield f'<path d="M{num(x - 3.5)} {num(y - 3.5)}l7 7m0 -7l-7 7" stroke-width="2"/>'

    def label(self, drawn: DrawnEdge) -> str:
        """Write the figure of an edge at its place; what runs below is hidden."""
        if drawn.label is None or drawn.text is None:
            return ""
        left, top, width, height = map(num, (drawn.label.left, drawn.label.top, drawn.label.width, drawn.label.height))
        x, y = map(num, drawn.label.middle)
        colour = self._colour(drawn.edge.last, within=drawn.edge.within)
        return (
            f'<g class="figure"><rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" '
            f'fill="{self.theme.background}"/><text x="{x}" y="{y}" dy="0.36em" text-anchor="middle" '
            f'font-size="{LETTERS}" fill="{colour}">{escape(drawn.text)}</text></g>'
        )

    def legend(self, legend: Legend) -> Iterator[str]:
        """Write the signs with their words."""
        for item in legend.items:
            yield from self._sign(item)
            words = f'x="{num(item.left)}" y="{num(item.middle)}" dy="0.35em" font-size="{LEGEND_LETTERS}"'
            yield f'<text {words} fill="{self.theme.soft}">{item.words}</text>'

    def _sign(self, item: LegendItem) -> Iterator[str]:
        if item.route is None:
            return
        yield f'<g fill="none" stroke="{self._colour(item.look, within=item.within)}" stroke-width="1.8">'
        yield from self._strokes(item.look, item.route, within=item.within)
        yield "</g>"


def _dashes(kind: str, *, within: bool, doubted: bool) -> str:
    if doubted or not within:
        return ' stroke-dasharray="1.5 4" stroke-linecap="round"'
    return ' stroke-dasharray="7 4"' if kind == "line" else ""
