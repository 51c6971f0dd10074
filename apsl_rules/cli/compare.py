"""``apsl compare``: several learners on one task, side by side."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from apsl_rules.cli.interrupts import take_partial_result
from apsl_rules.cli.learning_options import for_library, learning_options, target_named
from apsl_rules.cli.output import json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_table, show_progress
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning import AUTO, COMPARED
from apsl_rules.names import count_of
from apsl_rules.parts import Comparison
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl compare alarm --target HREKG --depth 2
  apsl compare table.csv -t Smoker --learners apsl,pcd-by-pcd,gs --json
"""


@click.command(epilog=_EXAMPLES, short_help="Learn one part with several learners, side by side.")
@source_argument()
@click.option(
    "--learners",
    default=",".join(COMPARED),
    show_default=True,
    help="Learners or spec files, with commas between them; the others are compared with the first, auto the default.",
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
    learners: str,
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
    from apsl_rules.learning import nodes_of, open_source

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
    names = [name.strip() for name in learners.split(",") if name.strip()]
    interrupted = False
    try:
        with show_progress(manager, quiet=quiet) as plugins:
            compared = compare_learners(opened, node, learners=names, plugins=plugins, **settings)
    except Interrupted as stop:
        compared, interrupted = take_partial_result(stop, stop.result), True
    if as_json:
        print_json(compared.rows())
    else:
        print_table([{**row, "learner": _named(row["learner"], compared)} for row in compared.rows()], head=True)
    if interrupted:
        click.echo(f"apsl: interrupted after {len(compared.parts)} of {count_of(len(names), 'learner')}", err=True)
    if interrupted or not all(row["complete"] for row in compared.rows()):
        context.exit(2)


def _named(name: str, compared: Comparison) -> str:
    """Return a learner by its name, and what auto stands for."""
    learner = compared.parts[name].learner
    return f"{name} ({learner})" if name == AUTO else name


# It takes several learners, so not the one that all learning commands take.
compare.params = [one for one in compare.params if one.name != "learner"]
