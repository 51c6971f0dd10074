"""The command that checks: a saved part against its own findings and its data, or a learner against known networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from apsl_rules.cli.output import json_option, print_json, print_text, progress_bar, quiet_option
from apsl_rules.cli.show import is_part_file
from apsl_rules.cli.streams import keep_standard_input, source_argument
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag, hide
from apsl_rules.graphs.networks import Network
from apsl_rules.names import count_of, node_named, shown
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl verify part.json
  apsl verify part.json --data table.csv
  apsl verify insurance --depth max
  apsl verify network.bif --target Smoker
  apsl verify cancer --learner apsl-paper
  apsl verify asia --hide smoke
"""


def _depth(_context: click.Context, _parameter: click.Parameter, value: str) -> Any:
    """Read a depth: "all", "max", or a whole number."""
    if value in ("all", "max"):
        return value
    try:
        return int(value)
    except ValueError as error:
        message = f"--depth is {value!r}; give a whole number from 1 on, 'max', or 'all' for every depth"
        raise InvalidArgumentError(message) from error


@click.command(epilog=_EXAMPLES, short_help="Check a saved part, or that parts of a known network are exact.")
@source_argument()
@click.option(
    "--data", metavar="TABLE", callback=keep_standard_input, help="Ask each test of a part again on its data."
)
@click.option("--counts", metavar="HOW", help="Where the table is counted: memory, duckdb, dask or dask:ADDRESS.")
@click.option("--depth", "-k", metavar="K|max|all", callback=_depth, default="all", show_default=True, help="How far.")
@click.option(
    "--learner",
    "-l",
    help="A learner, or a spec file *.toml; without it apsl, or apsl-hidden where nodes are hidden.",
)
@click.option("--hide", "hidden", multiple=True, metavar="NODE", help="Hide this node; may be given several times.")
@click.option("--target", "-t", "targets", multiple=True, help="Only this node; may be given several times.")
@json_option
@quiet_option
@click.pass_context
def verify(
    context: click.Context, /, source: str, *, data: str | None, counts: str | None, as_json: bool, **settings: Any
) -> None:
    """Check a saved part, or check a learner on a known network.

    Of a saved part every conclusion is derived again from its findings, with the rules in the file, and compared. With
    --data every test is asked again on the rows of the table, and its figures are compared.

    Around every node of a network a part is learned with perfect answers and compared with the true CPDAG. With hidden
    nodes, or a learner that allows them, it is the PAG of the other nodes.

    Ends with "sound" or "exact" and exit code 0, else it names every fault or difference and exits with 1.
    """
    is_part = is_part_file(source) or source.endswith(".json")
    _refuse_others(context, source, ("depth", "learner", "hidden", "targets") if is_part else ("data", "counts"))
    good = (
        _check_part(context.obj, source, data, counts, as_json=as_json)
        if is_part
        else _check_network(context.obj, source, as_json=as_json, **settings)
    )
    if not good:
        context.exit(1)


def _refuse_others(context: click.Context, source: str, names: tuple[str, ...]) -> None:
    """Refuse options that belong to the other kind of source."""
    typed = [name for name in names if context.get_parameter_source(name) != ParameterSource.DEFAULT]
    if typed:
        option = next(max(one.opts, key=len) for one in context.command.params if one.name == typed[0])
        kind, other = ("network", "saved part") if "data" in names else ("saved part", "network")
        message = f"{source!r} is a {kind}, and {option} is for a {other}; leave it out"
        raise InvalidArgumentError(message)


def _check_part(plugins: Plugins, file: str, data: str | None, counts: str | None, *, as_json: bool) -> bool:
    """Check a saved part, print what came of it, and return whether it is sound."""
    from apsl_rules.learning import ask_again, open_source
    from apsl_rules.parts import read_document, read_part

    if counts is not None and data is None:
        message = "--counts says how a table is counted, and none is given; add --data"
        raise InvalidArgumentError(message)
    document = read_document(file)
    part, faults = read_part(document, file)
    asked = None
    if data is not None and not faults:
        rows = open_source(data, plugins, counts=counts)
        asked = ask_again(part, rows, plugins, counts=counts)
        faults = [*asked.faults]
    book, firings = part.ledger.rulebook, sum(part.ledger.rule_use().values())
    if as_json:
        about = {"file": file, "package": document.get("package"), "findings": len(part.findings), "firings": firings}
        tests = {"tests": None, "leads": None} if asked is None else {"tests": asked.tests, "leads": asked.leads}
        print_json({**about, "conflicts": len(part.ledger.settled.conflicts), **tests, "faults": faults})
        return not faults
    print_text(f"{Path(file).name}: the part around {shown(part.target)}, by the learner {part.learner}")
    found, conflicts = count_of(len(part.findings), "finding"), count_of(len(part.ledger.settled.conflicts), "conflict")
    fired = f"{count_of(firings, 'firing')} of {count_of(len(book.rules), 'rule')} ({book.name})"
    print_text(f"{found}, {fired}, policy {part.ledger.policy}, {conflicts}")
    if asked is not None:
        print_text(str(asked))
    for fault in faults:
        print_text(fault)
    what = "every conclusion follows from the findings" + (
        "" if asked is None else ", and the tests give the same on the data"
    )
    print_text(f"not sound: {count_of(len(faults), 'fault')}" if faults else f"sound: {what}")
    return not faults


def _check_network(
    plugins: Plugins,
    name: str,
    *,
    depth: Any,
    learner: str | None,
    hidden: tuple[str, ...],
    targets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> bool:
    """Learn around the nodes of a network, print what came of it, and return whether every part is exact."""
    from apsl_rules.evaluation import verify as check
    from apsl_rules.learning import open_source

    source = open_source(name, plugins)
    if not isinstance(source, Network | Dag):
        message = f"{name!r} is a table; verifying needs a saved part, or a known network by name or from a file *.bif"
        raise InvalidArgumentError(message)
    dag = source if isinstance(source, Dag) else source.dag
    graph = hide(dag, [node_named(one, dag.nodes, "node in --hide") for one in hidden]) if hidden else dag
    nodes = [node_named(target, graph.nodes, "target") for target in targets] or None
    with progress_bar("parts compared", quiet=quiet) as bar:
        found = check(graph, depth=depth, learner=learner, targets=nodes, plugins=plugins, progress=bar)
    if as_json:
        print_json({"network": name, **found.to_dict()})
        return found.exact
    depths = ", ".join(map(str, found.depths))
    truth = "PAG" if hidden or found.learner == "apsl-hidden" else "CPDAG"
    size = f"{count_of(len(dag.nodes), 'node')}, {count_of(len(dag.edges), 'arrow')}"
    runs, around = count_of(found.runs, "run"), count_of(found.targets, "target")
    print_text(f"{name}: {size}; learner {found.learner}")
    print_text(f"{around} × {'depth' if len(found.depths) == 1 else 'depths'} {depths}: {runs} against the {truth}")
    print_text(f"{count_of(found.visits, 'visit')}, {count_of(found.tests, 'test')} by d-separation")
    for one in found.differences:
        print_text(str(one))
    wrong = len(found.differences)
    print_text(f"exact: every part equals the {truth}" if found.exact else f"not exact: {wrong:,} of {runs}")
    return found.exact
