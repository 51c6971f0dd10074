"""The learner that refines parts by scores: what it tells, whom it asks, and how well it does on large samples."""

from __future__ import annotations

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apsl_backends.search.local_score import LocalBde
from apsl_rules import Interrupted, Part, learn, network
from apsl_rules.data.tables import Table
from apsl_rules.errors import InvalidArgumentError, SpecError
from apsl_rules.evidence import evidence_text
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.knowledge import NOTHING
from apsl_rules.names import Depth, Node
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.plugins.manager import installed
from apsl_rules.plugins.offers import parse_spec
from apsl_rules.rules.engine import Mark
from apsl_rules.rules.vocabulary import arrow, collider, instead, left_open, untested
from support.graphs import MICRO, MICRO_CPDAG, random_dag
from support.scoring import coded, strong_network, tables

DEPTHS: tuple[Depth, ...] = (1, 2, "max")
SPEC = 'name = "mine"\nsummary = "mine"\nkind = "score"\n[options]\n'


@pytest.mark.slow
@settings(max_examples=40)
@given(tables(min_columns=3, max_columns=6, max_rows=200), st.data())
def test_the_order_of_columns_is_of_no_account(drawn: Table, data: st.DataObject) -> None:
    """Marks, proofs and probabilities are the same however the columns come."""
    order = data.draw(st.permutations(range(len(drawn.names))))
    shuffled = coded(drawn.codes[order], [drawn.names[at] for at in order])
    target = data.draw(st.sampled_from(sorted(map(str, drawn.names))))
    depth = data.draw(st.sampled_from(DEPTHS))
    one, other = (learn(each, target, depth=depth, learner="apsl-score") for each in (drawn, shuffled))
    assert one.rows() == other.rows()
    assert one.visits == other.visits
    assert _proofs(one) == _proofs(other)


def _proofs(part: Part) -> list[str]:
    """Return the proofs of all edges, in the order of their names."""
    return [str(part.why(x, y)) for x, y in sorted((sorted(pair, key=str) for pair in part.edges), key=str)]


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(DEPTHS))
def test_the_rules_conclude_what_the_search_found(seed: int, depth: Depth) -> None:
    """The closure of the findings is the pattern of the graph found: no conflict, and every mark as there.

    Only V-structures whose ends no set separates are not told, so what follows from them is a line; and edges that a
    graph nearly as good has not are left open.
    """
    table = sample(strong_network(random_dag(seed, 9, 2.5), seed=seed), 300, seed=seed)
    part = learn(table, table.names[0], depth=depth, learner="apsl-score")
    assert part.conflicts == ()
    found = {frozenset(finding.fact.nodes) for finding in part.findings if finding.fact.relation == "adjacent"}
    assert found == {*map(frozenset, part.store.arrows), *part.store.lines}
    arrows, lines = _searched(part.learner, table)
    assert part.store.arrows <= arrows
    held = {frozenset(fact.nodes) for fact in part.store.facts(left_open)}
    assert lines - held <= part.store.lines
    assert found | held >= {frozenset(one) for one in (*arrows, *lines)} >= found
    if not part.store.facts(left_open) and not part.store.facts(untested):
        assert part.store.arrows == arrows


def _searched(learner: str, table: Table) -> tuple[frozenset[tuple[Node, Node]], frozenset[frozenset[Node]]]:
    """Search all columns by hand, and give the arrows and lines of the class."""
    from apsl_backends.finders.by_tests import Hiton
    from apsl_backends.independence.count_tests import GSquare
    from apsl_backends.learners.apsl_score import RefinedOptions
    from apsl_backends.learners.ball import Balls
    from apsl_rules.oracles.asker import Asker
    from apsl_rules.plugins.offers import FinderSettings, build

    spec = installed().learners[learner].spec
    options = build(RefinedOptions, spec.options, "options")
    score = LocalBde(table, ess=options.ess, penalty=options.penalty, empirical_weight=options.empirical_weight)
    oracle = Asker(GSquare(table, alpha=spec.tests.alpha), origin="gsquare")
    finder = Hiton(oracle, FinderSettings(spec.tests.max_conditioning))
    balls = Balls(
        score,
        lambda node: finder.candidates(node).members,
        lambda _nodes: None,
        radius=options.radius,
        pairs=options.pairs,
        effort=options.effort,
        knowledge=NOTHING,
        settles=True,
    )
    ball = balls.around(table.names[0], table.names, None)
    marks, names = ball.found.marks, ball.members
    ends = [(x, y) for x in range(len(names)) for y in range(len(names)) if marks[x, y]]
    arrows = {(names[x], names[y]) for x, y in ends if not marks[y, x]}
    lines = {frozenset((names[x], names[y])) for x, y in ends if marks[y, x]}
    return frozenset(arrows), frozenset(lines)


