"""The options that say how a table is read, and what they mean for the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import click

from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, node_named

#: The name that stands for all numbers without a cut of their own.
ALL = "*"

_ROLE = "column in --discretize"

_SETTINGS = [
    click.option(
        "--number", multiple=True, metavar="NAME", type=click.UNPROCESSED, help="Take this column for a number."
    ),
    click.option(
        "--category", multiple=True, metavar="NAME", type=click.UNPROCESSED, help="Take this column for a category."
    ),
    click.option("--drop", multiple=True, metavar="NAME", type=click.UNPROCESSED, help="Leave this column out."),
    click.option("--only", multiple=True, metavar="NAME", type=click.UNPROCESSED, help="Read only such columns."),
    click.option("--weights", metavar="NAME", help="The column that says how many rows each row stands for."),
    click.option(
        "--missing",
        type=click.Choice(["testwise", "complete", "level", "refuse"]),
        help="Leave out rows with missing values test by test (the default) or all of them, count missing values as a "
        "level, or refuse them.",
    ),
    click.option(
        "--discretize",
        multiple=True,
        metavar="CUT",
        type=click.UNPROCESSED,
        help="Cut all numbers into categories (quantile:3; width:4), or one column (age=quantile:5; age=none).",
    ),
]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of reading a table to a command; those that take names may be repeated and have commas."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def nodes_named(words: object, nodes: tuple[Node, ...], role: str) -> list[Node]:
    """Return the nodes that words name, each one node or several with commas between them; a list has whole names."""
    if isinstance(words, list | tuple):
        return [node for word in words for node in nodes_named(word, nodes, role)]
    text = str(words)
    if any(str(node) == text for node in nodes):
        return [node_named(text, nodes, role)]
    return [node_named(word.strip(), nodes, role) for word in text.split(",") if word.strip()]


def with_reading(settings: dict[str, Any], nodes: tuple[Node, ...]) -> dict[str, Any]:
    """Turn the options of reading into arguments of the library, and leave the others as they are."""
    rest = dict(settings)
    kinds: dict[Node, str] = {}
    for kind in ("number", "category"):
        for node in nodes_named(rest.pop(kind), nodes, f"column in --{kind}"):
            if kinds.setdefault(node, kind) != kind:
                message = f"column {str(node)!r} is named in --number and in --category; name it once"
                raise InvalidArgumentError(message)
    chosen = {
        option: nodes_named(rest.pop(option), nodes, f"column in --{option}") or None for option in ("drop", "only")
    }
    weights = rest.pop("weights")
    found = None if weights is None else node_named(weights, nodes, "column in --weights")
    cuts = _cuts(rest.pop("discretize"), nodes)
    return {**rest, **chosen, "kinds": kinds or None, "weights": found, "discretize": cuts}


def _cuts(given: Iterable[Any], nodes: tuple[Node, ...]) -> Any:
    """Return one cut for all numbers, or the cuts of columns by name, with that of all others under a star."""
    cuts: dict[Node, Any] = {}
    for one in given:
        if isinstance(one, dict):
            cuts |= {name if name == ALL else node_named(name, nodes, _ROLE): cut for name, cut in one.items()}
        elif isinstance(one, str) and "=" in one:
            cuts |= _named_cuts(one, nodes)
        else:
            cuts[ALL] = one
    return cuts.get(ALL) if cuts.keys() <= {ALL} else cuts


def _named_cuts(text: str, nodes: tuple[Node, ...]) -> dict[Node, str]:
    name, _, cut = text.rpartition("=")
    if any(str(node) == name.strip() for node in nodes):
        return {node_named(name.strip(), nodes, _ROLE): cut.strip()}
    pairs = [one.rpartition("=") for one in text.split(",")]
    return {node_named(name.strip(), nodes, _ROLE): cut.strip() for name, _, cut in pairs}
