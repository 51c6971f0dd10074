"""Commands that list what is installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import click

from apsl_rules.cli.output import json_option, print_json, print_table
from apsl_rules.learning import AUTO
from apsl_rules.names import count_of
from apsl_rules.plugins import Plugins, pick

_AUTO = "the default: the source decides; apsl-score for categories, apsl-mixed for numbers, apsl for known graphs"


class Offer(Protocol):
    """Something with a name and a line about it."""

    @property
    def name(self) -> str:
        """Return the name by which it is chosen."""

    @property
    def summary(self) -> str:
        """Return one line that describes it."""


def _example(*lines: str) -> str:
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def _print(rows: Sequence[dict[str, Any]], *, as_json: bool) -> None:
    """Print rows as aligned columns or as JSON."""
    if as_json:
        print_json(rows)
    else:
        print_table(rows)


def _offer_rows(offers: Iterable[Offer], **more: str) -> list[dict[str, Any]]:
    return [{**more, "name": one.name, "summary": one.summary} for one in offers]


@click.command(epilog=_example("apsl networks", "apsl simulate asia -n 500 -o asia.csv"))
@json_option
def networks(*, as_json: bool) -> None:
    """List the networks that come with the package.

    Each can stand where a command takes a network: to learn from it, to draw tables, to check against.
    """
    from apsl_rules.graphs.networks import network, network_names

    known = [network(name) for name in network_names()]
    rows = [
        {
            "name": one.name,
            "nodes": len(one.dag.nodes) if as_json else count_of(len(one.dag.nodes), "node"),
            "arrows": len(one.dag.edges) if as_json else count_of(len(one.dag.edges), "arrow"),
            "source": " ".join(one.source.split()) if as_json else _origin(one.source),
        }
        for one in known
    ]
    _print(rows, as_json=as_json)


def _origin(source: str) -> str:
    """Return the beginning of what is known of a network: up to the year of its publication."""
    first = source.strip().splitlines()[0]
    year = re.search(r"\(\d{4}\)", source)
    return " ".join((source[: year.end()] if year and first.startswith("The ") else first).split())


@click.command(
    epilog=_example("apsl oracles", "apsl learn table.csv -t Smoker --oracle chisquare"),
    short_help="List the independence tests.",
)
@json_option
@click.pass_obj
def oracles(manager: Plugins, *, as_json: bool) -> None:
    """List the independence tests, for the option --oracle."""
    _print(_offer_rows(manager.oracles.values()), as_json=as_json)


@click.command(
    epilog=_example("apsl finders", "apsl learn table.csv -t Smoker --finder mmpc"),
    short_help="List the finders of neighbours and of blankets.",
)
@json_option
@click.pass_obj
def finders(manager: Plugins, *, as_json: bool) -> None:
    """List the finders of neighbours, for the option --finder, and of Markov blankets."""
    rows = _offer_rows(manager.finders.values(), kind="neighbours") + _offer_rows(
        manager.blankets.values(), kind="blanket"
    )
    _print(rows, as_json=as_json)


@click.command(
    epilog=_example("apsl learners", "apsl learn alarm -t HR --learner apsl"), short_help="List the learners."
)
@json_option
@click.pass_obj
def learners(manager: Plugins, *, as_json: bool) -> None:
    """List the learners, for the option --learner."""
    named = _offer_rows(one for _, one in sorted(manager.learners.items()))
    _print([{"name": AUTO, "summary": _AUTO}, *named], as_json=as_json)


@click.command(
    epilog=_example("apsl formats", "apsl show part.json --format mermaid"),
    short_help="List the formats in which a part is written.",
)
@json_option
@click.pass_obj
def formats(manager: Plugins, *, as_json: bool) -> None:
    """List the formats in which a part can be written, for the option --format."""
    _print(_offer_rows(manager.exporters.values()), as_json=as_json)


@click.command(
    epilog=_example("apsl rules", "apsl rules sound", "apsl rules pag --json"), short_help="List the rules of learners."
)
@click.argument("rulebook", required=False)
@json_option
@click.pass_obj
def rules(manager: Plugins, rulebook: str | None, *, as_json: bool) -> None:
    """List the rules that turn findings into arrows: those of one RULEBOOK, or of all.

    A line that a learner's own spec has under [[rules.extra]] is written as these are.
    """
    books = manager.rulebooks.values() if rulebook is None else [pick(manager.rulebooks, rulebook, "rulebook")]
    _print(
        [{"rulebook": book.name, "name": one.name, "rule": str(one)} for book in books for one in book.rules],
        as_json=as_json,
    )


@click.command(epilog=_example("apsl plugins", "apsl --plugin my_module plugins --json"))
@json_option
@click.pass_obj
def plugins(manager: Plugins, *, as_json: bool) -> None:
    """List the plugins and what they offer."""
    rows = []
    for plugin in manager.names:
        kinds: dict[str, list[str]] = {}
        for offer in manager.offers_of(plugin):
            kind, _, name = offer.partition(" ")
            kinds.setdefault(kind, []).append(name)
        rows += [{"plugin": plugin, "kind": kind, "offers": names} for kind, names in kinds.items()]
        rows += [{"plugin": plugin, "kind": "watcher", "offers": []}] if not kinds else []
    _print(rows if as_json else [{**row, "offers": ", ".join(row["offers"])} for row in rows], as_json=as_json)
