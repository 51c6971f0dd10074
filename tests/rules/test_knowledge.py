"""Background knowledge: what it says of a pair, what it refuses, and how it is written down."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apsl_published.plugin import PAPER
from apsl_rules import Dag, Knowledge, learn, learn_graph
from apsl_rules.errors import KnowledgeError, UnknownNodeError
from apsl_rules.knowledge import parse_knowledge
from apsl_rules.names import Node
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules import Policy
from apsl_rules.rules.engine import Mark
from apsl_rules.rules.rulebooks import SOUND, knowing
from apsl_rules.rules.vocabulary import Finding, Rulebook
from support.graphs import dag_of
from support.strategies import LABELS, dags

CHAIN = dag_of("a->b b->c")

#: Knowledge that contradicts itself or is no knowledge, with the sentence that says so.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "circle": ({"required": ["ab", "bc", "ca"]}, "go in a circle: 'a' -> 'b' -> 'c' -> 'a'; take one of them back"),
    "both ways": ({"required": ["ab", "ba"]}, "go in a circle: 'a' -> 'b' -> 'a'"),
    "required and forbidden": ({"required": ["ab"], "forbidden": ["ab"]}, "'a' -> 'b' is both required and forbidden;"),
    "against tiers": ({"required": ["ab"], "tiers": ["b", "a"]}, r"forbidden \(a is in tier 2 and b in tier 1\)"),
    "required and apart": ({"required": ["ab"], "apart": ["ba"]}, "the two are said to be apart; take one"),
    "apart within": ({"required": ["ab"], "tiers": ["ab"], "apart_within": [1]}, r"apart \(both are in tier 1\)"),
    "forbidden both ways": (
        {"required": ["ab"], "forbidden": ["ba"], "tiers": ["b", "a"]},
        r"apart \(both directions are forbidden\)",
    ),
    "two tiers": ({"tiers": ["ab", "b"]}, "'b' is in tier 1 and in tier 2; put it in one tier only"),
    "no such tier": ({"tiers": ["ab"], "apart_within": [2]}, "names tier 2, but the tiers are numbered from 1 to 1"),
    "itself": ({"required": ["aa"]}, "give two different nodes"),
    "three": ({"apart": ["abc"]}, "give two different nodes"),
}


def _lists(knowledge: dict[str, list[Any]]) -> dict[str, Any]:
    """Spell pairs and tiers given as words as lists of letters."""
    return {key: [list(one) if isinstance(one, str) else one for one in value] for key, value in knowledge.items()}


@pytest.mark.parametrize("name", WRONG)
def test_knowledge_that_no_graph_satisfies_is_refused(name: str) -> None:
    """One sentence says what contradicts what."""
    given, sentence = WRONG[name]

    with pytest.raises(KnowledgeError, match=sentence):
        Knowledge(**_lists(given))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"required": "ab"}, "required is 'ab'; give a list of pairs"),
        ({"required": ["ab"]}, "an entry of required is 'ab'; give a list of nodes"),
        ({"tiers": ["ab"]}, "tier 1 is 'ab'; give a list of nodes"),
        ({"forbidden": [(["a"], "b")]}, r"names \['a'\], which is no node"),
        ({"apart": 7}, "apart is 7; give a list"),
        ({"apart_within": ["x"]}, "apart_within names 'x'; give the numbers of tiers"),
    ],
)
def test_what_is_no_list_of_nodes_is_refused(given: dict[str, Any], sentence: str) -> None:
    """Text is not taken for a list of letters, and what cannot be looked up is no node."""
    with pytest.raises(KnowledgeError, match=sentence):
        Knowledge(**given)


def test_what_knowledge_says_of_a_pair() -> None:
    """Tiers bar the way back, nodes of no tier stand outside, and both ways forbidden is apart."""
    known = Knowledge(
        required=[("a", "b")],
        forbidden=[("x", "y"), ("y", "x"), ("b", "x")],
        tiers=[["a", "z"], ["b"], ["c", "d"]],
        apart=[("q", "p")],
        apart_within=[3],
    )

    assert known.why_barred("b", "a") == "b is in tier 2 and a in tier 1"
    assert (known.why_barred("a", "b"), known.why_barred("b", "x"), known.why_barred("x", "b")) == (None, "", None)
    assert [known.why_apart(*pair) for pair in ("pq", "cd", "xy", "az")] == [
        "",
        "both are in tier 3",
        "both directions are forbidden",
        None,
    ]
    assert (known.apart_from("d"), known.apart_from("x"), known.apart_from("p")) == (("c",), ("y",), ("q",))
    assert known.required_at("b") == (("a", "b"),)
    assert (known.requires("b", "a"), known.requires("a", "c")) == (True, False)
    assert known
    assert not Knowledge()


def test_the_order_in_which_it_is_told_means_nothing() -> None:
    """Pairs in another order, told twice or turned where that means nothing, make equal knowledge."""
    one = Knowledge(required=[("a", "b"), ("c", "d")], apart=[("x", "y")], tiers=[["p", "q"]])
    other = Knowledge(required=[("c", "d"), ("a", "b"), ("a", "b")], apart=[("y", "x")], tiers=[["q", "p"]])

    assert one == other


@st.composite
def _knowledge(draw: st.DrawFn) -> Knowledge:
    """Draw knowledge of odd labels, true or not, that does not contradict itself."""
    nodes = draw(st.lists(LABELS, min_size=2, max_size=6, unique=True))
    return any_knowledge(nodes, draw(st.randoms(use_true_random=False)))


def any_knowledge(nodes: list[Node], random: Random) -> Knowledge:
    """Return knowledge of some nodes that does not contradict itself, true or not."""
    order = random.sample(nodes, len(nodes))
    pairs = list(combinations(order, 2))
    drawn = {pair: random.choice(["required", "forbidden", "apart", "", "", ""]) for pair in pairs}
    cut = random.randrange(len(order))
    return Knowledge(
        required=[pair for pair, kind in drawn.items() if kind == "required"],
        forbidden=[pair for pair, kind in drawn.items() if kind == "forbidden"],
        apart=[pair for pair, kind in drawn.items() if kind == "apart"],
        tiers=[order[:cut], order[cut:]] if random.random() < 0.5 else [],
    )


@given(_knowledge())
def test_written_knowledge_comes_back(known: Knowledge) -> None:
    """Odd labels survive: quotes, control characters, numbers and tuples."""
    assert parse_knowledge(known.to_toml(), "text") == known


def test_a_file_reads_as_it_was_meant(tmp_path: Path) -> None:
    """A file by hand, with one label of each kind, is read, and ``learn`` takes its path."""
    path = tmp_path / "known.toml"
    path.write_text('required = [["a", "b"]]\ntiers = [["a"], ["c", 7, {tuple = ["x", 1]}]]\napart_within = [2]\n')

    known = Knowledge.read(path)
    known.write(tmp_path / "again.toml")

    assert known.tiers == (("a",), (7, "c", ("x", 1)))
    assert Knowledge.read(tmp_path / "again.toml") == known
    path.write_text('required = [["b", "c"]]')
    assert learn(CHAIN, "b", knowledge=path).arrows == {("b", "c")}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("requires = []", "unknown key 'requires'; did you mean 'required'"),
        ("required = [", "is not valid TOML"),
        ('required = ["ab"]', "required is .* give a list of lists"),
        ('required = [["a", {x = 1}]]', "is no node label"),
        ('required = [["a", "b"], ["b", "a"]]', "the file: the required arrows go in a circle"),
    ],
)
def test_a_wrong_file_is_refused(text: str, sentence: str) -> None:
    """The sentence names the file and what is wrong in it."""
    with pytest.raises(KnowledgeError, match=sentence):
        parse_knowledge(text, "the file")


def test_files_and_labels_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """A missing file, a label that TOML cannot hold, and something else than knowledge."""
    with pytest.raises(KnowledgeError, match="cannot be read"):
        Knowledge.read(tmp_path / "none.toml")
    with pytest.raises(KnowledgeError, match="None cannot be written"):
        Knowledge(apart=[(None, "a")]).to_toml()
    with pytest.raises(KnowledgeError, match="is no valid text"):
        Knowledge(apart=[("\ud800", "a")]).to_toml()
    pairs: Any = [("a", "b")]
    with pytest.raises(KnowledgeError, match="give Knowledge"):
        learn(CHAIN, "b", knowledge=pairs)


def test_unknown_names_are_refused_with_the_nearest() -> None:
    """A misspelt node is no silent no-op, wherever it stands."""
    for known in (
        Knowledge(required=[("b", "Smoke")]),
        Knowledge(tiers=[["Smoke"]]),
        Knowledge(apart=[("b", "Smoke")]),
    ):
        with pytest.raises(UnknownNodeError, match="unknown node in the knowledge 'Smoke'; did you mean 'Smoker'"):
            learn(dag_of("b->Smoker"), "b", knowledge=known)


@pytest.mark.parametrize("learner", ["mmhc", "gs", "sll+c", "sll+g", "ggsl", "apsl-paper", "apsl-authors", "cmb-paper"])
def test_learners_that_do_not_honour_knowledge_refuse_it(learner: str) -> None:
    """The sentence names those that do; without knowledge they run as ever."""
    name = learner.replace("+", ".")
    sentence = (
        f"'{name}' does not honour .*; use one of apsl, apsl-fs, apsl-hidden, apsl-mixed, apsl-score, cmb, pcd-by-pcd"
    )

    with pytest.raises(KnowledgeError, match=sentence):
        learn(CHAIN, "b", learner=learner, knowledge=Knowledge(required=[("a", "b")]))
    with pytest.raises(KnowledgeError, match="does not honour"):
        learn_graph(CHAIN, learner=learner, knowledge=Knowledge(required=[("a", "b")]))


def test_rulebooks_with_guards_cannot_know() -> None:
    """A rulebook that reads gaps off missing edges is refused; another gets the two rules it lacks, once."""
    with pytest.raises(KnowledgeError, match="'paper' reads gaps off missing edges"):
        knowing(PAPER)

    names = [rule.name for rule in knowing(knowing(Rulebook("mine", SOUND.rules[:1]))).rules]

    assert names == ["V-from-spouse", "Meek-R4", "Given-direction"]


def test_proofs_say_what_was_given() -> None:
    """A required arrow, a tier and a gap each stand in a proof as given."""
    part = learn(CHAIN, "b", knowledge=Knowledge(required=[("a", "b")], apart=[("a", "c")]))
    tiered = learn(CHAIN, "b", knowledge=Knowledge(tiers=[["a"], ["b"]]))

    assert str(part.why("a", "b")) == "a -> b   [given]"
    assert str(part.why("a", "c")).startswith("a and c are not adjacent   [")
    assert str(part.why("b", "c")).splitlines()[:2] == ["b -> c   [Meek-R1]", "  a -> b   [given]"]
    assert "no arrow goes from b to a   [given: b is in tier 2 and a in tier 1]" in str(tiered.why("a", "b"))
    assert [row["rule"] for row in part.rows()] == ["given", "Meek-R1"]


def test_a_required_edge_that_a_test_separates_is_a_conflict() -> None:
    """What is given holds: the arrow is drawn, and the conflict has the other side with its test."""
    part = learn(CHAIN, "a", depth="max", knowledge=Knowledge(required=[("a", "c")]))

    (one,) = part.conflicts
    given, found = one.proofs

    assert ("a", "c") in part.arrows
    assert (one.kind, one.decision, str(given), str(found)) == (
        "edge",
        "kept the edge",
        "a -- c   [given]",
        "a and c are not adjacent   [dsep: a ⊥ c | b]",
    )
    assert part.lines == {frozenset("ab"), frozenset("bc")}
    open_part = learn(CHAIN, "a", depth="max", knowledge=part.knowledge, conflicts="quarantine")
    assert open_part.mark("a", "c") is Mark.CONFLICT


def test_a_gap_against_a_found_edge_is_a_conflict() -> None:
    """The gap holds, and the conflict has both sides: one found, the other given."""
    part = learn(CHAIN, "a", knowledge=Knowledge(apart=[("a", "b")]))

    (one,) = part.conflicts

    assert part.mark("a", "b") is Mark.GAP
    assert one.decision == "kept the gap"
    assert [proof.findings[0].evidence.source for proof in one.proofs] == ["dsep", "given"]


def test_a_forbidden_direction_that_is_proved_is_a_conflict() -> None:
    """A V-structure proves a -> b; forbidding it draws b -> a, and the conflict has both proofs."""
    part = learn(dag_of("a->b c->b"), "b", knowledge=Knowledge(forbidden=[("a", "b")]))

    (one,) = part.conflicts

    assert (one.pair, one.kind) == (("a", "b"), "opposed")
    assert {
        step.reason.rule for proof in one.proofs for step in proof.steps if not isinstance(step.reason, Finding)
    } == {
        "Given-direction",
        "V-from-middle",
    }
    assert part.arrows == {("b", "a"), ("c", "b")}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["given", "quarantine", "strongest", "first", "last"])
@given(dag=dags(min_nodes=2, max_nodes=6), random=st.randoms(use_true_random=False))
def test_nothing_that_was_given_is_dropped_silently(policy: Policy, dag: Dag, random: Random) -> None:
    """True or false: what was given about the pairs of the part is drawn, or its pair is among the conflicts."""
    known = any_knowledge(list(dag.nodes), random)

    part = learn(dag, dag.nodes[0], depth=random.choice([1, 2, "max"]), knowledge=known, conflicts=policy)
    shown = {frozenset(one.pair) for one in part.ledger.settled.conflicts}

    for pair in known.required:
        assert pair in part.store.arrows or frozenset(pair) in shown or not {*pair} & {*part.visited}
    for tail, head in part.arrows:
        assert known.why_barred(tail, head) is None or frozenset((tail, head)) in shown
    for edge in part.edges:
        assert known.why_apart(*edge) is None or edge in shown
    assert all(len(one.proofs) > 1 for one in part.ledger.settled.conflicts)
    assert part_json(parse_part(part_json(part), "text")) == part_json(part)
    assert {node for layer in part.layers for node in layer} == {*part.members}


def test_pieces_that_a_required_arrow_joins_are_one() -> None:
    """A required arrow between two pieces is told, found wrong, and not repeated by another piece."""
    graph = learn_graph(Dag({"a": [], "b": ["a"], "c": [], "d": ["c"]}), knowledge=Knowledge(required=[("b", "c")]))

    assert len(graph.parts) == 1
    assert [one.pair for one in graph.conflicts] == [("b", "c")]
    assert graph.arrows == {("b", "c")}


@pytest.mark.parametrize("field", ["required", "forbidden"])
def test_a_set_has_no_direction(field: str) -> None:
    """A set of two nodes cannot say which way an arrow goes, and is refused; apart it may be."""
    known: dict[str, Any] = {field: [{"a", "b"}]}
    with pytest.raises(KnowledgeError, match="which has no order"):
        Knowledge(**known)
    assert Knowledge(apart=[{"a", "b"}]).apart == (("a", "b"),)
