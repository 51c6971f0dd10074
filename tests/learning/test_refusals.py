"""What learning refuses or reports instead of passing over it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, hookimpl, learn, learn_graph, network
from apsl_rules.data import table
from apsl_rules.errors import InvalidArgumentError, PluginError
from apsl_rules.learning.findings import FindingsFromTests
from apsl_rules.parts.file import part_json
from apsl_rules.plugins.manager import Context, Findings
from apsl_rules.plugins.offers import FinderOffer, LearnerOffer, Spec
from apsl_rules.rules import ledger
from apsl_rules.rules.rulebooks import SOUND
from apsl_rules.rules.vocabulary import gap
from support.graphs import MICRO
from support.telling import told


def test_a_test_with_too_few_rows_separates_nothing() -> None:
    """Two columns of so many levels that their test is unreliable are not found to be apart, nor a collider by it."""
    random = np.random.default_rng(0)
    x = random.integers(0, 8, 250)
    y = np.where(random.random(250) < 0.9, x, random.integers(0, 8, 250))
    rows = table(np.stack([x, y, x % 2], axis=1), names=["x", "y", "t"])

    for learner in ("apsl", "apsl-paper"):
        part = learn(rows, "t", learner=learner, hidden="excluded")
        assert gap.fact("x", "y") not in part.store
        assert not part.arrows


def test_a_cycle_that_overwriting_leaves_is_reported() -> None:
    """Under the policy last arrows may close a cycle; each of its pairs is a conflict with its proofs."""
    run = ledger(SOUND, "last")
    run = run.with_findings(told("arrow:a,b arrow:b,c arrow:c,d arrow:d,a"))
    conflicts = run.settled.conflicts

    assert sorted(one.pair for one in conflicts) == [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")]
    assert {one.kind for one in conflicts} == {"cycle"}


def test_an_edge_found_and_found_absent_is_reported_under_every_policy() -> None:
    """A torn edge is a conflict whatever the policy."""
    for policy in ("quarantine", "strongest", "first", "last"):
        run = ledger(SOUND, policy)
        run = run.with_findings(told("adjacent:a,b gap:a,b"))
        assert [one.kind for one in run.settled.conflicts] == ["edge"]


def test_learn_graph_runs_the_code_of_a_plugin() -> None:
    """A learner with code of its own is run by learn and by learn_graph alike."""
    ran: list[str] = []

    def find_mine(context: Context) -> Findings:
        ran.append(str(context.target))
        return FindingsFromTests(context)

    class Mine:
        @hookimpl
        def apsl_learners(self) -> Iterable[LearnerOffer]:
            return [LearnerOffer(Spec("mine", "a learner of its own"), find_mine)]

    learn(network("cancer"), "Cancer", learner="mine", plugins=[Mine()])
    learn_graph(network("cancer"), learner="mine", plugins=[Mine()])

    assert len(ran) == 2


@pytest.mark.parametrize("answer", ["raises", "a list"])
def test_a_finder_that_breaks_its_contract_is_named(answer: str) -> None:
    """A finder that raises or answers something else is named with its question."""

    class Odd:
        def __init__(self, _oracle: object, _settings: object) -> None:
            pass

        def candidates(self, node: object) -> Any:
            return [node] if answer == "a list" else 1 // 0

    class Plugin:
        @hookimpl
        def apsl_finders(self) -> Iterable[FinderOffer]:
            return [FinderOffer("odd", "", Odd)]

    with pytest.raises(PluginError, match=r"the finder Odd .* candidates\('T'\)"):
        learn(MICRO["N7"], "T", finder="odd", plugins=[Plugin()], hidden="excluded")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"cache": "verdicts.sqlite"}, "the oracle 'dsep' knows its graph and has no option 'cache'"),
        ({"alpha": "0.05"}, "alpha is '0.05'; give a number between 0 and 1"),
        ({"max_conditioning": 2.5}, "max_conditioning is 2.5; give 0 or more"),
        ({"max_conditioning": "all"}, "max_conditioning is 'all'; give 0 or more"),
        ({"plugins": 3}, "plugins is 3; give a list of plugins"),
        ({"plugins": "json"}, "plugins is 'json'; give a list of plugins"),
        ({"threads": "2"}, "threads is '2'; give at least 1"),
        ({"max_seconds": float("nan")}, "max_seconds is nan; give at least 0"),
    ],
)
def test_a_setting_that_goes_nowhere_is_refused(settings: dict[str, Any], sentence: str) -> None:
    """A setting of a wrong kind, or one that the source has no use for, is refused with a sentence."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        learn(network("cancer"), "Cancer", **settings)


def test_an_oracle_as_source_takes_no_other_oracle() -> None:
    """A source that answers by itself cannot be given another oracle or options."""
    oracle = DSeparation(MICRO["N7"])

    with pytest.raises(InvalidArgumentError, match="another oracle cannot be given with it"):
        learn(oracle, "T", oracle="gsquare", hidden="excluded")
    with pytest.raises(InvalidArgumentError, match="the option 'discretize' cannot be given with it"):
        learn(oracle, "T", discretize="quantile:3", hidden="excluded")


def test_learn_graph_refuses_an_unknown_setting() -> None:
    """A misspelt setting is refused with the nearest one."""
    misspelt: dict[str, Any] = {"alpah": 0.5}
    with pytest.raises(InvalidArgumentError, match="no setting 'alpah'; did you mean 'alpha'"):
        learn_graph(network("cancer"), **misspelt)


def test_why_proves_a_gap_from_known_neighbours() -> None:
    """Two nodes are apart when all neighbours of one are known and the other is not among them."""
    proof = learn(network("alarm"), "HREKG").why("HREKG", "KINKEDTUBE")

    assert str(proof).splitlines() == [
        "HREKG and KINKEDTUBE are not adjacent   [not among the neighbours]",
        "  all neighbours of HREKG are known   [dsep: 2 neighbours]",
    ]


def test_a_label_without_end_cannot_be_saved() -> None:
    """A label that JSON cannot carry is refused when the part is saved."""
    part = learn(Dag({float("inf"): [], "b": [float("inf")]}), "b")

    with pytest.raises(InvalidArgumentError, match="can be saved"):
        part_json(part)


@pytest.mark.parametrize("path", ["\ud800.json", "a\0b.json"])
def test_a_path_that_no_file_can_have_is_refused(path: str) -> None:
    """A path with a lone surrogate or a null character gets a sentence."""
    with pytest.raises(InvalidArgumentError, match="give the path of a file"):
        learn(Dag({"a": [], "b": ["a"]}), "a").save(path)


def test_too_many_levels_are_noted() -> None:
    """A target with so many levels that no test of it is reliable is noted, with what to do."""
    random = np.random.default_rng(1)
    cents = random.integers(0, 5000, 1000)
    coins = random.integers(0, 2, 1000)
    rows = table(np.stack([cents, coins], axis=1), names=["cents", "coin"], kinds={"cents": "category"})

    assert any("too few rows" in note and "'cents'" in note for note in learn(rows, "cents", hidden="excluded").notes)
    assert learn(
        np.stack([cents, (cents > 2500)], axis=1), "X1", discretize={"X1": "quantile:3"}, hidden="excluded"
    ).edges
