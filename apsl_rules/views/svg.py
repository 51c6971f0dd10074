"""Draw a part as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from apsl_rules.names import Pair, shown
from apsl_rules.parts import EdgeFigures, Part
from apsl_rules.views.curves import STUB, Point, Port, Route
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import FONT_SIZE, LETTERS, texts_of, thickness, weights_of, width_of
from apsl_rules.views.layout import MARGIN, TITLE_LETTERS, Box, Drawing, DrawnEdge, drawing_of, final_edges

FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"
STROKES = {"arrow": "#1d4e89", "hidden": "#6b2fa0", "line": "#7a4f00", "conflict": "#b3261e", "beyond": "#76828f"}
_LINES = {Look.LINE, Look.MAYBE_AHEAD, Look.MAYBE_BACK, Look.PARTIAL_AHEAD, Look.PARTIAL_BACK, Look.OPEN}
BACKGROUND, STRIPE, BOX, OUTLINE, TEXT, SOFT = "#ffffff", "#f1f4f8", "#ffffff", "#52606d", "#1f2933", "#5a6775"


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


_LEGEND_ROW, _LETTERS = 22.0, 11
_CONFLICT, _ARROW, _LINE, _BEYOND = STROKES["conflict"], STROKES["arrow"], STROKES["line"], STROKES["beyond"]
_HIDDEN = STROKES["hidden"]
_WITH_HIDDEN = ("hidden common cause", "cause, or hidden cause", "open")
_SIGNS = {
    "arrow": f'<path d="M0 0H31" stroke="{_ARROW}"/><path d="M40 0L31 -4.5V4.5Z" fill="{_ARROW}"/>',
    "line: direction open": f'<path d="M0 0H40" stroke="{_LINE}" stroke-dasharray="7 4"/>',
    "line: direction suggested": f'<path d="M0 0H31" stroke="{_LINE}" stroke-dasharray="7 4"/>'
    f'<path d="M40 0L31 -4.5V4.5Z" fill="{BACKGROUND}" stroke="{_LINE}"/>',
    "conflict": f'<path d="M0 0L3 -3L8 3L13 -3L18 3L23 -3L28 3L33 -3L40 0" fill="none" stroke="{_CONFLICT}"/>'
    f'<circle cx="20" r="7" fill="{BACKGROUND}" stroke="{_CONFLICT}"/>'
    f'<path d="M16.5 -3.5l7 7m0 -7l-7 7" stroke="{_CONFLICT}"/>',
    "hidden common cause": f'<path d="M9 0H31" stroke="{_HIDDEN}"/><path d="M40 0L31 -4.5V4.5Z" fill="{_HIDDEN}"/>'
    f'<path d="M0 0L9 -4.5V4.5Z" fill="{_HIDDEN}"/>',
    "cause, or hidden cause": f'<path d="M8 0H31" stroke="{_LINE}" stroke-dasharray="7 4"/>'
    f'<path d="M40 0L31 -4.5V4.5Z" fill="{_LINE}"/><circle cx="4" r="4" fill="none" stroke="{_LINE}"/>',
    "open": f'<path d="M8 0H32" stroke="{_LINE}" stroke-dasharray="7 4"/>'
    f'<circle cx="4" r="4" fill="none" stroke="{_LINE}"/><circle cx="36" r="4" fill="none" stroke="{_LINE}"/>',
    "beyond the asked depth": f'<path d="M0 0H40" stroke="{_BEYOND}" stroke-dasharray="1.5 4" stroke-linecap="round"/>',
}


def svg(part: Part, *, outside: bool = False, figures: EdgeFigures | None = None) -> str:
    """Draw a part as SVG text; ``outside`` adds, in grey, what was learned beyond the asked depth.

    With ``figures``, edges at the target have the size of their effect.
    """
    weights = weights_of(part.rows())
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures))
    edges = final_edges(drawing)
    signs = list(_signs(part, edges))
    width = max(drawing.width, *(2 * MARGIN + _room(words) for words in signs))
    rows = _legend_rows(signs, width)
    size = [num(width), num(drawing.height + _LEGEND_ROW * len(rows))]
    pieces = [
        _start(*size),
        f"<title>{escape(f'The part around {shown(part.target)}, depth {part.depth}')}</title>",
        f'<rect width="100%" height="100%" fill="{BACKGROUND}"/>',
        *_stripes(drawing),
        *(piece for drawn in edges for piece in _edge(drawn, weights)),
        *(_box(box, is_target=box.node == part.target) for box in drawing.boxes),
        *(_label(drawn) for drawn in edges if drawn.label is not None),
        *_legend(rows, drawing.height),
        "</svg>",
    ]
    return "\n".join(pieces) + "\n"


def _signs(part: Part, edges: Sequence[DrawnEdge]) -> Iterator[str]:
    """Return the words of the legend: all that a reader needs to read the edges."""
    absent = {
        "beyond the asked depth": all(drawn.edge.within for drawn in edges),
        "line: direction suggested": not any(drawn.edge.last in SUGGESTED for drawn in edges),
        "conflict": not any(stroke_name(drawn.edge.last) == "conflict" for drawn in edges),
        "line: direction open": part.allows_hidden,
        **dict.fromkeys(_WITH_HIDDEN, not part.allows_hidden),
    }
    return (words for words in _SIGNS if not absent.get(words))


def _start(width: str, height: str) -> str:
    """Begin a drawing that keeps its size and can be scaled."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size} font-family="{FONT}" font-size="{FONT_SIZE}">'


