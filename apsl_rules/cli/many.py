"""``apsl many``: the parts around several targets, and the graph that they make together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from apsl_rules._documents import label
from apsl_rules.cli.format_options import say_written
from apsl_rules.cli.interrupts import take_partial_result
from apsl_rules.cli.learning_options import for_library, learning_options
from apsl_rules.cli.output import journal_option, json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text, progress_bar
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.names import count_of, node_named
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl many alarm --targets HR,BP,CO --depth 2
  apsl many table.csv --targets all --threads 2 --out parts
  apsl many table.parquet --targets all --journal parts.jsonl
"""


@click.command(epilog=_EXAMPLES, short_help="Learn the parts around several targets, and their union.")
@source_argument()
@click.option("--targets", required=True, help="Nodes with commas between them, or 'all'.")
@learning_options
@click.option(
    "--out", "-o", type=click.Path(file_okay=False), help="Save each part in this folder, numbered by target."
)
@journal_option("each part")
@json_option
@quiet_option
@click.pass_context
def many(
    context: click.Context,
    /,
    source: str,
    *,
    targets: str,
    out: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn the parts of SOURCE around several targets, asking nothing twice, and print their union.

    With --targets all the union is the whole graph, made of parts. A run that meets a limit or is interrupted gives
    the parts learned by then and exits with 2; with --journal the same command goes on where it stopped, also after
    a kill.
    """
    from apsl_rules.learning import learn_many, nodes_of, open_source

    manager: Plugins = context.obj
    opened = open_source(source, manager, counts=settings.get("counts"))
    nodes = nodes_of(opened)
    words = [] if targets.strip() == "all" else [one.strip() for one in targets.split(",") if one.strip()]
    named = [node_named(one, nodes, "target") for one in words]
    if not named and targets.strip() != "all":
        message = f"--targets is {targets!r}; give nodes with commas between them, or 'all'"
        raise InvalidArgumentError(message)
    try:
        with progress_bar("parts learned", quiet=quiet) as bar:
            parts = learn_many(opened, named or "all", progress=bar, plugins=manager, **for_library(settings, nodes))
    except Interrupted as stop:
        parts = take_partial_result(stop, stop.result)
    if out is not None:
        folder = _make_folder(out)
        for number, part in enumerate(parts.values(), start=1):
            part.save(folder / f"{number}.json")
    rows = parts.union.graph().rows()
    if as_json:
        print_json(
            {
                "targets": [label(target) for target in parts],
                "edges": [{**row, "source": label(row["source"]), "target": label(row["target"])} for row in rows],
                "asked": parts.asked,
                "computed": parts.computed,
                "incomplete": parts.incomplete,
            }
        )
    else:
        signs = {"arrow": "->", "line": "--", "conflict": "-x-"}
        if parts.union.graph().hidden:
            signs |= {"line": "o-o", "partial": "o->", "bidirected": "<->"}
        for row in rows:
            sign = signs[row["mark"]] if row["suggested"] is None else "-?>"
            print_text(f"{row['source']} {sign} {row['target']}")
        saved = 1 - parts.computed / max(parts.asked, 1)
        edges, learned = count_of(len(rows), "edge"), count_of(len(parts), "part")
        print_text(f"\n{edges} from {learned} of depth {parts.depth} (learner {parts.learner})")
        computed = count_of(parts.computed, "test")
        print_text(f"{computed} computed; one target at a time takes {parts.asked:,}: {saved:.0%} saved")
        if parts.incomplete:
            print_text(f"incomplete: {parts.incomplete}")
    say_written(out, count_of(len(parts), "part"))
    if parts.incomplete:
        context.exit(2)


def _make_folder(out: str) -> Path:
    """Make the folder for the parts."""
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot make the folder {out!r}: {error.strerror or error}; give --out a folder that can be written"
        raise InvalidArgumentError(message) from error
    return Path(out)


# It takes several targets, so not the one that all learning commands take.
many.params = [one for one in many.params if one.name != "target"]
