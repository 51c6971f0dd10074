"""``apsl stability``: how often each mark of a part comes back on resampled rows."""

from __future__ import annotations

from typing import Any

import click

from apsl_rules.cli.format_options import goes_to_stdout, out_option, refuse_overwriting, say_written
from apsl_rules.cli.interrupts import take_partial_result
from apsl_rules.cli.learning_options import for_library, learning_options, target_named
from apsl_rules.cli.output import journal_option, json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text, progress_bar
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.names import count_of, shown
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl stability table.csv --target Smoker --resamples 200 --seed 1
  apsl stability table.csv -t Smoker -k 2 --subsample 0.5 --threads 4 --out part.json
  apsl stability table.csv -t Smoker --resamples 1000 --journal resamples.jsonl
"""


@click.command(epilog=_EXAMPLES, short_help="Show how often each mark comes back on resampled rows.")
@source_argument()
@learning_options
@click.option("--resamples", type=int, default=100, show_default=True, help="How many tables to draw.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same tables.")
@click.option(
    "--subsample", type=float, help="Draw this share of the rows without repetition, instead of all with repetition."
)
@out_option("Save the part from all rows, with the support of its marks.")
@journal_option("what each resample shows")
@json_option
@quiet_option
@click.pass_context
def stability(
    context: click.Context,
    /,
    source: str,
    *,
    target: str | None,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn a part of the table SOURCE from all rows and from many resamples of them.

    Prints a row for each edge that any run shows: its mark in the part from all rows, the share of resamples that show
    the same (support), and the shares of resamples with an edge, each arrow, a line, a conflict and a gap there.
    A run that meets a limit or is interrupted counts the resamples learned by then and exits with 2; with --journal the
    same command goes on where it stopped, also after a kill.
    """
    from apsl_rules._documents import label
    from apsl_rules.learning import nodes_of, open_source
    from apsl_rules.learning import stability as learned_again
    from apsl_rules.parts import save_part

    refuse_overwriting(source, out)
    manager: Plugins = context.obj
    if target is None:
        message = f"learning from {shown_source(source)!r} needs a target; add --target NODE"
        raise InvalidArgumentError(message)
    opened = open_source(source, manager)
    nodes = nodes_of(opened)
    node = target_named(target, nodes)
    try:
        with progress_bar("resamples", quiet=quiet) as bar:
            found = learned_again(opened, node, progress=bar, plugins=manager, **for_library(settings, nodes))
    except Interrupted as stop:
        found = take_partial_result(stop, stop.result)
    if out is not None:
        save_part(found.part, out)
    err = goes_to_stdout(out)
    if as_json:
        rows = [{**row, "source": label(row["source"]), "target": label(row["target"])} for row in found.rows()]
        data = {"resamples": found.counted, "seed": found.seed, "incomplete": found.incomplete, "edges": rows}
        print_json(data, err=err)
    else:
        resamples = count_of(found.counted, "resample")
        print_text(f"{found}\n\n{resamples}, seed {found.seed}, learner {found.part.learner}", err=err)
        if found.incomplete:
            print_text(f"incomplete: {found.incomplete}", err=err)
    say_written(out, f"the part around {shown(found.part.target)}, with the support of its marks")
    if found.incomplete:
        context.exit(2)
