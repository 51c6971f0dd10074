"""What there is to choose from: networks, oracles, finders, learners, formats and plugins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from apsl_rules.cli.output import json_option, print_json
from apsl_rules.plugins import Plugins


def _print(rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print rows as aligned columns or as JSON."""
    if as_json:
        print_json(rows)
        return
    keys = list(rows[0]) if rows else []
    widths = {key: max(len(str(row[key])) for row in rows) for key in keys}
    for row in rows:
        click.echo("  ".join(str(row[key]).ljust(widths[key]) for key in keys).rstrip())


@click.command()
@json_option
def networks(*, as_json: bool) -> None:
    """List the networks that come with the package."""
    from apsl_rules.networks import network, network_names

    known = [network(name) for name in network_names()]
    rows = [
        {
            "name": one.name,
            "nodes": len(one.dag.nodes) if as_json else f"{len(one.dag.nodes)} nodes",
            "arrows": len(one.dag.edges) if as_json else f"{len(one.dag.edges)} arrows",
            "source": " ".join(one.source.split()),
        }
        for one in known
    ]
    _print(rows, as_json=as_json)


@click.command()
@json_option
@click.pass_obj
def oracles(manager: Plugins, *, as_json: bool) -> None:
    """List the independence tests."""
    _print([{"name": one.name, "summary": one.summary} for one in manager.oracles.values()], as_json=as_json)


@click.command()
@json_option
@click.pass_obj
def finders(manager: Plugins, *, as_json: bool) -> None:
    """List the finders of neighbours and of Markov blankets."""
    rows = [{"kind": "neighbours", "name": one.name, "summary": one.summary} for one in manager.finders.values()]
    rows += [{"kind": "blanket", "name": one.name, "summary": one.summary} for one in manager.blankets.values()]
    _print(rows, as_json=as_json)


@click.command()
@json_option
@click.pass_obj
def learners(manager: Plugins, *, as_json: bool) -> None:
    """List the learners."""
    _print([{"name": one.name, "summary": one.summary} for one in manager.learners.values()], as_json=as_json)


@click.command()
@json_option
@click.pass_obj
def formats(manager: Plugins, *, as_json: bool) -> None:
    """List the formats in which a part can be written."""
    _print([{"name": one.name, "summary": one.summary} for one in manager.exporters.values()], as_json=as_json)


@click.command()
@json_option
@click.pass_obj
def plugins(manager: Plugins, *, as_json: bool) -> None:
    """List the plugins and what they offer."""
    _print([{"plugin": name, "offers": ", ".join(manager.offers_of(name))} for name in manager.names], as_json=as_json)
