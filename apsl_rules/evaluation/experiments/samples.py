"""Where the samples of an experiment come from: files in a folder, or rows drawn from our own networks."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol
from zipfile import BadZipFile
from zlib import crc32

import attrs
import numpy as np

from apsl_rules.data import Table, coded_table
from apsl_rules.data.readers import read_graph, read_integers, read_supplement
from apsl_rules.errors import DataError
from apsl_rules.graphs import Dag, known_dag
from apsl_rules.graphs.networks import Network, sample
from apsl_rules.graphs.networks import network as shipped_network
from apsl_rules.names import Node, count_of, listing


class Samples(Protocol):
    """The true graph and the samples of each network; ``published`` if they are those of the paper's experiments."""

    published: bool

    def dag(self, network: str) -> Dag:
        """Return the true graph of a network, its nodes in the order of the columns."""

    def table(self, network: str, size: int, number: int) -> Table:
        """Return a sample of a network by its size and number."""

    def description(self) -> str:
        """Return a few words that describe these samples."""


@attrs.frozen
class DrawnSamples:
    """Rows drawn from our own networks, the same for the same seed, network, size and number."""

    seed: int
    published = False

    def dag(self, network: str) -> Dag:
        """Return the true graph of a network."""
        return _network(network).dag

    def table(self, network: str, size: int, number: int) -> Table:
        """Draw a sample."""
        return sample(_network(network), size, seed=drawing_seed(self.seed, network, size, number))

    def description(self) -> str:
        """Return a few words that describe these samples."""
        return f"drawn from the networks that come with the package, seed {self.seed}"


@attrs.frozen
class FolderSamples:
    """The sets in a folder: ``child.npz`` and so on, or the supplement's text files such as ``Child_s500_v1.txt``.

    An .npz file has ``names``, ``graph`` (1 at [i, j] for an arrow from i to j) and samples such as ``s500_v1``.
    """

    folder: str
    published = True

    def __attrs_post_init__(self) -> None:
        if not Path(self.folder).is_dir():
            message = f"the folder of the samples, {self.folder!r}, does not exist; name a folder of .npz or text files"
            raise DataError(message)

    def dag(self, network: str) -> Dag:
        """Return the true graph of a network."""
        return _files(self.folder, network).dag

    def table(self, network: str, size: int, number: int) -> Table:
        """Read a sample."""
        found = _files(self.folder, network)
        key = f"s{size}_v{number}"
        if key not in found.samples:
            there = listing(sorted(found.samples))
            message = f"the folder {self.folder!r} has no sample {key} of {network!r}; it has {there}"
            raise DataError(message)
        return found.table(key)

    def description(self) -> str:
        """Return a few words that describe these samples."""
        return "the sets in the given folder"


@attrs.frozen(eq=False)
class _Files:
    """The graph of one network, and its samples as arrays or as paths."""

    dag: Dag
    samples: dict[str, Any]

    def table(self, key: str) -> Table:
        """Encode a sample; a level that no row has still counts below the largest one seen, as in the authors' code."""
        found = self.samples[key]
        rows = found if isinstance(found, np.ndarray) else read_integers(found)
        if rows.ndim != 2 or rows.shape[1] != len(self.dag.nodes):  # noqa: PLR2004 - rows and columns
            message = f"sample {key} has the shape {rows.shape}; its graph has {count_of(len(self.dag.nodes), 'node')}"
            raise DataError(message)
        return coded_table(rows, names=self.dag.nodes, levels="declared")


def drawing_seed(seed: int, network: str, *numbers: int) -> int:
    """Return the seed of one thing that is drawn, from the seed of the experiment and what the thing is."""
    entropy = [seed, crc32(network.encode()), *numbers]
    return int(np.random.SeedSequence(entropy).generate_state(1)[0])


@lru_cache(maxsize=16)
def _network(name: str) -> Network:
    return shipped_network(name)


@lru_cache(maxsize=16)
def _files(folder: str, network: str) -> _Files:
    """Find the files of a network, whatever the case of its name; the supplement calls Alarm "Alarm1"."""
    names = (network.casefold(), f"{network}1".casefold())
    for path in sorted(Path(folder).iterdir()):
        if path.suffix == ".npz" and path.stem.casefold() in names:
            return _arrays(path)
    for path in sorted(Path(folder).glob("*_graph.txt")):
        stem = path.name.removesuffix("_graph.txt")
        if stem.casefold() in names:
            found = read_supplement(folder, network=stem)
            graph = read_graph(path)
            return _Files(_dag(graph, range(1, len(graph) + 1)), dict(found.samples))
    message = f"the folder {folder!r} has no network {network!r}; it needs {network}.npz or {network}_graph.txt"
    raise DataError(message)


def _arrays(path: Path) -> _Files:
    try:
        with np.load(path) as data:
            arrays = dict(data)
    except (OSError, ValueError, BadZipFile) as error:
        message = f"{str(path)!r} is no .npz file of arrays: {error}"
        raise DataError(message) from error
    lacking = [key for key in ("names", "graph") if key not in arrays]
    if lacking:
        message = f"{str(path)!r} lacks {listing(lacking)}; it has {listing(sorted(arrays))}"
        raise DataError(message)
    names = [str(name) for name in arrays.pop("names")]
    return _Files(_dag(arrays.pop("graph"), names), arrays)


def _dag(graph: Any, names: Any) -> Dag:
    nodes: list[Node] = list(names)
    if graph.shape != (len(nodes), len(nodes)):
        message = f"the graph has the shape {graph.shape} but there are {len(nodes):,} names; it must be square"
        raise DataError(message)
    return known_dag({node: [nodes[at] for at in np.flatnonzero(graph[:, place])] for place, node in enumerate(nodes)})
