"""A part as a figure for papers and slides: PDF, PNG, SVG or TikZ, by the ending of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs

from apsl_rules._files import atomic_file, write_text
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Pair, path_text, shown
from apsl_rules.parts import FIGURE_ENDINGS, EdgeFigures, Part, latex_text
from apsl_rules.views.curves import STUB, Point, Port, Route
from apsl_rules.views.edges import Look
from apsl_rules.views.labels import FONT_SIZE, texts_of, thickness, weights_of
from apsl_rules.views.layout import MARGIN, Box, Drawing, DrawnEdge, drawing_of, final_edges
from apsl_rules.views.legend import Legend, legend_of, words_of
from apsl_rules.views.svg import (
    BEGINS_WITH_CIRCLE,
    BEGINS_WITH_HEAD,
    ENDS_WITH_CIRCLE,
    ENDS_WITH_HEAD,
    RADIUS,
    SUGGESTED,
    circle_of,
    num,
    stroke_name,
    svg,
)
from apsl_rules.views.themes import Theme, ThemeName, theme_named

#: The size of names in points, and of one unit of a drawing.
_LETTERS = 8.0
_UNIT = _LETTERS / FONT_SIZE


def tikz(part: Part, *, theme: Theme, outside: bool = False, figures: EdgeFigures | None = None) -> str:
    """Draw a part as a TikZ picture with its legend; it needs the package ``tikz`` and nothing else."""
    rows = part.rows()
    weights = weights_of(rows)
    drawing = drawing_of(part, outside=outside, texts=texts_of(weights, figures), compact=True)
    edges = final_edges(drawing)
    legend = legend_of(edges, words_of(part, rows, figures), drawing.width, drawing.height)
    sheet = _Sheet(drawing, weights, theme)
    lines = [
        f"% The part around {latex_text(shown(part.target))}, depth {part.depth}; needs \\usepackage{{tikz}}",
        *sheet.colours(),
        f"\\begin{{tikzpicture}}[x={_UNIT:.4f}pt, y=-{_UNIT:.4f}pt, font=\\sffamily\\fontsize{{8}}{{9}}\\selectfont]",
        *sheet.bands(),
        *(line for drawn in edges for line in sheet.edge(drawn)),
        *(sheet.box(box, is_target=box.node == part.target) for box in drawing.boxes),
        *(sheet.label(drawn) for drawn in edges if drawn.label is not None),
        *sheet.legend(legend),
        "\\end{tikzpicture}",
    ]
    return "\n".join(lines) + "\n"


def _at(point: Point) -> str:
    return f"({num(point[0])},{num(point[1])})"


@attrs.frozen
class _Sheet:
    """Writes the pieces of a drawing in the colours of a theme."""

    drawing: Drawing
    weights: Mapping[Pair, float]
    theme: Theme

    def colours(self) -> Iterator[str]:
        """Define the colours by name."""
        theme = self.theme
        plain = {name: getattr(theme, name) for name in ("background", "stripe", "box", "outline", "text", "soft")}
        named = {**plain, "target": theme.target, "ontarget": theme.on_target, **theme.strokes}
        for name, colour in named.items():
            yield f"\\definecolor{{apsl-{name}}}{{HTML}}{{{colour.removeprefix('#').upper()}}}"

    def bands(self) -> Iterator[str]:
        """Write the layers and the frames behind the boxes."""
        top, bottom = num(MARGIN / 2), num(self.drawing.height - MARGIN / 2)
        for band in self.drawing.bands:
            corners = f"({num(band.left)},{top}) rectangle ({num(band.right)},{bottom})"
            yield f"\\fill[apsl-stripe, rounded corners=5pt] {corners};"
            place = f"({num((band.left + band.right) / 2)},{num(MARGIN / 2 + 16)})"
            yield f"\\node[apsl-soft, font=\\sffamily\\tiny] at {place} {{{latex_text(band.title)}}};"
        for frame in self.drawing.frames:
            far = (frame.left + frame.width, frame.top + frame.height)
            corners = f"{_at((frame.left, frame.top))} rectangle {_at(far)}"
            yield f"\\draw[apsl-line, densely dotted, rounded corners=4pt] {corners};"
            place = f"({num(frame.left + frame.width / 2)},{num(frame.top + 10)})"
            yield f"\\node[apsl-line, font=\\sffamily\\tiny] at {place} {{{latex_text(frame.title)}}};"

    def box(self, box: Box, *, is_target: bool) -> str:
        """Write a node."""
        fill, colour = ("target", "ontarget") if is_target else ("box", "text" if box.within else "soft")
        dots = "" if box.within else ", densely dotted"
        far = (box.left + box.width, box.top + box.height)
        name = f"\\textbf{{{latex_text(box.label)}}}" if is_target else latex_text(box.label)
        return (
            f"\\draw[apsl-outline, fill=apsl-{fill}, rounded corners=3pt{dots}] {_at((box.left, box.top))} rectangle "
            f"{_at(far)};\n\\node[apsl-{colour}] at {_at(box.middle)} {{{name}}};"
        )

    def edge(self, drawn: DrawnEdge) -> Iterator[str]:
        """Write the strokes of an edge."""
        weight = self.weights.get(frozenset(drawn.edge.pair))
        yield from _strokes(drawn.edge.last, drawn.route, within=drawn.edge.within, weight=weight)

    def label(self, drawn: DrawnEdge) -> str:
        """Write the figure of an edge; what runs below is hidden."""
        if drawn.label is None or drawn.text is None:
            return ""
        colour = stroke_name(drawn.edge.last) if drawn.edge.within else "beyond"
        how = f"apsl-{colour}, fill=apsl-background, inner sep=1pt, font=\\sffamily\\scriptsize"
        return f"\\node[{how}] at {_at(drawn.label.middle)} {{{latex_text(drawn.text)}}};"

    def legend(self, legend: Legend) -> Iterator[str]:
        """Write the signs with their words."""
        for item in legend.items:
            if item.route is not None:
                yield from _strokes(item.look, item.route, within=item.within, weight=None)
            place = _at((item.left, item.middle))
            how = "apsl-soft, anchor=west, inner sep=0pt, font=\\sffamily\\tiny"
            yield f"\\node[{how}] at {place} {{{latex_text(item.words)}}};"


def _strokes(look: Look, route: Route, *, within: bool, weight: float | None) -> Iterator[str]:
    kind = stroke_name(look)
    colour = f"apsl-{kind if within else 'beyond'}"
    dashes = ", densely dotted" if not within else ", dashed" if kind == "line" else ""
    how = f"{colour}, line width={thickness(weight) * _UNIT:.2f}pt{dashes}"
    yield f"\\draw[{how}] {_path(look, route, is_torn=kind == 'conflict')};"
    fill = "apsl-background" if look in SUGGESTED else colour
    for port, looks in ((route.end, ENDS_WITH_HEAD), (route.start, BEGINS_WITH_HEAD)):
        if look in looks:
            yield f"\\draw[{colour}, fill={fill}] {_head(port)};"
    for port, looks in ((route.end, ENDS_WITH_CIRCLE), (route.start, BEGINS_WITH_CIRCLE)):
        if look in looks:
            ring = f"{_at(circle_of(port))} circle[radius={RADIUS * _UNIT:.2f}pt]"
            yield f"\\draw[{colour}, fill=apsl-background] {ring};"
    if kind == "conflict":
        x, y = route.middle
        yield f"\\draw[{colour}, fill=apsl-background] {_at((x, y))} circle[radius={8 * _UNIT:.2f}pt];"
        for turn in (1, -1):
            yield f"\\draw[{colour}, thick] {_at((x - 3.5, y - 3.5 * turn))} -- {_at((x + 3.5, y + 3.5 * turn))};"


def _path(look: Look, route: Route, *, is_torn: bool) -> str:
    """Return the path of an edge between its boxes, except where a head or a circle stands."""
    if is_torn:
        body = " -- ".join(map(_at, route.zigzag()))
    else:
        curves = (f".. controls {_at(b)} and {_at(c)} .. {_at(d)}" for _, b, c, d in route.curves)
        body = " ".join([_at(route.curves[0][0]), *curves])
    start = "" if look in BEGINS_WITH_HEAD | BEGINS_WITH_CIRCLE else f"{_at((route.start.x, route.start.y))} -- "
    end = "" if look in ENDS_WITH_HEAD | ENDS_WITH_CIRCLE else f" -- {_at((route.end.x, route.end.y))}"
    return f"{start}{body}{end}"


def _head(port: Port) -> str:
    x, y = port.stub
    return f"{_at((port.x, port.y))} -- {_at((x, y - STUB / 2))} -- {_at((x, y + STUB / 2))} -- cycle"


def write_figure(
    part: Part,
    path: str | Path,
    *,
    theme: ThemeName = "light",
    outside: bool = False,
    figures: EdgeFigures | None = None,
) -> None:
    """Write a part to a file as its ending says, whole or not at all; PDF and PNG need the extra ``plot``."""
    colours, name = theme_named(theme), path_text(path, "path")
    ending = Path(name).suffix.casefold()
    if ending == ".svg":
        write_text(name, svg(part, outside=outside, figures=figures, theme=colours, compact=True))
    elif ending == ".tex":
        write_text(name, tikz(part, theme=colours, outside=outside, figures=figures))
    elif ending in FIGURE_ENDINGS:
        from apsl_rules.views.plot import write_plot

        with atomic_file(name) as draft:
            write_plot(part, draft, kind=ending[1:], theme=colours, outside=outside, figures=figures)
    else:
        endings = f"{', '.join(FIGURE_ENDINGS[:-1])} or {FIGURE_ENDINGS[-1]}"
        message = f"{name!r} does not end as a figure does; end it in {endings}"
        raise InvalidArgumentError(message)
