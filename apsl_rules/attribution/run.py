"""Compare two tables column by column: what is made differently, and what explains away the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

import numpy as np

from apsl_rules.attribution.result import ColumnMove, Difference, Moved
from apsl_rules.attribution.two_tables import TwoTables
from apsl_rules.data import LocalTable
from apsl_rules.environments import (
    Changes,
    ChangeTest,
    Explanation,
    OracleChanges,
    RowChanges,
    State,
    explain,
    with_cancelled,
)
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.knowledge import Knowledge, load_knowledge
from apsl_rules.learning import READING, Request, Settings, learn_graph, open_data, with_bar, with_settings
from apsl_rules.names import Node, in_order, is_number, listed, order_key, spelt
from apsl_rules.notes import named
from apsl_rules.parts import MarkedGraph, graph_of
from apsl_rules.rules import Mark
from apsl_rules.stopping import interruptible


@with_settings(*READING, "plugins")
@interruptible
@with_bar("changes", of_phases=True)
def moved(
    before: Any,
    after: Any,
    target: Node,
    *,
    names: tuple[str, str] = ("before", "after"),
    alpha: float = 0.01,
    knowledge: Knowledge | str | None = None,
    **settings: Any,
) -> Moved:
    """Say why a column differs between two tables: what is made differently, and what only passed that on.

    Parameters
    ----------
    before, after
        Two tables with the same columns: frames, arrays or paths, as for ``learn``.
    target
        The column that moved.
    names
        What the two tables are called.
    alpha
        Significance level of the tests that compare the tables.
    knowledge
        What is known beforehand of the columns.
    settings
        How the tables are read, as for ``learn``.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> def month(seed, spread):
    ...     draw = np.random.default_rng(seed).normal
    ...     price = spread * draw(size=2000)
    ...     visits = price + draw(size=2000)
    ...     return pd.DataFrame({"price": price, "visits": visits, "sales": visits + draw(size=2000)})
    >>> found = moved(month(1, 1.0), month(2, 1.9), "sales")
    >>> found.changed, found.passed_on
    (('price',), ('visits', 'sales'))
    """
    if not is_number(alpha) or not 0 < alpha < 1:
        raise InvalidArgumentError(argument="alpha", value=alpha, advice="give a number between 0 and 1, such as 0.01")
    labels = tuple(map(str, listed("names", names, "two names, such as ['May', 'June']")))
    if len(labels) != 2 or labels[0] == labels[1]:  # noqa: PLR2004 - two tables
        message = f"names is {spelt(names)}; give two different names, such as ['May', 'June']"
        raise InvalidArgumentError(message, argument="names")
    request = Request.of(cast("Settings", dict(settings)), "moved")
    if request.time is not None:
        message = (
            f"{named('time')} adds columns of earlier steps, and moved compares the rows of two tables as they are; "
            f"leave time out"
        )
        raise InvalidArgumentError(message, argument="time")
    reading = {name: settings[name] for name in READING if name in settings}
    tables = TwoTables.of(before, after, target, (labels[0], labels[1]), reading)
    known = load_knowledge(knowledge).resolved(tables.columns).after([tables.which], tables.columns)
    learned = graph_of(learn_graph(tables.data, knowledge=known, plugins=request.plugins))
    changes = _changes(tables, request, alpha)
    near = _neighbours(learned, tables.which)
    found = {column: explain(column, in_order(near.get(column, ())), changes) for column in tables.columns}
    joined = [(edge.source, edge.target) for edge in learned.edges if tables.which not in (edge.source, edge.target)]

    def may_cause(tail: Node, head: Node) -> bool:
        return known.why_barred(tail, head) is None and (head, tail) not in known.required

    found = with_cancelled(found, joined, changes, may_cause)
    moves = [
        ColumnMove(one, _difference(tables, column), _made(one, near.get(column, set()), found, changes))
        for column, one in found.items()
    ]
    moves.sort(key=lambda one: (_ORDER[one.state], -one.made.nats, order_key(one.column)))
    graph = _picture(learned, moves, tables.which)
    return Moved(target, tables.labels, tables.rows, tuple(moves), graph, tables.which, tables.notes)


_ORDER = {state: place for place, state in enumerate(State)}


def _changes(tables: TwoTables, request: Request, alpha: float) -> Changes:
    """Return the tests that suit the columns: by counts where all are categories, by rows otherwise."""
    if "counts" in tables.data.can:
        return OracleChanges(open_data(tables.data, request).oracle(alpha), tables.which)
    return RowChanges(tables.data, tables.which, alpha, tables.labels)


def _made(
    explained: Explanation, near: Collection[Node], found: Mapping[Node, Explanation], changes: Changes
) -> ChangeTest:
    """Return the test of a column given its neighbours but its effects: columns that it explains."""
    if explained.cancels:
        return explained.proof
    causes = [node for node in in_order(near) if explained.column not in found[node].causes]
    is_made = explained.state in (State.CHANGED, State.SMALL)
    test = changes.test(explained.column, causes) if is_made else explained.proof
    return test if test.verdict.dependent else explained.proof


def _neighbours(graph: MarkedGraph, which: Node) -> Mapping[Node, set[Node]]:
    near: dict[Node, set[Node]] = {}
    for edge in graph.edges:
        if which not in (edge.source, edge.target):
            near.setdefault(edge.source, set()).add(edge.target)
            near.setdefault(edge.target, set()).add(edge.source)
    return near


def _picture(learned: MarkedGraph, moves: list[ColumnMove], which: Node) -> MarkedGraph:
    """Return the graph with the arrows that the comparison proves; two columns that explain each other contradict."""
    proved = [(tail, one.column) for one in moves for tail in one.explanation.causes]
    proved += [(which, one.column) for one in moves if one.explanation.has_changed]
    said = {frozenset(pair) for pair in proved}
    kept = [
        (edge.source, edge.target, edge.mark)
        for edge in learned.edges
        if which not in (edge.source, edge.target) and frozenset((edge.source, edge.target)) not in said
    ]
    drawn = [(*arrow, Mark.ARROW) for arrow in proved if arrow[::-1] not in proved]
    both = [(*arrow, Mark.CONFLICT) for arrow in proved if arrow[::-1] in proved and arrow == in_order(arrow)]
    return MarkedGraph.of_edges(learned.nodes, [*drawn, *both, *kept])


def _difference(tables: TwoTables, column: Node) -> Difference:
    """Return how a column differs between the tables, whatever the reason."""
    data = tables.data
    second = data.categories.codes_of(tables.which) == data.categories.levels_of(tables.which).index(tables.labels[1])
    if not data.is_category(column):
        values = data.values(column)
        one, other = (values[side & ~np.isnan(values)] for side in (~second, second))
        spread = float(values[~np.isnan(values)].std())
        if not len(one) or not len(other) or spread == 0:
            return Difference()
        apart = float(one.mean()), float(other.mean())
        wide = float(other.std() / one.std()) if one.std() > 0 else None
        return Difference(means=apart, by=(apart[1] - apart[0]) / spread, spread=wide)
    return _of_shares(data, column, second)


def _of_shares(data: LocalTable, column: Node, second: Any) -> Difference:
    codes = data.categories.codes_of(column)
    levels = data.categories.levels_of(column)
    shares = [np.bincount(codes[side & (codes >= 0)], minlength=len(levels)) for side in (~second, second)]
    if not all(one.sum() for one in shares):
        return Difference()
    one, other = (side / side.sum() for side in shares)
    most = int(np.abs(other - one).argmax())
    return Difference(level=levels[most], shares=(float(one[most]), float(other[most])))