@pytest.mark.parametrize("name", sorted(MICRO))
def test_large_samples_of_the_micro_networks_give_exact_parts(name: str) -> None:
    """On 50,000 rows of strong tables every part of depth 1 and 2 is that of the true class."""
    table = sample(strong_network(MICRO[name], seed=0), 50_000, seed=0)
    for target in table.names:
        for depth in (1, 2):
            part = learn(table, target, depth=depth, learner="apsl-score")
            assert (part.arrows, part.lines) == MICRO_CPDAG[name].region(target, depth)


def test_why_says_both_kinds_of_evidence() -> None:
    """Support rests on leads with the parents compared, and on the tests that were made on the way."""
    rows = sample(network("alarm"), 1000, seed=7)
    part = learn(rows, "HREKG", depth=2, learner="apsl-score")
    proof = part.why("CATECHOL", "HR")
    assert proof.fact == arrow.fact("CATECHOL", "HR")
    assert all(finding.evidence.nats is not None and finding.evidence.nats > 0 for finding in proof.findings)
    text = str(proof)
    assert "support by BDe: over a million times as probable as the best rival (" in text
    assert " nats): HR given CATECHOL against nothing; CATECHOL not ⊥ HR" in text
    assert repr(proof).startswith("<Support of CATECHOL -> HR: ")
    assert parse_part(part_json(part), "saved").why("CATECHOL", "HR") == proof


def test_the_strongest_of_contradicting_findings_goes_by_nats() -> None:
    """A lead of many nats is stronger than one of few, and than a shaky test."""
    rows = sample(network("alarm"), 1000, seed=7)
    part = learn(rows, "HREKG", learner="apsl-score", conflicts="strongest")
    leads = {finding.fact.nodes: finding.evidence.nats for finding in part.findings if finding.evidence.nats}
    proof = part.why("HR", "HREKG")
    assert proof.weakest_evidence == pytest.approx(
        min(leads[finding.fact.nodes] for finding in proof.findings), abs=0.1
    )


def test_a_source_without_rows_is_refused() -> None:
    """A known graph has no rows to score."""
    with pytest.raises(InvalidArgumentError, match="'apsl-score' needs counts, but the source has none"):
        learn(network("cancer"), "Cancer", learner="apsl-score")


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("radius = 0", "'radius' is 0; give a whole number from 1 to 9"),
        ("max_parents = 25", "'max_parents' is 25; give a whole number from 1 to 24"),
        ('pairs = "some"', "'some'"),
        ("tabu = 0", "'tabu' is 0"),
    ],
)
def test_odd_options_are_refused(option: str, message: str) -> None:
    """The sentence names the option and what is allowed."""
    with pytest.raises(SpecError, match=message):
        learn(sample(network("cancer"), 50, seed=1), "Cancer", learner=parse_spec(SPEC + option, "mine"))


@pytest.mark.parametrize("pairs", ["inner", "candidates"])
def test_fewer_open_pairs_still_give_sound_parts(pairs: str) -> None:
    """On a large sample of strong tables it does not matter which pairs of the outer ring are open."""
    table = sample(strong_network(MICRO["N8"], seed=0), 50_000, seed=0)
    spec = parse_spec(SPEC + f'pairs = "{pairs}"', "mine")
    for target in table.names:
        part = learn(table, target, depth=2, learner=spec)
        assert (part.arrows, part.lines) == MICRO_CPDAG["N8"].region(target, 2)


def test_false_discoveries_are_bounded_on_wide_tables() -> None:
    """Among a thousand columns of noise the edges are those of the table alone, and the bound is in the settings."""
    rows = sample(network("asia"), 1000, seed=5)
    noise = np.random.default_rng(5).integers(0, 2, size=(1000, rows.rows))
    wide = coded(np.concatenate([rows.codes, noise]), [*rows.names, *(f"noise{at:04d}" for at in range(1000))])
    part, alone = learn(wide, "either", learner="apsl-score"), learn(rows, "either", learner="apsl-score")
    assert (part.settings["fdr"], alone.settings["fdr"]) == (0.01, None)
    assert part.edges == alone.edges


def test_a_limit_gives_an_incomplete_part_that_says_so() -> None:
    """Before the part is settled nothing is claimed."""
    part = learn(sample(network("alarm"), 500, seed=1), "HR", learner="apsl-score", max_tests=5)
    assert part.incomplete is not None
    assert not part.edges


