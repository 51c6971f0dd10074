"""``apsl why`` and ``apsl trace``: the reasons behind a part."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from apsl_rules._documents import label
from apsl_rules.cli.learning_options import learn_part, learning_options
from apsl_rules.cli.output import json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text, show_progress
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence import evidence_data, evidence_text
from apsl_rules.names import node_named, shown
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins
from apsl_rules.rules import Drop, Entry, Finding, Firing

_WHY_EXAMPLES = """\b
Examples:
  apsl why part.json CATECHOL HR
  apsl why part.json CATECHOL HR --json
  apsl why alarm CATECHOL HR --target HREKG --depth 2
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
    if is_part_file(source) or (source.endswith(".json") and not source.casefold().endswith(endings)):
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


@click.command(epilog=_WHY_EXAMPLES, short_help="Prove what is known of two nodes, down to the tests.")
@source_argument()
@click.argument("x")
@click.argument("y")
@learning_options
@json_option
@quiet_option
@click.pass_obj
def why(manager: Plugins, /, source: str, x: str, y: str, *, as_json: bool, **settings: Any) -> None:
    """Prove what is known of X and Y, down to the tests; with hidden causes first the end at X, then that at Y.

    SOURCE is a saved part, or a network or a file to learn from with --target and the other options of apsl learn.
    """
    part = part_from(source, manager, **settings)
    pair = node_named(x, part.nodes, "node"), node_named(y, part.nodes, "node")
    proof = part.why(*pair)
    if as_json:
        print_json(proof.to_dict())
        return
    print_text(str(proof))
    other = part.why(*reversed(pair)) if part.allows_hidden else proof
    if other.fact != proof.fact:
        print_text(f"\n{other}")


@click.command(epilog=_TRACE_EXAMPLES, short_help="Tell the run visit by visit and firing by firing.")
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
