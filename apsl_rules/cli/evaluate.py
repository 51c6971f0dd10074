"""Commands that compare: with the truth, with an oracle, one learner with another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from apsl_rules._documents import label
from apsl_rules.cli.options import for_library, learning_options, target_named
from apsl_rules.cli.output import (
    json_option,
    print_json,
    print_table,
    print_text,
    quiet_option,
    show_progress,
)
from apsl_rules.cli.streams import source_argument, take_partial_result
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network
from apsl_rules.learning import AUTO
from apsl_rules.names import count_of
from apsl_rules.parts import Comparison
from apsl_rules.plugins import Plugins

_EXAMPLES_OF_SCORE = """\b
Examples:
  apsl score part.json --truth alarm
  apsl score part.json --truth network.bif --against dag --json
"""


@click.command(epilog=_EXAMPLES_OF_SCORE, short_help="Score a saved part against the true network.")
@source_argument("part_file")
@click.option("--truth", required=True, help="The true network, or a file *.bif.")
@click.option(
    "--against",
    type=click.Choice(["cpdag", "dag"]),
    default="cpdag",
    show_default=True,
    help="What data can determine (cpdag), or all true directions (dag).",
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


_EXAMPLES_OF_COMPARE = """\b
Examples:
  apsl compare alarm --target HREKG --depth 2
  apsl compare table.csv -t Smoker --learners auto,apsl --json
"""


@click.command(epilog=_EXAMPLES_OF_COMPARE, short_help="Learn one part with several learners, side by side.")
@source_argument()
@click.option(
    "--learners",
    help="Learners or spec files, with commas between them; the others are compared with the first. By default auto, "
    "apsl and the rivals that plugins offer.",
)
@learning_options
@json_option
@quiet_option
@click.pass_context
def compare(
    context: click.Context,
    /,
    source: str,
    *,
    learners: str | None,
    target: str | None,
    as_json: bool,
    quiet: bool,
    **rest: Any,
) -> None:
    """Learn the same part of SOURCE with several learners: what each finds and what it costs.

    One row for each: the edges of its part and their marks, how many of them the first learner has too and how many
    with the same mark, the nodes visited, the tests asked and the CPU seconds. A run that meets a limit or is
    interrupted exits with 2.
    """
    from apsl_rules.learning import compare as compare_learners
    from apsl_rules.learning import nodes_of, open_source, rivals

    manager: Plugins = context.obj
    if target is None:
        message = f"learning from {shown_source(source)!r} needs a target; add --target NODE"
        raise InvalidArgumentError(message)
    if rest["hidden"] == "allowed" and context.get_parameter_source("learners") is ParameterSource.DEFAULT:
        message = (
            "of the learners only apsl-hidden allows hidden causes; name those to compare with --learners, or leave "
            "out --hidden"
        )
        raise InvalidArgumentError(message)
    opened = open_source(source, manager, counts=rest.get("counts"))
    nodes = nodes_of(opened)
    node = target_named(target, nodes)
    settings = for_library(rest, nodes)
    names = [*rivals(manager)] if learners is None else [name.strip() for name in learners.split(",") if name.strip()]
    interrupted = False
    try:
        with show_progress(manager, quiet=quiet) as plugins:
            compared = compare_learners(opened, node, learners=names, plugins=plugins, **settings)
    except Interrupted as stop:
        compared, interrupted = take_partial_result(stop, stop.result), True
    if as_json:
        print_json(compared.rows())
    else:
        print_table(
            _telling([{**row, "learner": _named(row["learner"], compared)} for row in compared.rows()]), head=True
        )
    if interrupted:
        click.echo(f"apsl: interrupted after {len(compared.parts)} of {count_of(len(names), 'learner')}", err=True)
    if interrupted or not all(row["complete"] for row in compared.rows()):
        context.exit(2)


def _telling(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out the columns that say nothing: no conflict anywhere, every part complete."""
    silent = {key for key, usual in (("conflicts", 0), ("complete", True)) if all(row[key] == usual for row in rows)}
    return [{key: value for key, value in row.items() if key not in silent} for row in rows]


def _named(name: str, compared: Comparison) -> str:
    """Return a learner by its name, and what auto stands for."""
    learner = compared.parts[name].learner
    return f"{name} ({learner})" if name == AUTO else name


# It takes several learners, so not the one that all learning commands take.
compare.params = [one for one in compare.params if one.name != "learner"]
