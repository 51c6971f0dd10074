"""Commands that look at a table and at the installation: describe, doctor."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Literal

import attrs
import click

from apsl_rules.cli.options import reading_options, target_named, with_reading
from apsl_rules.cli.output import json_option, print_json, print_table, print_text, terminal_width
from apsl_rules.cli.spelling import in_options
from apsl_rules.cli.streams import source_argument
from apsl_rules.data import describe as describe_table
from apsl_rules.data import table
from apsl_rules.data.databases import shown_source
from apsl_rules.errors import ApslError, InvalidArgumentError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network
from apsl_rules.names import count_of
from apsl_rules.plugins import Plugins

_EXAMPLES = """\b
Examples:
  apsl describe table.csv
  apsl describe table.csv --category year --drop id --json
  apsl describe table.csv -t wage
"""


@click.command(epilog=_EXAMPLES, short_help="Show how the columns of a table are read.")
@source_argument("data")
@click.option("--target", "-t", help="Show what would be set aside for this target.")
@reading_options
@json_option
@click.pass_context
def describe(context: click.Context, /, data: str, *, target: str | None, as_json: bool, **settings: Any) -> None:
    """Show each column of DATA, a file or a table in a database: its kind, a small histogram, what is missing.

    It also says which columns are set aside and why, which ones follow from others, and what the default learner would
    do. With --target it says what would be set aside for that column; with --json it names the options that change
    any of this. Of a table in a database, and of files that stay where they are, it reads the first 10,000 rows.
    """
    from apsl_rules.learning import first_rows, nodes_of, open_source, say_default_learner

    manager: Plugins = context.obj
    source = open_source(data, manager)
    if isinstance(source, Dag | Network):
        message = f"{shown_source(data)!r} {_NETWORK}"
        raise InvalidArgumentError(message)
    source, note = first_rows(source)
    nodes = nodes_of(source)
    reading = {name: value for name, value in with_reading(settings, nodes).items() if value is not None}
    read = table(source, **reading)
    report = describe_table(read, None if target is None else target_named(target, nodes))
    if note is not None:
        report = attrs.evolve(report, notes=(note, *report.notes))
    learner = say_default_learner(read, manager)
    if as_json:
        print_json({**report.to_dict(), "learner": learner})
        return
    print_text(report.spoken(lambda one: in_options(one, context.command), terminal_width()))
    print_text(learner)


_NETWORK = "is a network, which has no rows; give a CSV, Parquet or integer text file"


_EXTRAS = {
    "app": ("uvicorn", "the page in the browser (apsl open)"),
    "dask": ("distributed", "counting on a cluster"),
    "database": ("ibis", "tables in databases"),
    "duckdb": ("duckdb", "tables larger than memory"),
    "excel": ("openpyxl", "Excel workbooks"),
    "mcp": ("mcp", "assistants (apsl serve)"),
    "ods": ("python_calamine", "OpenDocument spreadsheets"),
    "parquet": ("pyarrow", "Parquet files"),
    "plot": ("matplotlib", "part.plot()"),
    "postgres": ("psycopg", "tables in PostgreSQL"),
    "sklearn": ("sklearn", "feature selection in scikit-learn pipelines"),
    "stats": ("pyreadstat", "SPSS and SAS files"),
    "widget": ("anywidget", "the report as a widget in notebooks"),
}


@attrs.frozen
class Check:
    """One thing looked at: whether it is well ("ok"), merely absent ("-") or broken ("!"), and a sentence."""

    state: Literal["ok", "-", "!"]
    what: str
    said: str


_EXAMPLES_OF_DOCTOR = """\b
Examples:
  apsl doctor
  apsl --plugin my_module doctor --json
"""


@click.command(epilog=_EXAMPLES_OF_DOCTOR, short_help="Check this installation.")
@json_option
@click.pass_context
def doctor(context: click.Context, *, as_json: bool) -> None:
    """Check this installation: versions, extras, plugins, compiled code, and two small runs, one of them on a table.

    Exits with 1 if something is broken.
    """
    checks = list(_checks(context.obj))
    if as_json:
        print_json([attrs.asdict(one) for one in checks])
    else:
        print_table([attrs.asdict(one) for one in checks])
        broken = sum(one.state == "!" for one in checks)
        click.echo(f"{broken} broken, see the lines with !" if broken else "all is well")
    if any(one.state == "!" for one in checks):
        context.exit(1)


def _checks(manager: Plugins) -> Iterator[Check]:
    yield Check("ok", "apsl_rules", f"{metadata.version('apsl_rules')} on Python {sys.version.split()[0]}")
    for name in ("attrs", "click", "narwhals", "numpy", "pandas", "pluggy", "rich", "scipy"):
        yield Check("ok", name, metadata.version(name))
    for extra, (module, use) in _EXTRAS.items():
        if find_spec(module):
            yield Check("ok", f"extra {extra}", f"{module} is installed, for {use}")
        else:
            yield Check(
                "-", f"extra {extra}", f"{module} is not installed; for {use}: pip install 'apsl_rules[{extra}]'"
            )
    yield from _try("plugins", lambda: _plugins(manager))
    try:
        offered = list(manager.checks.values())
    except ApslError as error:
        yield Check("!", "checks", str(error))
    else:
        for one in offered:
            yield from _try(one.name, one.check)
    yield from _try("known graph", lambda: _known_graph(manager))
    yield from _try("table", lambda: _table(manager), "the default learner cannot learn from a table: ")
    cores = os.cpu_count() or 1
    yield Check("ok", "cores", f"{cores}; --threads {cores} uses all of them")


def _try(what: str, attempt: Callable[[], str], failure: str = "") -> Iterator[Check]:
    """Run a check and report whatever goes wrong."""
    try:
        yield Check("ok", what, attempt())
    except ApslError as error:
        yield Check("!", what, f"{failure}{error}")
    except Exception as error:  # noqa: BLE001 - a broken installation can raise any error, which is reported
        first = (str(error).splitlines() or [""])[0]
        yield Check("!", what, f"{failure}{type(error).__name__}: {first}")


def _plugins(manager: Plugins) -> str:
    offers = [len(one) for one in (manager.oracles, manager.finders, manager.learners, manager.exporters)]
    kinds = ("oracles", "finders", "learners", "formats")
    listed = ", ".join(f"{count} {kind}" for count, kind in zip(offers, kinds, strict=True))
    return f"{', '.join(manager.names)}: {listed}"


def _known_graph(manager: Plugins) -> str:
    from apsl_rules.evaluation import verify
    from apsl_rules.graphs.networks import network

    found = verify(network("asia"), plugins=manager)
    if not found.exact:
        wrong = f"{len(found.differences)} of {count_of(found.runs, 'part')}"
        message = f"{wrong} of asia differ from the CPDAG; does a plugin replace a rule?"
        raise ApslError(message)
    return f"{count_of(found.runs, 'part')} of asia learned exactly"


def _table(manager: Plugins) -> str:
    from time import perf_counter

    from apsl_rules.data import example_table
    from apsl_rules.graphs.networks import network
    from apsl_rules.learning import learn

    begin = perf_counter()
    part = learn(example_table(), "either", plugins=manager)
    found, true = (len(one) for one in (part.edges, network("asia").dag.neighbours_of("either")))
    if found != true:
        message = f"it found {found} edges at 'either' where there are {true}; is a plugin replacing a rule or a test?"
        raise ApslError(message)
    seconds = perf_counter() - begin
    return f"the default learner ({part.learner}) found {found} edges in 2,000 rows of a CSV file, in {seconds:.1f} s"
