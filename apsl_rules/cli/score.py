"""``apsl score``: score a saved part against the true network."""

from __future__ import annotations

from typing import Any

import click

from apsl_rules._documents import label
from apsl_rules.cli.completion import complete_networks
from apsl_rules.cli.output import json_option, print_json
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network

_EXAMPLES = """\b
Examples:
  apsl score part.json --truth alarm
  apsl score part.json --truth network.bif --against dag --json
"""


@click.command(epilog=_EXAMPLES, short_help="Score a saved part against the true network.")
@source_argument("part_file")
@click.option("--truth", required=True, help="The true network, or a file *.bif.", shell_complete=complete_networks)
@click.option(
    "--against",
    type=click.Choice(["cpdag", "dag"]),
    default="cpdag",
    show_default=True,
    help="What data can tell (cpdag), or all true directions (dag).",
)
@click.option(
    "--scored",
    type=click.Choice(["marks", "extension"]),
    default="marks",
    show_default=True,
    help="What was learned, or the authors' guess at open directions, by the order of the table's columns.",
)
@json_option
@click.pass_context
def score(context: click.Context, /, part_file: str, *, truth: str, against: Any, scored: Any, as_json: bool) -> None:
    """Compare a saved part with the true network: precision, recall and the kinds of wrong edges.

    Precision and recall of marks are the paper's Ar_Precision and Ar_Recall, distance its Ar_Distance.
    """
    from apsl_rules.evaluation import score as compare_with
    from apsl_rules.learning import open_source
    from apsl_rules.parts import load_part

    part = load_part(part_file)
    source = open_source(truth, context.obj)
    if not isinstance(source, Network | Dag):
        message = f"{truth!r} is a table; scoring needs a known network, by name or from a file *.bif"
        raise InvalidArgumentError(message)
    columns = part.nodes if scored == "extension" else None
    found = compare_with(part, source, against=against, scored=scored, columns=columns)
    if as_json:
        about = {"target": label(part.target), "depth": part.depth, "learner": part.learner}
        print_json({**about, "truth": truth, **found.as_row()})
    else:
        print_text(f"{part.learner} around {part.target} to depth {part.depth}, {found}")
