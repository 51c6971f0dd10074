"""What commands print and write: text, tables, JSON, files in a format."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from apsl_rules._files import STDOUT, check_place, is_stdout
from apsl_rules.cli.spelling import in_options
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.learning import Bar, Visits
from apsl_rules.names import count_of, shown
from apsl_rules.parts import FIGURE_ENDINGS, Part, printed
from apsl_rules.plugins import ExporterOffer, Plugins
from apsl_rules.showing import WIDTH, in_columns, wrapped_lines

if TYPE_CHECKING:
    from rich.console import Console


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


def printed_part(part: Part, *, every_note: bool, verbose: bool) -> str:
    """Return a part as commands print it: the answer, the tree, and what asks for something."""
    from apsl_rules.cli.learn import learn  # the options that notes speak of

    return printed(
        part,
        terminal_width(),
        spell=lambda note: in_options(note, learn),
        more="--notes",
        every_note=every_note or verbose,
        figures=verbose,
    )


def terminal_width() -> int:
    """Return how wide a line may be: as the terminal, or as one usually is where there is none."""
    return max(_NARROWEST, get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH


_NARROWEST = 40

notes_option = click.option("--notes", "every_note", is_flag=True, help="Print every note, not only what asks most.")
verbose_option = click.option("--verbose", is_flag=True, help="Print every note, and what the run was and cost.")


_STYLES = (
    (r"──▶|◀──|(?<= )->(?= )", "bold green"),
    (r"───(?!▶)|─\?▶|◀\?─|(?<= )--(?= )|(?<= )-\?>(?= )", "yellow"),
    (r"─x─|^conflict: .*|^incomplete: .*|\bis false\b|\bnot exact\b", "bold red"),
    (r"^note: .*", "cyan"),
    (r"(?:   |\n +)\[.*\]$", "dim"),
    (r"^exact\b", "bold green"),
)


def print_text(text: str, *, err: bool = False, verbatim: bool = False) -> None:
    """Print text for people: no line wider than the terminal, coloured if it is one; verbatim as it is."""
    if verbatim:
        click.echo(text, err=err)
        return
    lines = wrapped_lines(text, terminal_width())
    if not (sys.stderr if err else sys.stdout).isatty():
        click.echo("\n".join(lines), err=err)
        return
    from rich.text import Text

    console = _console(stderr=err)
    for line in lines:
        told = Text(line)
        for pattern, style in _STYLES:
            told.highlight_regex(re.compile(pattern, re.DOTALL), style)
        console.print(told, soft_wrap=True)


def print_table(rows: Sequence[Mapping[str, Any]], *, head: bool = False, digits: int = 3, err: bool = False) -> None:
    """Print rows as columns, figures to the right; long texts are broken within their column."""
    keys = list(rows[0]) if rows else []
    cells = [[_cell(row[key], digits) for key in keys] for row in rows]
    figures = [at for at, key in enumerate(keys) if all(isinstance(row[key], _FIGURES) for row in rows)]
    if cells:
        text = in_columns([keys, *cells] if head else cells, right=figures, width=terminal_width())
        click.echo(text, err=err)


_FIGURES = (int, float, type(None))


def _cell(value: Any, digits: int) -> str:
    """Spell a value of a table."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.{digits}f}" if isinstance(value, float) else shown(value)


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
    """Show what is done: reading, sweeping, searching, then the steps that are counted; nothing without a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress as bars

    from apsl_rules.oracles import WATCHING

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TextColumn("{task.fields[figures]}"),
        bars.TimeElapsedColumn(),
    )
    with bars.Progress(*columns, console=_console(stderr=True), transient=True) as shown:
        task = shown.add_task("reading", total=None, figures="")

        def tell(done: int, of: int) -> None:
            figures = f"{done:,} of {of:,}" if of else ""
            shown.update(task, description=what, completed=done, total=of or None, figures=figures)

        def watch(phase: str, done: int, of: int) -> None:
            if of:
                shown.update(task, description=phase, completed=done, total=of, figures=f"{done:,} of {of:,}")
            elif shown.tasks[0].total is None:  # until there are steps to count
                shown.update(task, description=phase, figures=count_of(done, "test"))

        before = WATCHING.set(watch)
        try:
            yield tell
        finally:
            WATCHING.reset(before)


def _console(*, stderr: bool) -> Console:
    """Make a console that prints what it is given: no markup, no emoji codes, no guessing at numbers."""
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


_FORMAT = click.option(
    "--format", "style", default="text", show_default=True, help="How to write it: text, csv, dot, ... (apsl formats)."
)
_DIRECTED = click.option(
    "--directed", is_flag=True, help="Give open edges a direction first, for formats that know arrows only."
)


#: Pictures that nothing here writes; a file named so would hold something else.
_OTHER_PICTURES = (".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff", ".eps")


def _place(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read where to write: "-" stands for standard output, and what is no file is refused before the work begins."""
    if value is None:
        return None
    if value == "-" or is_stdout(value):
        return STDOUT
    if value.casefold().endswith(_OTHER_PICTURES):
        endings = f"{', '.join(FIGURE_ENDINGS[:-1])} or {FIGURE_ENDINGS[-1]}"
        message = f"--out {value!r} is no figure that can be written; end it in {endings}"
        raise InvalidArgumentError(message)
    check_place(value)
    return value


