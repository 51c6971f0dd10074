"""The store against a plain model: sets that are copied at each step."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.rules import MarkStore
from apsl_rules.rules.vocabulary import Drop, Fact, Finding
from support.strategies import findings

SCRIPT = st.lists(
    st.tuples(findings(nodes="abc", min_size=1, max_size=3), st.integers(0, 30), st.booleans()), max_size=12
)


def held(store: MarkStore) -> set[Fact]:
    """Return all facts that a store holds."""
    return {fact for relation in store.relations.values() for fact in store.facts(relation)}


@pytest.mark.slow
@given(script=SCRIPT)
def test_no_view_ever_changes(script: list[tuple[list[Finding], int, bool]]) -> None:
    """Facts taken up, dropped and taken up again behind any older view: each view stays what it was."""
    views: list[tuple[MarkStore, set[Fact]]] = [(MarkStore(), set())]
    for found, at, dropping in script:
        store, expected = views[at % len(views)]
        after = set(expected)
        log, rows = store.continued(found)
        for one, row in zip(found, rows, strict=True):
            if dropping and one.fact in after:
                log.drop((*row[:3], Drop(one.fact, because=found[0])))
                after.remove(one.fact)
            else:
                assert bool(log.write([row])) == (one.fact not in after)
                after.add(one.fact)
        views.append((MarkStore.newest(log), after))

    for store, expected in views:
        assert held(store) == expected
        assert all(fact in store for fact in expected)
        assert len(store) == len(store.entries)


@given(findings(max_size=12))
def test_replay_adds_one_entry_at_a_time(found: list[Finding]) -> None:
    """The states of a store run from nothing to itself, each with one entry more."""
    store = MarkStore().with_reasons(found)

    states = list(store.states())

    assert [len(state) for state in states] == list(range(len(store) + 1))
    assert [state.entries[-1] for state in states[1:]] == list(store.entries)
    assert all(held(before) < held(after) for before, after in pairwise(states))
    assert held(states[-1]) == {one.fact for one in found}
