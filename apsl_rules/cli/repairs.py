"""``apsl repairs``: what would have to be wrong for a contradiction of a part to vanish."""

from __future__ import annotations

from typing import Any

import click

from apsl_rules._documents import label
from apsl_rules.cli.explain import part_from
from apsl_rules.cli.learning_options import learning_options
from apsl_rules.cli.output import json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text
from apsl_rules.evidence import evidence_data
from apsl_rules.names import count_of
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins
from apsl_rules.rules import Conflict, Repair

_EXAMPLES = """\b
Examples:
  apsl repairs part.json
  apsl repairs table.csv --target Smoker --depth 2 --json
"""


@click.command(epilog=_EXAMPLES, short_help="Show what would have to be wrong for a contradiction to go.")
@source_argument()
@learning_options
@json_option
@quiet_option
@click.pass_obj
def repairs(manager: Plugins, /, source: str, *, as_json: bool, **settings: Any) -> None:
    """Show each contradiction of a part, and the least sets of findings without which it would not arise.

    Each set is a repair: if all its findings were wrong, the contradiction would be gone. The most doubtful come first.
    SOURCE is a saved part, or a network or a file to learn from with --target and the other options of apsl learn.
    """
    part = part_from(source, manager, **settings)
    found = [(conflict, conflict.repairs(part.findings)) for conflict in part.conflicts]
    if as_json:
        print_json([_data(part, conflict, some) for conflict, some in found])
        return
    if not found:
        print_text("no contradiction in this part: there is nothing to repair")
    for conflict, some in found:
        print_text(f"conflict: {conflict}")
        if not some:
            print_text("  no repair was found among the findings")
        for number, one in enumerate(some, start=1):
            print_text(f"  repair {number}, {count_of(len(one.findings), 'finding')}:")
            for finding in one.findings:
                print_text(f"    {Repair((finding,))}")


def _data(part: Part, conflict: Conflict, some: tuple[Repair, ...]) -> dict[str, Any]:
    """Return a contradiction and its repairs as plain data."""
    return {
        "pair": [label(node) for node in conflict.pair],
        "kind": conflict.kind,
        "outcome": conflict.outcome,
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
