"""Results are values: they can be pickled and copied, and a copy is equal to what it was made of and tells the same."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import combinations
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, Part, blanket, compare, learn, learn_graph, learn_many, network
from apsl_rules import stability as learn_again
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.evidence.evidence import Evidence
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.sklearn import PartSelector
from apsl_rules.names import Node
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.plugins.manager import installed
from apsl_rules.rules import POLICIES, Policy, ledger
from apsl_rules.rules.engine import MarkStore
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import Finding, adjacent, collider
from support.contradictory import Contradictory

ASIA = sample(network("asia"), 1000, seed=5)
FRAME = pd.DataFrame(dict(zip(ASIA.names, ASIA.codes, strict=True)))
NUMBERS = FRAME.assign(
    **{name: FRAME[name] + np.random.default_rng(3).normal(size=1000) / 3 for name in ("xray", "dysp")}
)


def pickled(one: Any) -> Any:
    """Return a copy that went through bytes."""
    return pickle.loads(pickle.dumps(one))  # noqa: S301 - our own bytes


COPIES = pytest.mark.parametrize("copied", [pickled, copy.deepcopy, copy.copy])


def reasons(part: Part) -> dict[tuple[Node, Node], str]:
    """Return what a part says of each pair of nodes."""
    said = {}
    for x, y in combinations(part.nodes, 2):
        try:
            said[x, y] = str(part.why(x, y))
        except InvalidArgumentError as error:
            said[x, y] = str(error)
    return said


def assert_same(again: Part, part: Part) -> None:
    """See that a copy of a part is equal to it, replays, proves and is written as it is."""
    assert again == part
    assert hash(again) == hash(part)
    assert again is not part
    assert reasons(again) == reasons(part)
    assert (again.trace, again.findings) == (part.trace, part.findings)
    assert list(again.states()) == list(part.states())
    assert [{*state.arrows} for state in again.states()] == [{*state.arrows} for state in part.states()]
    assert part_json(again) == part_json(part)


@COPIES
@pytest.mark.parametrize("learner", sorted(installed().learners))
def test_parts_of_every_learner_are_values(learner: str, copied: Callable[[Any], Any]) -> None:
    """A copy is equal, replays the same states, gives the same proofs and the same file."""
    part = learn(NUMBERS if learner == "apsl-mixed" else ASIA, "either", depth=2, learner=learner)

    assert part.edges
    assert_same(copied(part), part)


@COPIES
@pytest.mark.parametrize("policy", POLICIES)
def test_parts_with_conflicts_are_values(policy: Policy, copied: Callable[[Any], Any]) -> None:
    """Under each policy the journal, with what was dropped, comes along."""
    part = learn(Contradictory(), "a", depth="max", conflicts=policy, learner="apsl")

    assert part.ledger.settled.conflicts
    assert_same(copied(part), part)


@COPIES
def test_parts_with_knowledge_and_interrupted_ones_are_values(copied: Callable[[Any], Any]) -> None:
    """What was given, and what is missing, comes along."""
    dag = Dag({"a": [], "b": ["a"], "c": ["b"]})
    given = learn(dag, "b", knowledge=Knowledge(required=[("a", "b")]))
    cut = learn(network("alarm"), "HR", depth=3, learner="apsl", max_tests=60)

    assert cut.incomplete
    assert_same(copied(given), given)
    assert_same(copied(cut), cut)


def test_a_copy_of_a_part_shares_its_journal_as_the_part_does() -> None:
    """Where marks and history are one store in the part, they are one in the copy; the copy can be written to."""
    part = learn(network("asia"), "either")
    again = pickled(part)

    assert (again.history is again.store) is (part.history is part.store)
    longer = again.history.with_reasons([Finding(adjacent.fact("asia", "xray"), Evidence("test"))])
    assert len(longer) == len(part.history) + 1
    assert again.history == part.history


def test_parts_learned_alike_are_equal_and_others_are_not() -> None:
    """Equality asks for everything that was learned and how."""
    one, two = (learn(ASIA, "either", learner="apsl") for _ in range(2))

    assert one == two
    assert {one, two} == {one}
    assert one != learn(ASIA, "either", learner="apsl", depth=2)
    assert one != attrs.evolve(one, notes=("another",))
    assert one != learn(ASIA, "lung", learner="apsl")
    no_part: object = "a part"
    assert one != no_part
    assert parse_part(part_json(one), "the part") == one


def test_stores_are_equal_when_written_alike() -> None:
    """The order and the reasons count, and nothing else is a store."""
    first, second = (Finding(adjacent.fact("a", other), Evidence("test")) for other in "bc")
    store = MarkStore().with_reasons([first, second])

    assert store == MarkStore().with_reasons([first]).with_reasons([second])
    assert store != MarkStore().with_reasons([second, first])
    assert store != MarkStore().with_reasons([first, attrs.evolve(second, evidence=Evidence("another"))])
    assert store != [first, second]


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_copy_of_a_ledger_goes_on_by_itself(policy: Policy, copied: Callable[[Any], Any]) -> None:
    """Findings told to the copy do not reach what it was made of, and nothing keeps a run from being copied."""
    run = ledger(SOUND, policy)
    run = run.with_findings([Finding(collider.fact("a", "b", "c"), Evidence("test"))])
    before = run.history
    again = copied(run)
    again = again.with_findings([Finding(adjacent.fact("a", "d"), Evidence("test"))])

    assert (run.history, len(run.history)) == (before, 3)
    assert len(again.history) == 4
    assert again.proofs().arrows == run.proofs().arrows == {("a", "b"), ("c", "b")}


@COPIES
def test_results_of_several_runs_are_values(copied: Callable[[Any], Any]) -> None:
    """Graphs, parts of many targets with their union, stability, comparisons, proofs and blankets."""
    many = learn_many(ASIA, ["either", "lung"], learner="apsl")
    results = [
        many,
        learn_graph(ASIA, learner="apsl"),
        learn_again(ASIA, "either", learner="apsl", resamples=3),
        compare(ASIA, "either", learners=["apsl", "cmb"]),
        many["either"].why("either", "lung"),
        blanket(ASIA, "either"),
    ]

    assert [copied(one) for one in results] == results
    assert copied(many).union == many.union
    assert copied(many.union) == many.union
    assert all(hash(copied(one)) == hash(one) for one in results)


@COPIES
def test_a_fitted_selector_is_a_value(copied: Callable[[Any], Any]) -> None:
    """It selects the same columns, and its part and blanket come along."""
    selector = PartSelector(learner="apsl").fit(FRAME.drop(columns="dysp"), FRAME["dysp"])
    again = copied(selector)

    assert again.get_feature_names_out().tolist() == selector.get_feature_names_out().tolist()
    assert (again.part_, again.blanket_) == (selector.part_, selector.blanket_)
    assert_same(pickled(selector).part_, selector.part_)


@COPIES
def test_codes_of_copies_stay_as_they_are(copied: Callable[[Any], Any]) -> None:
    """The kernels trust the codes that they have checked, so nobody can change those of a copy either."""
    with pytest.raises(ValueError, match="read-only"):
        copied(ASIA).codes[0, 0] = 9


def test_a_store_with_labels_that_came_late_can_be_copied() -> None:
    """Late labels have numbers between the others; a copy keeps them, and can be continued."""
    evidence = Evidence("test")
    store = MarkStore()
    for pair in ("mz", "az", "bz", "by"):
        store = store.with_reasons([Finding(adjacent.fact(*pair), evidence)])

    again = pickle.loads(pickle.dumps(store))  # noqa: S301 - our own

    assert again == store
    assert again.neighbours_of("z") == ("a", "b", "m")
    assert again.with_reasons([Finding(adjacent.fact("c", "z"), evidence)]).neighbours_of("z") == ("a", "b", "c", "m")
