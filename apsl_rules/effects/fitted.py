"""Distributions fitted to a part: queries, interventions, predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack, cast

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.effects.contrasts import LevelCodes, is_in_memory, level_codes
from apsl_rules.effects.figures import Figures, open_figures
from apsl_rules.effects.opening import read_as
from apsl_rules.errors import DataError, InvalidArgumentError, UnknownNodeError
from apsl_rules.graphs import Dag
from apsl_rules.graphs.networks import Network, joint
from apsl_rules.learning import READING, Settings, with_settings
from apsl_rules.names import Node, count_of, in_order, is_number, listing, nearest, require_known, shown, spelt
from apsl_rules.notes import argument
from apsl_rules.parts import OpenEdges, Part, arrows_only, graph_of
from apsl_rules.showing import NotebookView
from apsl_rules.stopping import interruptible

if TYPE_CHECKING:
    import pandas as pd


Floats = npt.NDArray[np.float64]


@attrs.frozen(slots=False, repr=False)
class Fitted(NotebookView):
    """The distributions of the nodes of a part. ``rows`` is how many rows the table had, ``settings`` how it was read.

    ``network`` has the graph, the levels and the tables; other tools take it as BIF, for pgmpy and for bnlearn.

    Attributes
    ----------
    target
        The target of the part.
    prior
        How many rows the prior counts as.
    """

    network: Network
    target: Node
    rows: int
    prior: float
    settings: Settings = attrs.field(factory=lambda: cast("Settings", {}), eq=False, hash=False)

    def __repr__(self) -> str:
        nodes = count_of(len(self.network.dag.nodes), "node")
        return f"<Fitted part around {shown(self.target)}: {nodes}, {count_of(self.rows, 'row')}>"

    def query(self, node: Node, given: Mapping[Node, Any] | None = None) -> dict[str, float]:
        """Return the distribution of a node given the levels of others.

        >>> import pandas as pd
        >>> from apsl_rules import Knowledge, Dag, learn
        >>> rows = pd.DataFrame({"Rain": ["no", "no", "yes", "yes"] * 5, "Wet": ["no", "yes", "yes", "yes"] * 5})
        >>> graph = Dag({"Rain": [], "Wet": ["Rain"]})
        >>> part = learn(graph, "Wet", knowledge=Knowledge(required=[("Rain", "Wet")]))
        >>> {level: round(share, 2) for level, share in part.fit(rows).query("Wet", given={"Rain": "no"}).items()}
        {'no': 0.5, 'yes': 0.5}
        """
        require_known(node, self.network.levels, "node")
        known = {one: self._place(one, level) for one, level in (given or {}).items()}
        if node in known:
            message = f"{node!r} is asked for and given; leave it out of given"
            raise InvalidArgumentError(message)
        whole = joint(self.network, [node, *known])
        cells: tuple[Any, ...] = (slice(None), *known.values())
        chosen_cells = whole[cells]
        total = float(chosen_cells.sum())
        if total <= 0:
            message = f"the levels given for {listing(list(known))} never occur together; give others"
            raise InvalidArgumentError(message)
        return dict(zip(self.network.levels[node], (chosen_cells / total).tolist(), strict=True))

    def do(self, levels: Mapping[Node, Any] | None = None, **named: Any) -> Fitted:
        """Return the part with nodes set to levels from outside: the arrows into them are cut."""
        setting: dict[Node, Any] = dict(levels or {}) | dict(named.items())
        if not setting:
            message = "do sets nothing; name a node and its level, such as " + argument(
                "do", {"Smoker": "yes"}, python="do(Smoker='yes')"
            )
            raise InvalidArgumentError(message)
        tables = dict(self.network.tables)
        parents: dict[Node, Sequence[Node]] = {
            node: self.network.dag.parents_of(node) for node in self.network.dag.nodes
        }
        for node, level in setting.items():
            tables[node] = np.eye(len(self.network.levels[node]))[self._place(node, level)]
            parents[node] = ()
        cut = attrs.evolve(self.network, dag=Dag(parents), tables=tables)
        return attrs.evolve(self, network=cut)

    def _place(self, node: Node, level: Any) -> int:
        """Return the place of a level, named as it is or as text."""
        require_known(node, self.network.levels, "node")
        levels = self.network.levels[node]
        if str(level) not in levels:
            hint = nearest(str(level), levels) or f"; the levels are {listing(levels)}"
            message = f"{node!r} has no level {spelt(level)}{hint}"
            raise UnknownNodeError(message)
        return levels.index(str(level))

    # --- prediction --------------------------------------------------------------------------------------------------

    @cached_property
    def _families(self) -> tuple[Node, ...]:
        """Return the nodes whose tables have the target."""
        dag = self.network.dag
        return (self.target, *dag.children_of(self.target))

    @cached_property
    def blanket(self) -> tuple[Node, ...]:
        """Return what the target is predicted from: its parents, its children and their other parents."""
        dag = self.network.dag
        near = {parent for node in self._families for parent in (node, *dag.parents_of(node))}
        return in_order(near - {self.target})

    def predict(self, data: Any) -> pd.DataFrame:
        """Return the distribution of the target in each row of a table in memory, from all other nodes.

        A value that is missing is summed over, and so is a column that is not there.
        """
        import pandas as pd

        rows = level_codes(data, {node: self.network.levels[node] for node in self.blanket})
        shares = self._given_rows(rows)
        return pd.DataFrame(shares, columns=list(self.network.levels[self.target]))

    def log_loss(self, data: Any, **settings: Unpack[Settings]) -> float:
        """Return the mean of -ln P(what the target was) over the rows of a table in which it is known, in nats."""
        wanted = {node: self.network.levels[node] for node in (self.target, *self.blanket)}
        if settings.get("counts") in (None, "memory") and is_in_memory(data):
            rows = level_codes(data, wanted)
            weights = np.ones(rows.count, np.int64)
        else:
            rows, weights = self._counted(data, wanted, settings)
        if self.target not in rows.codes:
            message = f"the table has no column {self.target!r}, which is the target; give one that has it"
            raise DataError(message)
        is_known = rows.codes[self.target] >= 0
        if not weights[is_known].sum():
            message = f"no row has a value of the target {self.target!r}; give rows that do"
            raise DataError(message)
        shares = self._given_rows(rows)[np.flatnonzero(is_known), rows.codes[self.target][is_known]]
        with np.errstate(divide="ignore"):
            return float(-(weights[is_known] * np.log(shares)).sum() / weights[is_known].sum())

    def _counted(
        self, data: Any, wanted: Mapping[Node, tuple[str, ...]], settings: Settings
    ) -> tuple[LevelCodes, npt.NDArray[np.int64]]:
        """Return the combinations of levels that occur in a table elsewhere, and the rows of each."""
        figures = open_figures(data, cast("Settings", {**self.settings, **settings}))
        known = tuple(node for node in wanted if figures.has(node))
        _require_categories(figures, known)
        (found,) = figures.joints([known])
        codes = {}
        for node, names, row in zip(known, found.levels, found.codes, strict=True):
            places = [self._place(node, level) for level in names]
            codes[node] = np.array([*places, -1], np.int64)[row]
        return LevelCodes(codes, len(found.weights)), found.weights

    def _given_rows(self, rows: LevelCodes) -> Floats:
        """Return the distribution of the target in each row; equal rows are worked out once."""
        known = [node for node in self.blanket if node in rows.codes]
        codes = np.array([rows.codes[node] for node in known], np.int64).reshape(len(known), rows.count)
        patterns, inverse = np.unique(codes, axis=1, return_inverse=True)
        shares: Floats = self._given_patterns(known, patterns)[inverse.reshape(-1)]
        return shares

    def _given_patterns(self, known: Sequence[Node], patterns: npt.NDArray[np.int64]) -> Floats:
        """Return the distribution of the target for each pattern of levels, -1 where one is missing."""
        whole = set(known) == set(self.blanket) and not (patterns < 0).any()
        if whole:
            return self._from_families(known, patterns)
        levels = self.network.levels
        found = np.empty((patterns.shape[1], len(levels[self.target])))
        for number, pattern in enumerate(patterns.T.tolist()):
            given = {node: levels[node][code] for node, code in zip(known, pattern, strict=True) if code >= 0}
            found[number] = list(self.query(self.target, given).values())
        return found

    def _from_families(self, known: Sequence[Node], patterns: npt.NDArray[np.int64]) -> Floats:
        """Multiply the tables that have the target, for all patterns at once."""
        row = dict(zip(known, patterns, strict=True))
        product = np.ones((patterns.shape[1], len(self.network.levels[self.target])))
        every = np.arange(product.shape[1])
        for node in self._families:
            axes = (*self.network.dag.parents_of(node), node)
            cells = tuple(every[None, :] if one == self.target else row[one][:, None] for one in axes)
            product = product * self.network.tables[node][cells]
        total = product.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(product, total, out=np.full_like(product, 1 / product.shape[1]), where=total > 0)
        return shares

    # --- other tools -------------------------------------------------------------------------------------------------

    def to_bif(self) -> str:
        """Write the fitted part as a BIF file."""
        from apsl_rules.export.text_formats import network_to_bif

        return network_to_bif(self.network)

    def to_pgmpy(self) -> Any:
        """Return the fitted part as a network of pgmpy."""
        from apsl_rules.export.peers import network_to_pgmpy

        return network_to_pgmpy(self.network)

    def to_bnlearn(self) -> str:
        """Write the fitted part as an R script that makes a ``bn.fit`` of bnlearn."""
        from apsl_rules.export.peers import network_to_bnlearn

        return network_to_bnlearn(self.network)


@with_settings(*READING, "counts", "options", "plugins")
@interruptible
def fit(
    part: Part, data: Any, *, prior: float = 1.0, open_edges: OpenEdges = "refuse", **settings: Unpack[Settings]
) -> Fitted:
    """Fit the distribution of every node of a part given its parents, from one round of counts.

    ``prior`` is how many rows the prior counts as, spread evenly over the cells of each table (BDeu). Undirected edges
    need a direction: they are refused, or with ``open_edges="direct"`` directed by name such that no new V-structure
    arises.
    """
    if not (is_number(prior) and 0 < prior < float("inf")):
        raise InvalidArgumentError(
            argument="prior", value=prior, advice="give how many rows the prior counts as, such as 1"
        )
    if part.incomplete:
        message = f"the part is incomplete and cannot be fitted: {part.incomplete}; learn it to its end"
        raise InvalidArgumentError(message)
    dag = arrows_only(graph_of(part), open_edges, "a fitted distribution")
    reading = read_as(part, data, settings)
    figures = open_figures(data, reading)
    for node in dag.nodes:
        figures.require(node, "node")
    _require_categories(figures, dag.nodes)
    families = [(*dag.parents_of(node), node) for node in dag.nodes]
    tables = {}
    for node, counts in zip(dag.nodes, figures.counts(families), strict=True):
        weighted = counts + prior / counts.size
        tables[node] = weighted / weighted.sum(axis=-1, keepdims=True)
    levels = {node: tuple(map(str, figures.levels(node))) for node in dag.nodes}
    source = f"The part around {part.target} to depth {part.depth}, fitted to {figures.rows:,} rows."
    network = Network("part", dag, levels, tables, source)
    return Fitted(network, part.target, figures.rows, float(prior), figures.settings)


def _require_categories(figures: Figures, nodes: Sequence[Node]) -> None:
    """Refuse numbers, which have no table of probabilities."""
    numbers = [node for node in nodes if not figures.is_category(node)]
    if numbers:
        what = "is a number" if len(numbers) == 1 else "are numbers"
        message = (
            f"{listing(numbers)} {what}, and a fitted part has tables of categories; "
            f"cut {'it' if len(numbers) == 1 else 'them'} with {argument('discretize', 'quantile:3')}"
        )
        raise DataError(message)