def _stripes(drawing: Drawing) -> Iterator[str]:
    for band in drawing.bands:
        corner = f'x="{num(band.left)}" y="{num(MARGIN / 2)}" rx="10"'
        size = f'width="{num(band.right - band.left)}" height="{num(drawing.height - MARGIN)}"'
        yield f'<rect {corner} {size} fill="{STRIPE}"/>'
        middle = f'x="{num((band.left + band.right) / 2)}" y="{num(MARGIN / 2 + 20)}" text-anchor="middle"'
        yield f'<text {middle} font-size="{_LETTERS}" fill="{SOFT}">{band.title}</text>'
    for frame in drawing.frames:
        corner = f'x="{num(frame.left)}" y="{num(frame.top)}" rx="8"'
        size = f'width="{num(frame.width)}" height="{num(frame.height)}"'
        yield f'<rect {corner} {size} fill="none" stroke="{_LINE}" stroke-opacity="0.55" stroke-dasharray="2 3"/>'
        place = f'x="{num(frame.left + frame.width / 2)}" y="{num(frame.top + 13)}" text-anchor="middle"'
        yield f'<text {place} font-size="{TITLE_LETTERS}" fill="{_LINE}">{frame.title}</text>'


def _box(box: Box, *, is_target: bool) -> str:
    fill, colour = (STROKES["arrow"], BACKGROUND) if is_target else (BOX, TEXT if box.within else SOFT)
    dashes = "" if box.within else ' stroke-dasharray="2 3"'
    bold = ' font-weight="600"' if is_target else ""
    x, y = map(num, box.middle)
    return (
        f"<g data-node={quoteattr(box.name)}><title>{escape(box.name)}</title>"
        f'<rect x="{num(box.left)}" y="{num(box.top)}" width="{num(box.width)}" height="{num(box.height)}" rx="7" '
        f'fill="{fill}" stroke="{OUTLINE}"{dashes}/>'
        f'<text x="{x}" y="{y}" dy="0.35em" text-anchor="middle" fill="{colour}"{bold}>{escape(box.label)}</text></g>'
    )


