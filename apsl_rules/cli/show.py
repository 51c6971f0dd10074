"""``apsl show``: look at a saved part."""

from __future__ import annotations

import click

from apsl_rules.cli.output import json_option, print_json, summary
from apsl_rules.cli.screen import print_text
from apsl_rules.labels import label


@click.command()
@click.argument("part_file", type=click.Path())
@json_option
def show(part_file: str, *, as_json: bool) -> None:
    """Show a saved part: its picture, its figures and its edges."""
    from apsl_rules.partfile import load_part

    part = load_part(part_file)
    if as_json:
        print_json([{**row, "source": label(row["source"]), "target": label(row["target"])} for row in part.rows()])
    else:
        print_text(f"{part.picture()}\n\n{summary(part)}")
