"""Many targets at once: parts that share every answer, and their union as one graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Literal, Unpack

from apsl_rules._arguments import demand, spelt
from apsl_rules.data.counts import CachedCounts
from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.budget import Budget
from apsl_rules.learning.choose import choose_learner
from apsl_rules.learning.progress import with_bar
from apsl_rules.learning.request import Request, Settings
from apsl_rules.learning.run import require_target, run_once
from apsl_rules.learning.source import Source, open_data
from apsl_rules.names import Depth, Node, check_depth, in_order
from apsl_rules.oracles import SharedOracle, share_memory
from apsl_rules.parts import Part, Parts
from apsl_rules.plugins import LearnerOffer, pick
from apsl_rules.stopping import Workers, interruptible


@interruptible
@with_bar("parts learned")
def learn_many(
    source: Any,
    targets: Iterable[Node] | Literal["all"],
    *,
    depth: Depth = 1,
    progress: Callable[[int, int], None] | None = None,
    **settings: Unpack[Settings],
) -> Parts:
    """Learn the parts around many targets, asking nothing twice.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    targets
        The nodes of interest, or "all": then the union is the whole graph, made of parts.
    depth
        As for ``learn``.
    progress
        A function that is told the number of parts learned, and of all.
    settings
        The settings of ``learn``; limits hold for all parts together, ``threads`` learn that many parts at a time.
        An interrupt raises ``Interrupted``, whose ``result`` has the parts that were learned.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> parts = learn_many(known_dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}), ["a", "d"])
    >>> sorted(parts["d"].arrows), sorted(parts.union.arrows)
    ([('c', 'd')], [('a', 'c'), ('c', 'd')])
    """
    check_depth(depth)
    known = progress is None or callable(progress)
    demand(known, f"progress is {spelt(progress)}; give a function that takes the parts learned and of all")
    request = Request.of(settings, "learn_many")
    opened = open_data(source, request)
    offer, _ = choose_learner(request, opened.gives)
    oracle = share_memory(opened.oracle(offer.spec.tests.alpha, 1))
    wanted = _check_targets(targets, oracle.nodes, opened)
    parts: dict[Node, Part] = {}
    stopped: str | None = None
    try:
        _learn_all(request, opened, oracle, targets=wanted, depth=depth, parts=parts, progress=progress)
    except KeyboardInterrupt as stop:
        told = f"stopped at an interrupt before {len(wanted) - len(parts)} of {len(wanted)} targets were learned"
        so_far = _gather(request, offer, oracle, depth=depth, parts=parts, incomplete=told) if parts else None
        raise Interrupted(part=getattr(stop, "part", None), result=so_far) from None
    if not parts:
        message = "the limits allow no part at all; allow more tests or seconds"
        raise InvalidArgumentError(message)
    if len(parts) < len(wanted):
        stopped = f"stopped at the limit before {len(wanted) - len(parts)} of {len(wanted)} targets were begun"
    else:
        stopped = next((part.incomplete for part in parts.values() if part.incomplete), None)
    return _gather(request, offer, oracle, depth=depth, parts=parts, incomplete=stopped)


def _learn_all(
    request: Request,
    source: Source,
    oracle: SharedOracle,
    *,
    targets: tuple[Node, ...],
    depth: Depth,
    parts: dict[Node, Part],
    progress: Callable[[int, int], None] | None,
) -> None:
    """Learn one part after the other, or several at a time, within what the limits leave."""
    budget = Budget.of(request)

    def learn_one(target: Node) -> Part:
        return run_once(budget.left(request, oracle.tests), source, target, depth, oracle=oracle)

    def keep(target: Node, part: Part) -> None:
        parts[target] = part
        if progress is not None:
            progress(len(parts), len(targets))

    # One at a time where a limit is to be met at one place, or rows are counted elsewhere in rounds.
    if request.threads == 1 or request.is_limited or isinstance(source.table, CachedCounts):
        for target in targets:
            if budget.is_spent(oracle.tests):
                break
            keep(target, learn_one(target))
        return
    with Workers(request.threads) as pool:
        for target, part in zip(targets, pool.map(learn_one, targets), strict=True):
            keep(target, part)


def _gather(
    request: Request,
    offer: LearnerOffer,
    oracle: SharedOracle,
    *,
    depth: Depth,
    parts: dict[Node, Part],
    incomplete: str | None,
) -> Parts:
    rules = offer.spec.rules
    return Parts(
        depth,
        offer.name,
        parts,
        sum(part.counts.distinct for part in parts.values()),
        oracle.tests,
        tuple(oracle.nodes),
        pick(request.manager.rulebooks, rules.rulebook, "rulebook"),
        rules.conflicts,
        incomplete,
    )


def _check_targets(
    targets: Iterable[Node] | Literal["all"], nodes: tuple[Node, ...], source: Source
) -> tuple[Node, ...]:
    """Return the targets by name, each once and each a node."""
    if isinstance(targets, str):
        if targets != "all":
            message = f"targets is {targets!r}; give a list of nodes, such as [{targets!r}], or 'all'"
            raise InvalidArgumentError(message)
        return in_order(nodes)
    targets = list(targets) if isinstance(targets, Iterable) else [[]]
    if not all(isinstance(target, Hashable) for target in targets):
        message = "targets must be a list of nodes, such as ['A', 'B'], or 'all'"
        raise InvalidArgumentError(message)
    wanted = in_order(set(targets))
    if not wanted:
        message = "there are no targets; give a list of nodes, or 'all'"
        raise InvalidArgumentError(message)
    for target in wanted:
        require_target(target, nodes, source)
    return wanted