@pytest.mark.parametrize("finder", ["hiton", "mmpc", "pcsimple", "fcbf"])
def test_copies_share_their_candidates(finder: str) -> None:
    """A column that says the same as another one does not cut off its neighbours, under whatever name and levels."""
    rows = sample(network("cancer"), 4000, seed=2)
    place = rows.place["Cancer"]
    alone = learn(rows, "Cancer", learner="apsl-score", finder=finder)
    for name in ("Alias", "Zebra"):  # before the original by name, and behind it
        codes = np.concatenate([rows.codes, 1 - rows.codes[[place]]])
        doubled = coded(codes, [*rows.names, name])
        part = learn(doubled, "Cancer", depth=2, learner="apsl-score", finder=finder)
        assert alone.edges
        around = part.neighbours_of("Cancer")
        assert around == alone.neighbours_of("Cancer")
        assert any("duplicate columns" in note for note in part.notes)
        assert not [one for one in part.arrows if not {"Cancer", name}.isdisjoint(one)]
        for other in around:
            assert part.mark(name, other) is Mark.UNKNOWN
            assert "no data can tell which of the two has it" in str(part.why(name, other))
        assert part.mark("Cancer", name) is Mark.UNKNOWN


def test_a_limit_of_parents_that_is_reached_is_told() -> None:
    """A note names the nodes that may have more parents than are allowed, and only those."""
    rows = sample(network("asia"), 3000, seed=1)
    spec = installed().learners["apsl-score"].spec
    narrow = attrs.evolve(spec, options={**spec.options, "max_parents": 1})
    told = [note for note in learn(rows, "either", learner=narrow).notes if "the most that are allowed" in note]
    assert len(told) == 1
    assert "1 parent of " in told[0]
    assert "'dysp'" in told[0]
    assert not any("the most that are allowed" in note for note in learn(rows, "either").notes)


def test_a_collider_tells_the_test_of_its_ends() -> None:
    """Where the finder has separated the ends of a triple, its verdict stands beside the score."""
    part = learn(sample(network("asia"), 3000, seed=1), "either", learner="apsl-score")
    (told,) = [one for one in part.findings if one.fact == collider.fact("lung", "either", "tub")]
    assert told.evidence.nats is not None
    assert [(verdict.independent, "either" in verdict.given) for verdict in told.evidence.verdicts] == [(True, False)]
    chains = [one for one in part.findings if one.fact.relation == "chain" and one.evidence.verdicts]
    assert chains
    assert all(one.fact.nodes[1] in verdict.given for one in chains for verdict in one.evidence.verdicts)


@pytest.mark.parametrize(("name", "target"), [("asia", "either"), ("insurance", "Accident"), ("win95pts", "Problem1")])
def test_a_test_of_the_pair_stands_beside_every_lead(name: str, target: str) -> None:
    """Whatever a score decides, the reader sees a test of the two columns, and nats only with what they mean."""
    part = learn(sample(network(name), 500, seed=7), target, depth=2, hidden="excluded")
    scored = [one for one in part.findings if one.evidence.kind == "score" and one.fact.relation != instead.name]
    assert scored
    for finding in scored:
        ends = {finding.fact.nodes[0], finding.fact.nodes[-1]}
        assert any({verdict.x, verdict.y} == ends for verdict in finding.evidence.verdicts), finding
        text = evidence_text(finding.evidence)
        assert text.startswith("support by BDe: ")
        assert text.count(" nats)") == text.count(" as probable") == 1


@pytest.mark.parametrize(("empirical_weight", "called"), [(0.0, "BDeu"), (0.5, "BDe")])
def test_evidence_names_the_score(empirical_weight: float, called: str) -> None:
    """The score with a uniform prior is BDeu, and is called so."""
    spec = parse_spec(f"{SPEC}empirical_weight = {empirical_weight}", "mine")
    part = learn(sample(network("cancer"), 1000, seed=2), "Cancer", learner=spec)
    scored = [finding for finding in part.findings if finding.evidence.nats is not None]
    assert {finding.evidence.source for finding in scored} == {called}
    assert any(f"as probable as one without edges ({called}, " in note for note in part.notes)


def test_an_interrupt_leaves_a_part_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control-C in the middle of a search is raised, and brings an incomplete part."""
    from apsl_backends.learners.ball import Balls

    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Balls, "around", interrupted)
    with pytest.raises(Interrupted) as stop:
        learn(sample(network("cancer"), 300, seed=2), "Cancer", learner="apsl-score")

    part = stop.value.part
    assert part is not None
    assert (part.target, part.members) == ("Cancer", ("Cancer",))
    assert part.incomplete == "stopped at an interrupt after 0 visits; 'Cancer' still to visit; nothing is learned yet"


def test_many_levels_bring_no_chance_candidates_into_the_ball() -> None:
    """Where no test given a third column has enough rows, only clear candidates count, so that the ball stays small."""
    random = np.random.default_rng(4)
    asked = {}
    for levels in (4, 12):
        codes = random.integers(0, levels, (40, 1000))
        codes[1] = np.where(random.random(1000) < 0.5, codes[0], codes[1])
        part = learn(pd.DataFrame({f"x{at:02d}": one.astype(str) for at, one in enumerate(codes)}), "x00")
        assert part.edges == {frozenset({"x00", "x01"})}
        asked[levels] = part.counts.asked
    assert asked[12] < 3 * asked[4]