def _edge(drawn: DrawnEdge, weights: Mapping[Pair, float]) -> Iterator[str]:
    look, route, kind = drawn.edge.last, drawn.route, stroke_name(drawn.edge.last)
    colour = STROKES[kind if drawn.edge.within else "beyond"]
    weight = weights.get(frozenset(drawn.edge.pair))
    is_turned = look in {Look.BACK, Look.MAYBE_BACK, Look.PARTIAL_BACK}
    first, second = drawn.edge.pair[::-1] if is_turned else drawn.edge.pair
    names = f"data-source={quoteattr(shown(first))} data-target={quoteattr(shown(second))}"
    yield f'<g {names} data-mark="{kind}" fill="none" stroke="{colour}" stroke-width="{num(thickness(weight))}">'
    body = corners_of(route.zigzag()) if kind == "conflict" else body_of(route)
    yield f'<path d="{whole(route, body, look)}" stroke-linejoin="round"{_dashes(drawn, kind)}/>'
    for port, looks in ((route.end, ENDS_WITH_HEAD), (route.start, BEGINS_WITH_HEAD)):
        if look in looks and look in SUGGESTED:
            yield f'<path d="{head_of(port)}" fill="{BACKGROUND}" stroke-width="1.5"/>'
        elif look in looks:
            yield f'<path d="{head_of(port)}" fill="{colour}" stroke="none"/>'
    for port, looks in ((route.end, ENDS_WITH_CIRCLE), (route.start, BEGINS_WITH_CIRCLE)):
        if look in looks:
            place = " ".join(f'{name}="{num(at)}"' for name, at in zip(("cx", "cy"), circle_of(port), strict=True))
            yield f'<circle {place} r="{num(RADIUS)}" fill="{BACKGROUND}" stroke-width="1.5"/>'
    x, y = route.middle
    if kind == "conflict":
        yield f'<circle cx="{num(x)}" cy="{num(y)}" r="8" fill="{BACKGROUND}" stroke-width="1.5"/>'
        yield f'<path d="M{num(x - 3.5)} {num(y - 3.5)}l7 7m0 -7l-7 7" stroke-width="2"/>'
    yield "</g>"


def _label(drawn: DrawnEdge) -> str:
    """Write the figure of an edge at its place."""
    if drawn.label is None or drawn.text is None:
        return ""
    kind = stroke_name(drawn.edge.last) if drawn.edge.within else "beyond"
    left, top, width, height = map(num, (drawn.label.left, drawn.label.top, drawn.label.width, drawn.label.height))
    x, y = map(num, drawn.label.middle)
    return (
        f'<g class="figure"><rect x="{left}" y="{top}" width="{width}" height="{height}" rx="4" fill="{BACKGROUND}" '
        f'fill-opacity="0.9"/><text x="{x}" y="{y}" dy="0.36em" text-anchor="middle" font-size="{LETTERS}" '
        f'fill="{STROKES[kind]}">{escape(drawn.text)}</text></g>'
    )


def _dashes(drawn: DrawnEdge, kind: str) -> str:
    if not drawn.edge.within:
        return ' stroke-dasharray="1.5 4" stroke-linecap="round"'
    return ' stroke-dasharray="7 4"' if kind == "line" else ""


def _room(words: str) -> float:
    return 48 + width_of(words, _LETTERS) + 12


def _legend_rows(signs: Sequence[str], width: float) -> list[list[str]]:
    """Break the legend into rows that fit."""
    rows: list[list[str]] = [[]]
    for words in signs:
        if rows[-1] and 2 * MARGIN + sum(map(_room, rows[-1])) + _room(words) > width:
            rows.append([])
        rows[-1].append(words)
    return rows


def _legend(rows: Sequence[Sequence[str]], top: float) -> Iterator[str]:
    for row, signs in enumerate(rows):
        left = MARGIN
        for words in signs:
            text = f'<text x="48" dy="0.35em" font-size="{_LETTERS}" fill="{SOFT}">{words}</text>'
            place = f"{num(left)} {num(top + row * _LEGEND_ROW)}"
            yield f'<g transform="translate({place})" stroke-width="1.8">{_SIGNS[words]}{text}</g>'
            left += _room(words)
