"""Commands that draw rows of networks, and networks."""

from __future__ import annotations

import sys
from typing import Any

import click

from apsl_rules.cli.output import (
    goes_to_stdout,
    out_option,
    progress_bar,
    quiet_option,
    refuse_overwriting,
    say_written,
)
from apsl_rules.cli.streams import source_argument
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


_RANDOM_EXAMPLES = """\b
Examples:
  apsl random 1000 --mean-parents 2 --seed 1 -o wide.bif
  apsl simulate wide.bif -n 500 -o wide.parquet
"""


@click.command(epilog=_RANDOM_EXAMPLES, short_help="Draw a random sparse network.")
@click.argument("nodes", type=int)
@click.option("--mean-parents", type=float, default=1.5, show_default=True, help="Arrows for each node on average.")
@click.option("--max-parents", type=int, default=4, show_default=True, help="Parents of a node at most.")
@click.option(
    "--levels", nargs=2, type=int, default=(2, 4), show_default=True, help="Fewest and most levels of a node."
)
@click.option("--strength", type=float, default=2.0, show_default=True, help="How strongly parents determine a node.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same network.")
@out_option("A file *.bif or *.bif.gz.")
def random(*, nodes: int, out: str | None, **settings: Any) -> None:
    """Draw a random sparse network of NODES nodes.

    Without --out it prints the network as a .bif file.
    """
    from apsl_rules.graphs import degrees
    from apsl_rules.graphs.networks import random_network, save_bif, write_bif

    made = random_network(nodes, **settings)
    is_printed = out is None or goes_to_stdout(out)
    if is_printed:
        click.echo(write_bif(made), nl=False)
    else:
        save_bif(made, str(out))
    reached = degrees(made.dag)
    size = (
        f"{count_of(reached.nodes, 'node')}, {count_of(reached.arcs, 'arrow')}; at most "
        f"{count_of(reached.max_parents, 'parent')} and {count_of(reached.max_children, 'child', 'children')}, "
        f"{reached.min_neighbours} to {count_of(reached.max_neighbours, 'neighbour')}"
    )
    click.echo(f"{made.name}: {size}", err=is_printed)
    say_written(out, f"the network {made.name}")
