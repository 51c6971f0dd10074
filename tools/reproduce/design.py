"""Designs of experiments: grids, samples, and the plan of units of work.

An experiment is a TOML file: which learners learn which parts from which samples. It is planned into units of work,
each a learner on one sample, which ``results`` runs in parallel.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias
from zipfile import BadZipFile
from zlib import crc32

import attrs
import numpy as np
from ranking import published_columns, table4
from supplement import read_graph, read_supplement

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.data import Codes, Table, coded_table
from apsl_rules.data.readers import read_integers
from apsl_rules.errors import DataError, InvalidArgumentError, SpecError, UnknownNameError
from apsl_rules.evaluation.scoring import Against, Scored
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network, sample
from apsl_rules.graphs.networks import network as shipped_network
from apsl_rules.learning import find_learner
from apsl_rules.names import Depth, Node, count_of, listing, nearest, order_key
from apsl_rules.plugins import Plugins, build, installed

Order: TypeAlias = Literal["file", "reversed", "permuted"]
Scoring: TypeAlias = Literal["dag marks", "dag extension", "cpdag marks", "cpdag extension"]
Learned: TypeAlias = Literal["each part", "each target", "once"]

#: What each scoring compares, and with what.
SCORINGS: Mapping[Scoring, tuple[Against, Scored]] = {
    "dag marks": ("dag", "marks"),
    "dag extension": ("dag", "extension"),
    "cpdag marks": ("cpdag", "marks"),
    "cpdag extension": ("cpdag", "extension"),
}

_ENDING = ".toml"


@attrs.frozen
class Grid:
    """Every combination of the listed settings.

    ``sets`` are the numbers of the samples of each size. ``targets`` are "all" nodes, the five of the paper's Table IV
    (in samples of our own the five with most neighbours), or ``count`` nodes drawn at "random" once for each network.
    ``orders`` say how columns stand: as in the "file", "reversed", or "permuted" anew for each sample.

    ``learned`` says how often a learner runs on a sample: for "each part", for "each target" to the largest depth with
    the smaller ones cut out, or "once", with all parts cut out of the whole graph; the last two are for learners that
    learn the whole graph anyway.
    """

    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    sets: tuple[int, ...]
    learners: tuple[str, ...]
    targets: Literal["all", "table4", "random"] = "all"
    count: int | None = None
    depths: tuple[int | Literal["max"], ...] = (1,)
    orders: tuple[Order, ...] = ("file",)
    scoring: tuple[Scoring, ...] = ("dag marks", "dag extension", "cpdag marks", "cpdag extension")
    learned: Learned = "each part"


@attrs.frozen
class Experiment:
    """A name, what it shows, the seed of all that is drawn, and the grids of settings."""

    name: str
    summary: str
    grids: tuple[Grid, ...]
    seed: int = 1


def parse_experiment(text: str, origin: str) -> Experiment:
    """Read an experiment from TOML text; ``origin`` names it in errors."""
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise SpecError(message) from error
    found = build(Experiment, data, origin)
    if found.seed < 0:
        message = f"{origin}, seed is {found.seed}; give 0 or more"
        raise SpecError(message)
    if not found.grids:
        message = f"{origin} has no grids; add a [[grids]] table"
        raise SpecError(message)
    for number, grid in enumerate(found.grids, 1):
        _check(grid, f"{origin}, grids, item {number}")
    return found


def experiment(name: str | Path) -> Experiment:
    """Return an experiment by its name, or read it from a file whose name ends in .toml."""
    if str(name).endswith(_ENDING):
        try:
            text = file_text(name)
        except DocumentError as error:
            message = f"the experiment {str(name)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        return parse_experiment(text, f"experiment file {str(name)!r}")
    shipped = _shipped()
    if name not in shipped:
        hint = nearest(str(name), shipped) or f"; there are {', '.join(shipped)}, or give the path of a .toml file"
        message = f"unknown experiment {str(name)!r}{hint}"
        raise UnknownNameError(message)
    return parse_experiment(shipped[str(name)].read_text("utf-8"), f"experiment {str(name)!r}")


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments that come with the package, sorted."""
    return tuple(_shipped())


