"""``apsl simulate``: draw a table from a network."""

from __future__ import annotations

import sys

import click

from apsl_rules.cli.format_options import goes_to_stdout, out_option, refuse_overwriting, say_written
from apsl_rules.cli.output import quiet_option
from apsl_rules.cli.standard_input import source_argument
from apsl_rules.cli.terminal import progress_bar
from apsl_rules.names import count_of

_EXAMPLES = """\b
Examples:
  apsl simulate alarm -n 1000 --seed 7 -o data.csv
  apsl simulate alarm10 -n 1000000 -o data.parquet
  apsl simulate network.bif -n 500 | head
"""


@click.command(epilog=_EXAMPLES, short_help="Draw a table from a network.")
@source_argument("network")
@click.option("--rows", "-n", type=int, default=1000, show_default=True, help="How many rows to draw.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same rows.")
@out_option("A file *.csv, *.tsv, *.csv.gz, *.tsv.gz, *.parquet.")
@quiet_option
def simulate(*, network: str, rows: int, seed: int, out: str | None, quiet: bool) -> None:
    """Draw a table from NETWORK: one by name, or a file *.bif or *.bif.gz.

    Without --out it prints comma-separated text. The columns are the nodes, the values are the names of their levels.
    """
    from apsl_rules.graphs.networks import network as network_named
    from apsl_rules.graphs.networks import simulate as draw
    from apsl_rules.graphs.networks import write_rows

    refuse_overwriting(network, out)
    known = network_named(network)
    if out is None or goes_to_stdout(out):
        write_rows(known, rows, sys.stdout.buffer, seed=seed)
        return
    with progress_bar("rows drawn", quiet=quiet) as bar:
        draw(known, rows, out, seed=seed, progress=bar)
    size = f"{count_of(rows, 'row')} of {count_of(len(known.dag.nodes), 'column')}"
    say_written(out, f"{size} drawn from {known.name} with seed {seed}")
