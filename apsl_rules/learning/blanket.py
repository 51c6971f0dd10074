"""The Markov blanket of a node by itself: read from the part that ``learn`` gives, or found by a blanket finder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from apsl_rules._arguments import mapping
from apsl_rules.data import MissingRule, Target, join_target
from apsl_rules.data.counts import CountSource
from apsl_rules.errors import InvalidArgumentError, KnowledgeError
from apsl_rules.learning.request import Request
from apsl_rules.learning.run import run_once
from apsl_rules.learning.source import open_data
from apsl_rules.names import Node, in_order, require_known
from apsl_rules.neighbours import Blanket
from apsl_rules.oracles import Asker
from apsl_rules.parts import Part
from apsl_rules.plugins import FinderSettings, Plugins, TestSpec, pick
from apsl_rules.rules import Knowledge, Mark, untested

_CLASSICAL = TestSpec()


def find_blanket(
    source: Any,
    node: Target,
    *,
    finder: str | None = None,
    oracle: str | None = None,
    alpha: float | None = None,
    max_conditioning: int | Literal["none"] | None = None,
    missing: MissingRule | None = None,
    discretize: str | Mapping[Node, str] | None = None,
    counts: str | CountSource | None = None,
    knowledge: Knowledge | str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    plugins: Plugins | Iterable[object] = (),
) -> Blanket:
    """Find the parents, children and spouses of a node; spouses are kept for the child that they share.

    ``source`` and ``node`` are those of ``learn``, the target included. Without a ``finder`` the blanket is read from
    the part of depth 1 that ``learn`` gives, so that both name the same neighbours. ``finder`` asks for a classical
    algorithm instead, one of those that ``apsl finders`` lists as blanket finders; ``options`` are its own, such as
    ``{"symmetric": True}``. Without ``alpha`` and ``max_conditioning`` the part is learned with the settings of its
    learner; blanket finders take 0.01 and 3. A perfect oracle has no limit on conditioning sets. ``oracle``,
    ``missing``, ``discretize``, ``counts``, ``knowledge`` and ``plugins`` are those of ``learn``.

    >>> from apsl_rules.graphs import known_dag
    >>> found = find_blanket(known_dag({"a": [], "b": [], "c": ["a", "b"]}), "a")
    >>> found.neighbours, dict(found.spouses)
    (('c',), {'c': ('b',)})
    """
    source, node = join_target(source, node)
    further = mapping("options", options, "{'symmetric': True}")
    request = Request.of(
        {
            "oracle": oracle,
            "alpha": alpha,
            "max_conditioning": max_conditioning,
            "missing": missing,
            "discretize": discretize,
            "counts": counts,
            "knowledge": knowledge,
            "plugins": plugins,
        },
        "find_blanket",
    )
    if finder is None:
        if further:
            message = f"the option {next(iter(further))!r} is one of blanket finders; name a finder, or leave it out"
            raise InvalidArgumentError(message)
        return blanket_of(run_once(request, open_data(source, request), node, 1))
    if request.known:
        message = f"the blanket finder {finder!r} does not honour background knowledge; leave finder or knowledge out"
        raise KnowledgeError(message)
    opened = open_data(source, request)
    asker = Asker(opened.oracle(_CLASSICAL.alpha if alpha is None else alpha), origin=opened.origin)
    require_known(node, asker.nodes, "node")
    largest = max_conditioning if isinstance(max_conditioning, int) else _CLASSICAL.max_conditioning
    unlimited = asker.perfect or max_conditioning == "none"
    settings = FinderSettings(None if unlimited else largest, options=further)
    return pick(request.manager.blankets, finder, "blanket finder").make(asker, settings).blanket(node)


def blanket_of(part: Part) -> Blanket:
    """Read the blanket of its target from a part: all neighbours, and the other parents of each child.

    Parts of the learners that ``auto`` chooses hold these parents at depth 1 already; with other learners ask for a
    depth of 2.

    >>> from apsl_rules.graphs import known_dag
    >>> from apsl_rules.learning import learn
    >>> blanket_of(learn(known_dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}), "a")).members
    ('b', 'c')
    """
    if part.allows_hidden:
        message = "with hidden causes a blanket reaches beyond neighbours and spouses; take a part without them"
        raise InvalidArgumentError(message)
    around = part.neighbours_of(part.target)
    known = {*around, part.target}
    parents: dict[Node, list[Node]] = {}
    for parent, child in part.all_arrows:
        if parent not in known and (part.target, child) in part.all_arrows:
            parents.setdefault(child, []).append(parent)
    spouses = {child: in_order(parents[child]) for child in around if child in parents}
    unknown = [one for fact in part.store.facts(untested) if part.target in fact.nodes for one in fact.nodes]
    open_nodes = (one for one in unknown if one != part.target and part.mark(part.target, one) is Mark.UNKNOWN)
    return Blanket(part.target, around, spouses, in_order(open_nodes))
