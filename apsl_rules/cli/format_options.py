"""The options with which commands write a part in a format of another tool."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from apsl_rules._files import STDOUT, check_place, is_stdout
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.parts import Part
from apsl_rules.plugins import ExporterOffer

_FORMAT = click.option(
    "--format", "style", default="text", show_default=True, help="How to write it: text, csv, dot, ... (apsl formats)."
)
_DIRECTED = click.option(
    "--directed", is_flag=True, help="Give open edges a direction first, for formats that know arrows only."
)


def _place(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read where to write: "-" stands for standard output, and what is no file is refused before the work begins."""
    if value is None:
        return None
    if value == "-" or is_stdout(value):
        return STDOUT
    check_place(value)
    return value


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --out of a command that writes one file."""
    return click.option("--out", "-o", type=click.Path(), callback=_place, help=f"{text} '-' prints.")


def goes_to_stdout(out: str | None) -> bool:
    """Whether a result goes to standard output by --out, so that all else goes to standard error."""
    return out == STDOUT


def refuse_overwriting(source: str, out: str | None) -> None:
    """Refuse to write a result over the file that it comes from."""
    if out is None or goes_to_stdout(out):
        return
    with suppress(OSError):  # one of the two is not there
        if Path(out).samefile(source):
            message = f"--out {out!r} is the file that is read; give another path, so that nothing is lost"
            raise InvalidArgumentError(message)


def say_written(out: str | None, what: str = "") -> None:
    """Say on standard error what --out wrote and where, unless the command is to be quiet or it was printed."""
    if out is None or goes_to_stdout(out) or click.get_current_context().params.get("quiet"):
        return
    sys.stdout.flush()  # what was printed comes first where both streams go to one place
    click.echo(f"wrote {out}{f': {what}' if what else ''}", err=True)


def format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose a format to a command."""
    return _FORMAT(_DIRECTED(command))


def choose_style(style: str, *, as_json: bool) -> str:
    """Return the format that --format and --json choose together."""
    if as_json and style not in ("text", "json"):
        message = f"--json and --format {style} ask for two formats; give one of them"
        raise InvalidArgumentError(message)
    return "json" if as_json else style


def export_part(part: Part, exporter: ExporterOffer, *, directed: bool) -> str:
    """Write a part in a format, with a direction for every edge if that is asked."""
    if not directed:
        return exporter.export(part)
    if exporter.export_graph is None:
        message = f"the format {exporter.name!r} shows the part as it was learned; leave out --directed"
        raise InvalidArgumentError(message)
    from apsl_rules.parts import graph_of

    return exporter.export_graph(graph_of(part.graph().directed()))
