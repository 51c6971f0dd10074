"""The command that checks a graph against a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from apsl_rules.cli.options import for_library, reading_options, settings_options
from apsl_rules.cli.output import (
    json_option,
    out_option,
    print_json,
    print_text,
    quiet_option,
    say_written,
    show_progress,
)
from apsl_rules.cli.streams import keep_standard_input, source_argument
from apsl_rules.errors import GraphFormatError, InvalidArgumentError
from apsl_rules.names import node_named
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl check graph.dot table.csv
  apsl check model.dagitty table.csv --out check.html
  apsl check graph.dot table.csv --strict --json
  apsl check graph.dot table.csv --hidden U --first age,sex
"""
_ENDINGS = (".svg", ".html")


@click.command(epilog=_EXAMPLES, short_help="Check a graph against a table: what fails, and what would help.")
@click.argument("graph", callback=keep_standard_input)
@source_argument("table")
@click.option("--hidden", multiple=True, metavar="NODE", help="A node of the graph without a column; may be repeated.")
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Level at which a true graph is contradicted."
)
@click.option(
    "--least",
    type=float,
    default=0.01,
    show_default=True,
    help="Least failure that counts; 0.01 is a correlation of 0.14.",
)
@click.option("--lead", type=float, default=3.0, show_default=True, help="By how much a change must raise the score.")
@click.option("--shuffles", type=int, default=200, show_default=True, help="Graphs with shuffled names to score.")
@click.option("--alone", is_flag=True, help="Learn no graph from the table to compare with.")
@click.option("--nats", is_flag=True, help="Print the figures behind the shares.")
@click.option("--strict", is_flag=True, help="Exit with 1 if the rows contradict the graph.")
@out_option("Write a page or drawing in three colours, to a file *.html or *.svg.")
@reading_options
@settings_options("knowledge", "counts", "options")
@json_option
@quiet_option
@click.pass_context
def check(
    context: click.Context,
    /,
    graph: str,
    table: str,
    *,
    hidden: tuple[str, ...],
    alone: bool,
    nats: bool,
    strict: bool,
    out: str | None,
    as_json: bool,
    quiet: bool,
    alpha: float,
    least: float,
    lead: float,
    shuffles: int,
    **settings: Any,
) -> None:
    """Say whether TABLE contradicts GRAPH, which of its claims fail, and which small changes would help.

    GRAPH is a file of dagitty (*.dagitty), DOT (*.dot), Tetrad, bnlearn or another tool, or a network by name. Rows
    never show that a graph is right. They contradict it, or they do not.
    """
    from apsl_rules.checking import check as check_graph
    from apsl_rules.checking import read_given
    from apsl_rules.learning import nodes_of, open_source

    if out is not None and not out.casefold().endswith(_ENDINGS):
        message = f"--out is {out!r}; give a name that ends in {' or '.join(_ENDINGS)}"
        raise InvalidArgumentError(message)
    manager: Plugins = context.obj
    if not Path(graph).exists() and Path(graph).suffix:
        message = f"there is no file {graph!r}"
        raise GraphFormatError(message)
    given = read_given(graph)
    rows = open_source(table, manager, counts=settings.get("counts"))
    unmeasured = [node_named(one, given.known.dag.nodes, "node in --hidden") for one in hidden]
    read = {name: value for name, value in for_library(settings, nodes_of(rows)).items() if value is not None}
    with show_progress(manager, quiet=quiet) as plugins:
        bounds: dict[str, Any] = {"alpha": alpha, "least": least, "lead": lead, "shuffles": shuffles}
        found = check_graph(given, rows, hidden=unmeasured, compare=not alone, plugins=plugins, **bounds, **read)
    if as_json:
        print_json(found.to_dict())
    else:
        print_text("\n".join(found.lines(nats=nats)))
    if out is not None:
        found.report(out)
        say_written(out, "the graph, with what the rows say of it")
    if strict and found.is_contradicted:
        context.exit(1)
