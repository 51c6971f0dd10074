"""Check a graph against a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import attrs

from apsl_rules.checking.changes import Reconciler
from apsl_rules.checking.claimed import ClaimedGraph
from apsl_rules.checking.claims import Rows
from apsl_rules.checking.edges import checked_edges
from apsl_rules.checking.given_graphs import GivenGraph, drawn, read_given
from apsl_rules.checking.result import Check
from apsl_rules.checking.standing import graph_standing
from apsl_rules.data import Dataset, LocalTable, group_columns
from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network
from apsl_rules.knowledge import Knowledge, load_knowledge
from apsl_rules.learning import (
    READING,
    Request,
    Settings,
    Source,
    nodes_of,
    open_data,
    taken_apart,
    with_bar,
    with_settings,
)
from apsl_rules.names import Node, count_of, demand, is_number, listing, nearest, spelt, whole_number
from apsl_rules.notes import argument
from apsl_rules.stopping import interruptible


@with_settings(*READING, "oracle", "counts", "options", "plugins")
@interruptible
@with_bar("testing what the graph implies", of_phases=True)
def check(
    graph: Any,
    data: Any,
    *,
    hidden: Iterable[Node] = (),
    knowledge: Knowledge | str | None = None,
    alpha: float = 0.05,
    least: float = 0.01,
    lead: float = 3.0,
    shuffles: int = 200,
    compare: bool = True,
    **settings: Any,
) -> Check:
    """Say what a table says of a graph: how it stands, what fails, each edge, and the least changes.

    Parameters
    ----------
    graph
        A mapping of nodes to parents, a list of arrows, a ``Dag``, a learned graph, a CPDAG, MAG or PAG, a graph of
        networkx, pgmpy or causal-learn, or the text or file of dagitty, DOT, Tetrad, bnlearn and others.
    data
        A table, as for ``learn``; columns that the graph does not name are left out.
    hidden
        Nodes of the graph without a column, such as latent ones of a DOT file; dagitty says itself which these are.
    knowledge
        What is given; no change goes against it.
    alpha
        The level at which a true graph has a failing claim by chance; all claims together have it.
    least
        The least failure that counts, in nats for each row; 0.01 is a partial correlation of 0.14.
    lead
        The least gain of a change, in nats.
    shuffles
        How many graphs with shuffled names to score.
    compare
        Whether to learn the table's own graph, to compare with.
    settings
        How the table is read, as for ``learn``.

    Examples
    --------
    >>> from apsl_rules import Dag
    >>> truth = Dag({"sun": [], "ice": ["sun"], "crowd": ["sun", "ice"]})
    >>> print(check({"sun": [], "ice": ["sun"], "crowd": ["sun"]}, truth).changes[0])
    add ice -> crowd; repairs ice ⊥ crowd; as good: add crowd -> ice
    """
    for name, value, below in (("alpha", alpha, 1.0), ("least", least, 10.0), ("lead", lead, 1e9)):
        if not is_number(value) or not 0 <= value < below or (name == "alpha" and value == 0):
            raise InvalidArgumentError(argument=name, value=value, advice="give a small number that is not negative")
    whole_number("shuffles", shuffles, 0, 100_000)
    demand(isinstance(compare, bool), f"compare is {spelt(compare)}; give True or False", argument="compare")
    known = load_knowledge(knowledge)
    given = read_given(graph, hidden)
    source, request, notes = _opened(given, data, dict(settings))
    given, more = _measured(given, source)
    plugins = request.manager
    sizes = _sizes(source, given.known.nodes)
    claimed = ClaimedGraph.of(given.known, sizes)
    rows = Rows(source, plugins, claimed.nodes[: claimed.width], alpha, least)
    resolved = known.resolved(given.known.dag.nodes) if known else known
    reconciler = Reconciler(rows, resolved, lead)
    steps = reconciler.steps(claimed)
    changes = reconciler.as_told(claimed, steps)
    turned = {(one.target, one.source) for one in changes if one.kind == "turn"}
    final = steps[-1].after if steps else claimed
    standing = graph_standing(rows, claimed, source, plugins, shuffles=shuffles, compare=compare)
    return Check(
        drawn(given.known),
        None if rows.oracle.perfect else source.row_count,
        standing,
        rows.all_of(claimed, {claim for step in steps for claim in step.doubted}),
        checked_edges(rows, claimed, turned, given.opened, lead),
        changes,
        not rows.failing(final),
        drawn(final.dag),
        (*notes, *more, *([standing.reason] if standing is not None and standing.reason else [])),
    )


def _opened(given: GivenGraph, data: Any, settings: dict[str, Any]) -> tuple[Source, Request, Sequence[str]]:
    """Open the table with the columns that the graph names."""
    request = Request.of(cast("Settings", settings), "check")
    if isinstance(data, Source):
        return data, request, ()
    if isinstance(data, str):
        from apsl_rules.learning import open_source

        data = open_source(data, request.manager, counts=request.counts if isinstance(request.counts, str) else None)
    wanted = given.known.nodes
    columns = () if _answers_itself(data) else nodes_of(data)
    used = {*wanted, request.weights, request.sampling_weights, *group_columns(request.groups)}
    left = [one for one in columns if one not in used]
    named = [one for one in columns if one in wanted]
    notes = [f"{count_of(len(left), 'column')} that the graph does not name: {listing(left)}"] if left and named else []
    is_whole = {*wanted} <= {*columns, *given.known.hidden}  # others may name joined columns, or joined ones
    if named and left and is_whole and request.only is None and request.drop is None:
        if isinstance(data, LocalTable):
            data = data.select(named)
        elif not isinstance(data, Dataset):
            request = attrs.evolve(request, only=named)
    return taken_apart(open_data(data, request), wanted, keep="*"), request, notes


def _answers_itself(data: Any) -> bool:
    return isinstance(data, Dag | DagWithHidden | Network) or callable(getattr(data, "verdict", None))


def _measured(given: GivenGraph, source: Source) -> tuple[GivenGraph, list[str]]:
    """Hide nodes whose columns were set aside; nodes without any column are refused."""
    known, nodes = given.known, frozenset(source.oracle(0.01).nodes)
    aside = {one.name: one.detail for one in source.columns if one.name not in nodes}
    lacking = [node for node in known.nodes if node not in nodes]
    for node in lacking:
        if node not in aside:
            hint = nearest(str(node), map(str, nodes))
            unmeasured = argument("hidden", node, python=f"hidden=[{node!r}]")
            advice = f"say that it is not measured, {unmeasured}, or leave it out"
            message = f"the node {node!r} of the graph is no column of the table{hint or f'; {advice}'}"
            raise GraphError(message)
    if len(lacking) == len(known.nodes):
        message = "no node of the graph has a column that can be used; name columns of the table in the graph"
        raise GraphError(message)
    if not lacking:
        return given, []
    hiding = DagWithHidden(known.dag, (*known.hidden, *lacking))
    note = f"columns that were set aside count as not measured: {listing(lacking)}"
    return attrs.evolve(given, known=hiding), [note]


def _sizes(source: Source, nodes: Sequence[Node]) -> dict[Node, int]:
    """Return how many levels each category has, so that separators with few cells are claimed."""
    data = source.data
    if data is None or "counts" not in data.can:
        return {}
    return {node: len(data.categories.levels_of(node)) for node in nodes if data.is_category(node)}
