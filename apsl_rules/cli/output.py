"""What commands print: text for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import click

from apsl_rules.cli.option_names import with_option_names
from apsl_rules.names import count_of
from apsl_rules.parts import Part

#: How the note begins that says why a part has no edge.
EMPTY = "the part is empty: "

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Show no progress, and do not say what was written.")


def journal_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option of a file that a run writes as it goes, so that it can be taken up again."""
    told = f"Keep {what} in this file as soon as it is known; the same command goes on from there."
    return click.option("--journal", type=click.Path(dir_okay=False), help=told)


def print_json(data: Any, *, err: bool = False) -> None:
    """Print data as JSON."""
    click.echo(json_text(data), err=err)


def json_text(data: Any) -> str:
    """Return data as the JSON that commands print."""
    return json.dumps(data, ensure_ascii=False, indent=2)


def summary(part: Part) -> str:
    """Describe in a few lines what a part is and what it cost."""
    from apsl_rules.cli.learn import learn  # the options that notes speak of

    named = [f"{name} {part.settings[name]}" for name in ("alpha", "fdr") if part.settings.get(name) is not None]
    figures = "".join(f", {one}" for one in named)
    counts = part.counts
    arrows, undirected = count_of(len(part.arrows), "arrow"), count_of(len(part.lines), "undirected edge")
    if part.suggested:
        undirected += f" ({len(part.suggested):,} with a suggested direction)"
    if part.allows_hidden:
        hidden, partial = len(part.bidirected), len(part.partial)
        arrows += f", {count_of(hidden, 'hidden common cause')}, {count_of(partial, 'edge')} with one open end"
        undirected = count_of(len(part.lines), "open edge")
    what = f"{arrows}, {undirected} and {count_of(len(part.conflicts), 'conflict')}"
    how = f"learner {part.learner}, oracle {part.oracle}{figures}"
    asked = (
        f"{count_of(counts.asked, 'test')} asked, {counts.distinct:,} computed, in {count_of(counts.rounds, 'round')}"
    )
    nodes, visited = count_of(len(part.members), "node"), count_of(len(part.visited), "node")
    empty = [note for note in part.notes if note.startswith(EMPTY)]
    lines = [f"{what} among {nodes} ({how})", f"{visited} visited; {asked}"]
    lines += [f"conflict: {one}" for one in part.conflicts]
    lines += ["the result depends on the order of columns and findings"] if part.order_dependent else []
    lines += [f"note: {with_option_names(note, learn)}" for note in part.notes if note not in empty]
    lines += [f"incomplete: {part.incomplete}"] if part.incomplete else []
    if not part.edges:
        unfinished = f"{EMPTY}the run ended before an edge was found"
        lines[:0] = [*(with_option_names(note, learn) for note in empty or [unfinished]), ""]
    return "\n".join(lines)
