"""``apsl effect`` and ``apsl causes``: what setting one node would do to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import click
from click.core import ParameterSource

from apsl_rules._documents import label
from apsl_rules.cli.explain import is_part_file
from apsl_rules.cli.learning_options import for_library, structure_options
from apsl_rules.cli.option_names import with_option_names
from apsl_rules.cli.output import json_option, print_json, quiet_option
from apsl_rules.cli.reading_options import nodes_named
from apsl_rules.cli.standard_input import keep_standard_input, source_argument
from apsl_rules.cli.terminal import print_text, show_progress
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, node_named
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins

_EFFECT_EXAMPLES = """\b
Examples:
  apsl effect table.csv smoker cancer
  apsl effect table.csv smoker cancer --why
  apsl effect part.json smoker cancer --data table.csv --adjust age,sex
  apsl effect part.json --data table.csv
  apsl effect asia smoke lung --data table.csv --adjust optimal --json
"""
_CAUSES_EXAMPLES = """\b
Examples:
  apsl causes table.csv smoker cancer
  apsl causes alarm LVFAILURE BP
  apsl causes part.json smoker cancer --data table.csv --json
"""

data_option = click.option(
    "--data",
    metavar="TABLE",
    callback=keep_standard_input,
    help="The table to estimate from, where SOURCE is a part or a known network.",
)


@attrs.frozen(eq=False)
class Asked:
    """What a question is about: a part, or what one is learned from; the data if they are apart; and the settings."""

    source: Any
    data: Any
    nodes: tuple[Node, ...]
    settings: dict[str, Any]

    def node(self, name: str, role: str) -> Node:
        """Return a node by its name."""
        return node_named(name, self.nodes, role)


def open_question(source: str, data: str | None, manager: Plugins, settings: dict[str, Any]) -> Asked:
    """Open a saved part, a network or a table, and the data where they are given apart."""
    from apsl_rules.learning import nodes_of, open_source

    counts = settings.get("counts")
    rows = None if data is None else open_source(data, manager, counts=counts)
    opened: Any
    if is_part_file(source) or source.endswith(".json"):
        from apsl_rules.parts import load_part

        opened = load_part(source)
        if rows is None:
            message = f"{source!r} is a saved part, which has no rows; give the table that it was learned from, --data"
            raise InvalidArgumentError(message)
        nodes = opened.nodes
    else:
        opened = open_source(source, manager, counts=counts if rows is None else None)
        nodes = nodes_of(opened)
    read = for_library(settings, nodes if rows is None else nodes_of(rows))
    kept = {name: value for name, value in read.items() if _is_typed(name, settings) and value is not None}
    if not isinstance(opened, Part) and read["knowledge"]:
        kept["knowledge"] = read["knowledge"]
    return Asked(opened, rows, nodes, kept | {"plugins": manager})


def _is_typed(name: str, settings: dict[str, Any]) -> bool:
    """Return whether a setting of the library was given by an option of the command."""
    context = click.get_current_context()
    options = {"kinds": ("number", "category"), "options": ("memory_limit",)}.get(name, (name,))
    is_default = {ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP}
    return any(one in settings and context.get_parameter_source(one) not in is_default for one in options)


def _question(command: Callable[..., Any]) -> Callable[..., Any]:
    return data_option(structure_options(json_option(quiet_option(command))))


@click.command(epilog=_EFFECT_EXAMPLES, short_help="Estimate the effect of one node on another.")
@source_argument()
@click.argument("cause", required=False)
@click.argument("target", required=False)
@click.option(
    "--adjust",
    default="parents",
    show_default=True,
    metavar="HOW|A,B",
    help="What to hold: parents, optimal, or columns of your own with commas between them.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option(
    "--empty",
    type=click.Choice(["refuse", "leave-out"]),
    default="refuse",
    show_default=True,
    help="Strata in which a level of the cause does not occur.",
)
@click.option("--why", "with_grounds", is_flag=True, help="Say what the effect rests on.")
@_question
@click.pass_obj
def effect(
    manager: Plugins,
    /,
    source: str,
    cause: str | None,
    target: str | None,
    *,
    data: str | None,
    adjust: str,
    confidence: float,
    empty: Any,
    with_grounds: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Estimate what setting CAUSE would do to TARGET, for every graph that is left open.

    SOURCE is a table, from which the edges at CAUSE are learned; or a saved part or a known network, with the table as
    --data. With a part and neither CAUSE nor TARGET, the effect along each edge at the target of the part is estimated.
    """
    from apsl_rules.effects import effect as estimate
    from apsl_rules.effects import effects_at_target

    if (cause is None) != (target is None):
        message = f"the effect of {cause!r} on what? name a TARGET too, or leave both out for all edges at the target"
        raise InvalidArgumentError(message)
    with show_progress(manager, quiet=quiet) as plugins:
        asked = open_question(source, data, plugins, settings)
        held: Any = adjust if adjust in ("parents", "optimal") else nodes_named(adjust, asked.nodes, "node in --adjust")
        how: dict[str, Any] = {"adjust": held, "confidence": confidence, "empty": empty, **asked.settings}
        if cause is None or target is None:
            if not isinstance(asked.source, Part):
                message = f"{shown_source(source)!r} is no saved part; name the CAUSE and the TARGET of the effect"
                raise InvalidArgumentError(message)
            found = effects_at_target(asked.source, asked.data, **how)
            text, shown = str(found), [_labelled(row) for row in found.rows()]
            _print(text, shown, as_json=as_json)
            return
        one = estimate(asked.source, asked.node(cause, "cause"), asked.node(target, "target"), data=asked.data, **how)
    if one.is_refused and not one.changes:
        why = next(possible.refused for possible in one.possible if possible.refused)
        message = f"the effect of {cause!r} on {target!r} cannot be estimated: {why}"
        raise DataError(message)
    grounds = one.why() if with_grounds else None
    _print(str(grounds or one), grounds.to_dict() if grounds else one.to_dict(), as_json=as_json)


def _labelled(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "cause": label(row["cause"]), "target": label(row["target"])}


def _print(text: str, data: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        print_text(with_option_names(text, click.get_current_context().command))


@click.command(epilog=_CAUSES_EXAMPLES, short_help="Say whether a node is a cause of another.")
@source_argument()
@click.argument("cause")
@click.argument("target")
@_question
@click.pass_obj
def causes(
    manager: Plugins,
    /,
    source: str,
    cause: str,
    target: str,
    *,
    data: str | None,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Say whether CAUSE is a cause of TARGET: always, never, or depending on the lines that are open.

    SOURCE is a table or a known network, from which the edges at CAUSE are learned; or a saved part, with the table as
    --data. The tests that decide are printed.
    """
    from apsl_rules.effects import causes as decide

    with show_progress(manager, quiet=quiet) as plugins:
        asked = open_question(source, data, plugins, settings)
        found = decide(
            asked.source, asked.node(cause, "cause"), asked.node(target, "target"), data=asked.data, **asked.settings
        )
    _print(str(found), found.to_dict(), as_json=as_json)
