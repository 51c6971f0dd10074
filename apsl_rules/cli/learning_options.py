"""The arguments that all learning commands share: a source, a target, a depth and the settings of the learner."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from apsl_rules.cli.completion import complete_finders, complete_learners, complete_oracles
from apsl_rules.cli.config import config_option
from apsl_rules.cli.reading_options import nodes_named, reading_options, with_reading
from apsl_rules.data.databases import DatabaseTable, ScanPlan, duckdb_file, is_database, shown_source
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Depth, Node, node_named
from apsl_rules.parts import DEFAULT_DIRECTION, LeastDirection, Part, least_direction
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


def _hidden(_context: click.Context, _parameter: click.Parameter, value: bool) -> str:  # noqa: FBT001 - click calls it
    """Read whether hidden causes are allowed."""
    return "allowed" if value else "excluded"


def _share(_context: click.Context, _parameter: click.Parameter, value: str) -> float | str:
    """Read a share of false discoveries: "auto", "none", or a number."""
    try:
        return value if value in ("auto", "none") else float(value)
    except ValueError as error:
        message = f"--fdr is {value!r}; give a number between 0 and 1, 'auto' or 'none'"
        raise InvalidArgumentError(message) from error


def _direction(_context: click.Context, _parameter: click.Parameter, value: str) -> LeastDirection:
    """Read a least probability of a direction: "precise", or a number."""
    given: float | str = value
    with suppress(ValueError):
        given = float(value)
    return least_direction(given, "--min-direction")


def _largest(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | str | None:
    """Read a largest conditioning set: "none", or a whole number."""
    try:
        return value if value in (None, "none") else int(str(value))
    except ValueError as error:
        message = f"--max-conditioning is {value!r}; give 0 or more, or 'none' for no limit"
        raise InvalidArgumentError(message) from error


_PLACE: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    config_option,
    click.option("--target", "-t", help="The node of interest."),
    click.option(
        "--depth", "-k", metavar="K|max", callback=_depth, default="1", show_default=True, help="How far to go."
    ),
]
_SETTINGS: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [
    click.option(
        "--learner",
        "-l",
        default="auto",
        show_default=True,
        help="A learner, a spec file *.toml, or auto: the source decides.",
        shell_complete=complete_learners,
    ),
    click.option(
        "--hidden",
        is_flag=True,
        callback=_hidden,
        help="Allow common causes that are not in the source: every edge gets a mark at each end.",
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
    click.option("--conflicts", help="What to do with contradictions: quarantine, strongest, ranked, first or last."),
    click.option(
        "--fdr", callback=_share, default="auto", show_default=True, help="Share of false discoveries to allow."
    ),
    click.option(
        "--min-direction",
        metavar="P|precise",
        callback=_direction,
        default=str(DEFAULT_DIRECTION),
        show_default=True,
        help="The least probability of a direction for an arrow to be drawn; 0 draws all, precise the well supported.",
    ),
    click.option(
        "--certified", is_flag=True, help="Compare the graph found with the best of all, where its nodes are few."
    ),
    reading_options,
    click.option("--cache", type=click.Path(dir_okay=False), help="Keep the figures of all tests in this file."),
    click.option(
        "--counts",
        metavar="HOW",
        help="Where a table is counted: memory, duckdb (files of any size), dask or dask:ADDRESS.",
    ),
    click.option("--memory-limit", metavar="SIZE", help="Memory that DuckDB may take, such as 2GiB."),
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
    click.option(
        "--tier",
        multiple=True,
        metavar="A,B",
        type=click.UNPROCESSED,
        help="Nodes that no later tier can cause, with commas between them; repeat for later tiers, earliest first.",
    ),
    click.option("--apart", nargs=2, multiple=True, metavar="A B", help="Say that two nodes are not adjacent."),
]


def learning_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a learning run to a command."""
    for option in reversed([*_PLACE, *_SETTINGS]):
        command = option(command)
    return command


def structure_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run whose target and depth a command takes in its own way."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def for_library(settings: dict[str, Any], nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Turn the options about reading and about background knowledge into settings of the library."""
    from apsl_rules.rules import Knowledge

    rest = with_reading(settings, nodes)
    path = rest.pop("knowledge")
    known = Knowledge() if path is None else Knowledge.read(path)
    required, forbidden, apart = (
        [tuple(node_named(one, nodes, f"node in --{option}") for one in pair) for pair in rest.pop(option)]
        for option in ("require", "forbid", "apart")
    )
    tiers = [nodes_named(tier, nodes, "node in --tier") for tier in rest.pop("tier")]
    if tiers and known.tiers:
        message = f"the file {path!r} has tiers, and --tier is given too; say them in one place"
        raise InvalidArgumentError(message)
    if len(tiers) == 1 and not known.tiers:
        message = "--tier is given once, and one tier alone orders nothing; give the nodes that come later as another"
        raise InvalidArgumentError(message)
    joined = Knowledge(
        required=(*known.required, *required),
        forbidden=(*known.forbidden, *forbidden),
        tiers=tiers or known.tiers,
        apart=(*known.apart, *apart),
        apart_within=known.apart_within,
    )
    limit = rest.pop("memory_limit")
    return {**rest, "knowledge": joined, "options": None if limit is None else {"memory_limit": limit}}


def plan_part(name: str, manager: Plugins, *, target: str | None, **settings: Any) -> ScanPlan:
    """Say what learning a part would read of a table in a database."""
    from apsl_rules.learning import dry_run

    source = duckdb_file(name) or (DatabaseTable(name) if is_database(name) else None)
    if source is None:
        message = f"--dry-run is for tables in databases, and {name!r} is none; leave it out"
        raise InvalidArgumentError(message)
    nodes, wanted = source.columns, _require_target(name, target)
    rest = for_library(settings, nodes)
    del rest["depth"]
    return dry_run(source, target_named(wanted, nodes), plugins=manager, **rest)


def learn_part(name: str, manager: Plugins, *, target: str | None, **settings: Any) -> Part:
    """Open a source by name and learn a part from it."""
    from apsl_rules.learning import learn, nodes_of, open_source

    wanted = _require_target(name, target)
    source = open_source(name, manager, counts=settings.get("counts"))
    nodes = nodes_of(source)
    return learn(source, target_named(wanted, nodes), plugins=manager, **for_library(settings, nodes))


def target_named(text: str, nodes: tuple[Node, ...]) -> Node:
    """Return the one node that --target names."""
    words = text.split(",")
    if len(words) > 1 and set(words) <= {str(node) for node in nodes} and text not in map(str, nodes):
        message = f"--target takes one node, and {text!r} names {len(words)}; apsl many --targets {text} takes several"
        raise InvalidArgumentError(message)
    return node_named(text, nodes, "target")


def _require_target(source: str, target: str | None) -> str:
    """Return the target, which must be given."""
    if target is None:
        message = f"learning from {shown_source(source)!r} needs a target; add --target NODE"
        raise InvalidArgumentError(message)
    return target
