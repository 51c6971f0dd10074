"""The learners that score: MMHC, SLL, S²TMB and GGSL, on large samples of strong tables and where they refuse."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given

from apsl_backends.scores.bde import BDeu
from apsl_published.best_graphs import Optima, S2tmb, Sll
from apsl_published.climbing import Draft, draft_of, outwards
from apsl_rules import learn
from apsl_rules.data.tables import Table
from apsl_rules.errors import ApslError, InvalidArgumentError, SpecError
from apsl_rules.evidence import times
from apsl_rules.graphs.dag import Dag
from apsl_rules.graphs.equivalence import cpdag
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from apsl_rules.oracles.protocol import Oracle
from apsl_rules.parts.part import Part
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import FinderSettings, OracleSettings, parse_spec
from apsl_rules.rules import Mark, MarkStore
from apsl_rules.rules.engine import compile_rulebook, extend
from apsl_rules.rules.rulebooks import SOUND
from support.graphs import MICRO, MICRO_CPDAG, random_dag
from support.scoring import coded, strong_network
from support.strategies import dags

SOUND_LEARNERS = ["mmhc", "sll+c", "sll+g", "ggsl"]


@cache
def rows_of(name: str, *, rows: int = 50_000) -> Table:
    """Draw rows of a micro-network with strong tables."""
    return sample(strong_network(MICRO[name], seed=0), rows, seed=0)


def marks_of(draft: Draft) -> MarkStore:
    """Return the closure of all that a draft tells."""
    program = compile_rulebook(SOUND)
    findings = [finding for node in draft.nodes for finding in draft.findings_at(node)]
    return extend(program, program.start(), findings).store


def agrees(part: Part, name: str) -> bool:
    """Return whether a part of depth "max" is the CPDAG of a micro-network."""
    return (part.arrows, part.lines) == (MICRO_CPDAG[name].arrows, MICRO_CPDAG[name].lines)


# --- a graph as findings -------------------------------------------------------------------------------------------


@given(dags(max_nodes=7))
def test_the_closure_of_a_told_graph_is_its_cpdag(dag: Dag) -> None:
    """The rules conclude from the edges and V-structures of a graph exactly its CPDAG."""
    score = BDeu(coded([[0, 1]] * len(dag.nodes), dag.nodes))
    truth = cpdag(dag)
    told = marks_of(draft_of(dag, score))
    assert (told.arrows, told.lines, told.conflicts) == (truth.arrows, truth.lines, frozenset())
    drawn = marks_of(draft_of(dag, score, output="dag"))
    assert (drawn.arrows, drawn.lines, drawn.conflicts) == (dag.edges, frozenset(), frozenset())


def test_what_a_graph_would_lose() -> None:
    """The evidence of an edge is the score that the graph loses without it."""
    table = rows_of("N7", rows=500)
    score = BDeu(table)
    draft = draft_of(MICRO["N7"], score)
    loss = score.family("T", "PQ") - score.family("T", "P")
    told = f"the best graph is {times(loss)} as probable ({loss:.4g} nats) as without Q -> T"
    assert draft.edges[frozenset("QT")].note == f"support: {told}"
    assert told in draft.colliders[frozenset("PQ"), "T"].note


def test_a_graph_is_told_outwards() -> None:
    """Nodes are told by distance from the target, equals by name, and those not connected with it last."""
    neighbours = {"f": "", "e": "d", "d": "e", "c": "b", "b": "ac", "a": "b"}
    assert "".join(map(str, outwards({node: list(around) for node, around in neighbours.items()}, "b"))) == "bacdef"


# --- MMHC ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", SOUND_LEARNERS)
@pytest.mark.parametrize("name", ["N2", "N3", "N4", "N5", "N7", "N8"])
def test_large_samples_of_strong_tables(learner: str, name: str) -> None:
    """Every learner in its sound form recovers the micro-networks from 50,000 rows."""
    target = min(map(str, MICRO[name].nodes))
    assert agrees(learn(rows_of(name), target, depth="max", learner=learner), name)


def test_the_part_is_cut_out_of_the_whole() -> None:
    """At depth 1 the part has the edges at the target only, and proofs that end in scores."""
    part = learn(rows_of("N8"), "D", learner="mmhc")
    assert part.arrows == {("B", "D"), ("C", "D"), ("D", "E")}
    arrows, lines = part.outside
    assert not arrows
    assert lines == {frozenset("AB"), frozenset("AC")}
    assert part.mark("A", "D") is Mark.GAP
    proof = str(part.why("D", "E"))
    assert "Meek-R1" in proof
    assert "support: the best graph is over a million times as probable" in proof
    assert "as without B -> D" in proof
    assert "G²" in str(part.why("A", "B"))
    assert part.notes[0].startswith("the score of the whole graph is -")


def test_mmhc_as_published() -> None:
    """The published code adds arrows from later to earlier columns only, and draws one graph of many."""
    part = learn(rows_of("N7"), "T", depth="max", learner="mmhc-paper")
    assert not part.lines
    assert part.ledger.order_dependent
    assert rows_of("N7").names == ("P", "T", "Q", "C")
    assert part.edges == MICRO_CPDAG["N7"].skeleton
    assert part.arrows != MICRO["N7"].edges


@pytest.mark.parametrize("learner", SOUND_LEARNERS)
def test_the_order_of_columns_is_of_no_account(learner: str) -> None:
    """On few rows, where ties and errors abound, the result is the same however the columns come."""
    table = sample(strong_network(random_dag(7, 9, 2.4), seed=7), 150, seed=7)
    order = [4, 8, 1, 0, 6, 2, 7, 3, 5]
    shuffled = coded(table.codes[order], [table.names[at] for at in order])
    one, other = (learn(each, "v003", depth="max", learner=learner) for each in (table, shuffled))
    assert (one.arrows, one.lines, one.edges) == (other.arrows, other.lines, other.edges)


# --- SLL -----------------------------------------------------------------------------------------------------------


def sets_around(name: str) -> tuple[dict[Node, set[Node]], dict[Node, set[Node]], dict[Node, set[Node]]]:
    """Return possible neighbours, neighbours and spouses that SLL finds, by name."""
    score = BDeu(rows_of(name), ess=1)
    sll = Sll(Optima(score, largest=16))
    ways = (sll.possible_neighbours, sll.neighbours, sll.spouses)
    possible, near, mates = (
        {name: {score.nodes[other] for other in way(node)} for node, name in enumerate(score.nodes)} for way in ways
    )
    return possible, near, mates


def test_sll_needs_the_word_of_both_ends() -> None:
    """In N3 the descendant X is a possible neighbour of T, but not the other way round."""
    possible, near, mates = sets_around("N3")
    assert possible["T"] == {"A", "X"}
    assert near["T"] == {"A"}
    assert mates["T"] == {"B"}


def test_sll_around_b() -> None:
    """In N8 the node B has the neighbours A and D and shares D with C."""
    _, near, mates = sets_around("N8")
    assert near["B"] == {"A", "D"}
    assert mates["B"] == {"C"}


def test_small_graphs_that_are_climbed_are_told() -> None:
    """When best graphs grow beyond the limit the part says how many were climbed."""
    spec = parse_spec('name = "tiny"\nsummary = "s"\nkind = "sll"\n[options]\nlargest = 2', "test")
    part = learn(rows_of("N8", rows=500), "D", learner=spec)
    assert any("were too large for an exact search (the limit is 2 nodes)" in note for note in part.notes)
    assert not any("exact" in note for note in learn(rows_of("N8", rows=500), "D", learner="sll+c").notes)


# --- S²TMB ---------------------------------------------------------------------------------------------------------


def oracle_on(table: Table) -> Oracle:
    """Make an oracle with a table behind it."""
    return installed().oracles["gsquare"].make(table, OracleSettings())


@pytest.mark.parametrize("finder", ["s2tmb", "s2tmb+"])
def test_blankets(finder: str) -> None:
    """Blankets are right at every node of N3 and N8, spouses by the child they share."""
    for name in ("N3", "N8"):
        finds = installed().blankets[finder].make(oracle_on(rows_of(name)), FinderSettings())
        dag = MICRO[name]
        for node in dag.nodes:
            blanket = finds.blanket(node)
            assert set(blanket.neighbours) == dag.neighbours_of(node)
            shared = {
                child: {one for one in dag.parents_of(child) if one != node and one not in dag.neighbours_of(node)}
                for child in dag.children_of(node)
            }
            found = {child: set(mates) for child, mates in blanket.spouses.items()}
            assert found == {child: mates for child, mates in shared.items() if mates}
            assert finds.blanket(node) is blanket


def test_blanket_options() -> None:
    """The equivalent sample size and the limit of exact searches can be chosen."""
    settings = FinderSettings(options={"ess": 5, "largest": 3})
    finder = S2tmb(oracle_on(rows_of("N8", rows=500)), settings)
    finder.blanket("D")
    assert finder.optima.score.ess == 5
    assert finder.optima.notes


# --- GGSL ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["A", "B", "C", "D", "E"])
def test_ggsl_from_any_seed(seed: str) -> None:
    """On a large sample of N8 the sound form is right whatever the seed; the literal one has the right edges only."""
    for name, right in (("ggsl", True), ("ggsl-paper", False)):
        spec = installed().learners[name].spec
        text = f'name = "x"\nsummary = "s"\nkind = "ggsl"\n[rules]\nconflicts = "{spec.rules.conflicts}"\n'
        text += f'[options]\nwriting = "{spec.options["writing"]}"\nseed = "{seed}"'
        part = learn(rows_of("N8"), "A", depth="max", learner=parse_spec(text, "test"))
        assert part.edges == MICRO_CPDAG["N8"].skeleton
        assert agrees(part, "N8") == right
        assert part.ledger.order_dependent != right


def test_ggsl_in_the_order_of_columns() -> None:
    """The sound form is right too when equals go by column, not by name."""
    spec = parse_spec('name = "x"\nsummary = "s"\nkind = "ggsl"\n[frontier]\norder = "column"', "test")
    table = rows_of("N8")
    backwards = coded(table.codes[::-1], table.names[::-1])
    assert agrees(learn(backwards, "A", depth="max", learner=spec), "N8")


def test_ggsl_begins_at_the_target() -> None:
    """Without a seed the target comes first, and its neighbours next."""
    part = learn(rows_of("N8"), "D", depth="max", learner="ggsl-paper")
    assert part.visited == ("D", "B", "C", "E", "A")


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("learner", [*SOUND_LEARNERS, "mmhc-paper", "ggsl-paper"])
def test_a_known_graph_has_no_rows_to_score(learner: str) -> None:
    """Learning from a known graph is refused with a sentence that names the learner."""
    name = learner.replace("+", ".")
    with pytest.raises(InvalidArgumentError, match=f"'{name}' needs counts, but the source has none"):
        learn(MICRO["N8"], "D", learner=learner)


@pytest.mark.parametrize("learner", [*SOUND_LEARNERS, "ggsl-paper"])
def test_limits(learner: str) -> None:
    """A run that has no time or tests left gives an incomplete part that says so."""
    part = learn(rows_of("N8", rows=500), "D", learner=learner, max_seconds=0)
    assert part.incomplete is not None
    assert "nothing is learned yet" in part.incomplete
    assert not part.edges


def test_wrong_options_are_refused() -> None:
    """An unknown option of a spec is named, with the nearest known one."""
    spec = parse_spec('name = "x"\nsummary = "s"\nkind = "mmhc"\n[options]\nes = 10', "test")
    with pytest.raises(SpecError, match="unknown setting 'es'; did you mean 'ess'"):
        learn(rows_of("N8", rows=500), "D", learner=spec)
    with pytest.raises(ApslError, match="penalty is 'free'"):
        learn(
            rows_of("N8", rows=500),
            "D",
            learner=parse_spec('name = "x"\nsummary = "s"\nkind = "mmhc"\n[options]\npenalty = "free"', "test"),
        )
