"""Algorithm 1 to the letter: its errors, its traces and its visits, and how ``apsl`` does on the same tasks."""

from __future__ import annotations

import pytest

from apsl_rules import learn, network
from support.alarm import NUMBER, new_arrows, numbered
from support.grading import is_exact
from support.graphs import MICRO, MICRO_CPDAG, arrows_of

#: What Algorithm 1 returns at depth 1, with its error in words.
ERRORS = {
    "N1": ("t", "a->t c->t t->b"),  # t->b, but b->t is compelled: R1 on a skeleton known in part
    "N2": ("t", "a->t b->t t->z"),  # t->z, but no data can orient t-z
    "N3": ("T", "T->A T->X"),  # an edge too many: neighbours without symmetry
    "N5": ("2", "0->2 1->2 2->5"),  # 2->5, but 5->2 is compelled: separators sought on one side
    "N6": ("A", "X->A W->A A->Z"),  # A->Z, but Z->A is compelled
}


@pytest.mark.parametrize("name", ERRORS)
def test_the_published_algorithm_errs_as_listed(name: str) -> None:
    """With perfect answers it returns exactly the listed arrows and stops after one visit; ``apsl`` is exact."""
    target, expected = ERRORS[name]

    published = learn(MICRO[name], target, learner="apsl-paper")
    sound = learn(MICRO[name], target)

    assert published.arrows == arrows_of(expected)
    assert published.lines == frozenset()
    assert published.visited == (target,)
    assert published.order_dependent
    assert not is_exact(published, MICRO_CPDAG[name])
    assert is_exact(sound, MICRO_CPDAG[name])
    assert not sound.order_dependent


@pytest.mark.parametrize("name", ["N1", "N2", "N5", "N6"])
def test_exact_blankets_do_not_save_the_published_algorithm(name: str) -> None:
    """With symmetric neighbours it makes the same errors, except for the extra edge of N3."""
    target, expected = ERRORS[name]

    part = learn(MICRO[name], target, learner="apsl-paper-exact")

    assert part.arrows == arrows_of(expected)


def test_exact_blankets_cure_the_extra_edge() -> None:
    """On N3 symmetric neighbours are enough."""
    part = learn(MICRO["N3"], "T", learner="apsl-paper-exact")

    assert is_exact(part, MICRO_CPDAG["N3"])


def test_the_trace_of_node_10() -> None:
    """ALARM, target 10, depth 2: the visits of the paper, at each visit its arrows, and 34-35 open until the sixth."""
    part = learn(network("alarm"), "HREKG", depth=2, learner="apsl-paper")
    states = [list(part.states())[visit.end] for visit in part.visits]

    assert [NUMBER[node] for node in part.visited] == [10, 11, 35, 12, 9, 34]
    assert part.arrows == numbered("11->10 35->10 11->12 35->12 35->9 35->36 34->35")
    assert part.lines == frozenset()
    assert part.outside[0] == numbered("8->9 7->36 13->34 15->34 21->34 33->34")
    assert new_arrows(part) == [
        numbered("11->10 35->10"),
        numbered("11->12 35->12"),
        numbered("8->9 35->9 7->36 35->36"),
        set(),
        set(),
        numbered("34->35 13->34 15->34 21->34 33->34"),
    ]
    line = frozenset(("CATECHOL", "HR"))
    assert [line in state.lines for state in states] == [False, False, True, True, True, False]


def test_the_trace_of_node_26() -> None:
    """ALARM, target 26, depth 2, with the exact blankets that the paper's example assumes."""
    part = learn(network("alarm"), "PRESS", depth=2, learner="apsl-paper-exact")

    assert [NUMBER[node] for node in part.visited] == [26, 17, 25, 30, 31]
    assert new_arrows(part) == [
        numbered("17->26 25->26 30->26"),
        numbered("17->31 25->31 30->31"),
        numbered("25->24 23->24"),
        numbered("27->30 29->30"),
        numbered("31->16 33->16 31->18 31->32 25->18 25->32"),
    ]
    assert part.lines == frozenset()


def test_one_open_line_makes_the_published_algorithm_visit_everything() -> None:
    """ALARM, HISTORY, depth 1: 37 visits by layers and 2 along lines, for the same line."""
    published = learn(network("alarm"), "HISTORY", learner="apsl-paper")
    sound = learn(network("alarm"), "HISTORY")

    assert len(published.visited) == 37
    assert sound.visited == ("HISTORY", "LVFAILURE")
    assert published.lines == sound.lines == {frozenset(("HISTORY", "LVFAILURE"))}
