"""Commands that show a part: its picture, what it rests on, its repairs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import attrs
import click
from click.core import ParameterSource

from apsl_rules._documents import label
from apsl_rules.cli.options import learn_part, learning_options
from apsl_rules.cli.output import (
    choose_style,
    format_options,
    is_figure,
    json_option,
    notes_option,
    out_option,
    print_json,
    print_table,
    print_text,
    printed_as,
    quiet_option,
    refuse_overwriting,
    say_written,
    show_progress,
    verbose_option,
)
from apsl_rules.cli.streams import is_standard_input, keep_standard_input, source_argument
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import evidence_data, evidence_text
from apsl_rules.names import Node, count_of, node_named, shown
from apsl_rules.parts import TABLE_FORMATS, Part, Repair
from apsl_rules.plugins import Plugins, pick
from apsl_rules.rules import Conflict, Drop, Entry, Finding, Firing

_SHOW_EXAMPLES = """\b
Examples:
  apsl show part.json
  apsl show part.json --columns
  apsl show part.json --format dot --out part.dot
  apsl show part.json --theme print --out figure.pdf
  apsl show part.json --format latex --data table.csv
  apsl show part.json --format bnlearn --directed
"""
_REPORT_EXAMPLES = """\b
Examples:
  apsl report part.json
  apsl report part.json -o around-HR.html
  apsl report part.json --data table.csv
  apsl report part.json --data table.csv --no-values
"""


@click.command(epilog=_SHOW_EXAMPLES, short_help="Show a part, or write it for another tool.")
@source_argument("part_file")
@format_options
@click.option("--columns", is_flag=True, help="Show how the columns of the part were read instead.")
@notes_option
@verbose_option
@out_option("Write to this file instead of printing; a .pdf, .png, .svg or .tex is a figure.")
@click.option(
    "--theme",
    type=click.Choice(["light", "dark", "print"]),
    default="light",
    show_default=True,
    help="The colours of a figure.",
)
@click.option(
    "--data",
    metavar="TABLE",
    callback=keep_standard_input,
    help="The table: adds the effects at the target to a figure, or to --format markdown or latex.",
)
@json_option
@click.pass_obj
def show(
    manager: Plugins,
    /,
    part_file: str,
    *,
    style: str,
    directed: bool,
    columns: bool,
    every_note: bool,
    verbose: bool,
    theme: Literal["light", "dark", "print"],
    data: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Show a saved part: its picture, its figures and its edges; or write it in a format of another tool."""
    from apsl_rules._files import write_text
    from apsl_rules.learning import open_source
    from apsl_rules.parts import load_part

    style = choose_style(style, as_json=as_json)
    refuse_overwriting(part_file, out)
    if data is not None and style not in TABLE_FORMATS and not is_figure(out):
        message = "--data adds effects to a table or a figure; add --format markdown or latex, or --out figure.pdf"
        raise InvalidArgumentError(message)
    exporter = pick(manager.exporters, style, "format")
    part = load_part(part_file)
    rows = None if data is None else open_source(data, manager)
    if columns:
        _show_columns(part, part_file, as_json=as_json)
        return
    if rows is not None and style in TABLE_FORMATS:
        text = part.to(style, data=rows).rstrip("\n")
    else:
        text = printed_as(part, exporter, directed=directed, every_note=every_note, verbose=verbose)
    if out is not None and is_figure(out) and style == "text":
        part.figure(out, theme=theme, data=rows)
        say_written(out, f"the part around {shown(part.target)} as a figure")
    elif out is not None:
        write_text(out, f"{text}\n")
        say_written(out, f"the part around {shown(part.target)} as {style}")
    else:
        print_text(text, verbatim=style != "text")


def _show_columns(part: Part, part_file: str, *, as_json: bool) -> None:
    """Print how the columns of the part's nodes were read."""
    members = set(part.members)
    rows = [{**attrs.asdict(one), "name": label(one.name)} for one in part.columns if one.name in members]
    if as_json:
        print_json(rows)
    elif rows:
        print_table(rows, head=True)
    else:
        message = f"{part_file!r} does not say how its columns were read; learn the part anew from its table"
        raise InvalidArgumentError(message)


