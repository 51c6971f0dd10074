"""The command that says why a number moved between two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from apsl_rules.cli.options import for_library, reading_options, settings_options, target_named
from apsl_rules.cli.output import (
    json_option,
    out_option,
    print_json,
    print_text,
    quiet_option,
    say_written,
    show_progress,
)
from apsl_rules.cli.streams import source_argument
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl moved before.csv after.csv -t churn
  apsl moved may.csv june.csv -t sales --out moved.html
  apsl moved may.csv june.csv -t sales --drop id --json
"""
_ENDINGS = (".svg", ".html")


@click.command(epilog=_EXAMPLES, short_help="Say why a column differs between two tables.")
@source_argument("before")
@source_argument("after")
@click.option("--target", "-t", required=True, help="The column that moved.")
@click.option("--alpha", type=float, default=0.01, show_default=True, help="Significance level of the tests.")
@out_option("Write a page or a drawing in three colours, to a file *.html or *.svg.")
@reading_options
@settings_options("knowledge")
@json_option
@quiet_option
@click.pass_obj
def moved(
    manager: Plugins,
    /,
    before: str,
    after: str,
    *,
    target: str,
    alpha: float,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Say why a column differs between the tables BEFORE and AFTER.

    A column has changed if its own mechanism changed, whatever else is given. It has passed the change on if it differs
    only as its causes do. All other columns have not changed. Each line has its proof.
    """
    from apsl_rules.attribution import moved as compare_tables
    from apsl_rules.data import open_source

    if out is not None and not out.casefold().endswith(_ENDINGS):
        message = f"--out is {out!r}; give a name that ends in {' or '.join(_ENDINGS)}"
        raise InvalidArgumentError(message)
    first, second = open_source(before), open_source(after)
    nodes = tuple(dict.fromkeys((*first.names, *second.names)))
    read = {name: value for name, value in for_library(settings, nodes).items() if value is not None}
    wanted, names = target_named(target, nodes), _names(before, after)
    with show_progress(manager, quiet=quiet) as plugins:
        found = compare_tables(first, second, wanted, names=names, alpha=alpha, plugins=plugins, **read)
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(str(found))
    if out is not None:
        found.report(out)
        say_written(out, "what changed, what passed it on and what did not change")


def _names(before: str, after: str) -> tuple[str, str]:
    """Return what the tables are called: by their files, if these have different names."""
    first, second = Path(before).stem, Path(after).stem
    return (first, second) if first and second and first != second else ("before", "after")
