"""Old names, each with what it is called now: they warn for one release, and go with the next."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import partial, reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

#: The release in which the old names go.
_GONE_WITH = "0.3"
#: Old functions of the package: what to write instead, and where that is.
FUNCTIONS: Mapping[str, tuple[str, str, str]] = {
    "dry_run": ("apsl_rules.learning.dry_run", "learning", "dry_run"),
    "find_blanket": ("blanket", "learning", "blanket"),
    "known_dag": ("Dag", "_renamed", "known_dag"),
    "load_graph": ("load", "parts", "load_graph"),
    "load_part": ("load", "parts", "load_part"),
    "load_parts": ("load", "parts", "load_parts"),
    "show_progress": ("apsl_rules.learning.show_progress", "learning", "show_progress"),
}
_TAKES = {"to": "format", "to_frame": ""}
#: Old methods of results: the method that there is now, and the format that it is given.
METHODS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("edges_table", "to_pandas"), ("to_frame", ())),
    "export": ("to", ()),
    **{
        f"to_{name.replace('-', '_')}": ("to", (name,))
        for name in (
            *("adjacency", "bif", "bnlearn", "causallearn", "dagitty", "dot", "graph-json", "graphml", "mermaid"),
            *("paper-matrix", "pcalg", "pgmpy", "tetrad"),
        )
    },
}


def renamed_function(name: str) -> Any:
    """Return what an old name of the package stands for, with a warning; refuse any other name."""
    if name not in FUNCTIONS:
        message = f"module 'apsl_rules' has no attribute {name!r}"
        raise AttributeError(message)
    new, room, inside = FUNCTIONS[name]
    _warn(f"apsl_rules.{name}", new)
    return getattr(import_module(f"apsl_rules.{room}"), inside)


def known_dag(source: object, *, hidden: Iterable[Any] | None = None) -> Any:
    """Make a known graph, as ``Dag(source)`` and ``Dag(source).hiding(...)`` do now."""
    from apsl_rules.graphs import Dag, hide

    return Dag(source) if hidden is None else hide(Dag(source), hidden)


#: Old properties of parts, and how the ledger has them.
PROPERTIES: Mapping[str, str] = {
    "all_conflicts": "ledger.settled.conflicts",
    "order_dependent": "ledger.order_dependent",
    "rule_use": "ledger.rule_use()",
}


class OldMethods:
    """A result that still knows the old names of its methods and properties."""

    __slots__ = ()

    if not TYPE_CHECKING:  # a type checker refuses them

        def __getattr__(self, name: str) -> Any:
            if name in PROPERTIES and hasattr(type(self), "history"):
                _warn(f"{type(self).__name__}.{name}", PROPERTIES[name])
                value = reduce(getattr, PROPERTIES[name].removesuffix("()").split("."), self)
                return value() if callable(value) else value
            if name not in METHODS:
                message = f"{type(self).__name__!r} object has no attribute {name!r}"
                raise AttributeError(message)
            new, given = METHODS[name]
            method = partial(getattr(type(self), new), self, *given)
            _warn(f"{type(self).__name__}.{name}", f"{new}({', '.join(map(repr, given)) or _TAKES[new]})")
            return method


def _warn(old: str, new: str) -> None:
    message = f"{old} is now {new}; the old name goes with {_GONE_WITH}"
    warnings.warn(message, FutureWarning, stacklevel=3)
