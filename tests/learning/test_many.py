"""Many targets: each part as if learned alone, nothing asked twice, and the union a whole graph."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_backends.independence.d_separation import DSeparation
from apsl_rules import Dag, Knowledge, learn, learn_graph, learn_many, network
from apsl_rules.data.tables import Table
from apsl_rules.errors import ApslError, InvalidArgumentError, UnknownNodeError
from apsl_rules.evidence.evidence import Verdict
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample, simulate
from apsl_rules.names import Node
from apsl_rules.oracles.memory import SharedOracle
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.parts.file import part_json
from support.strategies import sparse_dags


@pytest.fixture(scope="module")
def rows() -> Table:
    """Return 500 rows of ALARM."""
    return sample(network("alarm"), 500, seed=2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_each_part_is_the_part_learned_alone(rows: Table, threads: int) -> None:
    """Whatever the number of threads, parts are the same to the last byte, and fewer tests are computed than asked."""
    targets = ["HR", "CO", "BP", "CATECHOL"]

    parts = learn_many(rows, targets, depth=2, learner="apsl", threads=threads)

    assert list(parts) == ["BP", "CATECHOL", "CO", "HR"]
    for target in targets:
        assert part_json(parts[target]) == part_json(learn(rows, target, depth=2, learner="apsl"))
    assert parts.asked == sum(learn(rows, one, depth=2, learner="apsl").counts.distinct for one in targets)
    assert parts.computed < parts.asked / 2
    assert parts.computed == learn_many(rows, targets, depth=2, learner="apsl").computed


@pytest.mark.slow
@given(sparse_dags(min_nodes=2, max_nodes=10))
def test_all_parts_together_are_the_whole_graph(dag: Dag) -> None:
    """With a perfect oracle the union of the depth-1 parts of all nodes is the CPDAG."""
    union = learn_many(dag, "all").union
    truth = cpdag(dag)

    assert (union.arrows, union.lines) == (truth.arrows, truth.lines)


@pytest.mark.slow
@given(sparse_dags(min_nodes=3, max_nodes=10), st.sampled_from([1, 2]), st.data())
def test_the_union_is_that_of_the_parts_and_no_more(dag: Dag, depth: int, data: st.DataObject) -> None:
    """With a perfect oracle the union over some targets has the arrows and lines of their parts, and no more."""
    targets = data.draw(st.lists(st.sampled_from(dag.nodes), min_size=1, max_size=3, unique=True))
    parts = learn_many(dag, targets, depth=depth)
    arrows = frozenset(one for part in parts.values() for one in part.arrows)
    lines = frozenset(one for part in parts.values() for one in part.lines)
    graph = parts.union.graph()

    assert (parts.union.arrows, parts.union.lines) == (arrows, lines)
    assert (graph.arrows, graph.lines, graph.conflicts) == (arrows, lines, frozenset())
    assert parts.union.to_networkx().number_of_edges() == len(arrows) + 2 * len(lines)
    assert len(parts.union.dag().edges) == len(arrows) + len(lines)


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", ["asia", "child"])
def test_the_union_of_a_table_has_the_edges_of_its_parts(name: str, depth: int) -> None:
    """By default too every edge of the union, conflicts included, is an edge of a part, and the other way round."""
    drawn = sample(network(name), 2000, seed=5)
    targets = [*drawn.names[:2], drawn.names[-1]]
    parts = learn_many(drawn, targets, depth=depth)

    edges = {frozenset((edge.source, edge.target)) for edge in parts.union.graph().edges}
    assert edges == {pair for part in parts.values() for pair in part.edges}
    assert {one.pair for one in parts.union.conflicts} <= edges


def test_all_parts_together_are_the_deepest_part(rows: Table) -> None:
    """On data the union over all targets has what learning everything has: arrows, lines, conflicts and proofs."""
    union = learn_many(rows, "all", learner="apsl").union
    graph = learn_graph(rows, learner="apsl")

    assert (union.arrows, union.lines) == (graph.arrows, graph.lines)
    assert {one.pair for one in union.conflicts} == {one.pair for one in graph.conflicts}
    for x, y in sorted(union.arrows):
        assert str(union.why(x, y)) == str(graph.why(x, y))


def test_the_union_knows_what_was_given() -> None:
    """Background knowledge holds in each part and in their union."""
    chain = Dag({"a": [], "b": ["a"], "c": ["b"]})

    parts = learn_many(chain, ["a", "c"], knowledge=Knowledge(required=[("a", "b")]))

    assert parts.union.arrows == {("a", "b"), ("b", "c")}


def test_a_limit_holds_for_all_parts_together(rows: Table) -> None:
    """Targets that the limit leaves no tests for are not begun, and the result says how many."""
    parts = learn_many(rows, "all", learner="apsl", max_tests=500)

    assert 0 < len(parts) < 37
    assert parts.incomplete == f"stopped at the limit before {37 - len(parts)} of 37 targets were begun"
    assert parts.union.incomplete == parts.incomplete


@pytest.mark.parametrize(
    ("targets", "error", "said"),
    [
        ("HR", InvalidArgumentError, r"give a list of nodes, such as \['HR'\], or 'all'"),
        ([], InvalidArgumentError, "there are no targets"),
        (["HRR"], UnknownNodeError, "did you mean 'HR'"),
    ],
)
def test_targets_are_checked(targets: Sequence[Node], error: type[ApslError], said: str) -> None:
    """One word instead of a list, no target, and an unknown one are refused with a sentence."""
    with pytest.raises(error, match=said):
        learn_many(network("alarm"), targets)


class Slow(Oracle):
    """An oracle that answers only when it is let, and counts how often it was asked."""

    name = "slow"
    nodes = ("a", "b")

    def __init__(self) -> None:
        self.asked = 0
        self.begun, self.go = Event(), Event()

    def verdict(self, x: Node, y: Node, given: Sequence[Node] = ()) -> Verdict:
        """Wait, then answer."""
        self.asked += 1
        self.begun.set()
        self.go.wait(10)
        return Verdict(x, y, tuple(given), "dependent", self.name)


def test_two_threads_with_one_question_ask_once() -> None:
    """Who comes second waits for the answer of the first."""
    slow = Slow()
    oracle = SharedOracle(slow)
    answers: list[Verdict] = []
    first = Thread(target=lambda: answers.append(oracle.verdict("a", "b")))
    second = Thread(target=lambda: answers.append(oracle.verdict("b", "a")))

    first.start()
    slow.begun.wait(10)
    second.start()
    slow.go.set()
    first.join(10)
    second.join(10)

    assert (slow.asked, oracle.tests) == (1, 1)
    assert answers[0] is answers[1]


def test_an_error_is_not_remembered() -> None:
    """A question that failed is asked again."""

    class Failing(DSeparation):
        """Fails once."""

        failed = False

        def verdicts(self, queries: Sequence[tuple[Node, Node, tuple[Node, ...]]]) -> Sequence[Verdict]:
            if not self.failed:
                self.failed = True
                raise TimeoutError
            return super().verdicts(queries)

    oracle = SharedOracle(Failing(Dag({"a": [], "b": ["a"]})))

    with pytest.raises(TimeoutError):
        oracle.verdict("a", "b")
    assert oracle.verdict("a", "b").dependent


@pytest.mark.parametrize("targets", [5, None, [["HR"]]])
def test_targets_that_are_no_nodes_are_refused(targets: Any) -> None:
    """What is no list of nodes gets a sentence, not an error of Python's."""
    with pytest.raises(InvalidArgumentError, match="targets must be a list of nodes"):
        learn_many(network("alarm"), targets)


def test_limits_that_allow_nothing_are_refused(rows: Table) -> None:
    """A limit that is over before the first part is told as such."""
    with pytest.raises(InvalidArgumentError, match="allow more tests or seconds"):
        learn_many(rows, "all", max_seconds=1e-9)


@pytest.mark.parametrize("learner", ["apsl", "mmhc"])
def test_parts_counted_in_a_file_are_those_counted_in_memory(tmp_path: Path, learner: str) -> None:
    """Sharing keeps what a source far away offers: rounds foreseen, and counts for scores."""
    file = tmp_path / "rows.parquet"
    simulate(network("asia"), 500, file, seed=1)

    far = learn_many(file, ["either", "lung"], learner=learner, counts="duckdb")
    near = learn_many(file, ["either", "lung"], learner=learner)

    for target in near:
        assert (far[target].arrows, far[target].lines) == (near[target].arrows, near[target].lines)
        assert far[target].counts == near[target].counts
