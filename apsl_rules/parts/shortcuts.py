"""Methods of results that use higher layers: exports, drawings, formats and rulebooks of plugins.

Modules of higher layers are imported when a method is called; no other module of this package does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import attrs

from apsl_rules._renamed import OldMethods
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, Pair, chosen
from apsl_rules.notes import argument
from apsl_rules.showing import NotebookView

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from apsl_rules.asking import Difference, Question
    from apsl_rules.effects import Effects, Fitted
    from apsl_rules.parts.marked_graph import MarkedGraph
    from apsl_rules.parts.part import Part
    from apsl_rules.rules import Rulebook
    from apsl_rules.views.widget import PartWidget


#: What a format with arrows only does with lines and conflicts: refuse them, or give them a direction.
OpenEdges: TypeAlias = Literal["refuse", "direct"]

#: The endings of the files that ``Part.figure`` writes.
FIGURE_ENDINGS = (".pdf", ".png", ".svg", ".tex")

#: How a table of edges for papers is written, and the formats by that name.
TableFormat: TypeAlias = Literal["markdown", "latex", "csv", "html"]
TABLE_FORMATS: Mapping[str, TableFormat] = {
    "markdown": "markdown",
    "latex": "latex",
    "csv-table": "csv",
    "html-table": "html",
}


class Exportable(OldMethods):
    """Something with marks, which other tools can take over; ``docs/exports.md`` says what each format keeps."""

    def graph(self) -> MarkedGraph:
        """Return the marks alone: nodes, arrows, lines and conflicts."""
        from apsl_rules.parts.graph import graph_of

        return graph_of(self)

    def to_networkx(self) -> Any:
        """Return a networkx DiGraph with a ``mark`` on each arc; a line or conflict is a pair of arcs."""
        from apsl_rules.export.graph_formats import to_networkx

        return to_networkx(self)

    def to(self, format: str, **options: Any) -> Any:  # noqa: A002 - the word of every surface
        """Return the graph in a format by its name, most of them text; ``apsl formats`` lists these.

        Beside them there are frames ("adjacency", "pcalg", "paper-matrix") and graphs of other tools ("causallearn",
        "pgmpy"). "markdown", "latex", "csv-table" and "html-table" are tables of the edges for papers, with the
        probabilities of edges and arrows, and with a table as ``data`` the effect along each edge at the target and its
        interval; then the settings of ``learn`` that say how it is read are options too. Formats that know arrows only
        take ``open_edges``, "refuse" or "direct", and "bif" takes ``levels``. "dowhy" is a model ready to estimate an
        effect: it takes ``data``, ``treatment`` and, if it is not the target, ``outcome``.
        """
        from apsl_rules.export.formats import OBJECTS

        if isinstance(format, str) and format in OBJECTS:
            return OBJECTS[format](self, **options)
        if isinstance(format, str) and format in TABLE_FORMATS and hasattr(self, "effects"):
            return _edge_table(cast("Part", self), TABLE_FORMATS[format], **options)
        return text_of(self, format, **options)


class Answering:
    """The methods of ``Part`` that take a table and say how much."""

    __slots__ = ()

    def effects(self, data: Any, **options: Any) -> Effects:
        """Estimate the effect along each edge at the target from a table; options are those of ``effect``."""
        from apsl_rules.effects.neighbours import effects_at_target

        return effects_at_target(cast("Part", self), data, **options)

    def fit(self, data: Any, **options: Any) -> Fitted:
        """Fit the distribution of every node given its parents to a table of categories.

        Options are ``prior`` (how many rows it counts as), ``open_edges`` ("refuse" or "direct" undirected edges), and
        the settings of ``learn`` that say how a table is read.
        """
        from apsl_rules.effects.fitted import fit

        return fit(cast("Part", self), data, **options)


class Askable:
    """The methods of ``Part`` that ask people what only they know."""

    __slots__ = ()

    def questions(self) -> tuple[Question, ...]:
        """Return what a person could tell, best first; each says how many edges it would settle, and why."""
        from apsl_rules.asking import questions

        return questions(cast("Part", self))

    def answer(
        self,
        id: str,  # noqa: A002 - the word of questions
        reply: Mapping[Node, str] | str,
        *,
        by: str = "you",
        date: str = "",
        hidden: Literal["possible", "excluded"] = "possible",
    ) -> Part:
        """Return the part with an answer laid over it: the pairs that it names are as said, all else stays.

        ``reply`` has a word for each column, such as ``{"age": "before"}``; ``by`` names who says so, ``date`` when.
        With ``hidden="excluded"`` that person vouches that no common cause is missing, and what follows by the rules
        is drawn too.
        """
        from apsl_rules.asking import answer

        return answer(cast("Part", self), id, reply, by=by, date=date, hidden=hidden)

    def difference(self, other: Part) -> Difference:
        """Return the pairs that another part draws differently, the edges lost since, and those gained."""
        from apsl_rules.asking import difference

        return difference(cast("Part", self), other)

    def relearn(self, data: Any, **settings: Any) -> Part:
        """Search again under the answers; a note says which edges that loses and gains."""
        from apsl_rules.asking import relearn

        return relearn(cast("Part", self), data, **settings)


class Viewable(NotebookView):
    """The methods of ``Part`` that show it; all show the same drawing."""

    __slots__ = ()

    def svg(self, *, outside: bool = False, data: Any = None, **reading: Any) -> str:
        """Draw the part as SVG text, ``outside`` with what was learned beyond the asked depth, in grey.

        With a table as ``data``, edges at the target have the size of their effect instead of their probability.
        """
        from apsl_rules.views.svg import svg

        return svg(cast("Part", self), outside=outside, figures=_edge_figures(cast("Part", self), data, reading))

    def figure(
        self,
        path: str | Path,
        *,
        theme: Literal["light", "dark", "print"] = "light",
        outside: bool = False,
        data: Any = None,
        **reading: Any,
    ) -> None:
        """Write the part as a figure for papers and slides: .pdf, .png, .svg or .tex, by the ending of the path.

        It has a legend, and three layers of nodes have the width of a column of text. PDF and PNG need the extra
        ``plot``. ``theme`` is "light", "dark" or "print" (black on white); ``outside`` and ``data`` are as for ``svg``.
        """
        from apsl_rules.views.figure import write_figure

        figures = _edge_figures(cast("Part", self), data, reading)
        write_figure(cast("Part", self), path, theme=theme, outside=outside, figures=figures)

    def plot(self, ax: Axes | None = None, *, outside: bool = False, data: Any = None, **reading: Any) -> Axes:
        """Draw the part with matplotlib into axes, new ones if none are given; ``data`` as for ``svg``."""
        from apsl_rules.views.plot import plot

        figures = _edge_figures(cast("Part", self), data, reading)
        return plot(cast("Part", self), ax, outside=outside, figures=figures)

    def report(self, path: str | Path, *, data: Any = None, values: bool = True, **reading: Any) -> None:
        """Write the part as one HTML file: a drawing, all evidence and a replay of the run, for any browser.

        With a table as ``data`` it also has the effects along the edges at the target, the levels of each node, and the
        table or chart behind each edge; ``reading`` are the settings of ``learn`` that say how a table is read. With
        ``values=False`` the page names columns but no level and no value of any, so that it can be shared.
        """
        from apsl_rules.views.page import write_report

        write_report(cast("Part", self), path, _edge_figures(cast("Part", self), data, reading), values=values)

    def widget(self, *, data: Any = None, height: int = 640, **reading: Any) -> PartWidget:
        """Return the report as a live widget for notebooks; ``data`` and ``reading`` are those of ``report``.

        Click an edge, and ``widget.selected`` and ``widget.proof`` have it; both can be observed. It needs the extra
        ``widget``.
        """
        from apsl_rules.views.widget import PartWidget

        part = cast("Part", self)
        return PartWidget(part, _edge_figures(part, data, reading), height=height)


def _edge_figures(part: Part, data: Any, reading: Mapping[str, Any]) -> EdgeFigures | None:
    """Return what a table says of the edges of a part, if there is one."""
    if data is None:
        _refuse_reading(reading)
        return None
    from apsl_rules.effects.neighbours import edge_figures

    return edge_figures(part, data, **reading)


def _edge_table(part: Part, style: TableFormat, *, data: Any = None, **reading: Any) -> str:
    """Return the edges of a part as a table for a paper."""
    from apsl_rules.parts.tables import edge_table

    if data is None:
        _refuse_reading(reading)
        return edge_table(part, style)
    from apsl_rules.effects.neighbours import stated_ends

    effects = part.effects(data, **reading)
    level = next((f"{100 * one.confidence:.3g} %" for one in effects), "")
    rows = [row | {"stated": stated_ends(one)} for row, one in zip(effects.rows(), effects, strict=True)]
    return edge_table(part, style, rows, level)


def _refuse_reading(reading: Mapping[str, Any]) -> None:
    """Refuse settings of reading where there is nothing to read."""
    if reading:
        message = f"{next(iter(reading))!r} says how a table is read, and none is given; give {argument('data')} too"
        raise InvalidArgumentError(message)


def text_of(source: Exportable, name: str, open_edges: OpenEdges = "refuse") -> str:
    """Write a part or another graph in a format by its name, as some installed plugin offers it."""
    from apsl_rules.parts.graph import graph_of
    from apsl_rules.parts.part import Part
    from apsl_rules.plugins import installed, pick

    chosen("open_edges", open_edges, ("refuse", "direct"))
    offer = pick(installed().exporters, name, "format")
    if open_edges == "refuse" and isinstance(source, Part):
        return offer.export(source)
    if offer.export_graph is None:
        advice = (
            f"leave out {argument('open_edges')}" if open_edges == "direct" else "write one of the parts of this graph"
        )
        message = f"the format {name!r} shows the part as it was learned; {advice}"
        raise InvalidArgumentError(message)
    graph = graph_of(source)
    return offer.export_graph(graph_of(graph.directed()) if open_edges == "direct" else graph)


def installed_rulebooks() -> tuple[Rulebook, ...]:
    """Return the rulebooks that installed plugins offer."""
    from apsl_rules.plugins import installed

    return tuple(installed().rulebooks.values())


def graph_from_networkx(graph: object) -> MarkedGraph:
    """Return the marks of a networkx graph."""
    from apsl_rules.export.graph_formats import from_networkx

    return from_networkx(graph)


@attrs.frozen(eq=False)
class EdgeFigures:
    """Plain data for views: names and numbers, no objects.

    ``labels`` has the effect along an edge at the target in a few signs, ``effects`` in lines of text. ``charts`` has
    what lies behind an edge: a table of counts, boxes of a number by the levels of a category, or points.
    ``distributions`` has how the values of a node are spread: the rows of each level of a category, or those of each
    interval of a number and its quartiles; and how many rows have none.
    """

    labels: Mapping[Pair, str] = attrs.field(factory=dict)
    effects: Mapping[Pair, list[str]] = attrs.field(factory=dict)
    charts: Mapping[Pair, dict[str, Any]] = attrs.field(factory=dict)
    distributions: Mapping[Node, dict[str, Any]] = attrs.field(factory=dict)