@click.command(epilog=_REPORT_EXAMPLES, short_help="Write a page for any browser: drawing, evidence, replay.")
@source_argument("part_file")
@click.option(
    "--data",
    metavar="TABLE",
    callback=keep_standard_input,
    help="The table: adds effects at the target, levels, and the rows behind each edge.",
)
@click.option("--counts", metavar="HOW", help="Where the table is counted: memory, duckdb, dask or dask:ADDRESS.")
@click.option("--no-values", is_flag=True, help="Leave out the levels and values of all columns, to share the page.")
@out_option("Where to write it; else beside the part, ending in .html.")
@click.pass_obj
def report(
    manager: Plugins, /, part_file: str, *, data: str | None, counts: str | None, no_values: bool, out: str | None
) -> None:
    """Write a saved part as one HTML file: drawing, evidence and replay, for any browser, without a network."""
    from apsl_rules.learning import open_source
    from apsl_rules.parts import load_part

    refuse_overwriting(part_file, out)
    part = load_part(part_file)
    apart = is_standard_input(part_file) or not Path(part_file).is_file() or Path(part_file).is_relative_to("/dev")
    if out is None and apart:
        message = f"{part_file!r} is no file beside which the page could lie; add --out FILE"
        raise InvalidArgumentError(message)
    path = out if out is not None else str(Path(part_file).with_suffix(".html"))
    rows = None if data is None else open_source(data, manager, counts=counts)
    reading = {} if counts is None else {"counts": counts}
    part.report(path, data=rows, values=not no_values, **reading)
    say_written(path, f"the report of the part around {shown(part.target)}")


_WHY_EXAMPLES = """\b
Examples:
  apsl why part.json CATECHOL HR
  apsl why part.json CATECHOL HR --json
  apsl why alarm CATECHOL HR --target HREKG --depth 2
  apsl why part.json --repairs
"""
_TRACE_EXAMPLES = """\b
Examples:
  apsl trace part.json
  apsl trace part.json --findings
  apsl trace alarm --target HREKG --json
"""


def part_from(source: str, manager: Plugins, *, quiet: bool, **settings: Any) -> Part:
    """Read a saved part, or learn one, with a bar unless that is unwanted."""
    endings = tuple(ending for reader in manager.readers.values() for ending in reader.endings)
    is_lost = settings.get("target") is None and not Path(source).exists()
    if is_part_file(source) or (source.endswith(".json") and (is_lost or not source.casefold().endswith(endings))):
        from apsl_rules.parts import load_part

        _refuse_settings(source, settings)
        return load_part(source)
    with show_progress(manager, quiet=quiet) as plugins:
        return learn_part(source, plugins, **settings)


def _refuse_settings(source: str, settings: Iterable[str]) -> None:
    """Refuse options of a run beside a part that was learned already."""
    context = click.get_current_context()
    named = {one.name: max(one.opts, key=len) for one in context.command.params}
    typed = [named[name] for name in settings if context.get_parameter_source(name) != ParameterSource.DEFAULT]
    if typed:
        message = f"{source!r} is a saved part, so {', '.join(typed)} can change nothing; leave that out, or learn anew"
        raise InvalidArgumentError(message)


def is_part_file(source: str) -> bool:
    """Return whether a file begins as a saved part does."""
    try:
        with Path(source).open("rb") as file:
            return file.read(26) == b'{"format":"apsl_rules part'
    except OSError:
        return False


@click.command(epilog=_WHY_EXAMPLES, short_help="Say what an edge, an arrow or a gap rests on, down to the tests.")
@source_argument()
@click.argument("x", required=False)
@click.argument("y", required=False)
@learning_options
@click.option(
    "--repairs", is_flag=True, help="Show what would have to be wrong for a contradiction, or each of them, to go."
)
@json_option
@quiet_option
@click.pass_obj
def why(
    manager: Plugins, /, source: str, x: str | None, y: str | None, *, repairs: bool, as_json: bool, **settings: Any
) -> None:
    """Say what the mark of X and Y rests on, down to the tests; with hidden causes first at X, then at Y.

    It is a proof where tests, perfect answers and what was given decide, and support where a score does.

    SOURCE is a saved part, or a network or a file to learn from with --target and the other options of apsl learn. With
    --repairs it shows the contradictions of the part instead, and the least sets of findings without which they would
    not arise, the most doubtful first.
    """
    if y is None and (x is not None or not repairs):
        message = "name two nodes X and Y, or ask for the contradictions of the part with --repairs"
        raise InvalidArgumentError(message)
    part = part_from(source, manager, **settings)
    pair = tuple(node_named(one, part.nodes, "node") for one in (x, y) if one is not None)
    if repairs:
        _print_repairs(part, pair, as_json=as_json)
        return
    proof = part.why(*pair)
    if as_json:
        print_json(proof.to_dict())
        return
    print_text(str(proof))
    other = part.why(*reversed(pair)) if part.allows_hidden else proof
    if other.fact != proof.fact:
        print_text(f"\n{other}")


