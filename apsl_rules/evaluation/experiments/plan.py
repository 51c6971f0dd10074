"""The units of work that an experiment consists of: one learner on one sample in one order of columns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import attrs
import numpy as np

from apsl_rules.data import Codes, Table, fingerprint
from apsl_rules.errors import SpecError
from apsl_rules.evaluation.experiments.design import Experiment, Grid, Learned, Order, Scoring
from apsl_rules.evaluation.experiments.samples import Samples, drawing_seed
from apsl_rules.evaluation.ranking import table4
from apsl_rules.graphs import Dag
from apsl_rules.learning import find_learner
from apsl_rules.names import Depth, count_of, order_key
from apsl_rules.plugins import Plugins, installed

MOST_CONNECTED = 5


@attrs.frozen
class Unit:
    """A learner on a sample: all targets (places from 1 in file order) and depths, and how to score what it finds.

    ``key`` tells the unit from all others, and from itself with other data, another spec of its learner, or other
    settings, so that a result is never taken for one that it is not.
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
            for number in grid.sets:
                table = samples.table(network, size, number)
                content = [mark.hex() for mark in fingerprint(table, table.names)]
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
    content = [attrs.asdict(unit), *(attrs.asdict(one) if attrs.has(type(one)) else one for one in further)]
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
