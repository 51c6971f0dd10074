"""The Markov blanket of a node by itself, without arrows, by any of the blanket finders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apsl_rules.blanket import Blanket
from apsl_rules.choosing import gathered, oracle_for
from apsl_rules.names import Node, require_known
from apsl_rules.offers import FinderSettings, OracleSettings
from apsl_rules.plugins import Plugins, pick
from apsl_rules.remembering import RememberingOracle


def find_blanket(
    source: Any,
    node: Node,
    *,
    finder: str = "hiton-mb",
    oracle: str | None = None,
    alpha: float = 0.01,
    max_conditioning: int | None = 3,
    options: Mapping[str, Any] | None = None,
    plugins: Plugins | Iterable[object] = (),
) -> Blanket:
    """Find the parents, children and spouses of a node; spouses are kept for the child that they share.

    ``finder`` is one of those that ``apsl finders`` lists as blanket finders, and ``options`` are its own, such as
    ``{"symmetric": True}``. A perfect oracle has no limit on conditioning sets.

    >>> from apsl_rules.dag import known_dag
    >>> found = find_blanket(known_dag({"a": [], "b": [], "c": ["a", "b"]}), "a")
    >>> found.neighbours, dict(found.spouses)
    (('c',), {'c': ('b',)})
    """
    manager = gathered(plugins)
    made, origin = oracle_for(source, oracle, OracleSettings(alpha), manager)
    asker = RememberingOracle(made, origin=origin)
    require_known(node, asker.nodes, "node")
    settings = FinderSettings(None if asker.perfect else max_conditioning, options=dict(options or {}))
    return pick(manager.blankets, finder, "blanket finder").make(asker, settings).blanket(node)
