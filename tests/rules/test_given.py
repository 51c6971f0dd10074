"""What is given wins: no finding puts aside a direction that a person states."""

from __future__ import annotations

from itertools import combinations, pairwise

import attrs
from hypothesis import given
from hypothesis import strategies as st

from apsl_rules.evidence import GIVEN, Evidence
from apsl_rules.rules import Finding, Mark, adjacent
from apsl_rules.rules.policies import settle
from apsl_rules.rules.rulebooks import KNOWING
from support.telling import fact, told

OPPOSED = "adjacent:a,b spouse:a,b,c spouse:b,a,d"
CYCLE = "adjacent:a,b adjacent:b,c adjacent:a,c arrow:a,b arrow:b,c arrow:c,a"


def stated(text: str) -> list[Finding]:
    """Return facts that a person gives."""
    return [attrs.evolve(one, evidence=Evidence(GIVEN)) for one in told(text)]


def test_a_given_direction_is_drawn_against_a_v_structure() -> None:
    """The V-structure's other arrow stays; the conflict has both proofs, and says which side is kept."""
    settled = settle(KNOWING, told("adjacent:a,b spouse:b,a,d") + stated("barred:b,a"), "given")
    (one,) = settled.conflicts
    assert settled.store.arrows == {("a", "b"), ("d", "a")}
    assert (one.kept, one.dropped) == ((fact("arrow:a,b"),), (fact("arrow:b,a"),))


def test_a_given_direction_decides_between_two_v_structures() -> None:
    """Where findings contradict each other as well, the given direction is drawn."""
    settled = settle(KNOWING, told(OPPOSED) + stated("barred:b,a"), "given")
    assert settled.store.mark("a", "b") is Mark.ARROW
    assert ("a", "b") in settled.store.arrows


def test_a_given_arrow_stays_where_found_ones_close_a_cycle_with_it() -> None:
    """Only the found arrows of the cycle are blocked."""
    findings = [one for one in told(CYCLE) if one.fact != fact("arrow:a,b")] + stated("arrow:a,b")
    settled = settle(KNOWING, findings, "given")
    assert settled.store.arrows == {("a", "b")}
    assert settled.store.conflicts == {frozenset("bc"), frozenset("ac")}


def test_a_required_arrow_stays_where_its_ends_were_found_apart() -> None:
    """And a pair that is given as apart stays apart, whatever was found."""
    settled = settle(KNOWING, told("gap:a,b") + stated("adjacent:a,b arrow:a,b"), "given")
    assert settled.store.mark("a", "b") is Mark.ARROW
    settled = settle(KNOWING, told("adjacent:a,b arrow:a,b") + stated("gap:a,b"), "given")
    assert settled.store.mark("a", "b") is Mark.GAP


WORDS = ("adjacent", "gap", "arrow", "spouse", "collider", "chain")


@st.composite
def findings_and_order(draw: st.DrawFn) -> tuple[list[Finding], str]:
    """Draw findings that may contradict each other, and an order of the nodes that is given."""
    nodes = draw(st.permutations("abcde"))
    words = []
    for _ in range(draw(st.integers(3, 14))):
        word = draw(st.sampled_from(WORDS))
        chosen = draw(st.permutations("abcde"))[: 2 if word in WORDS[:3] else 3]
        words.append(f"{word}:{','.join(chosen)}")
        if word != "gap":  # the edges that the finding is about
            words += [f"adjacent:{x},{y}" for x, y in pairwise(chosen)]
    order = "".join(nodes)
    barred = " ".join(f"barred:{later},{earlier}" for earlier, later in combinations(order, 2))
    return told(" ".join(words)) + stated(barred), order


@given(findings_and_order())
def test_no_drawn_direction_contradicts_what_is_given(drawn: tuple[list[Finding], str]) -> None:
    """Whatever was found, an edge between ordered nodes points along the order."""
    findings, order = drawn
    store = settle(KNOWING, findings, "given").store
    assert all(order.index(str(tail)) < order.index(str(head)) for tail, head in store.arrows)
    for one in store.facts(adjacent):
        x, y = sorted(map(str, one.nodes), key=order.index)
        assert (x, y) in store.arrows or store.mark(x, y) is Mark.CONFLICT
