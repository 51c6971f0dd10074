"""Open what an effect is asked of: the part to reason from, and the table to estimate from."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import attrs
import numpy as np

from apsl_rules.data import one_hot_sets
from apsl_rules.data.moments import is_opened
from apsl_rules.effects.figures import READING, Figures, open_figures
from apsl_rules.errors import DataError, InvalidArgumentError, PluginError
from apsl_rules.graphs import Dag, is_networkx
from apsl_rules.graphs.networks import Network
from apsl_rules.knowledge import load_knowledge
from apsl_rules.learning import (
    KEPT_READING,
    Request,
    Settings,
    Source,
    nodes_of,
    open_data,
    run_once,
    taken_apart,
    without_copies,
)
from apsl_rules.names import Depth, Node, listing, require_known
from apsl_rules.notes import argument
from apsl_rules.oracles import is_oracle
from apsl_rules.parts import Part


def part_and_figures(
    source: Any, cause: Node, target: Node, *, depth: Depth, data: Any, settings: Settings
) -> tuple[Part, Figures]:
    """Return the part to reason from and the table to estimate from; learn the part where none is given."""
    if isinstance(source, Part):
        if data is None:
            message = (
                f"a part has no rows to estimate from; give the table that it was learned from as {argument('data')}"
            )
            raise InvalidArgumentError(message)
        for node, role in ((cause, "cause"), (target, "target")):
            require_known(node, source.nodes, role)
        figures = figures_of(data, read_as(source, data, settings, (cause, target)))
        for node, role in ((cause, "cause"), (target, "target")):
            figures.require(node, role)
        return source, figures
    rows = source if data is None else data
    settings = _sampled(rows, settings)
    request, opened = open_structure(source, settings)
    opened = taken_apart(opened, (cause, target), request.keep)
    figures = open_figures(rows, settings, opened if data is None else None)
    for node, role in ((cause, "cause"), (target, "target")):
        figures.require(node, role)
    opened = without_copies(opened, (cause, target), request.keep, functions=True)
    return run_once(request, opened, cause, depth), figures


def figures_of(rows: Any, settings: Settings) -> Figures:
    """Open a table to estimate from."""
    return open_figures(rows, _sampled(rows, settings))


def _sampled(rows: Any, settings: Settings) -> Settings:
    """Return settings in which weights with fractions are those of a sample."""
    weights = _fractional(rows, settings)
    if weights is None:
        return settings
    return cast("Settings", {**_without(settings, "weights"), "sampling_weights": weights})


def _fractional(rows: Any, settings: Settings) -> Node | None:
    """Return the column of weights if it has fractions: weights of a survey, no numbers of rows."""
    weights = settings.get("weights")
    if weights is None or is_opened(rows) or isinstance(rows, Source):
        return None
    plain = {**_without(settings, "weights", "drop", "only", "discretize"), "groups": None}
    opened = open_data(rows, Request.of(cast("Settings", {**plain, "kinds": {weights: "number"}})))
    data = opened.data
    if data is None or "rows" not in data.can or weights not in data.number_names:
        return None
    values = data.values(weights)
    return weights if np.any(values != np.floor(values)) else None


def _without(settings: Settings, *names: str) -> Settings:
    """Return the settings that say how a table is read, and all others, without some."""
    return cast("Settings", {name: value for name, value in settings.items() if name not in names})


def open_structure(source: Any, settings: Settings) -> tuple[Request, Source]:
    """Open what the structure is learned from; the arrows of a known graph are all known."""
    dag = source.dag if isinstance(source, Network) else source
    is_graph = isinstance(dag, Dag) or is_networkx(dag)
    if is_graph or is_oracle(source):  # how a table is read is meant for the data
        settings = _without_reading(settings)
    if is_graph:
        known = load_knowledge(settings.get("knowledge"))
        required = (*known.required, *Dag(dag).edges)
        settings = cast("Settings", {**settings, "knowledge": attrs.evolve(known, required=required)})
    request = Request.of(settings, caller="effect")
    return request, open_data(source, request)


def read_as(part: Part, data: Any, settings: Settings, nodes: Collection[Node] = ()) -> Settings:
    """Return settings with which members of a part, and other nodes, are read as when it was learned."""
    is_read = is_opened(data) or isinstance(data, Source)
    if is_read or is_oracle(data):
        return settings
    known = {name: part.settings[name] for name in KEPT_READING if name in part.settings}
    found = cast("Settings", {**known, **{name: value for name, value in settings.items() if value is not None}})
    if "discretize" not in found and "kinds" not in found:
        joined = {one.name for one in one_hot_sets(part.notes)}
        members = {*part.members, *nodes}.difference(part.earlier, joined)
        used = [one for one in part.columns if one.name in members and not one.detail.endswith(", cut")]
        kinds = {one.name: one.asked_kind for one in used}
        if kinds:
            _require_columns(part, kinds, data)
            found["kinds"] = kinds
    return found


def _require_columns(part: Part, needed: Collection[Node], data: Any) -> None:
    """Refuse a frame that lacks columns of a part; a path is not read for this."""
    try:
        there = frozenset(nodes_of(data))
    except PluginError:
        return
    gone = [node for node in needed if node not in there]
    if gone:
        whose = f"of the part around {part.target!r}"
        message = f"the table has no column {listing(gone)} {whose}; give the table that the part was learned from"
        raise DataError(message)


def _without_reading(settings: Settings) -> Settings:
    """Return the settings that do not say how a table is read."""
    return cast(
        "Settings", {name: value for name, value in settings.items() if name not in READING or name == "plugins"}
    )
