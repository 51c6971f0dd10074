"""Commands on effects: effect, causes, fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import click
from click.core import ParameterSource

from apsl_rules._documents import label
from apsl_rules.cli.options import for_library, nodes_named, reading_options, structure_options, with_reading
from apsl_rules.cli.output import (
    json_option,
    out_option,
    print_json,
    print_table,
    print_text,
    quiet_option,
    refuse_overwriting,
    say_written,
    show_progress,
)
from apsl_rules.cli.show import is_part_file
from apsl_rules.cli.spelling import in_options
from apsl_rules.cli.streams import keep_standard_input, source_argument
from apsl_rules.data import lagged
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import DataError, InvalidArgumentError
from apsl_rules.names import Node, node_named, shown
from apsl_rules.notes import marked
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins

_EFFECT_EXAMPLES = """\b
Examples:
  apsl effect table.csv smoker cancer
  apsl effect table.csv smoker cancer --tier age --tier smoker --tier cancer
  apsl effect trial.csv drug pain --randomised --by sex
  apsl effect table.csv smoker cancer --adjust earlier --unaffected height
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
    if read["time"] is not None:
        nodes = (*nodes, *(lagged(node, lag) for lag in range(1, read["lags"] + 1) for node in nodes))
    kept = {name: value for name, value in read.items() if _is_typed(name, settings) and value is not None}
    if not isinstance(opened, Part) and read["knowledge"]:
        kept["knowledge"] = read["knowledge"]
    return Asked(opened, rows, nodes, kept | {"plugins": manager})


def _is_typed(name: str, settings: dict[str, Any]) -> bool:
    """Return whether a setting of the library was given by an option of the command."""
    context = click.get_current_context()
    options = {"kinds": ("number", "ordered", "category", "part"), "options": ("memory_limit",)}.get(name, (name,))
    is_default = {ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP}
    return any(one in settings and context.get_parameter_source(one) not in is_default for one in options)


def _question(command: Callable[..., Any]) -> Callable[..., Any]:
    return data_option(structure_options(json_option(quiet_option(command))))


@click.command(epilog=_EFFECT_EXAMPLES, short_help="Estimate how much one column changes another.")
@source_argument()
@click.argument("cause", required=False)
@click.argument("target", required=False)
@click.option(
    "--adjust",
    default="parents",
    show_default=True,
    metavar="HOW|A,B",
    help="What to adjust for: parents, earlier columns, optimal, or columns of your own with commas between them.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Confidence of the intervals.")
@click.option(
    "--empty",
    type=click.Choice(["borrow", "refuse", "leave-out"]),
    default="borrow",
    show_default=True,
    help="Strata in which a level of the cause does not occur.",
)
@click.option(
    "--graphs",
    type=click.Choice(["weighed", "drawn"]),
    default="weighed",
    show_default=True,
    help="Weigh all graphs near cause and target, or take those that the drawn edges leave open.",
)
@click.option(
    "--variance",
    type=click.Choice(["robust", "equal"]),
    default="robust",
    show_default=True,
    help="Errors that hold if the spread differs, or those for equal spread.",
)
@click.option("--randomised", is_flag=True, help="CAUSE was assigned by chance: nothing in the table causes it.")
@click.option("--instrument", metavar="COLUMN", help="A column that moves CAUSE, and TARGET through it alone.")
@click.option("--unaffected", metavar="A,B", help="Columns that CAUSE does nothing to: negative controls.")
@click.option("--powerless", metavar="A,B", help="Columns that do nothing to TARGET: negative controls.")
@click.option("--by", metavar="A,B", help="Tell the effect by the levels or ranges of one or two columns, too.")
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
    graphs: Any,
    variance: Any,
    randomised: bool,
    instrument: str | None,
    unaffected: str | None,
    powerless: str | None,
    by: str | None,
    with_grounds: bool,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Estimate what setting CAUSE would do to TARGET, how sure that is, and what could undo it.

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
        ways = ("parents", "earlier", "optimal")
        held: Any = adjust if adjust in ways else nodes_named(adjust, asked.nodes, "node in --adjust")
        how: dict[str, Any] = {"adjust": held, "confidence": confidence, "empty": empty, "graphs": graphs}
        how |= {"variance": variance, **asked.settings}
        if cause is None or target is None:
            if not isinstance(asked.source, Part):
                message = f"{shown_source(source)!r} is no saved part; name the CAUSE and the TARGET of the effect"
                raise InvalidArgumentError(message)
            found = effects_at_target(asked.source, asked.data, **how)
            text, shown = str(found), [_labelled(row) for row in found.rows()]
            _print(text, shown, as_json=as_json)
            return
        lists = {"unaffected": unaffected, "powerless": powerless, "by": by}
        how |= {
            name: nodes_named(text, asked.nodes, f"node in --{name}")
            for name, text in lists.items()
            if text is not None
        }
        if instrument is not None:
            how["instrument"] = asked.node(instrument, "column in --instrument")
        nodes = asked.node(cause, "cause"), asked.node(target, "target")
        one = estimate(asked.source, *nodes, data=asked.data, randomised=randomised, **how)
    if one.is_refused and not one.changes:
        why = next(possible.refused for possible in one.possible if possible.refused)
        message = f"the effect of {cause!r} on {target!r} cannot be estimated: {marked(why)}"
        raise DataError(message)
    grounds = one.why() if with_grounds else None
    _print(str(grounds or one), grounds.to_dict() if grounds else one.to_dict(), as_json=as_json)


