"""Commands that learn: a part, many parts, stability."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from apsl_rules._documents import label
from apsl_rules.cli.options import for_library, learn_part, learning_options, nodes_named, plan_part, target_named
from apsl_rules.cli.output import (
    choose_style,
    format_options,
    goes_to_stdout,
    is_figure,
    journal_option,
    json_option,
    notes_option,
    out_option,
    print_json,
    print_table,
    print_text,
    printed_as,
    progress_bar,
    quiet_option,
    refuse_overwriting,
    say_written,
    show_progress,
    verbose_option,
)
from apsl_rules.cli.streams import source_argument, take_partial_result
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.names import count_of, shown
from apsl_rules.plugins import Plugins, pick

if TYPE_CHECKING:
    from apsl_rules.parts import Parts

_EXAMPLES = """\b
Examples:
  apsl learn alarm --target HREKG --depth 2
  apsl learn alarm -t HISTORY -k max --out part.json
  apsl learn table.csv -t Smoker --out figure.pdf
  apsl learn network.bif -t Smoker --learner apsl --json
  apsl learn table.csv -t Smoker --discretize age=quantile:5 --threads 2
  apsl learn table.csv -t Smoker --knowledge known.toml --forbid Cancer Smoker
  apsl learn table.csv -t Smoker --max-seconds 60 --out part.json --resume
  apsl learn postgres://ann@db.example/sales#orders -t returned --dry-run
  apsl learn table.csv --config run.toml
"""


@click.command(epilog=_EXAMPLES, short_help="Learn what causes a column, and what it causes.")
@source_argument()
@learning_options
@out_option("Save the part; why, trace and show read it. A .pdf, .png, .svg or .tex is a figure.")
@click.option(
    "--resume",
    is_flag=True,
    help="Keep all answers beside --out until the end; the same command goes on from them.",
)
@click.option(
    "--dry-run", is_flag=True, help="Say what would be read of a table in a database, and read nothing of it."
)
@format_options
@notes_option
@verbose_option
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
    every_note: bool,
    verbose: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Learn the structure around a target from SOURCE: a network by name, a file, or a table of a database.

    Prints the answer in words, the part as a tree with the probability of each edge and arrow, and the notes that ask
    for something. A run that meets a limit or is interrupted prints what was found so far and exits with 2. With
    --resume the same command continues where it stopped.
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
    if out is not None and is_figure(out):
        part.figure(out)
    elif out is not None:
        save_part(part, out)
    text = printed_as(part, exporter, directed=directed, every_note=every_note, verbose=verbose)
    print_text(text, err=goes_to_stdout(out), verbatim=style != "text")
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


_EXAMPLES_OF_MANY = """\b
Examples:
  apsl many alarm --targets HR,BP,CO --depth 2
  apsl many table.csv --targets all --threads 2 --out parts
  apsl many table.parquet --targets all --journal parts.jsonl
"""


@click.command(epilog=_EXAMPLES_OF_MANY, short_help="Learn around several columns, or all of them.")
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

    With --targets all the union is the whole graph, made of parts. A run that meets a limit or is interrupted prints
    the parts learned by then and exits with 2. With --journal the same command continues where it stopped, even after
    a kill.
    """
    from apsl_rules.learning import learn_many, nodes_of, open_source

    manager: Plugins = context.obj
    opened = open_source(source, manager, counts=settings.get("counts"))
    nodes = nodes_of(opened)
    named = [] if targets.strip() == "all" else nodes_named(targets, nodes, "target")
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
        _print_union(parts, rows)
    say_written(out, count_of(len(parts), "part"))
    if parts.incomplete:
        context.exit(2)


def _print_union(parts: Parts, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print every edge once, what the signs mean, and what was asked."""
    signs = {"arrow": "->", "line": "--", "conflict": "-x-"}
    if parts.union.graph().hidden:
        signs |= {"line": "o-o", "partial": "o->", "bidirected": "<->"}
    drawn = [signs[row["mark"]] if row["suggested"] is None else "-?>" for row in rows]
    for row, sign in zip(rows, drawn, strict=True):
        print_text(f"{shown(row['source'])} {sign} {shown(row['target'])}")
    legend = [f"{sign} {words}" for sign, words in _MEANINGS.items() if sign in drawn]
    if legend:
        print_text("\n" + "   ".join(legend))
    saved = 1 - parts.computed / max(parts.asked, 1)
    edges, learned = count_of(len(rows), "edge"), count_of(len(parts), "part")
    print_text(f"\n{edges} from {learned} of depth {parts.depth} (learner {parts.learner})")
    computed = count_of(parts.computed, "test")
    print_text(f"{computed} computed; one target at a time takes {parts.asked:,}: {saved:.0%} saved")
    if parts.incomplete:
        print_text(f"incomplete: {parts.incomplete}")


#: What the signs of a union mean, but arrows.
_MEANINGS = {
    "--": "direction open",
    "-?>": "direction open, this one suggested",
    "-x-": "conflict",
    "o-o": "open at both ends",
    "o->": "a cause, or a shared hidden cause",
    "<->": "a shared hidden cause",
}


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


_EXAMPLES_OF_STABILITY = """\b
Examples:
  apsl stability table.csv --target Smoker --resamples 200 --seed 1
  apsl stability table.csv -t Smoker --subsample 0.5 --threads 4
  apsl stability table.csv -t Smoker --resamples 1000 --journal kept.jsonl
"""


@click.command(epilog=_EXAMPLES_OF_STABILITY, short_help="Show how often each edge comes back on resampled rows.")
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
    same command continues where it stopped, even after a kill.
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
        print_table(found.rows(), head=True, digits=2, err=err)
        print_text(f"\n{resamples}, seed {found.seed}, learner {found.part.learner}", err=err)
        if found.incomplete:
            print_text(f"incomplete: {found.incomplete}", err=err)
    say_written(out, f"the part around {shown(found.part.target)}, with the support of its marks")
    if found.incomplete:
        context.exit(2)
