"""``apsl learn``: learn a part and show it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from apsl_rules.cli.format_options import (
    choose_style,
    export_part,
    format_options,
    goes_to_stdout,
    out_option,
    refuse_overwriting,
    say_written,
)
from apsl_rules.cli.interrupts import take_partial_result
from apsl_rules.cli.learning_options import learn_part, learning_options, plan_part
from apsl_rules.cli.output import json_option, quiet_option, summary
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text, show_progress
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.names import count_of, shown
from apsl_rules.plugins import Plugins, pick

_EXAMPLES = """\b
Examples:
  apsl learn alarm --target HREKG --depth 2
  apsl learn alarm -t HISTORY -k max --out part.json
  apsl learn network.bif -t Smoker --learner apsl-paper --json
  apsl learn table.csv -t Smoker --alpha 0.05 --discretize age=quantile:5 --threads 2
  apsl learn table.csv -t Smoker --knowledge known.toml --forbid Cancer Smoker
  apsl learn table.csv -t Smoker -k 3 --max-seconds 60 --out part.json --resume
  apsl learn postgres://ann@db.example/sales#orders -t returned --dry-run
  apsl learn table.csv --config run.toml
"""


@click.command(epilog=_EXAMPLES, short_help="Learn the part around a target, from a network or a table.")
@source_argument()
@learning_options
@out_option("Save the part; why, trace and show read it.")
@click.option(
    "--resume",
    is_flag=True,
    help="Keep all answers beside --out until the end; the same command goes on from them.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be read of a table in a database, and read nothing of it."
)
@format_options
@json_option
@quiet_option
@click.pass_context
def learn(
    context: click.Context,
    /,
    source: str,
    *,
    out: str | None,
    resume: bool,
    dry_run: bool,
    style: str,
    directed: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn the structure around a target from SOURCE: a network by name, a file, or a table of a database.

    Prints the part as a picture, with its arrows, lines and conflicts. A run that meets a limit or is interrupted
    gives what is settled by then and exits with 2; with --resume the same command goes on where it stopped.
    """
    from apsl_rules.parts import save_part

    manager: Plugins = context.obj
    if dry_run:
        print_text(str(plan_part(source, manager, **settings)))
        return
    style = choose_style(style, as_json=as_json)
    exporter = pick(manager.exporters, style, "format")
    refuse_overwriting(source, out)
    answers = _answers_beside(out, settings) if resume else None
    try:
        with show_progress(manager, quiet=quiet) as plugins:
            part = learn_part(source, plugins, **settings)
    except Interrupted as stop:
        part = take_partial_result(stop, stop.result if stop.part is None else stop.part)
    if out is not None:
        save_part(part, out)
    text = export_part(part, exporter, directed=directed).rstrip("\n")
    if style == "text":
        print_text(f"{text}\n\n{summary(part)}", err=goes_to_stdout(out))
    else:
        click.echo(text, err=goes_to_stdout(out))
    say_written(out, f"the part around {shown(part.target)}, {count_of(len(part.edges), 'edge')}")
    if part.incomplete:
        context.exit(2)
    if answers is not None:
        answers.unlink(missing_ok=True)


def _answers_beside(out: str | None, settings: dict[str, Any]) -> Path:
    """Return the file beside the result in which the answers of a run are kept."""
    if out is None or goes_to_stdout(out) or settings["cache"] is not None:
        message = "--resume keeps the answers beside the file of --out; give --out, and no --cache with it"
        raise InvalidArgumentError(message)
    answers = Path(f"{out}.answers")
    settings["cache"] = str(answers)
    return answers
