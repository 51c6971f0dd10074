"""Learn any part of a Bayesian-network structure, every arrow with its evidence.

The public names are imported when they are first used, so that ``import apsl_rules`` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apsl_rules.attribution.run import moved
    from apsl_rules.checking.run import check
    from apsl_rules.data import table
    from apsl_rules.effects.cause_tables import causes
    from apsl_rules.effects.estimate import effect
    from apsl_rules.errors import ApslError, Interrupted
    from apsl_rules.evaluation.scoring import score
    from apsl_rules.graphs.dag import Dag
    from apsl_rules.graphs.networks.library import network
    from apsl_rules.knowledge import Knowledge
    from apsl_rules.learning.api import blanket, compare, learn, learn_graph
    from apsl_rules.learning.describing import describe
    from apsl_rules.learning.many import learn_many, stability
    from apsl_rules.parts.many_parts import load
    from apsl_rules.parts.part import Part
    from apsl_rules.plugins.hookspecs import hookimpl
    from apsl_rules.plugins.manager import register

__all__ = [
    "ApslError",
    "Dag",
    "Interrupted",
    "Knowledge",
    "Part",
    "blanket",
    "causes",
    "check",
    "compare",
    "describe",
    "effect",
    "hookimpl",
    "learn",
    "learn_graph",
    "learn_many",
    "load",
    "moved",
    "network",
    "register",
    "score",
    "stability",
    "table",
]

_HOMES = {
    "ApslError": "errors",
    "Dag": "graphs.dag",
    "Interrupted": "errors",
    "Knowledge": "knowledge",
    "Part": "parts.part",
    "blanket": "learning.api",
    "causes": "effects.cause_tables",
    "check": "checking.run",
    "compare": "learning.api",
    "describe": "learning.describing",
    "effect": "effects.estimate",
    "hookimpl": "plugins.hookspecs",
    "learn": "learning.api",
    "learn_graph": "learning.api",
    "learn_many": "learning.many",
    "load": "parts.many_parts",
    "moved": "attribution.run",
    "network": "graphs.networks.library",
    "register": "plugins.manager",
    "score": "evaluation.scoring",
    "stability": "learning.many",
    "table": "data",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        return import_module(f"{__name__}._renamed").renamed_function(name)
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
