"""Printing: a terminal gets colours and progress bars, a pipe the same text without them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from apsl_rules.learning import Bar, Visits
from apsl_rules.plugins import Plugins

if TYPE_CHECKING:
    from rich.console import Console

_STYLES = (
    (r"──▶|◀──|(?<= )->(?= )", "bold green"),
    (r"───(?!▶)|─\?▶|◀\?─|(?<= )--(?= )|(?<= )-\?>(?= )", "yellow"),
    (r"─x─|^conflict: .*|^incomplete: .*|\bis false\b|\bnot exact\b", "bold red"),
    (r"^note: .*", "cyan"),
    (r"   \[.*\]$", "dim"),
    (r"^exact\b", "bold green"),
)


def print_text(text: str, *, err: bool = False) -> None:
    """Print text on standard output, or on standard error, coloured if that is a terminal."""
    if not (sys.stderr if err else sys.stdout).isatty():
        click.echo(text, err=err)
        return
    from rich.text import Text

    console = _console(stderr=err)
    for line in text.split("\n"):
        coloured = Text(line)
        for pattern, style in _STYLES:
            coloured.highlight_regex(pattern, style)
        console.print(coloured, soft_wrap=True)


def print_table(rows: Sequence[Mapping[str, Any]], *, head: bool = False) -> None:
    """Print rows as columns, figures to the right; on a terminal long texts are broken within their column."""
    keys = list(rows[0]) if rows else []
    cells = [[_cell(row[key]) for key in keys] for row in rows]
    figures = [all(isinstance(row[key], int | float | bool) for row in rows) for key in keys]
    if sys.stdout.isatty():
        from rich import box
        from rich.table import Table

        shown = Table(box=box.SIMPLE_HEAD if head else None, show_header=head, pad_edge=False)
        for key, right in zip(keys, figures, strict=True):
            shown.add_column(key, justify="right" if right else "left", overflow="fold")
        for line in cells:
            shown.add_row(*line)
        _console(stderr=False).print(shown)
        return
    printed = [keys, *cells] if head else cells
    widths = [max(map(len, column)) for column in zip(*printed, strict=True)]
    for line in printed:
        spaced = zip(line, widths, figures, strict=True)
        click.echo("  ".join(one.rjust(width) if right else one.ljust(width) for one, width, right in spaced).rstrip())


def _cell(value: Any) -> str:
    """Spell a value of a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


@contextmanager
def show_progress(manager: Plugins, *, quiet: bool) -> Iterator[Plugins]:
    """Return the plugins, with a bar that follows the visits of a run if standard error is a terminal."""
    with progress_bar("nodes visited", quiet=quiet) as bar:
        if bar is not None:
            manager = manager.copy()
            manager.register(Visits(bar), "progress")
        yield manager


@contextmanager
def progress_bar(what: str, *, quiet: bool = False) -> Iterator[Bar | None]:
    """Show a bar with the time left; return None if standard error is no terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None)

        def tell(done: int, of: int) -> None:
            shown.update(task, completed=done, total=of)

        yield tell


def _console(*, stderr: bool) -> Console:
    """Make a console that prints what it is given: no markup, no emoji codes, no guessing at numbers."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)
