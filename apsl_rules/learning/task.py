"""What a run is about, in words that can be compared: a journal of another task is not taken up."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import attrs

from apsl_rules.data import MixedTable, Table, content_fingerprint
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs import Dag, DagWithHidden
from apsl_rules.graphs.networks import Network
from apsl_rules.learning.request import Request
from apsl_rules.learning.source import Source
from apsl_rules.names import Depth
from apsl_rules.plugins import Spec

#: Settings that change no part, or that the data and the learner say already.
_NO_MATTER = frozenset(
    {"max_tests", "max_seconds", "threads", "cache", "plugins", "learner", "knowledge", "drop", "only"}
)


def describe_task(request: Request, source: Source, spec: Spec, depth: Depth, **further: Any) -> dict[str, str]:
    """Return the data, the depth, the learner and the settings of a run, each as text or as a hash."""
    given = {name: getattr(request, name) for name in attrs.fields_dict(Request) if name not in _NO_MATTER}
    plain = {name: value for name, value in given.items() if isinstance(value, str | int | float)}
    return {
        "data": _fingerprint(source),
        "version": version("apsl_rules"),
        "depth": str(depth),
        **{name: str(value) for name, value in further.items()},
        **{name: str(value) for name, value in plain.items()},
        "learner": spec.name,
        "spec": content_fingerprint((spec, request.options or {})),
        "knowledge": content_fingerprint(request.known),
    }


def _fingerprint(source: Source) -> str:
    """Return a hash of what is learned from: rows in memory, files counted where they lie, or a graph.

    A database tells only how often each value of a column occurs. Oracles tell nothing that could be compared, and the
    journal of another could be taken for theirs.
    """
    data = source.data.dag if isinstance(source.data, Network) else source.data
    heading = getattr(source.table, "heading", None)
    if isinstance(data, Table | MixedTable | Dag | DagWithHidden):
        return content_fingerprint(data)
    if heading is not None:
        of_column = getattr(getattr(source.table, "source", None), "fingerprint", None)
        return content_fingerprint((heading, of_column(0) if of_column is not None else b""))
    message = "a journal is for tables and graphs, and this oracle cannot say whether it is the same; leave journal out"
    raise InvalidArgumentError(message)