@click.command(epilog=_TRACE_EXAMPLES, short_help="Follow the run, visit by visit.")
@source_argument()
@learning_options
@click.option("--findings", is_flag=True, help="Show the findings too, not only the firings.")
@json_option
@quiet_option
@click.pass_obj
def trace(manager: Plugins, /, source: str, *, findings: bool, as_json: bool, **settings: Any) -> None:
    """Describe the run visit by visit: what was found and which rules fired.

    SOURCE is a saved part, or a network or a file to learn from with --target and the other options of apsl learn.
    """
    part = part_from(source, manager, **settings)
    entries = part.history.entries
    visits = [
        (visit, [entry for entry in entries[visit.begin : visit.end] if findings or not isinstance(entry, Finding)])
        for visit in part.visits
    ]
    if as_json:
        print_json(
            [{"visit": label(visit.node), "entries": [_data(part, one) for one in rows]} for visit, rows in visits]
        )
        return
    for number, (visit, rows) in enumerate(visits, start=1):
        around = ", ".join(map(shown, visit.neighbours)) or "none"
        print_text(f"visit {number}: {shown(visit.node)}; neighbours: {around}")
        for entry in rows:
            print_text(f"  {_text(part, entry)}")


def _reads(part: Part, entry: Entry) -> str:
    relation, nodes = entry.fact
    return part.store.relations[relation].text(nodes)


def _text(part: Part, entry: Entry) -> str:
    if isinstance(entry, Drop):
        return f"{_reads(part, entry)}   [dropped by {_reads(part, entry.because)}]"
    why_so = entry.rule if isinstance(entry, Firing) else evidence_text(entry.evidence)
    return f"{_reads(part, entry)}   [{why_so}]"


def _data(part: Part, entry: Entry) -> dict[str, Any]:
    data: dict[str, Any] = {"text": _reads(part, entry), "relation": entry.fact.relation}
    data["nodes"] = [label(node) for node in entry.fact.nodes]
    if isinstance(entry, Drop):
        return data | {"dropped_by": _reads(part, entry.because)}
    if isinstance(entry, Firing):
        return data | {"rule": entry.rule}
    return data | {"evidence": evidence_data(entry.evidence)}


def _print_repairs(part: Part, pair: tuple[Node, ...], *, as_json: bool) -> None:
    """Print each contradiction, or that of a pair, with the least sets of findings without which it would not arise."""
    of_pair = [one for one in part.conflicts if not pair or {*one.pair} == {*pair}]
    found = [(conflict, conflict.repairs(part.findings)) for conflict in of_pair]
    if as_json:
        print_json([_repairs_data(part, conflict, some) for conflict, some in found])
        return
    if not found:
        print_text(f"no contradiction {'between them' if pair else 'in this part'}: there is nothing to repair")
    for conflict, some in found:
        print_text(f"conflict: {conflict}")
        if not some:
            print_text("  no repair was found among the findings")
        for number, one in enumerate(some, start=1):
            print_text(f"  repair {number}, {count_of(len(one.findings), 'finding')}:")
            for finding in one.findings:
                print_text(f"    {Repair((finding,))}")


def _repairs_data(part: Part, conflict: Conflict, some: tuple[Repair, ...]) -> dict[str, Any]:
    """Return a contradiction and its repairs as plain data."""
    return {
        "pair": [label(node) for node in conflict.pair],
        "kind": conflict.kind,
        "outcome": conflict.outcome,
        "decision": conflict.decision,
        "proofs": [proof.to_dict() for proof in conflict.proofs],
        "repairs": [
            [
                {
                    "text": part.store.relations[one.fact.relation].text(one.fact.nodes),
                    "relation": one.fact.relation,
                    "nodes": [label(node) for node in one.fact.nodes],
                    "evidence": evidence_data(one.evidence),
                }
                for one in repair.findings
            ]
            for repair in some
        ],
    }
