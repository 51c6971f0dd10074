"""The sets of ``wholegraphs.py``: tables whose true graph is known, in rows of the same network and number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs
import numpy as np
from smallsamples import SIZES, drawn

from apsl_rules.data import Table, coded_table
from apsl_rules.graphs.equivalence import Cpdag, cpdag
from apsl_rules.graphs.networks import network, random_network
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.sampling import sample

BASE = ("alarm", "child", "insurance")
SAMPLED = ("hailfinder", "mildew", "win95pts", "andes")
SEEDS = (1, 2)
CHECK_ROWS = 50_000
CHECK_SEEDS = (2, 5, 7)


@attrs.frozen
class GraphSet:
    """A table, by a name that says where it is from, and the CPDAG of the graph behind it."""

    name: str
    rows: Table
    truth: Cpdag


@attrs.frozen
class SetRow:
    """Sets of one network and size, made when they are asked for, and whether they count as base rows."""

    title: str
    makers: tuple[Callable[[], GraphSet], ...]
    is_base: bool = False

    def sets(self) -> list[GraphSet]:
        """Return the sets."""
        return [make() for make in self.makers]


def base_rows(folder: Path, names: Sequence[str], versions: Sequence[int]) -> Iterator[SetRow]:
    """Return the rows of the published sets, columns permuted."""
    for name in names:
        for size in SIZES:

            def made(version: int, name: str = name, size: int = size) -> GraphSet:
                rows, truth = drawn(folder, name, size, version)
                return GraphSet(f"{name} {size} v{version}", rows, truth)

            yield SetRow(f"{name} {size}", tuple(partial(made, version) for version in versions), is_base=True)


def named_network(name: str, folder: Path | None) -> Network:
    """Return the network of FOLDER/NAME.bif.gz if it is there, else the one that is shipped by that name."""
    file = folder / f"{name}.bif.gz" if folder else None
    return network(file if file and file.exists() else name)


def sampled_rows(networks: Mapping[str, Network]) -> Iterator[SetRow]:
    """Return the rows of sets drawn from networks, columns permuted."""
    for name, behind in networks.items():
        for size in SIZES:

            def made(seed: int, name: str = name, behind: Network = behind, size: int = size) -> GraphSet:
                return from_network(name, behind, size, seed)

            yield SetRow(f"{name} {size}", tuple(partial(made, seed) for seed in SEEDS))


def check_rows() -> Iterator[SetRow]:
    """Return sets of many rows from small networks with arrows and lines, to check how graphs are read."""
    for seed in CHECK_SEEDS:

        def made(seed: int = seed) -> GraphSet:
            small = random_network(5, mean_parents=1.0, max_parents=2, levels=2, seed=seed)
            return from_network("random", small, CHECK_ROWS, seed)

        yield SetRow(f"random {seed}", (made,))


def from_network(name: str, behind: Network, size: int, seed: int) -> GraphSet:
    """Draw rows from a network, and permute the columns by the same seed."""
    rows = sample(behind, size, seed=seed)
    order = np.random.default_rng(1000 * size + seed).permutation(len(rows.names)).tolist()
    table = coded_table(rows.codes.T[:, order], names=[rows.names[at] for at in order])
    return GraphSet(f"{name} {size} seed {seed}", table, cpdag(behind.dag))
