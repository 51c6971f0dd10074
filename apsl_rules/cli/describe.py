"""``apsl describe``: what the columns of a table are taken for, before anything is learned."""

from __future__ import annotations

from typing import Any

import attrs
import click

from apsl_rules.cli.option_names import with_option_names
from apsl_rules.cli.output import json_option, print_json
from apsl_rules.cli.reading_options import reading_options, with_reading
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text
from apsl_rules.data import FileTable, Table, table
from apsl_rules.data import describe as describe_table
from apsl_rules.data.databases import DatabaseTable, shown_source
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl describe table.csv
  apsl describe table.csv --category year --drop id --json
"""


@click.command(epilog=_EXAMPLES, short_help="Show what the columns of a table are taken for.")
@source_argument("data")
@reading_options
@json_option
@click.pass_context
def describe(context: click.Context, /, data: str, *, as_json: bool, **settings: Any) -> None:
    """Show each column of the file DATA with its kind, its values and the share that is missing.

    Tells also which columns are set aside and why, which follow from others, and what the default learner would do.
    """
    from apsl_rules.learning import nodes_of, open_source, say_default_learner

    manager: Plugins = context.obj
    source = open_source(data, manager)
    if isinstance(source, Network | Dag | FileTable | DatabaseTable):
        message = f"{shown_source(data)!r} {_why_not(source)}"
        raise InvalidArgumentError(message)
    reading = {name: value for name, value in with_reading(settings, nodes_of(source)).items() if value is not None}
    read = source if isinstance(source, Table) and not reading else table(source, **reading)
    report = describe_table(read)
    learner = say_default_learner(read, manager)
    if as_json:
        print_json({**report.to_dict(), "learner": learner})
    else:
        derived, notes = (
            tuple(with_option_names(one, context.command) for one in sentences)
            for sentences in (report.derived, report.notes)
        )
        print_text(str(attrs.evolve(report, derived=derived, notes=notes)))
        print_text(learner)


def _why_not(source: Network | Dag | FileTable | DatabaseTable) -> str:
    """Return why a source is not described, and what to do."""
    if isinstance(source, DatabaseTable):
        return "is in a database, which is not read to describe it; 'apsl learn' says with --dry-run what it would read"
    if isinstance(source, FileTable):
        return "is no table that fits into memory; give a CSV, Parquet or integer text file with fewer rows"
    return "is a network, which has no rows; give a CSV, Parquet or integer text file"