def _labelled(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "cause": label(row["cause"]), "target": label(row["target"])}


def _print(text: str, data: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        print_text(in_options(text, click.get_current_context().command))


@click.command(epilog=_CAUSES_EXAMPLES, short_help="Say whether one column is a cause of another.")
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


_EXAMPLES = """\b
Examples:
  apsl fit part.json table.csv
  apsl fit part.json table.csv --query cancer --given smoker=yes
  apsl fit part.json table.csv --query cancer --do smoker=yes
  apsl fit part.json table.csv --format bnlearn --out part.R
"""


@click.command(epilog=_EXAMPLES, short_help="Fit probabilities to a part, and query them.")
@source_argument("part_file")
@source_argument("table")
@click.option(
    "--query", metavar="NODE", help="Print the distribution of this node; the target of the part if left out."
)
@click.option("--given", multiple=True, metavar="NODE=LEVEL", help="Given that a node has a level; may be repeated.")
@click.option("--do", "setting", multiple=True, metavar="NODE=LEVEL", help="Set a node to a level; may be repeated.")
@click.option("--prior", type=float, default=1.0, show_default=True, help="How many rows the prior counts as.")
@click.option("--directed", is_flag=True, help="Give open edges a direction first.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["bif", "bnlearn"]),
    default="bif",
    show_default=True,
    help="What --out writes: a BIF file, or an R script for bnlearn.",
)
@out_option("Write the fitted part to this file.")
@reading_options
@click.option("--counts", metavar="HOW", help="Where a table is counted: memory, duckdb, dask or dask:ADDRESS.")
@json_option
@click.pass_obj
def fit(
    manager: Plugins,
    /,
    part_file: str,
    table: str,
    *,
    query: str | None,
    given: tuple[str, ...],
    setting: tuple[str, ...],
    prior: float,
    directed: bool,
    style: str,
    out: str | None,
    as_json: bool,
    counts: str | None,
    **reading: Any,
) -> None:
    """Fit the distribution of every node of PART_FILE given its parents to TABLE, and ask the result.

    Prints the distribution of a node, with --given and --do as asked, and the log-loss of predicting the target of the
    part from all other nodes in the table.
    """
    from apsl_rules._files import write_text
    from apsl_rules.learning import nodes_of, open_source
    from apsl_rules.parts import load_part

    refuse_overwriting(part_file, out)
    part = load_part(part_file)
    data = open_source(table, manager, counts=counts)
    read = with_reading(reading, nodes_of(data)) | {"counts": counts}
    settings = {name: value for name, value in read.items() if value is not None} | {"plugins": manager}
    fitted = part.fit(data, prior=prior, open_edges="direct" if directed else "refuse", **settings)
    if out is not None:
        write_text(out, fitted.to_bif() if style == "bif" else fitted.to_bnlearn())
    node = part.target if query is None else node_named(query, part.nodes, "node in --query")
    levels = _levels(given, part.members, "--given")
    asked = fitted.do(_levels(setting, part.members, "--do")) if setting else fitted
    found = asked.query(node, levels)
    loss = fitted.log_loss(data)
    if as_json:
        print_json({"node": str(node), "probabilities": found, "log_loss": loss, "rows": fitted.rows})
        say_written(out, f"the fitted part as {style}")
        return
    print_table([{str(node): level, "probability": share} for level, share in found.items()], head=True)
    rows = f"{fitted.rows:,} rows, those that it was fitted to"
    print_text(f"\nlog-loss of {shown(part.target)} from all other nodes: {loss:.4f} a row ({rows})")
    say_written(out, f"the fitted part as {style}")


def _levels(words: Iterable[str], nodes: tuple[Node, ...], option: str) -> dict[Node, str]:
    """Read NODE=LEVEL."""
    found: dict[Node, str] = {}
    for word in words:
        name, sign, level = word.rpartition("=")
        if not sign or not name or not level:
            message = f"{option} is {word!r}; give a node and its level, such as smoker=yes"
            raise InvalidArgumentError(message)
        found[node_named(name, nodes, f"node in {option}")] = level
    return found
