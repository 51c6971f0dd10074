"""Sources by name: shipped networks, network files, and whatever files the installed readers read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from apsl_rules.data import FileTable, MixedTable, Table, is_countable, is_left_in_place
from apsl_rules.data.databases import DatabaseTable, duckdb_path, is_database
from apsl_rules.data.readers import split_sheet
from apsl_rules.errors import PluginError, UnknownNameError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network, network, network_names
from apsl_rules.names import Node, nearest
from apsl_rules.plugins import Plugins


def open_source(name: str, plugins: Plugins, *, counts: str | None = None) -> Any:
    """Return what a name on the command line stands for: a network, a table of a database or the content of a file.

    A table that is counted elsewhere than in memory is left in its file.
    """
    if is_database(name):
        table = DatabaseTable(name)
        path = duckdb_path(table)
        return table if path is None else FileTable(path)
    if name in network_names():
        return network(name)
    if not name:
        message = "the name of the source is empty; give a network by name, or a file"
        raise UnknownNameError(message)
    if is_left_in_place(name) or (counts not in {None, "memory"} and is_countable(name)):
        return FileTable(name)
    for reader in plugins.readers.values():
        if split_sheet(name)[0].casefold().endswith(reader.endings):
            return reader.read(Path(name))
    endings = ", ".join(ending for one in plugins.readers.values() for ending in one.endings)
    known = f"; there are the networks {', '.join(network_names())}, and files may end in {endings}"
    hint = nearest(name, network_names()) or known
    message = f"{name!r} is neither a network nor a file that can be read{hint}"
    raise UnknownNameError(message)


def nodes_of(source: Any) -> tuple[Node, ...]:
    """Return the nodes of a network, a graph, a table, an oracle or a frame."""
    if isinstance(source, Network):
        return source.dag.nodes
    if isinstance(source, Table | MixedTable):
        return source.names
    if isinstance(source, Dag | DagWithHidden) or callable(getattr(source, "verdict", None)):
        return tuple(source.nodes)
    resolve = getattr(source, "collect_schema", None)  # polars, whose lazy frames warn when asked for their columns
    if callable(resolve):
        return tuple(resolve().names())
    columns = getattr(source, "column_names", None)  # pyarrow
    if not isinstance(columns, list):
        columns = getattr(source, "columns", None)
    if columns is None:
        message = f"a reader gave {type(source).__name__}, which has neither nodes nor columns"
        raise PluginError(message)
    return tuple(columns)
