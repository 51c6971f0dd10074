"""Commands that draw rows of networks, and tile networks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

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
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import count_of

if TYPE_CHECKING:
    from apsl_rules.graphs import Degrees
    from apsl_rules.graphs.networks import Network, Tiling


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


_TILE_EXAMPLES = """\b
Examples:
  apsl tile alarm -k 10 --arcs 110 --max-parents 2 --seed 1 -o alarm10.bif
  apsl tile --like insurance10 --seed 3 -o insurance10.bif
"""
_RANDOM_EXAMPLES = """\b
Examples:
  apsl random 1000 --mean-parents 2 --seed 1 -o wide.bif
  apsl simulate wide.bif -n 500 -o wide.parquet
"""

_out = out_option("A file *.bif or *.bif.gz.")


@click.command(epilog=_TILE_EXAMPLES, short_help="Make a large network of copies of one.")
@source_argument("network", required=False)
@click.option("--like", metavar="NAME", help="Start from the settings of a tiled network, such as alarm10.")
@click.option("--times", "-k", type=int, help="How many tiles.")
@click.option("--arcs", type=int, help="Arrows between tiles; without it as many as later tiles have roots.")
@click.option("--max-parents", type=int, help="New parents that a root gets at most; without it 2.")
@click.option("--max-children", type=int, help="Children up to which a node may get new ones.")
@click.option("--max-neighbours", type=int, help="Neighbours up to which a node may get new ones.")
@click.option("--keep", type=click.Choice(["joint", "marginals"]), help="What each tile keeps; without it joint.")
@click.option("--strength", type=float, help="How sharp the random tables are; without it 1.")
@click.option("--seed", type=int, help="The same seed makes the same network; without it 0.")
@_out
def tile(*, network: str | None, like: str | None, out: str | None, **given: Any) -> None:
    """Make a large network of copies of NETWORK, joined by arrows into the roots of later copies.

    Every copy, a tile, keeps the joint distribution of NETWORK (--keep joint), or every root its marginal (--keep
    marginals). The copy of node X in the third tile is X.3. Without --out it prints the network as a .bif file.
    """
    import attrs

    from apsl_rules.graphs.networks import ArcRules, make_tiling, tiling_spec
    from apsl_rules.graphs.networks import network as named

    chosen = {key: value for key, value in given.items() if value is not None}
    settings: dict[str, Any] = {"strength": 1.0, "seed": 0}
    published = None
    if network is not None and like is None:
        rules = ArcRules()
        if "times" not in chosen:
            message = "give the number of tiles; add --times K"
            raise InvalidArgumentError(message)
    elif like is not None and network is None:
        spec = tiling_spec(like)
        network, rules, published = spec.base, spec.rules, spec.published
        settings = {"times": spec.times, "strength": spec.strength, "seed": spec.seed}
    else:
        message = "give the network to be tiled, or --like and the name of a tiled network, one of both"
        raise InvalidArgumentError(message)
    settings |= {key: chosen.pop(key) for key in ("times", "strength", "seed") if key in chosen}
    made = make_tiling(named(network), rules=attrs.evolve(rules, **chosen), **settings)
    if network is not None:
        refuse_overwriting(network, out)
    _write(made.network, out)
    _report(made, published, err=out is None or goes_to_stdout(out))
    say_written(out, f"the network {made.network.name}")


@click.command(epilog=_RANDOM_EXAMPLES, short_help="Draw a random sparse network.")
@click.argument("nodes", type=int)
@click.option("--mean-parents", type=float, default=1.5, show_default=True, help="Arrows for each node on average.")
@click.option("--max-parents", type=int, default=4, show_default=True, help="Parents of a node at most.")
@click.option(
    "--levels", nargs=2, type=int, default=(2, 4), show_default=True, help="Fewest and most levels of a node."
)
@click.option("--strength", type=float, default=2.0, show_default=True, help="How much parents tell of a node.")
@click.option("--seed", type=int, default=0, show_default=True, help="The same seed draws the same network.")
@_out
def random(*, nodes: int, out: str | None, **settings: Any) -> None:
    """Draw a random sparse network of NODES nodes.

    Without --out it prints the network as a .bif file.
    """
    from apsl_rules.graphs import degrees
    from apsl_rules.graphs.networks import random_network

    made = random_network(nodes, **settings)
    _write(made, out)
    click.echo(f"{made.name}: {_degrees_text(degrees(made.dag))}", err=out is None or goes_to_stdout(out))
    say_written(out, f"the network {made.name}")


def _write(network: Network, out: str | None) -> None:
    from apsl_rules.graphs.networks import save_bif, write_bif

    if out is None or goes_to_stdout(out):
        click.echo(write_bif(network), nl=False)
    else:
        save_bif(network, out)


def _report(made: Tiling, published: Degrees | None, *, err: bool) -> None:
    """Print how large the network is and what it keeps of its base."""
    from apsl_rules.graphs import degrees

    reached = degrees(made.network.dag)
    lines = [f"{made.network.name}: {_degrees_text(reached)}; {count_of(len(made.arcs), 'arrow')} between tiles"]
    if published is not None and published != reached:
        lines.append(f"published: {_degrees_text(published)}")
    kept = f"; every tile has the joint distribution of {made.base.name}" if made.keep == "joint" else ""
    lines.append(f"roots keep their marginals within {made.residual:.1e}{kept}")
    click.echo("\n".join(lines), err=err)


def _degrees_text(reached: Degrees) -> str:
    return (
        f"{count_of(reached.nodes, 'node')}, {count_of(reached.arcs, 'arrow')}; at most "
        f"{count_of(reached.max_parents, 'parent')} and {count_of(reached.max_children, 'child', 'children')}, "
        f"{reached.min_neighbours} to {count_of(reached.max_neighbours, 'neighbour')}"
    )
