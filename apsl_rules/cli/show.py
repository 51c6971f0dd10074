"""``apsl show`` and ``apsl report``: look at a saved part."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from apsl_rules._documents import label
from apsl_rules.cli.format_options import (
    choose_style,
    export_part,
    format_options,
    out_option,
    refuse_overwriting,
    say_written,
)
from apsl_rules.cli.output import json_option, print_json, summary
from apsl_rules.cli.standard_input import is_standard_input, keep_standard_input, source_argument
from apsl_rules.cli.terminal import print_table, print_text
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import shown
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins, pick

_SHOW_EXAMPLES = """\b
Examples:
  apsl show part.json
  apsl show part.json --columns
  apsl show part.json --format dot --out part.dot
  apsl show part.json --format bnlearn --directed
"""
_REPORT_EXAMPLES = """\b
Examples:
  apsl report part.json
  apsl report part.json -o around-HR.html
  apsl report part.json --data table.csv
"""


@click.command(epilog=_SHOW_EXAMPLES, short_help="Show a part, or write it for another tool.")
@source_argument("part_file")
@format_options
@click.option("--columns", is_flag=True, help="Show how the columns of the part were read instead.")
@out_option("Write to this file instead of printing.")
@json_option
@click.pass_obj
def show(
    manager: Plugins, /, part_file: str, *, style: str, directed: bool, columns: bool, out: str | None, as_json: bool
) -> None:
    """Show a saved part: its picture, its figures and its edges; or write it in a format of another tool."""
    from apsl_rules._files import write_text
    from apsl_rules.parts import load_part

    style = choose_style(style, as_json=as_json)
    refuse_overwriting(part_file, out)
    exporter = pick(manager.exporters, style, "format")
    part = load_part(part_file)
    if columns:
        _show_columns(part, part_file, as_json=as_json)
        return
    text = export_part(part, exporter, directed=directed).rstrip("\n")
    text = f"{text}\n\n{summary(part)}" if style == "text" else text
    if out is not None:
        write_text(out, f"{text}\n")
        say_written(out, f"the part around {shown(part.target)} as {style}")
    elif style == "text":
        print_text(text)
    else:
        click.echo(text)


def _show_columns(part: Part, part_file: str, *, as_json: bool) -> None:
    """Print how the columns of the part's nodes were read."""
    members = set(part.members)
    rows = [{**attrs.asdict(one), "name": label(one.name)} for one in part.columns if one.name in members]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, head=True)
    else:
        message = f"{part_file!r} does not say how its columns were read; learn the part anew from its table"
        raise InvalidArgumentError(message)


@click.command(epilog=_REPORT_EXAMPLES, short_help="Write a page with drawing, proofs and replay.")
@source_argument("part_file")
@click.option(
    "--data",
    metavar="TABLE",
    callback=keep_standard_input,
    help="The table: adds effects at the target, levels, and the rows behind each edge.",
)
@click.option("--counts", metavar="HOW", help="Where the table is counted: memory, duckdb, dask or dask:ADDRESS.")
@out_option("Where to write it; else beside the part, ending in .html.")
@click.pass_obj
def report(manager: Plugins, /, part_file: str, *, data: str | None, counts: str | None, out: str | None) -> None:
    """Write a saved part as one HTML file: drawing, proofs and replay, for any browser, without a network."""
    from apsl_rules.learning import open_source
    from apsl_rules.parts import load_part

    refuse_overwriting(part_file, out)
    part = load_part(part_file)
    apart = is_standard_input(part_file) or not Path(part_file).is_file() or Path(part_file).is_relative_to("/dev")
    if out is None and apart:
        message = f"{part_file!r} is no file beside which the page could lie; add --out FILE"
        raise InvalidArgumentError(message)
    path = out if out is not None else str(Path(part_file).with_suffix(".html"))
    rows = None if data is None else open_source(data, manager, counts=counts)
    reading = {} if counts is None else {"counts": counts}
    part.report(path, data=rows, **reading)
    say_written(path, f"the report of the part around {shown(part.target)}")
