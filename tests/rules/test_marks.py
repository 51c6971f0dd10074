"""The immutable store: marks, views, sharing, and writers that do not meet."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from types import FrameType
from typing import Any

import attrs
import pytest

from apsl_rules.rules import log as log_module
from apsl_rules.rules.engine import Mark, MarkStore, compile_rulebook, extend
from apsl_rules.rules.log import Log, Names
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import RELATIONS, Drop, Finding, Relation, by_name
from support.graphs import arrows_of
from support.telling import fact, told

MIXED = "adjacent:a,b adjacent:b,c arrow:b,c gap:a,c adjacent:c,d conflict:c,d arrow:c,d settled:e"


def store_of(relations: Iterable[Relation], entries: Sequence[Any]) -> MarkStore:
    """Return a store that holds entries written elsewhere, drops among them."""
    log = Log(by_name(relations), Names(node for one in entries for node in one.fact.nodes))
    for row in map(log.row, entries):
        log.drop(row) if isinstance(row[3], Drop) else log.write([row])
    return MarkStore.newest(log)


def store(text: str) -> MarkStore:
    """Make a store of findings."""
    return MarkStore().with_reasons(told(text))


@pytest.mark.parametrize(
    ("pair", "mark"),
    [
        ("ab", Mark.LINE),
        ("bc", Mark.ARROW),
        ("ac", Mark.GAP),
        ("cd", Mark.CONFLICT),
        ("ae", Mark.GAP),
        ("ad", "unknown"),
    ],
)
def test_a_pair_has_one_mark(pair: str, mark: str) -> None:
    """Conflict before arrow before line before gap; a settled node has gaps to all that it is not adjacent to."""
    marks = store(MIXED)

    assert marks.mark(*pair) == mark
    assert marks.mark(*reversed(pair)) == mark


def test_arrows_and_lines_leave_out_pairs_in_conflict() -> None:
    """A pair in conflict has no direction and is not merely open."""
    marks = store(MIXED)

    assert marks.arrows == arrows_of("b->c")
    assert marks.lines == {frozenset("ab")}
    assert marks.conflicts == {frozenset("cd")}
    assert marks.has_arrow("b", "c")
    assert not marks.has_arrow("c", "b")
    assert marks.neighbours_of("c") == ("b", "d")
    assert marks.neighbours_of("nobody") == ()
    assert repr(marks) == "MarkStore(arrows=1, lines=1, entries=8)"


def test_a_fact_keeps_its_first_reason() -> None:
    """Told again with other evidence, a fact stays as it was and costs nothing."""
    first, again = told("adjacent:a,b", p=0.001)[0], told("adjacent:a,b", p=0.5)[0]

    marks = MarkStore().with_reasons([first, again])

    assert marks.reason(first.fact) == first
    assert len(marks) == 1


def test_a_store_cannot_be_changed() -> None:
    """It is a frozen value, and its longer successors leave it alone."""
    before = store("adjacent:a,b")
    changed: Any = before

    after = before.with_reasons(told("arrow:a,b"))

    assert before.mark("a", "b") is Mark.LINE
    assert after.mark("a", "b") is Mark.ARROW
    assert fact("arrow:a,b") not in before
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        changed.arrows = after.arrows


def test_writing_behind_an_older_view_branches_off() -> None:
    """Two successors of one store hold different facts, and each can go on."""
    base = store("adjacent:a,b")
    one = base.with_reasons(told("arrow:a,b"))

    other = base.with_reasons(told("arrow:b,a")).with_reasons(told("gap:a,c"))

    assert one.arrows == arrows_of("a->b")
    assert other.arrows == arrows_of("b->a")
    assert base.arrows == frozenset()
    assert one.with_reasons(told("gap:a,d")).arrows == one.arrows


def test_all_states_share_one_journal() -> None:
    """Replay costs a view for each state and copies nothing."""
    marks = store(MIXED)

    states = list(marks.states())

    assert all(state.relations is marks.relations for state in states)
    assert [len(state) for state in states] == list(range(len(marks) + 1))
    assert states[3].arrows == arrows_of("b->c")
    assert states[-1].conflicts == marks.conflicts


def test_a_dropped_fact_can_be_taken_up_again() -> None:
    """Each view knows whether the fact held then, and for which reason."""
    first, second = told("arrow:a,b", p=0.1)[0], told("arrow:a,b", p=0.2)[0]
    (against,) = told("arrow:b,a")
    marks = store_of(RELATIONS, [first, Drop(first.fact, against), against, second])

    states = list(marks.states())

    assert [first.fact in state for state in states] == [False, True, False, False, True]
    assert states[1].reason(first.fact) == first
    assert marks.reason(first.fact) == second
    assert marks.reason_before(first.fact, 3) == (0, first)
    assert states[2].reason_before(first.fact, 9) == (0, first)


def test_a_fact_that_was_not_told_by_then_has_no_reason() -> None:
    """Asking for the reason of a fact that is told later, or never, is a mistake of the caller."""
    older = store("adjacent:a,b")
    older.with_reasons(told("arrow:a,b"))

    for unknown in ("arrow:a,b", "adjacent:a,c"):
        with pytest.raises(KeyError):
            older.reason(fact(unknown))


def test_a_journal_can_be_read_back() -> None:
    """A store made from the entries of another holds the same facts for the same reasons."""
    marks = store(MIXED)

    copy = store_of(marks.relations.values(), list(marks.entries))

    assert copy.entries == marks.entries
    assert (copy.arrows, copy.lines, copy.conflicts) == (marks.arrows, marks.lines, marks.conflicts)


def test_two_writers_do_not_meet() -> None:
    """Threads that extend one store at the same moment each get their own successor, whole and right."""
    base = extend(compile_rulebook(SOUND), MarkStore(), told("collider:a,b,z adjacent:a,b adjacent:b,z")).store
    barrier = Barrier(4)

    def is_right(number: int) -> bool:
        program, marks = compile_rulebook(SOUND), base
        way = ["a", "b", *(f"n{number}.{step}" for step in range(60))]
        barrier.wait()
        for x, y, z in zip(way, way[1:], way[2:], strict=False):
            marks = extend(program, marks, told(f"adjacent:{y},{z} chain:{x},{y},{z}")).store
        return marks.arrows == base.arrows | set(pairwise(way))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(is_right, range(4)))
    assert base.arrows == arrows_of("a->b z->b")


@pytest.mark.parametrize("drops", [False, True])
def test_a_view_is_right_at_every_line_of_a_writer(drops: bool) -> None:
    """Whenever a thread may be interrupted while it writes, readers of older states see what they always saw."""
    (one,) = told("arrow:a,b")
    older = store("arrow:a,b")
    looks: list[bool] = []

    def look(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        del event, argument
        if frame.f_code.co_filename != log_module.__file__:
            return None
        looks.append(older.reason(one.fact) == one and older.arrows == arrows_of("a->b"))
        looks.append(older.neighbours_of("a") == ("b",))
        return look

    entries: list[Finding | Drop] = [*told("arrow:c,d arrow:e,f gap:a,c")]
    if drops:
        entries = [Drop(one.fact, one), one, *told("arrow:c,d")]
    log, _ = older.continued(entries)  # with numbers for all labels
    log, rows = MarkStore.newest(log).continued(entries)
    older = next(state for state in MarkStore.newest(log).states() if len(state) == 1)
    tracing = sys.gettrace()
    sys.settrace(look)
    try:
        for row in rows:
            log.drop(row) if isinstance(row[3], Drop) else log.write([row])
    finally:
        sys.settrace(tracing)

    assert len(log) == 4
    assert len(looks) > 20
    assert all(looks)


def test_a_label_that_comes_late_leaves_older_states_as_they_were() -> None:
    """Its name may stand before all others, so that all numbers change in the newer state."""
    older = store("adjacent:m,z arrow:m,z chain:m,z,x")

    newer = older.with_reasons(told("adjacent:a,m"))

    assert list(newer.entries) == [*older.entries, *told("adjacent:a,m")]
    assert newer.neighbours_of("m") == ("a", "z")
    assert older.neighbours_of("m") == ("z",)
    assert fact("adjacent:a,m") not in older


def test_any_number_of_labels_may_come_late() -> None:
    """Each one between the last two, until there is no room left: the numbers change, and nothing else does."""
    names = ["a", "z", *(f"m{number:03}" for number in range(150))]
    state = store("adjacent:a,z")
    older = state

    for name in names[2:]:
        state = state.with_reasons(told(f"adjacent:a,{name} arrow:{name},z"))

    assert state.neighbours_of("a") == (*names[2:], "z")
    assert [entry.fact.nodes for entry in state.entries][1::2] == [("a", name) for name in names[2:]]
    assert [*older.entries] == told("adjacent:a,z")
