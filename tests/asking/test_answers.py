"""Answers laid over a part: what is told is drawn, nothing else moves, and every proof says who told it."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from apsl_rules import Knowledge, Part, load, network
from apsl_rules import learn as learn_so
from apsl_rules.answers import Answer
from apsl_rules.errors import ApslError
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import load_part, part_json
from apsl_rules.parts.file import parse_part
from apsl_rules.rules import Mark

#: All that is found is drawn.
learn = partial(learn_so, hidden="excluded")
ROWS = sample(network("asia"), 2000, seed=1)


@pytest.fixture(scope="module")
def part() -> Part:
    """Return the part around either: tub and lung before it, xray and dysp after it, and an open line beyond."""
    return learn(ROWS, "either", depth=2)


def marks(part: Part) -> dict[frozenset[Any], str]:
    """Return how each edge is drawn."""
    return {pair: f"{part.mark(*pair)} {sorted(map(str, part.arrows & {(x, y), (y, x)}))}" for pair in part.edges
            for x, y in [tuple(pair)]}  # fmt: skip


def test_what_is_told_is_drawn_and_nothing_else_moves(part: Part) -> None:
    """One pair changes; the proof names who, when, which question and what the data alone say."""
    told = part.answer("sort", {"tub": "after", "lung": "don't know"}, by="ward 3", date="2026-11-18")
    before, after = marks(part), marks(told)

    assert ("either", "tub") in told.arrows
    assert {pair for pair in before if before[pair] != after[pair]} == {frozenset(("either", "tub"))}
    assert before.keys() == after.keys()
    assert str(told.difference(part)) == "tub -> either  becomes  either -> tub"
    first, second, *_ = str(told.why("either", "tub")).splitlines()
    assert first == "either -> tub   [Given-direction]"
    assert second.strip() == (
        'no arrow goes from tub to either   [given by "ward 3", 2026-11-18, question "sort"; '
        "the data alone: tub -> either]"
    )
    assert part.why("tub", "either") == learn(ROWS, "either", depth=2).why("tub", "either")


def test_a_refused_answer_leaves_the_part_as_it_is(part: Part) -> None:
    """Parts are values; what is wrong is said in a sentence."""
    before = part_json(part)
    for wrong, sentence in (
        (("srot", {}), "there is no question 'srot'; did you mean 'sort'?"),
        (("sort", {"tubb": "before"}), "does not ask about 'tubb'; did you mean 'tub'?"),
        (("sort", {"tub": "maybe"}), "the answer for 'tub' is 'maybe'; give 'before', 'after', 'neither'"),
        (("sort", "before"), "give a word for each column"),
        (("tiers", {"tub": "9"}), "the tier of 'tub' is 9; give 1 to 4"),
        (("pair:tub:nobody", "before"), "there is no question 'pair:tub:nobody'"),
    ):
        with pytest.raises(ApslError, match=sentence.replace("?", r"\?").replace("(", r"\(")):
            part.answer(*wrong)
    with pytest.raises(ApslError, match="by is ''"):
        part.answer("sort", {"tub": "before"}, by="")

    assert part_json(part) == before
    assert not part.answer("sort", {"tub": "don't know"}).difference(part)


def test_each_form_of_question_bars_what_it_says(part: Part) -> None:
    """Roots, the outcome, tiers and single pairs draw the pairs that they name."""
    roots = part.answer("roots", {"smoke": "yes"}, by="Ann")
    outcome = part.answer("outcome", "yes", by="Ann")
    tiers = part.answer("tiers", {"smoke": "1", "lung": "2", "either": "3"}, by="Ann")
    pair = part.answer("pair:lung:smoke", "after", by="Ann")

    assert ("smoke", "lung") in roots.arrows & tiers.arrows & pair.arrows
    assert {tail for tail, head in outcome.arrows if head == "either"} == {"dysp", "lung", "tub", "xray"}
    assert frozenset(("lung", "smoke")) in part.lines & outcome.lines


def test_what_comes_before_the_target_comes_before_what_follows_it() -> None:
    """An arrow of the data from a later column to an earlier one is turned round, and its proof says who told it."""
    whole = learn(ROWS, "either", depth="max")
    assert ("bronc", "dysp") in whole.arrows
    told = whole.answer("sort", {"dysp": "before", "bronc": "after"}, by="Ann")

    assert ("dysp", "bronc") in told.arrows
    assert 'given by "Ann", question "sort"; the data alone: bronc -> dysp' in str(told.why("dysp", "bronc"))
    assert {frozenset(("dysp", "bronc")), frozenset(("dysp", "either"))} == {
        pair for pair, drawn in marks(whole).items() if drawn != marks(told)[pair]
    }
    assert Answer("sort", {"a": "before", "b": "before", "c": "neither"}, target="t").about("a", "b") is None


def test_neither_takes_the_edge_away(part: Part) -> None:
    """The proof of the gap says who told it."""
    told = part.answer("sort", {"tub": "neither"}, by="Ann")

    assert told.mark("tub", "either") is Mark.GAP
    assert 'given by "Ann", question "sort"' in str(told.why("tub", "either"))
    assert told.difference(part).lost == (frozenset(("tub", "either")),)


def test_two_people_who_contradict_each_other_leave_no_arrow(part: Part) -> None:
    """A conflict names both, and of one person the last answer counts."""
    ann = part.answer("sort", {"tub": "before"}, by="Ann")
    both = ann.answer("sort", {"tub": "after"}, by="Bob")
    again = ann.answer("sort", {"tub": "after"}, by="Ann")

    assert both.mark("tub", "either") is Mark.CONFLICT
    proof = str(both.why("tub", "either"))
    assert 'given by "Ann"' in proof
    assert 'given by "Bob"' in proof
    assert ("either", "tub") in again.arrows
    assert again.conflicts == ()


def test_an_answer_against_what_was_given_contradicts_it() -> None:
    """Knowledge of a file is one of the people."""
    part = learn(ROWS, "either", knowledge=Knowledge(required=[("tub", "either")]))
    torn = part.answer("sort", {"tub": "after"}, by="Ann")

    assert torn.mark("tub", "either") is Mark.CONFLICT
    assert "by the knowledge" in str(torn.why("tub", "either"))


def test_consequences_are_drawn_only_where_somebody_vouches() -> None:
    """A chain of open lines: one arrow directs the rest only under hidden="excluded"."""
    rows = sample(network("asia"), 4000, seed=3)
    part = learn(rows, "smoke", depth=2)
    open_lines = {frozenset(("smoke", "bronc")), frozenset(("smoke", "lung"))}
    assert open_lines <= part.lines
    told = part.answer("sort", {"bronc": "before"}, by="Ann")
    vouched = part.answer("sort", {"bronc": "before"}, by="Ann", hidden="excluded")

    assert frozenset(("smoke", "lung")) in told.lines
    assert ("smoke", "lung") in vouched.arrows
    assert 'by "Ann"' in str(vouched.why("smoke", "lung"))


def test_arrows_that_were_found_give_way_to_told_ones_in_a_circle() -> None:
    """An arrow of the data that would close a circle with what is told becomes a line; told ones alone all do."""
    whole = learn(ROWS, "either", depth="max")
    told = whole.answer("sort", {"dysp": "before", "lung": "after"}, by="Ann")
    told = told.answer("pair:lung:smoke", "before", by="Ann").answer("pair:smoke:bronc", "before", by="Ann")
    assert ("bronc", "dysp") in whole.arrows
    circle = told.answer("pair:bronc:dysp", "before", by="Ann")
    around = [("dysp", "either"), ("either", "lung"), ("lung", "smoke"), ("smoke", "bronc"), ("bronc", "dysp")]

    assert set(around[:-1]) <= told.arrows
    assert frozenset(("bronc", "dysp")) in told.lines
    assert {frozenset(one) for one in around} <= circle.lines


def test_directions_that_are_only_suggested_give_way_to_nothing() -> None:
    """They are drawn as lines and claim nothing: the same circle leaves the mark of bronc -- dysp as it is."""
    whole = learn(ROWS, "either", depth="max", min_direction=0.999)
    assert ("bronc", "dysp") in whole.suggested
    told = whole.answer("sort", {"dysp": "before", "lung": "after"}, by="Ann")
    told = told.answer("pair:lung:smoke", "before", by="Ann").answer("pair:smoke:bronc", "before", by="Ann")

    assert {one.pair for one in told.difference(whole).changed} == {
        ("dysp", "either"), ("either", "lung"), ("lung", "smoke"), ("bronc", "smoke")}  # fmt: skip
    assert marks(told)[frozenset(("bronc", "dysp"))] == marks(whole)[frozenset(("bronc", "dysp"))]
    assert ("bronc", "dysp") in told.suggested


def test_answers_are_kept_in_files_and_parts(part: Part, tmp_path: Path) -> None:
    """A knowledge file, a part file, a pickle and learning with the file all give the same part."""
    told = part.answer("sort", {"tub": "after", "lung": "before"}, by="ward 3", date="2026-11-18")
    told.save(tmp_path / "part.json")
    told.knowledge.write(tmp_path / "answers.toml")
    again = learn(ROWS, "either", depth=2, knowledge=tmp_path / "answers.toml")

    assert Knowledge.read(tmp_path / "answers.toml") == told.knowledge
    assert load(tmp_path / "part.json") == told
    assert str(load_part(tmp_path / "part.json").why("either", "tub")) == str(told.why("either", "tub"))
    assert pickle.loads(pickle.dumps(told)) == told  # noqa: S301 - our own
    assert part_json(again.answer("sort", {}, by="x")) != part_json(told)
    assert again.arrows == told.arrows
    assert parse_part(part_json(told), "here").knowledge == told.knowledge
    assert told.knowledge.answers[0].who == 'by "ward 3", 2026-11-18, question "sort"'


def test_a_file_in_other_words_is_read_and_a_wrong_one_refused(tmp_path: Path) -> None:
    """A reply may be a table; unknown keys, questions and columns are named."""
    file = tmp_path / "a.toml"
    file.write_text('[[answers]]\nid = "sort"\ntarget = "either"\nreply = {tub = "after"}\n', "utf-8")
    assert Knowledge.read(file).answers == (Answer("sort", {"tub": "after"}, target="either"),)
    for text, sentence in (
        ('[[answers]]\nid = "sort"\n', "give id, reply"),
        ('[[answers]]\nid = "guess"\nreply = {a = "before"}\n', "there is no question 'guess'"),
        ('likely = [["a", "b", 2]]\n', "an entry of likely is"),
        ("anwsers = []\n", "unknown key 'anwsers'; did you mean 'answers'?"),
    ):
        file.write_text(text, "utf-8")
        with pytest.raises(ApslError, match=sentence.replace("?", r"\?")):
            Knowledge.read(file)
    file.write_text('[[answers]]\nid = "sort"\ntarget = "either"\nreply = {tubb = "after"}\n', "utf-8")
    with pytest.raises(ApslError, match="node in the knowledge 'tubb'; did you mean 'tub'"):
        learn(ROWS, "either", knowledge=file)


def test_a_new_search_says_what_it_loses_and_gains(part: Part) -> None:
    """The note of the part names the edges; the answers are laid over it again."""
    told = part.answer("sort", {"tub": "after"}, by="Ann")
    again = told.relearn(ROWS)
    changed = again.difference(told)

    assert ("either", "tub") in again.arrows
    assert again.notes[-1].startswith("a new search under the answers ")
    assert all(" -- ".join(sorted(map(str, pair))) in again.notes[-1] for pair in (*changed.lost, *changed.gained))
    assert 'given by "Ann"' in str(again.why("either", "tub"))


def test_opinions_weigh_with_the_data_and_are_seen_in_the_proof() -> None:
    """An open line follows the opinion; a sure arrow does not; the proof has the share and who says so."""
    weak = Knowledge(likely={("smoke", "lung"): 0.7, ("either", "tub"): 0.6}, by="Ann")
    part = learn(ROWS, "either", depth=2)
    found = learn(ROWS, "either", depth=2, knowledge=weak)
    turned = learn(ROWS, "either", depth=2, knowledge=Knowledge(likely={("smoke", "lung"): 0.3}))

    assert ("smoke", "lung") in found.arrows
    assert found.direction_probability("smoke", "lung") == pytest.approx(0.7)
    proof = str(found.why("smoke", "lung"))
    assert '70 % sure that smoke -> lung, by "Ann"; the data alone: lung -- smoke, 50 % for it; together 70 %' in proof
    assert ("tub", "either") in found.arrows
    assert found.direction_probability("tub", "either") < part.direction_probability("tub", "either")  # type: ignore[operator]
    assert ("lung", "smoke") in turned.arrows
    assert part_json(parse_part(part_json(found), "here")) == part_json(found)


def test_opinions_close_no_circle() -> None:
    """An opinion that would close a circle is left out, and the data's arrow stays."""
    known = Knowledge(likely={("dysp", "either"): 0.999, ("either", "lung"): 0.999, ("lung", "smoke"): 0.999,
                              ("smoke", "bronc"): 0.999})  # fmt: skip
    whole = learn(ROWS, "either", depth="max")
    found = learn(ROWS, "either", depth="max", knowledge=known)

    assert ("bronc", "dysp") in whole.arrows & found.arrows
    assert ("either", "dysp") in found.arrows


def test_what_is_told_goes_before_opinions() -> None:
    """An answer decides a pair whatever somebody finds likely."""
    known = Knowledge(
        likely={("smoke", "lung"): 0.9}, answers=[Answer("pair:x", {"lung": "before"}, "Ann", "", "smoke")]
    )
    found = learn(ROWS, "either", depth=2, knowledge=known)

    assert ("lung", "smoke") in found.arrows


def test_hidden_causes_get_an_arrowhead_and_no_tail() -> None:
    """Where hidden causes are allowed, "before" says that the later node is no cause of the earlier one."""
    part = learn(ROWS, "either", hidden="allowed")
    told = part.answer("sort", {"tub": "before"}, by="Ann")

    assert str(told.end("either", "tub")) == "arrow"
    assert 'given by "Ann"' in str(told.why("either", "tub"))
    assert parse_part(part_json(told), "here") == told
