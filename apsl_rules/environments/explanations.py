"""What explains that a column differs between environments: a set of its neighbours, or a change of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Protocol

import attrs

from apsl_rules.environments.change_tests import ChangeTest
from apsl_rules.names import Node

#: All subsets of so many neighbours are tried; of more, those of at most so many, and the whole set.
MOST_TOGETHER, MOST_OF_MANY = 6, 3
#: The share of a difference that is left without a member of a set for it to matter.
_MATTERS = 0.25
#: The level at which one of two neighbours differs by itself, where each does by so many nats a row given the other.
_DIFFERS, _CLEAR = 0.05, 0.01


class State(StrEnum):
    """What became of a column between environments."""

    CHANGED = "changed"
    SMALL = "changed by little"
    PASSED_ON = "passed on"
    SAME = "not changed"
    UNTESTED = "untested"


class Changes(Protocol):
    """Whoever can test whether a column is made alike in all environments."""

    def test(self, column: Node, given: Sequence[Node] = ()) -> ChangeTest:
        """Return whether a column is made alike in all environments, given others."""


@attrs.frozen
class Explanation:
    """What explains that a column differs between environments, if it does.

    The smallest set that explains a difference away has causes of the column only: the environment has no causes, and
    no node of a smallest separating set can be left out, so each lies before one of the two.

    Attributes
    ----------
    column, state
        The column, and what became of it.
    alone
        The test of the column with nothing given.
    proof
        The test that decides: with the set that explains the difference away, or the weakest of all if none does.
    sets
        How many sets were tried.
    causes
        The members of the set that explains the difference away without which a good part of it is left.
    cancels
        Whether the change cancels in the column itself, and shows in how it follows a cause.
    """

    column: Node
    state: State
    alone: ChangeTest
    proof: ChangeTest
    sets: int
    causes: tuple[Node, ...] = ()
    cancels: bool = False

    @property
    def given(self) -> tuple[Node, ...]:
        """Return the set of the test that decides."""
        return self.proof.verdict.given

    @property
    def has_changed(self) -> bool:
        """Return whether nothing explains the difference away, and it is not small."""
        return self.state is State.CHANGED


def explain(column: Node, neighbours: Sequence[Node], changes: Changes) -> Explanation:
    """Look for the smallest set of neighbours that explains away how a column differs between environments."""
    alone = weakest = changes.test(column)
    best: ChangeTest | None = None
    sets, size, is_small = 0, 0, False
    for given in _subsets(neighbours):
        if best is not None and len(given) > size:
            break
        found = changes.test(column, given)
        sets, size = sets + 1, len(given)
        if found.verdict.independent and (best is None or (found.verdict.p or 0) > (best.verdict.p or 0)):
            best = found
        if found.verdict.dependent:
            is_small = is_small or found.is_small
            if not weakest.verdict.dependent or found.nats < weakest.nats:
                weakest = found
    if best is not None:
        state = State.PASSED_ON if best.verdict.given else State.SAME
        return Explanation(column, state, alone, best, sets, tuple(_causes(column, alone, best, changes)))
    if not weakest.verdict.dependent:
        return Explanation(column, State.UNTESTED, alone, weakest, sets)
    return Explanation(column, State.SMALL if is_small else State.CHANGED, alone, weakest, sets)


def with_cancelled(
    found: Mapping[Node, Explanation],
    pairs: Iterable[tuple[Node, Node]],
    changes: Changes,
    may_cause: Callable[[Node, Node], bool],
) -> dict[Node, Explanation]:
    """Return explanations that count changes which cancel in a column, and show in its relation with a neighbour.

    Where two neighbours hardly differ, and each clearly does given the other, one of them is made differently: the one
    that cannot cause the other, or else the one that differs after all, since the other is as it was, or else the one
    of which that is true with several neighbours.
    """
    tests: dict[Node, dict[Node, ChangeTest]] = {}
    for pair in pairs:
        if all(found[node].state in (State.SAME, State.SMALL) for node in pair):
            both = [changes.test(one, [other]) for one, other in (pair, pair[::-1])]
            if all(test.verdict.dependent and test.nats >= _CLEAR for test in both):
                for one, other, test in zip(pair, pair[::-1], both, strict=True):
                    tests.setdefault(one, {})[other] = test

    def signs(node: Node, other: Node) -> tuple[bool, bool, bool]:
        p = found[node].alone.verdict.p or 0.0
        return not may_cause(node, other), p <= _DIFFERS, len(tests[node]) > 1

    shown = {
        node: max(
            (test for other, test in some.items() if signs(node, other) > signs(other, node)), key=_nats, default=None
        )
        for node, some in tests.items()
    }
    return {
        node: one
        if (proof := shown.get(node)) is None
        else attrs.evolve(one, state=State.CHANGED, proof=proof, causes=proof.verdict.given, cancels=True)
        for node, one in found.items()
    }


def _nats(test: ChangeTest) -> float:
    return test.nats


def _causes(column: Node, alone: ChangeTest, found: ChangeTest, changes: Changes) -> Iterator[Node]:
    """Give the members of a set that matter; one that only mends what chance left is no sure cause."""
    given = found.verdict.given
    for node in given:
        without = changes.test(column, [one for one in given if one != node])
        if without.verdict.dependent and without.nats >= _MATTERS * alone.nats:
            yield node


def _subsets(nodes: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Give subsets by size, the smallest first."""
    most = len(nodes) if len(nodes) <= MOST_TOGETHER else MOST_OF_MANY
    for size in range(most + 1):
        yield from combinations(nodes, size)
    if most < len(nodes):
        yield tuple(nodes)
