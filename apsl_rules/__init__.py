"""Learn any part of a Bayesian-network structure, every arrow with its proof.

The public names are imported when they are first used, so that ``import apsl_rules`` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apsl_rules.blanket_finding import find_blanket
    from apsl_rules.comparing import compare
    from apsl_rules.dag import known_dag
    from apsl_rules.data import table
    from apsl_rules.errors import Interrupted
    from apsl_rules.graph_learning import learn_graph
    from apsl_rules.hookspecs import hookimpl
    from apsl_rules.knowledge import Knowledge
    from apsl_rules.learning import learn
    from apsl_rules.many import learn_many
    from apsl_rules.metrics import score
    from apsl_rules.networks import network
    from apsl_rules.part import Part
    from apsl_rules.partfile import load_part
    from apsl_rules.plugins import register
    from apsl_rules.repeated_learning import stability

__all__ = [
    "Interrupted",
    "Knowledge",
    "Part",
    "compare",
    "find_blanket",
    "hookimpl",
    "known_dag",
    "learn",
    "learn_graph",
    "learn_many",
    "load_part",
    "network",
    "register",
    "score",
    "stability",
    "table",
]

_HOMES = {
    "Interrupted": "errors",
    "Knowledge": "knowledge",
    "Part": "part",
    "compare": "comparing",
    "find_blanket": "blanket_finding",
    "hookimpl": "hookspecs",
    "known_dag": "dag",
    "learn": "learning",
    "learn_graph": "graph_learning",
    "learn_many": "many",
    "load_part": "partfile",
    "network": "networks",
    "register": "plugins",
    "score": "metrics",
    "stability": "repeated_learning",
    "table": "data",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
