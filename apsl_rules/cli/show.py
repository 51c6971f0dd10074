"""``apsl show`` and ``apsl report``: look at a saved part."""

from __future__ import annotations

from pathlib import Path

import click

from apsl_rules.cli.output import json_option, print_json, summary
from apsl_rules.cli.screen import print_text
from apsl_rules.labels import label
from apsl_rules.plugins import Plugins, pick


@click.command()
@click.argument("part_file", type=click.Path())
@click.option("--format", "style", default="text", show_default=True, help="How to print it: text, svg, html, csv, ...")
@json_option
@click.pass_obj
def show(manager: Plugins, /, part_file: str, *, style: str, as_json: bool) -> None:
    """Show a saved part: its picture, its figures and its edges."""
    from apsl_rules.partfile import load_part

    exporter = pick(manager.exporters, style, "format")
    part = load_part(part_file)
    if as_json:
        print_json([{**row, "source": label(row["source"]), "target": label(row["target"])} for row in part.rows()])
    elif style == "text":
        print_text(f"{part.picture()}\n\n{summary(part)}")
    else:
        click.echo(exporter.export(part).rstrip("\n"))


@click.command()
@click.argument("part_file", type=click.Path())
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False), help="Where to write it; else beside the part, ending in .html."
)
def report(part_file: str, *, out: str | None) -> None:
    """Write a saved part as one HTML file: drawing, proofs and replay, for any browser, without a network."""
    from apsl_rules.partfile import load_part

    part = load_part(part_file)
    path = out or str(Path(part_file).with_suffix(".html"))
    part.report(path)
    click.echo(f"wrote {path}")