def _shipped() -> dict[str, Traversable]:
    folder = files("apsl_specs") / "experiments"
    found = {file.name.removesuffix(_ENDING): file for file in folder.iterdir() if file.name.endswith(_ENDING)}
    return dict(sorted(found.items()))


def _check(grid: Grid, origin: str) -> None:
    """Refuse lists that are empty or repeat themselves, numbers below 1, and settings that exclude each other."""
    for field in attrs.fields(Grid):
        values = getattr(grid, field.name)
        if not isinstance(values, tuple):
            continue
        if not values:
            message = f"{origin}, {field.name} is empty; name at least one"
            raise SpecError(message)
        twice = next((one for at, one in enumerate(values) if one in values[:at]), None)
        if twice is not None:
            message = f"{origin}, {field.name} has {twice!r} twice; name each once"
            raise SpecError(message)
        small = next((one for one in values if isinstance(one, int) and one < 1), None)
        if small is not None:
            message = f"{origin}, {field.name} has {small}; give whole numbers from 1 on"
            raise SpecError(message)
    if (grid.targets == "random") != (grid.count is not None):
        needed = "needs a count" if grid.count is None else f"has a count, {grid.count}, but targets = {grid.targets!r}"
        message = f"{origin} {needed}; give targets = 'random' together with count"
        raise SpecError(message)
    if grid.count is not None and grid.count < 1:
        message = f"{origin}, count is {grid.count}; give 1 or more"
        raise SpecError(message)