def out_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --out of a command that writes one file."""
    return click.option("--out", "-o", type=click.Path(), callback=_place, help=f"{text} '-' prints.")


def goes_to_stdout(out: str | None) -> bool:
    """Whether a result goes to standard output by --out, so that all else goes to standard error."""
    return out == STDOUT


def is_figure(out: str | None) -> bool:
    """Whether a path to write to ends as a figure does."""
    return out is not None and Path(out).suffix.casefold() in FIGURE_ENDINGS


def refuse_overwriting(source: str, out: str | None) -> None:
    """Refuse to write a result over the file that it comes from."""
    if out is None or goes_to_stdout(out):
        return
    with suppress(OSError):  # one of the two is not there
        if Path(out).samefile(source):
            message = f"--out {out!r} is the file that is read; give another path, so that nothing is lost"
            raise InvalidArgumentError(message)


def say_written(out: str | None, what: str = "") -> None:
    """Say on standard error what --out wrote and where, unless the command is to be quiet or it was printed."""
    if out is None or goes_to_stdout(out) or click.get_current_context().params.get("quiet"):
        return
    sys.stdout.flush()  # what was printed comes first where both streams go to one place
    click.echo(f"wrote {out}{f': {what}' if what else ''}", err=True)


def format_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose a format to a command."""
    return _FORMAT(_DIRECTED(command))


def choose_style(style: str, *, as_json: bool) -> str:
    """Return the format that --format and --json choose together."""
    if as_json and style not in ("text", "json"):
        message = f"--json and --format {style} ask for two formats; give one of them"
        raise InvalidArgumentError(message)
    return "json" if as_json else style


def printed_as(part: Part, exporter: ExporterOffer, *, directed: bool, every_note: bool, verbose: bool) -> str:
    """Return a part in a format; as text it is what people read first."""
    if exporter.name == "text" and not directed:
        return printed_part(part, every_note=every_note, verbose=verbose)
    return export_part(part, exporter, directed=directed).rstrip("\n")


def export_part(part: Part, exporter: ExporterOffer, *, directed: bool) -> str:
    """Write a part in a format, with a direction for every edge if that is asked."""
    if not directed:
        return exporter.export(part)
    if exporter.export_graph is None:
        message = f"the format {exporter.name!r} shows the part as it was learned; leave out --directed"
        raise InvalidArgumentError(message)
    from apsl_rules.parts import graph_of

    return exporter.export_graph(graph_of(part.graph().directed()))
