"""A part as a figure for papers and slides: PDF, PNG, SVG or TikZ, by the ending of the file."""

from __future__ import annotations

from pathlib import Path

from apsl_rules._files import atomic_file, write_text
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import path_text
from apsl_rules.parts import FIGURE_ENDINGS, EdgeFigures, Part
from apsl_rules.views.svg import svg
from apsl_rules.views.themes import ThemeName, theme_named


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
        from apsl_rules.views.tikz import tikz

        write_text(name, tikz(part, theme=colours, outside=outside, figures=figures))
    elif ending in FIGURE_ENDINGS:
        from apsl_rules.views.plot import write_plot

        with atomic_file(name) as draft:
            write_plot(part, draft, kind=ending[1:], theme=colours, outside=outside, figures=figures)
    else:
        endings = f"{', '.join(FIGURE_ENDINGS[:-1])} or {FIGURE_ENDINGS[-1]}"
        message = f"{name!r} does not end as a figure does; end it in {endings}"
        raise InvalidArgumentError(message)
