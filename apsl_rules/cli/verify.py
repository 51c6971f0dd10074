"""``apsl verify``: check the exactness guarantee on a known network."""

from __future__ import annotations

from typing import Any

import click

from apsl_rules.cli.completion import complete_learners
from apsl_rules.cli.output import json_option, print_json, quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import print_text, progress_bar
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag, hide
from apsl_rules.graphs.networks import Network
from apsl_rules.names import count_of, node_named
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
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


@click.command(epilog=_EXAMPLES, short_help="Check that every part of a known network is learned exactly.")
@source_argument("network")
@click.option("--depth", "-k", metavar="K|max|all", callback=_depth, default="all", show_default=True, help="How far.")
@click.option(
    "--learner",
    "-l",
    help="A learner, or a spec file *.toml; without it apsl, or apsl-hidden where nodes are hidden.",
    shell_complete=complete_learners,
)
@click.option("--hide", "hidden", multiple=True, metavar="NODE", help="Hide this node; may be given several times.")
@click.option("--target", "-t", "targets", multiple=True, help="Only this node; may be given several times.")
@json_option
@quiet_option
@click.pass_context
def verify(
    context: click.Context,
    /,
    network: str,
    *,
    depth: Any,
    learner: str | None,
    hidden: tuple[str, ...],
    targets: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn around every node of NETWORK with perfect answers, and compare each part with the true CPDAG.

    With hidden nodes, or a learner that allows them, it is the PAG of the other nodes.

    Ends with "exact" and exit code 0 if no run differs, else it names every difference and exits with 1.
    """
    from apsl_rules.evaluation import verify as check
    from apsl_rules.learning import open_source

    manager: Plugins = context.obj
    source = open_source(network, manager)
    if not isinstance(source, Network | Dag):
        message = f"{network!r} is a table; verifying needs a known network, by name or from a file *.bif"
        raise InvalidArgumentError(message)
    dag = source if isinstance(source, Dag) else source.dag
    graph = hide(dag, [node_named(one, dag.nodes, "node in --hide") for one in hidden]) if hidden else dag
    nodes = [node_named(target, graph.nodes, "target") for target in targets] or None
    with progress_bar("parts compared", quiet=quiet) as bar:
        found = check(graph, depth=depth, learner=learner, targets=nodes, plugins=manager, progress=bar)
    if as_json:
        print_json({"network": network, **found.to_dict()})
    else:
        depths = ", ".join(map(str, found.depths))
        truth = "PAG" if hidden or found.learner == "apsl-hidden" else "CPDAG"
        size = f"{count_of(len(dag.nodes), 'node')}, {count_of(len(dag.edges), 'arrow')}"
        runs, around = count_of(found.runs, "run"), count_of(found.targets, "target")
        print_text(f"{network}: {size}; learner {found.learner}")
        print_text(f"{around} × {'depth' if len(found.depths) == 1 else 'depths'} {depths}: {runs} against the {truth}")
        print_text(f"{count_of(found.visits, 'visit')}, {count_of(found.tests, 'test')} by d-separation")
        for one in found.differences:
            print_text(str(one))
        wrong = len(found.differences)
        print_text(f"exact: every part equals the {truth}" if found.exact else f"not exact: {wrong:,} of {runs}")
    if not found.exact:
        context.exit(1)
