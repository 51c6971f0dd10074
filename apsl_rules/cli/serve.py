"""``apsl serve``: learning for programs and assistants, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path

import click

from apsl_rules.errors import InvalidArgumentError, MissingPackageError

_EXAMPLES = """\b
Examples:
  apsl serve --folder data
  apsl serve --folder data --folder shared --max-rows 100000 --max-seconds 30
"""


@click.command(epilog=_EXAMPLES, short_help="Serve assistants over the Model Context Protocol.")
@click.option(
    "--folder",
    "folders",
    multiple=True,
    type=click.Path(file_okay=False),
    help="Read files below this folder only; may be repeated. Without it the current folder.",
)
@click.option("--max-megabytes", type=float, default=100, show_default=True, help="The largest file that is read.")
@click.option("--max-rows", type=int, default=1_000_000, show_default=True, help="The most rows of a table.")
@click.option("--max-seconds", type=float, default=60, show_default=True, help="The most seconds for one call.")
def serve(*, folders: tuple[str, ...], max_megabytes: float, max_rows: int, max_seconds: float) -> None:
    """Answer an assistant on standard input and output: describe, learn, why, effect, check and more.

    A client of the Model Context Protocol starts this command and asks; answers are JSON, with all evidence on request.
    Nothing is written, and nothing outside the folders is read.
    """
    from apsl_rules.server import Limits

    roots = []
    for one in folders or (".",):
        if not Path(one).is_dir():
            message = f"--folder is {one!r}, which is no folder; give one that holds the tables"
            raise InvalidArgumentError(message)
        roots.append(Path(one).resolve())
    for option, value in (("megabytes", max_megabytes), ("rows", max_rows), ("seconds", max_seconds)):
        if not value > 0:
            message = f"--max-{option} is {value:g}; give a number above 0"
            raise InvalidArgumentError(message)
    try:
        from apsl_rules.server.protocol import serve as run
    except ImportError as error:
        message = f"serving assistants needs mcp ({error}); pip install 'apsl_rules[mcp]'"
        raise MissingPackageError(message) from error
    run(Limits(tuple(roots), int(max_megabytes * 1e6), max_rows, max_seconds))
