"""Many targets at once: parts that share every answer, and their union as one graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from time import monotonic
from typing import Any, Literal, Unpack

from apsl_rules.errors import Interrupted, InvalidArgumentError
from apsl_rules.learning.choose import AUTO
from apsl_rules.learning.whole_graph import Prepared, Settings, prepared
from apsl_rules.names import Depth, Node, check_depth, in_order, require_known
from apsl_rules.oracles import SharedOracle, share_memory
from apsl_rules.parts import Part, Parts
from apsl_rules.plugins import Spec, pick
from apsl_rules.stopping import Workers, interruptible


@interruptible
def learn_many(
    source: Any,
    targets: Iterable[Node] | Literal["all"],
    *,
    depth: Depth = 1,
    learner: str | Path | Spec = AUTO,
    **settings: Unpack[Settings],
) -> Parts:
    """Learn the parts around many targets, asking nothing twice.

    Parameters
    ----------
    source
        What to learn from, as for ``learn``.
    targets
        The nodes of interest, or "all": then the union is the whole graph, made of parts.
    depth, learner
        As for ``learn``.
    settings
        Further settings of ``learn``; limits hold for all parts together, ``threads`` learn that many parts at a time.
        An interrupt raises ``Interrupted``, whose ``result`` has the parts that were learned.

    Examples
    --------
    >>> from apsl_rules import known_dag
    >>> parts = learn_many(known_dag({"a": [], "b": [], "c": ["a", "b"], "d": ["c"]}), ["a", "d"])
    >>> sorted(parts["d"].arrows), sorted(parts.union.arrows)
    ([('c', 'd')], [('a', 'c'), ('c', 'd')])
    """
    check_depth(depth)
    ready = prepared(source, learner, settings)
    oracle = share_memory(ready.oracle)
    wanted = _wanted(targets, oracle.nodes)
    runner = _Runner(ready, oracle, depth)
    try:
        runner.run(wanted, threads=settings.get("threads", 1) if oracle.kept is None else 1)
    except KeyboardInterrupt as stop:
        left = len(wanted) - len(runner.parts)
        told = f"stopped at an interrupt before {left} of {len(wanted)} targets were learned"
        so_far = runner.gathered(told) if runner.parts else None
        raise Interrupted(part=getattr(stop, "part", None), result=so_far) from None
    parts = runner.parts
    if not parts:
        message = "the limits allow no part at all; allow more tests or seconds"
        raise InvalidArgumentError(message)
    left = len(wanted) - len(parts)
    stopped = next((part.incomplete for part in parts.values() if part.incomplete), None)
    if left:
        stopped = f"stopped at the limit before {left} of {len(wanted)} targets were begun"
    return runner.gathered(stopped)


def _wanted(targets: Iterable[Node] | Literal["all"], nodes: tuple[Node, ...]) -> tuple[Node, ...]:
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
        require_known(target, nodes, "target")
    return wanted


class _Runner:
    """Learns one part after the other, or several at a time, within what the limits leave."""

    def __init__(self, ready: Prepared, oracle: SharedOracle, depth: Depth) -> None:
        self._ready = ready
        self._oracle = oracle
        self._depth = depth
        self._begun = monotonic()
        self.parts: dict[Node, Part] = {}

    def run(self, targets: tuple[Node, ...], *, threads: int) -> None:
        if threads == 1 or self._ready.max_tests is not None or self._ready.max_seconds is not None:
            # One at a time, so that a limit is met at one place.
            for target in targets:
                if self._ready.is_spent(self._oracle.tests, self._begun):
                    break
                self.parts[target] = self._part(target)
            return
        with Workers(threads) as pool:
            self.parts.update(zip(targets, pool.map(self._part, targets), strict=True))

    def gathered(self, incomplete: str | None) -> Parts:
        asked = sum(part.counts.distinct for part in self.parts.values())
        ready = self._ready
        rules = ready.offer.spec.rules
        return Parts(
            self._depth,
            ready.offer.name,
            self.parts,
            asked,
            self._oracle.tests,
            tuple(self._oracle.nodes),
            pick(ready.plugins.rulebooks, rules.rulebook, "rulebook"),
            rules.conflicts,
            incomplete,
        )

    def _part(self, target: Node) -> Part:
        limits = self._ready.left(self._oracle.tests, self._begun)
        return self._ready.learned(self._oracle, target, self._depth, 1, limits)
