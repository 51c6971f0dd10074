"""The rules that orient edges, each on the smallest graph that shows it."""

from __future__ import annotations

import pytest

from apsl_published.plugin import PAPER
from apsl_rules.names import Node
from apsl_rules.rules import ledger
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.rulebooks import KNOWING, SOUND
from apsl_rules.rules.vocabulary import Rulebook
from support.graphs import arrows_of
from support.telling import told

CHAIN = "arrow:a,b adjacent:a,b adjacent:b,c adjacent:c,d chain:a,b,c chain:b,c,d"
TRIANGLE = "arrow:a,b arrow:b,c adjacent:a,b adjacent:b,c adjacent:a,c"
KITE = "collider:a,t,c adjacent:a,t adjacent:c,t adjacent:b,t adjacent:a,b adjacent:b,c chain:a,b,c"
R4 = "arrow:d,c arrow:c,b adjacent:d,c adjacent:c,b adjacent:a,b adjacent:a,c adjacent:a,d chain:b,a,d"


def orient(rulebook: Rulebook, text: str) -> frozenset[tuple[Node, Node]]:
    """Return all arrows that follow from findings."""
    program = compile_rulebook(rulebook)
    return extend(program, program.start(), told(text)).store.arrows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("spouse:a,b,c", "a->b c->b", id="Step 1"),
        pytest.param("collider:x,a,y", "x->a y->a", id="Step 2"),
        pytest.param(CHAIN, "a->b b->c c->d", id="R1 along a chain"),
        pytest.param(TRIANGLE, "a->b b->c a->c", id="R2 in a triangle"),
        pytest.param(KITE, "a->t c->t b->t", id="R3 in a kite"),
    ],
)
def test_each_rule_orients_what_it_should(text: str, expected: str) -> None:
    """Findings in, exactly the expected arrows out."""
    assert orient(SOUND, text) == arrows_of(expected)


def test_r4_orients_what_knowledge_closes() -> None:
    """With arrows known from outside, a line that would close a way round is oriented; without R4 it stays."""
    assert orient(KNOWING, R4) == arrows_of("d->c c->b a->b")
    assert orient(SOUND, R4) == arrows_of("d->c c->b")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("arrow:a,b adjacent:a,b adjacent:b,c", id="R1: nobody looked whether a and c are adjacent"),
        pytest.param("arrow:a,b adjacent:a,b adjacent:b,c gap:a,c", id="R1: b may be a collider"),
        pytest.param("arrow:a,b adjacent:a,b chain:a,b,c", id="R1: b and c are not adjacent"),
    ],
)
def test_what_is_not_known_makes_no_rule_fire(text: str) -> None:
    """An edge that nobody has seen is not an edge that is absent."""
    assert orient(SOUND, text) == arrows_of("a->b")


def test_a_kite_without_its_chain_stays_open() -> None:
    """R3 needs to know that the middle of the fork is no collider."""
    assert orient(SOUND, KITE.replace("chain:a,b,c", "")) == arrows_of("a->t c->t")


@pytest.mark.parametrize(("text", "expected"), [(CHAIN, "a->b b->c c->d"), (TRIANGLE, "a->b b->c a->c")])
def test_the_literal_rules_agree_where_all_is_known(text: str, expected: str) -> None:
    """On a graph that is drawn completely the paper's reading gives the same arrows."""
    run = ledger(PAPER, "last")
    run = run.with_findings(told(text))

    assert run.history.arrows == arrows_of(expected)


def test_the_literal_rules_take_an_unseen_edge_for_none() -> None:
    """The paper's R1 fires where a and c may well be adjacent."""
    run = ledger(PAPER, "last")
    run = run.with_findings(told("arrow:a,b adjacent:a,b adjacent:b,c"))

    assert run.history.arrows == arrows_of("a->b b->c")
    after = run.with_findings(told("adjacent:a,c"))
    assert [firing.rule for firing in after.history.firings(len(run.history))] == ["Meek-R2"]
