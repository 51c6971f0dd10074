"""``apsl open``: the page in the browser."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click

from apsl_rules.app import Worker
from apsl_rules.errors import InvalidArgumentError, MissingPackageError

_EXAMPLES = """\b
Examples:
  apsl open
  apsl open patients.csv
  apsl open patients.csv --target bwt --no-browser --port 8765
  apsl open study.toml
"""


@click.command("open", epilog=_EXAMPLES, short_help="Work on a table in the browser, on this machine alone.")
@click.argument("source", required=False)
@click.option("--target", "-t", help="The column that matters.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port; without it one that is free.")
@click.option("--browser/--no-browser", "browse", default=True, help="Open the browser, or only print the address.")
@click.option("--max-megabytes", type=float, default=4000, show_default=True, help="The largest file that is read.")
def open_(*, source: str | None, target: str | None, port: int, browse: bool, max_megabytes: float) -> None:
    """Work on a table, a network or a study (.toml) in the browser: ask, look, say what you know, take it with you.

    The page is served on this machine alone, to anyone who has its address. Files are read and written only in the
    folder of SOURCE, or in the current one. An opened study file saves every change.
    """
    if not max_megabytes > 0:
        message = f"--max-megabytes is {max_megabytes:g}; give a number above 0"
        raise InvalidArgumentError(message)
    path = Path(source) if source is not None else None
    is_study = path is not None and path.suffix == ".toml"
    is_file = path is not None and (is_study or path.exists() or path.suffix != "")
    folder = (path.parent if is_file and path is not None else Path()).resolve()
    if (is_file and not is_study and path is not None and not path.is_file()) or not folder.is_dir():
        message = f"there is no file {source!r}; give a table, a network by name, or a study (.toml)"
        raise InvalidArgumentError(message)
    name = path.name if is_file and path is not None else source
    ahead, most_bytes = None if is_study else name, int(max_megabytes * 1e6)
    with closing(Worker(folder, most_bytes, ahead)) as worker:  # which loads and reads while the server loads
        try:
            from apsl_rules.app.serving import MOST_ROWS, Limits, Study, changed, read_study, require_source, serve
        except ImportError as error:
            message = f"the page needs starlette and uvicorn ({error}); pip install 'apsl_rules[app]'"
            raise MissingPackageError(message) from error
        from apsl_rules.cli.output import print_text

        limits = Limits((folder,), most_bytes, MOST_ROWS)
        study = Study()
        if is_study and path is not None:
            study = read_study(path) if path.exists() else study
        elif name is not None:
            require_source(limits, name)
            study = Study(source=name)
        if target is not None:
            study = changed(study, "target", {"column": target})
        keep = path.resolve() if is_study and path is not None else None
        serve(worker, limits, study, keep=keep, port=port, browse=browse, say=print_text)