class Samples(Protocol):
    """The true graph and the samples of each network; ``published`` if they are those of the paper's experiments."""

    published: bool

    def dag(self, network: str) -> Dag:
        """Return the true graph of a network, its nodes in the order of the columns."""

    def table(self, network: str, size: int, number: int) -> Table:
        """Return a sample of a network by its size and number."""

    def sets(self, network: str, size: int, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return which of some sets of a network there are, at least one."""

    def description(self) -> str:
        """Return a few words that describe these samples."""


@attrs.frozen
class DrawnSamples:
    """Rows drawn from our own networks, the same for the same seed, network, size and number.

    Columns stand as in the published files where these are known: the scores of published learners depend on that.
    """

    seed: int
    published = False

    def dag(self, network: str) -> Dag:
        """Return the true graph of a network, its nodes in the order of the columns."""
        dag = _network(network).dag
        return Dag({node: dag.parents_of(node) for node in published_columns(network) or dag.nodes})

    def table(self, network: str, size: int, number: int) -> Table:
        """Draw a sample."""
        drawn = sample(_network(network), size, seed=drawing_seed(self.seed, network, size, number))
        return order_columns(drawn, tuple(drawn.names.index(node) for node in self.dag(network).nodes))

    def sets(self, network: str, size: int, numbers: tuple[int, ...]) -> tuple[int, ...]:  # noqa: ARG002 - all are
        """Return all: each can be drawn."""
        return numbers

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

    def sets(self, network: str, size: int, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return the sets that are in the folder; where none is, the first is asked for and refused."""
        there = _files(self.folder, network).samples
        return tuple(number for number in numbers if f"s{size}_v{number}" in there) or numbers[:1]

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
        if rows.ndim != 2 or rows.shape[1] != len(self.dag.nodes):
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
    return Dag({node: [nodes[at] for at in np.flatnonzero(graph[:, place])] for place, node in enumerate(nodes)})


MOST_CONNECTED = 5


@attrs.frozen
class Unit:
    """A learner on a sample: all targets (places from 1 in file order) and depths, and how to score what it finds.

    ``key`` tells the unit from all others, and from itself with other data, another spec of its learner, other
    settings, or another version of the package, so that a result is never taken for one that it is not.
    """

    network: str
    size: int
    number: int
    order: Order
    permutation: tuple[int, ...]
    learner: str
    learned: Learned
    targets: tuple[int, ...]
    depths: tuple[Depth, ...]
    scoring: tuple[Scoring, ...]
    key: str

    @property
    def parts(self) -> int:
        """Return the number of parts that are scored."""
        return len(self.targets) * len(self.depths)


def plan_units(experiment: Experiment, samples: Samples) -> list[Unit]:
    """Return all units of an experiment, in the order of its spec; everything that they name is checked."""
    plugins = installed()
    units = [unit for grid in experiment.grids for unit in _units(experiment, grid, samples, plugins)]
    seen: dict[tuple[Any, ...], Unit] = {}
    for unit in units:
        for target in unit.targets:
            for depth in unit.depths:
                place = (unit.network, unit.size, unit.number, unit.order, unit.learner, target, depth)
                if place in seen:
                    message = (
                        f"experiment {experiment.name!r} asks twice for {unit.learner} at depth {depth} on "
                        f"{unit.network} {unit.size} v{unit.number}, {unit.order} order; let its grids not overlap"
                    )
                    raise SpecError(message)
                seen[place] = unit
    return units


def order_columns(table: Table, permutation: tuple[int, ...]) -> Table:
    """Return a table with its columns in another order."""
    places = list(permutation)
    codes: Codes = table.codes[places]
    return Table(
        names=tuple(table.names[place] for place in places),
        codes=codes,
        cards=table.cards[places],
        levels=tuple(table.levels[place] for place in places),
        incomplete=table.incomplete[places],
    )


def _units(experiment: Experiment, grid: Grid, samples: Samples, plugins: Plugins) -> Iterator[Unit]:
    offers = {learner: find_learner(learner, plugins) for learner in grid.learners}
    for network in grid.networks:
        targets = _targets(grid, samples, network, experiment.seed)
        for size in grid.sizes:
            for number in samples.sets(network, size, grid.sets):
                table = samples.table(network, size, number)
                content = [table.fingerprint_of(name).hex() for name in table.names]
                for order in grid.orders:
                    seed = drawing_seed(experiment.seed, network, size, number, 2)
                    permutation = _permutation(order, len(table.names), seed)
                    for learner, offer in offers.items():
                        unit = Unit(
                            network=network,
                            size=size,
                            number=number,
                            order=order,
                            permutation=permutation,
                            learner=learner,
                            learned=grid.learned,
                            targets=targets,
                            depths=grid.depths,
                            scoring=grid.scoring,
                            key="",
                        )
                        yield attrs.evolve(unit, key=_digest(unit, offer.spec, content, table.names))


def _digest(unit: Unit, *further: Any) -> str:
    content = [
        version("apsl_rules"),
        attrs.asdict(unit),
        *(attrs.asdict(one) if attrs.has(type(one)) else one for one in further),
    ]
    return blake2b(json.dumps(content, sort_keys=True, default=str).encode(), digest_size=12).hexdigest()


def _permutation(order: Order, width: int, seed: int) -> tuple[int, ...]:
    if order == "file":
        return tuple(range(width))
    if order == "reversed":
        return tuple(reversed(range(width)))
    return tuple(int(place) for place in np.random.default_rng(seed).permutation(width))


def _targets(grid: Grid, samples: Samples, network: str, seed: int) -> tuple[int, ...]:
    dag = samples.dag(network)
    width = len(dag.nodes)
    if grid.targets == "all":
        return tuple(range(1, width + 1))
    if grid.targets == "table4":
        return _most_connected(dag) if not samples.published else _published(network)
    if grid.count is None or grid.count > width:
        nodes = count_of(width, "node")
        message = f"{grid.count} targets cannot be drawn from {network!r} with {nodes}; give a smaller count"
        raise SpecError(message)
    drawn = np.random.default_rng(drawing_seed(seed, network, 1)).choice(width, grid.count, replace=False)
    return tuple(sorted(int(place) + 1 for place in drawn))


def _published(network: str) -> tuple[int, ...]:
    found = {name.casefold(): nodes for name, nodes in table4().items()}
    if network.casefold() not in found:
        message = f"Table IV has no network {network!r}, only {', '.join(found)}; give other targets"
        raise SpecError(message)
    return found[network.casefold()]


def _most_connected(dag: Dag) -> tuple[int, ...]:
    """Return the places of the nodes with most neighbours."""
    degree = {node: len(dag.parents_of(node)) for node in dag.nodes}
    for tail, _ in dag.edges:
        degree[tail] += 1
    most = sorted(dag.nodes, key=lambda node: (-degree[node], order_key(node)))[:MOST_CONNECTED]
    return tuple(sorted(dag.nodes.index(node) + 1 for node in most))
