"""Learn any part of a Bayesian-network structure, every arrow with its proof.

The public names are imported when they are first used, so that ``import apsl_rules`` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apsl_rules.data import table
    from apsl_rules.effects.cause_tables import causes
    from apsl_rules.effects.estimate import effect
    from apsl_rules.errors import Interrupted
    from apsl_rules.evaluation.scoring import score
    from apsl_rules.graphs.dag import known_dag
    from apsl_rules.graphs.networks.library import network
    from apsl_rules.knowledge import Knowledge
    from apsl_rules.learning.api import compare, dry_run, find_blanket, learn, learn_graph
    from apsl_rules.learning.many import learn_many
    from apsl_rules.learning.progress import show_progress
    from apsl_rules.learning.resampling import stability
    from apsl_rules.parts.file import load_part
    from apsl_rules.parts.graph import load_graph
    from apsl_rules.parts.many_parts import load_parts
    from apsl_rules.parts.part import Part
    from apsl_rules.plugins.hookspecs import hookimpl
    from apsl_rules.plugins.manager import register

__all__ = [
    "Interrupted",
    "Knowledge",
    "Part",
    "causes",
    "compare",
    "dry_run",
    "effect",
    "find_blanket",
    "hookimpl",
    "known_dag",
    "learn",
    "learn_graph",
    "learn_many",
    "load_graph",
    "load_part",
    "load_parts",
    "network",
    "register",
    "score",
    "show_progress",
    "stability",
    "table",
]

_HOMES = {
    "Interrupted": "errors",
    "Knowledge": "knowledge",
    "Part": "parts.part",
    "causes": "effects.cause_tables",
    "compare": "learning.api",
    "dry_run": "learning.api",
    "effect": "effects.estimate",
    "find_blanket": "learning.api",
    "hookimpl": "plugins.hookspecs",
    "known_dag": "graphs.dag",
    "learn": "learning.api",
    "learn_graph": "learning.api",
    "learn_many": "learning.many",
    "load_graph": "parts.graph",
    "load_part": "parts.file",
    "load_parts": "parts.many_parts",
    "network": "graphs.networks.library",
    "register": "plugins.manager",
    "score": "evaluation.scoring",
    "show_progress": "learning.progress",
    "stability": "learning.resampling",
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
