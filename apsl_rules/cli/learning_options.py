"""The arguments that all learning commands share: a source, a target, a depth and the settings of the learner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from apsl_rules.cli.completion import complete_finders, complete_learners, complete_oracles
from apsl_rules.cli.config import config_option
from apsl_rules.data import Table
from apsl_rules.errors import InvalidArgumentError, PluginError, UnknownNodeError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import Depth, Node, listing, nearest
from apsl_rules.parts import Part
from apsl_rules.plugins import Plugins


def _depth(_context: click.Context, _parameter: click.Parameter, value: str) -> Depth:
    """Read a depth: "max", or a whole number."""
    if value == "max":
        return "max"
    try:
        return int(value)
    except ValueError as error:
        message = f"--depth is {value!r}; give a whole number from 1 on, or 'max' for the whole connected part"
        raise InvalidArgumentError(message) from error


def _share(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    """Read a share of false discoveries: "auto", "none", or a number."""
    try:
        return value if value in ("auto", "none") else float(value)
    except ValueError as error:
        message = f"--fdr is {value!r}; give a number between 0 and 1, 'auto' or 'none'"
        raise InvalidArgumentError(message) from error


def _largest(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    """Read a largest conditioning set: "none", or a whole number."""
    try:
        return value if value in (None, "none") else int(str(value))
    except ValueError as error:
        message = f"--max-conditioning is {value!r}; give 0 or more, or 'none' for no limit"
        raise InvalidArgumentError(message) from error


def _cuts(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
    """Read a cut for all fractions, or one for each named column; a config file gives those as a table."""
    if not isinstance(value, str) or "=" not in value:
        return value
    pairs = [one.partition("=") for one in value.split(",")]
    return {name.strip(): cut.strip() for name, _, cut in pairs}


_SETTINGS = [
    config_option,
    click.option("--target", "-t", help="The node of interest."),
    click.option(
        "--depth", "-k", metavar="K|max", callback=_depth, default="1", show_default=True, help="How far to go."
    ),
    click.option(
        "--learner",
        "-l",
        default="auto",
        show_default=True,
        help="A learner, a spec file *.toml, or auto: the source decides.",
        shell_complete=complete_learners,
    ),
    click.option(
        "--oracle",
        help="The independence test; without it the natural one for the source.",
        shell_complete=complete_oracles,
    ),
    click.option("--alpha", type=float, help="Significance level of the tests."),
    click.option("--max-conditioning", metavar="K|none", callback=_largest, help="Largest conditioning set."),
    click.option(
        "--finder",
        help="The finder of parents and children, instead of the learner's own.",
        shell_complete=complete_finders,
    ),
    click.option("--conflicts", help="What to do with contradictions: quarantine, strongest, first or last."),
    click.option(
        "--fdr", callback=_share, default="auto", show_default=True, help="Share of false discoveries to allow."
    ),
    click.option(
        "--missing",
        type=click.Choice(["testwise", "level", "refuse"]),
        help="Leave out rows with missing values test by test (the default), count them as a level, or refuse them.",
    ),
    click.option(
        "--discretize",
        metavar="CUT",
        type=click.UNPROCESSED,
        callback=_cuts,
        help="Cut numbers with many values (quantile:3 by default; width:4; none) or named columns (age=quantile:5,…).",
    ),
    click.option("--cache", type=click.Path(dir_okay=False), help="Keep the figures of all tests in this file."),
    click.option(
        "--counts",
        metavar="HOW",
        help="Where a table is counted: memory, duckdb (files of any size), dask or dask:ADDRESS.",
    ),
    click.option("--max-tests", type=int, help="Stop after this many tests and give what is settled by then."),
    click.option("--max-seconds", type=float, help="Stop after this many seconds and give what is settled by then."),
    click.option("--threads", type=int, default=1, show_default=True, help="Threads; the result is always the same."),
    click.option(
        "--knowledge",
        type=click.Path(dir_okay=False),
        help="What is known beforehand: a TOML file with required, forbidden, tiers, apart.",
    ),
    click.option("--require", nargs=2, multiple=True, metavar="FROM TO", help="Require this arrow; may be repeated."),
    click.option("--forbid", nargs=2, multiple=True, metavar="FROM TO", help="Forbid this arrow; may be repeated."),
    click.option("--apart", nargs=2, multiple=True, metavar="A B", help="Say that two nodes are not adjacent."),
]


def learning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a learning run to a command."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def node_named(text: str, nodes: tuple[Node, ...], role: str) -> Node:
    """Return the node whose label reads like a word from the command line."""
    matches = [node for node in nodes if str(node) == text]
    if not matches:
        hint = nearest(text, map(str, nodes)) or f"; the nodes are {listing(nodes)}"
        message = f"unknown {role} {text!r}{hint}"
        raise UnknownNodeError(message)
    if any(node != matches[0] for node in matches):
        message = f"{role} {text!r} is ambiguous: the labels {listing(matches)} all read so"
        raise UnknownNodeError(message)
    return matches[0]


def nodes_of(source: Any) -> tuple[Node, ...]:
    """Return the nodes of a network, a graph, a table, an oracle or a frame."""
    if isinstance(source, Network):
        return source.dag.nodes
    if isinstance(source, Table):
        return source.names
    if isinstance(source, Dag) or callable(getattr(source, "verdict", None)):
        return tuple(source.nodes)
    columns = getattr(source, "column_names", None)  # pyarrow
    if not isinstance(columns, list):
        columns = getattr(source, "columns", None)
    if columns is None:
        message = f"a reader gave {type(source).__name__}, which has neither nodes nor columns"
        raise PluginError(message)
    return tuple(columns)


def with_knowledge(settings: dict[str, Any], nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Join the options about background knowledge into one setting, and leave the others as they are."""
    from apsl_rules.rules import Knowledge

    rest = dict(settings)
    path = rest.pop("knowledge")
    known = Knowledge() if path is None else Knowledge.read(path)
    required, forbidden, apart = (
        [tuple(node_named(one, nodes, f"node in --{option}") for one in pair) for pair in rest.pop(option)]
        for option in ("require", "forbid", "apart")
    )
    joined = Knowledge(
        required=(*known.required, *required),
        forbidden=(*known.forbidden, *forbidden),
        tiers=known.tiers,
        apart=(*known.apart, *apart),
        apart_within=known.apart_within,
    )
    return {**rest, "knowledge": joined}


def learn_part(name: str, manager: Plugins, *, target: str | None, **settings: Any) -> Part:
    """Open a source by name and learn a part from it."""
    from apsl_rules.learning import learn, open_source

    if target is None:
        message = f"learning from {name!r} needs a target; add --target NODE"
        raise InvalidArgumentError(message)
    source = open_source(name, manager, counts=settings.get("counts"))
    nodes = nodes_of(source)
    return learn(source, node_named(target, nodes, "target"), plugins=manager, **with_knowledge(settings, nodes))
