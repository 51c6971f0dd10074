"""``apsl fit``: the distributions of a part, for questions, predictions and other tools."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from apsl_rules.cli.format_options import out_option, refuse_overwriting, say_written
from apsl_rules.cli.output import json_option, print_json
from apsl_rules.cli.reading_options import reading_options, with_reading
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_table
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, node_named
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl fit part.json table.csv
  apsl fit part.json table.csv --query cancer --given smoker=yes
  apsl fit part.json table.csv --query cancer --do smoker=yes
  apsl fit part.json table.csv --format bnlearn --out part.R
"""


@click.command(epilog=_EXAMPLES, short_help="Fit a part to a table: probabilities, questions, log-loss.")
@source_argument("part_file")
@source_argument("table")
@click.option(
    "--query", metavar="NODE", help="Print the distribution of this node; the target of the part if left out."
)
@click.option("--given", multiple=True, metavar="NODE=LEVEL", help="Given that a node has a level; may be repeated.")
@click.option("--do", "setting", multiple=True, metavar="NODE=LEVEL", help="Set a node to a level; may be repeated.")
@click.option("--prior", type=float, default=1.0, show_default=True, help="How many rows the prior counts as.")
@click.option("--directed", is_flag=True, help="Give open edges a direction first.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["bif", "bnlearn"]),
    default="bif",
    show_default=True,
    help="What --out writes: a BIF file, or an R script for bnlearn.",
)
@out_option("Write the fitted part to this file.")
@reading_options
@click.option("--counts", metavar="HOW", help="Where a table is counted: memory, duckdb, dask or dask:ADDRESS.")
@json_option
@click.pass_obj
def fit(
    manager: Plugins,
    /,
    part_file: str,
    table: str,
    *,
    query: str | None,
    given: tuple[str, ...],
    setting: tuple[str, ...],
    prior: float,
    directed: bool,
    style: str,
    out: str | None,
    as_json: bool,
    counts: str | None,
    **reading: Any,
) -> None:
    """Fit the distribution of every node of PART_FILE given its parents to TABLE, and ask the result.

    Prints the distribution of a node, with --given and --do as asked, and the log-loss of predicting the target of the
    part from all other nodes in the table.
    """
    from apsl_rules._files import write_text
    from apsl_rules.learning import nodes_of, open_source
    from apsl_rules.parts import load_part

    refuse_overwriting(part_file, out)
    part = load_part(part_file)
    data = open_source(table, manager, counts=counts)
    read = with_reading(reading, nodes_of(data)) | {"counts": counts}
    settings = {name: value for name, value in read.items() if value is not None} | {"plugins": manager}
    fitted = part.fit(data, prior=prior, open_edges="direct" if directed else "refuse", **settings)
    if out is not None:
        write_text(out, fitted.to_bif() if style == "bif" else fitted.to_bnlearn())
    node = part.target if query is None else node_named(query, part.nodes, "node in --query")
    levels = _levels(given, part.members, "--given")
    asked = fitted.do(_levels(setting, part.members, "--do")) if setting else fitted
    found = asked.query(node, levels)
    loss = fitted.log_loss(data)
    if as_json:
        print_json({"node": str(node), "probabilities": found, "log_loss": loss, "rows": fitted.rows})
        say_written(out, f"the fitted part as {style}")
        return
    print_table([{str(node): level, "probability": share} for level, share in found.items()], head=True)
    rows = f"{fitted.rows:,} rows, those that it was fitted to"
    click.echo(f"\nlog-loss of {part.target} from all other nodes: {loss:.4f} nats a row ({rows})")
    say_written(out, f"the fitted part as {style}")


def _levels(words: Iterable[str], nodes: tuple[Node, ...], option: str) -> dict[Node, str]:
    """Read NODE=LEVEL."""
    found: dict[Node, str] = {}
    for word in words:
        name, sign, level = word.rpartition("=")
        if not sign or not name or not level:
            message = f"{option} is {word!r}; give a node and its level, such as smoker=yes"
            raise InvalidArgumentError(message)
        found[node_named(name, nodes, f"node in {option}")] = level
    return found
