"""Graphs in every form against tables in every form: what is said, what is refused, and that it is always the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from apsl_rules import Dag, Knowledge, check, learn_graph, network, table
from apsl_rules.checking import Check, Standing, State
from apsl_rules.checking.claims import Rows
from apsl_rules.errors import ApslError
from apsl_rules.graphs import cpdag, mag, pag
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import graph_of
from support.terminal import apsl_here

ROWS = sample(network("asia"), 3000, seed=5)
TRUE = network("asia").dag
FRAME = pd.DataFrame({node: [ROWS.levels_of(node)[code] for code in ROWS.codes_of(node)] for node in ROWS.names})


def lacking(tail: str, head: str) -> dict[str, list[str]]:
    """Return the true graph without one arrow."""
    parents = {str(node): [str(one) for one in TRUE.parents_of(node)] for node in TRUE.nodes}
    parents[head].remove(tail)
    return parents


@pytest.fixture(scope="module")
def found() -> Check:
    """Return the check of a graph that lacks an arrow."""
    return check(lacking("bronc", "dysp"), ROWS)


def test_a_graph_of_some_nodes_is_checked_against_a_network() -> None:
    """The others are left out, as of a table."""
    some = {"smoke": [], "lung": ["smoke"], "bronc": ["smoke"]}

    assert check(some, network("asia")).verdict == "not contradicted"
    assert check({**some, "lung": []}, network("asia")).verdict == "contradicted"


def test_the_true_graph_is_not_contradicted() -> None:
    """Nothing fails, nothing is to be changed, and the word is never that it is correct."""
    true = check(TRUE, ROWS)

    assert (true.verdict, true.failing, true.changes, true.is_reconciled) == ("not contradicted", (), (), True)
    assert "correct" not in str(true)
    assert true.standing is not None
    assert true.standing.share == pytest.approx(1.0, abs=0.05)
    assert true.standing.as_good == 0


def test_a_missing_arrow_is_named_with_what_it_repairs(found: Check) -> None:
    """First how the graph stands, then what fails, then the edges, then the change, with its gain."""
    lines = str(found).splitlines()

    assert lines[0] == "contradicted: a graph of 8 nodes and 7 edges, against 3,000 rows"
    assert "% of what the learned graph explains, more than" in lines[1]
    assert lines[2].startswith("of 21 independences that the graph implies 2 fail, 19 hold")
    (change,) = found.changes
    assert (change.kind, change.source, change.target) == ("add", "bronc", "dysp")
    assert change.repairs == (("bronc", "dysp"), ("smoke", "dysp"))
    assert change.gain is not None
    assert change.gain > 100
    assert found.is_reconciled
    assert ("bronc", "dysp") in found.fixed.arrows
    assert found.graph == graph_of(Dag(lacking("bronc", "dysp")))


def test_all_figures_are_data(found: Check) -> None:
    """What is printed is there as JSON."""
    data = json.loads(json.dumps(found.to_dict()))

    assert data["verdict"] == "contradicted"
    assert data["counts"] == {"fails": 2, "holds": 19, "small": 0, "cannot be tested": 0}
    assert data["changes"][0]["repairs"] == [["bronc", "dysp"], ["smoke", "dysp"]]
    assert len(data["edges"]) == 7
    assert data["standing"]["shuffles"] == 200


def test_a_superfluous_arrow_is_not_shown_by_the_rows() -> None:
    """It contradicts nothing; the edge itself says that these rows do not show it."""
    more = {**lacking("bronc", "dysp"), "dysp": ["bronc", "either", "asia"]}
    edges = {(one.source, one.target): one for one in check(more, ROWS, compare=False).edges}

    assert edges["asia", "dysp"].existence is Standing.NOT_SHOWN
    assert edges["bronc", "dysp"].existence is Standing.STANDS


def test_a_turned_arrow_is_suggested_to_turn() -> None:
    """The change names it, and so does the edge."""
    turned = {**lacking("bronc", "dysp"), "bronc": ["smoke", "dysp"]}
    found = check(turned, ROWS, compare=False)
    ways = {(one.kind, one.source, one.target) for one in found.changes}
    ways |= {(one.kind, one.source, one.target) for step in found.changes for one in step.rivals}

    assert ("turn", "bronc", "dysp") in ways
    assert ("dysp", "bronc") in {
        (one.source, one.target) for one in found.edges if one.direction is Standing.TURN
    } or found.changes[0].kind != "turn"


def test_a_turn_is_found_by_the_claims_that_speak_of_it_alone() -> None:
    """Among 165 claims the one that a turned arrow makes false does not stand out; by itself it does."""
    rows, truth = sample(network("child"), 2000, seed=9002), network("child").dag
    parents = {node: [*truth.parents_of(node)] for node in truth.nodes}
    parents["DuctFlow"].remove("Disease")
    parents["Disease"].append("DuctFlow")
    found = check(parents, rows, compare=False, shuffles=0)

    assert len(found.changes) == 1
    assert {one.words for one in (found.changes[0], *found.changes[0].rivals)} == {
        "turn round to Disease -> DuctFlow", "turn round to Disease -> BirthAsphyxia"}  # fmt: skip
    assert found.changes[0].repairs == (("BirthAsphyxia", "DuctFlow"),)
    assert [one.statement for one in found.failing] == ["BirthAsphyxia ⊥ DuctFlow"]
    assert found.is_contradicted
    assert found.is_reconciled
    assert not check(truth, rows, compare=False, shuffles=0).is_contradicted
    held = Knowledge(required=[("DuctFlow", "Disease"), ("BirthAsphyxia", "Disease")])
    assert not check(parents, rows, compare=False, shuffles=0, knowledge=held).changes


@pytest.mark.parametrize("kind", ["categories", "numbers", "no edge", "near copies"])
def test_shuffles_that_are_left_early_would_not_have_scored_as_high(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scored to the end and one by one, as many graphs with shuffled names score as high."""
    graph: Any = lacking("bronc", "dysp") if kind == "categories" else {one: [] for one in "abcde"}
    rows: Any = ROWS
    if kind != "categories":
        rows = pd.DataFrame(np.random.default_rng(3).normal(size=(300, 5)).cumsum(axis=1), columns=[*"abcde"])
        graph |= {"b": ["a"], "c": ["b"]} if kind == "numbers" else {}
    if kind == "near copies":  # hundreds of nats a row
        codes = np.tile(np.arange(60), 100)
        rows = pd.DataFrame({"code": codes, "name": codes, "size": np.random.default_rng(0).normal(size=6000)})
        rows.loc[0, "name"] = 1
        rows, graph = rows.astype({"code": str, "name": str}), {"code": [], "name": ["code"], "size": []}
    standing = check(graph, rows, compare=False).standing
    monkeypatch.setattr(Rows, "renamed", property(lambda _: None, lambda *_: None), raising=False)

    assert standing is not None
    assert standing.as_good == {"categories": 26, "numbers": 86, "no edge": 200, "near copies": 61}[kind]
    assert check(graph, rows, compare=False).standing == standing


def test_columns_that_say_how_rows_are_read_are_not_left_out() -> None:
    """Groups and weights are used, so no note calls them columns that the graph does not name."""
    rows = pd.DataFrame({"a": np.arange(60) % 7, "b": np.arange(60) % 5, "school": [*"rst"] * 20}).astype({"a": float})
    assert check({"a": [], "b": []}, rows, groups="school", compare=False, shuffles=0).notes == ()


DOT = "digraph { sun -> ice; sun -> crowd; }"
FORMS: dict[str, Any] = {
    "a mapping": {"sun": [], "ice": ["sun"], "crowd": ["sun"]},
    "arrows": [("sun", "ice"), ("sun", "crowd")],
    "a known graph": Dag({"sun": [], "ice": ["sun"], "crowd": ["sun"]}),
    "its CPDAG": cpdag(Dag({"sun": [], "ice": ["sun"], "crowd": ["sun"]})),
    "its MAG": mag(Dag({"sun": [], "ice": ["sun"], "crowd": ["sun"]}).hiding()),
    "its PAG": pag(Dag({"sun": [], "ice": ["sun"], "crowd": ["sun"]}).hiding()),
    "marks": graph_of(Dag({"sun": [], "ice": ["sun"], "crowd": ["sun"]})),
    "DOT": DOT,
    "dagitty": "dag { sun -> ice sun -> crowd }",
    "bnlearn": "[sun][ice|sun][crowd|sun]",
    "Tetrad": "Graph Nodes:\nsun;ice;crowd\n\nGraph Edges:\n1. sun --> ice\n2. sun --> crowd\n",
    "Mermaid": "flowchart TD\n sun --> ice\n sun --> crowd\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_graph_claims_the_same(form: str) -> None:
    """The fork implies one independence, in whatever form it comes."""
    truth = Dag({"sun": [], "ice": ["sun"], "crowd": ["sun", "ice"]})

    assert [str(one.statement) for one in check(FORMS[form], truth).failing] == ["ice ⊥ crowd | sun"]


def test_graphs_of_networkx_and_learned_graphs_are_taken() -> None:
    """A DiGraph, and what was learned from the same table, which its own table does not contradict."""
    nx = pytest.importorskip("networkx")
    drawn = nx.DiGraph([("sun", "ice"), ("sun", "crowd")])
    truth = Dag({"sun": [], "ice": ["sun"], "crowd": ["sun", "ice"]})

    assert len(check(drawn, truth).failing) == 1
    assert not check(learn_graph(ROWS, hidden="excluded"), ROWS, compare=False).is_contradicted


def test_hidden_causes_are_checked_by_m_separation() -> None:
    """A latent variable of dagitty, a bidirected edge and a hidden node of one's own say the same."""
    truth = Dag({"U": [], "a": [], "x": ["U", "a"], "y": ["U"], "b": ["y"]}).hiding("U")
    latent = "dag { U [latent] a -> x U -> x U -> y y -> b }"
    sign = "dag { a -> x x <-> y y -> b }"
    named = {"U": [], "a": [], "x": ["U", "a"], "y": ["U"], "b": ["y"]}
    wrong = "dag { a -> x x -> y y -> b }"

    for graph, hidden in ((latent, ()), (sign, ()), (named, ["U"])):
        found = check(graph, truth, hidden=hidden)
        assert not found.failing
        assert {frozenset(pair) for pair in [("x", "y")]} == found.graph.bidirected
        assert found.standing is None
    assert {(one.x, one.y) for one in check(wrong, truth).failing} >= {("a", "y")}


def test_a_missing_hidden_cause_is_suggested_for_a_graph_that_has_some() -> None:
    """A pair whose independence fails may be joined by an arrow or a hidden cause."""
    truth = Dag({"U": [], "V": [], "x": ["U"], "y": ["U", "V"], "z": ["V"]}).hiding("U", "V")
    (change,) = check("dag { x <-> y z }", truth).changes

    assert {change.kind, *(one.kind for one in change.rivals)} <= {"add", "join"}
    assert {change.source, change.target} == {"y", "z"}


def test_columns_that_are_not_named_do_not_count(found: Check) -> None:
    """A further column changes nothing but a note; nor does the order of columns, or where they are counted."""
    shuffled = FRAME[[*reversed(FRAME.columns)]].assign(extra=FRAME["smoke"])
    again = check(lacking("bronc", "dysp"), shuffled)

    assert again.notes[0] == "1 column that the graph does not name: 'extra'"
    assert again.claims == found.claims
    assert again.changes == found.changes
    assert check(lacking("bronc", "dysp"), FRAME, counts="duckdb", compare=False).claims == found.claims


def test_weights_count_as_rows() -> None:
    """A row with a weight of two is two rows."""
    weights = np.where(np.arange(len(FRAME)) % 3 == 0, 2, 1)
    weighted = check(lacking("bronc", "dysp"), FRAME.assign(times=weights), weights="times", compare=False)
    repeated = check(lacking("bronc", "dysp"), FRAME.loc[FRAME.index.repeat(weights)], compare=False)

    assert weighted.rows == repeated.rows == int(weights.sum())
    assert weighted.claims == repeated.claims
    assert weighted.changes == repeated.changes


def test_missing_values_leave_out_rows_test_by_test() -> None:
    """Each test says how many rows it has; the missing arrow is still named."""
    holes = FRAME.astype(object).copy()
    holes.loc[::4, "smoke"] = None
    found = check(lacking("bronc", "dysp"), holes, compare=False)
    by_pair = {(one.x, one.y, one.given): one.verdict.n for one in found.claims}

    assert {n for (x, y, given), n in by_pair.items() if "smoke" in (x, y, *given)} == {2250}
    assert ("bronc", "dysp") in {(one.source, one.target) for one in found.changes}


def test_numbers_and_categories_are_checked_together() -> None:
    """A chain of numbers into a category: the shortcut that is missing is named."""
    random = np.random.default_rng(3)
    a = random.normal(size=1500)
    b = a + random.normal(size=1500)
    c = np.where(a + b + random.logistic(size=1500) > 0, "high", "low")
    found = check({"a": [], "b": ["a"], "c": ["b"]}, pd.DataFrame({"a": a, "b": b, "c": c}))

    assert [one.statement for one in found.failing] == ["a ⊥ c | b"]
    assert {found.changes[0].source, found.changes[0].target} == {"a", "c"}


def test_nothing_suggested_goes_against_what_is_given() -> None:
    """Where dysp is known to come before bronc, no arrow from bronc to it is suggested."""
    barred = Knowledge(forbidden=[("bronc", "dysp")])
    found = check(lacking("bronc", "dysp"), ROWS, knowledge=barred, compare=False)
    every = [one for change in found.changes for one in (change, *change.rivals)]

    assert ("bronc", "dysp") not in {(one.source, one.target) for one in every}


def test_small_failures_and_sparse_cells_have_words_of_their_own() -> None:
    """A failure below ``least`` is small; what too few rows speak for cannot be tested."""
    loose = check(lacking("bronc", "dysp"), ROWS, least=0.1, compare=False)
    sparse = check(lacking("bronc", "dysp"), FRAME.head(60), compare=False)

    assert loose.counts[State.SMALL] == 1
    assert "smoke ⊥ dysp | either fails by little [" in str(loose)
    assert sparse.counts[State.UNTESTED] > 0
    assert not sparse.is_contradicted or sparse.changes


def test_no_small_change_is_said_where_none_helps() -> None:
    """With all changes barred the failures stay, and a common cause may be missing."""
    nodes = [str(node) for node in TRUE.nodes]
    barred = Knowledge(forbidden=[(x, y) for x in nodes for y in nodes if x != y])
    found = check(lacking("bronc", "dysp"), ROWS, knowledge=barred, compare=False)

    assert not found.is_reconciled
    assert str(found).endswith("no small change reconciles this graph and the rows; a common cause may be missing")


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "a circle": ({"asia": ["tub"], "tub": ["asia"]}, {}, "cycle|circle"),
    "an unknown column": ({"asia": [], "tubb": ["asia"]}, {}, "'tubb' of the graph is no column of the table"),
    "no graph": (7, {}, "int has no marks"),
    "an unknown hidden node": ({"asia": []}, {"hidden": ["U"]}, "the hidden node 'U' is not in the graph"),
    "a name for a list": ({"asia": []}, {"hidden": "U"}, "hidden is 'U'"),
    "half an arrow": ([("asia",)], {}, "is no arrow; give a list of pairs"),
    "no arrows": ([], {}, "the list of arrows is empty"),
    "words": ("smoking causes cancer {", {}, "is no graph; give text of dagitty"),
    "a missing file": ("graph.dot", {}, "cannot be read"),
    "a wrong level": ({"asia": []}, {"alpha": 2}, "alpha is 2"),
    "a contradicted edge": ("digraph { asia -> tub [dir=both] }", {}, "is contradicted, so the graph claims nothing"),
    "no shuffles": ({"asia": []}, {"shuffles": -1}, "shuffles is -1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_checked_is_refused_in_a_sentence(case: str) -> None:
    """The sentence names what is wrong."""
    graph, options, sentence = REFUSED[case]
    with pytest.raises(ApslError, match=sentence):
        check(graph, ROWS, **options)


def test_columns_that_are_set_aside_count_as_not_measured() -> None:
    """A constant column can be in no test, and a note says so."""
    graph = {**lacking("bronc", "dysp"), "flat": ["smoke"]}
    found = check(graph, FRAME.assign(flat="same"), compare=False)

    assert "columns that were set aside count as not measured: 'flat'" in found.notes
    assert "flat" not in {node for one in found.claims for node in (one.x, one.y, *one.given)}


def test_a_picture_has_three_colours(tmp_path: Path) -> None:
    """What stands, what is doubtful, and a line for the pair whose independence fails; the page says what they mean."""
    found = check({**lacking("bronc", "dysp"), "xray": ["either", "asia"]}, ROWS)
    drawn = found.svg()
    found.report(tmp_path / "check.html")
    found.report(tmp_path / "check.svg")
    page = (tmp_path / "check.html").read_text("utf-8")

    assert all(colour in drawn for colour in ("#2e7d4f", "#b07a00", "#d0342c"))
    assert 'data-mark="line"' in drawn
    assert (tmp_path / "check.svg").read_text("utf-8") == drawn
    assert "contradicted: a graph of 8 nodes" in page
    assert "contradicted: a graph of 8 nodes" in found._repr_html_()
    assert "<script" not in page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and graphs."""
    place = tmp_path_factory.mktemp("checked")
    FRAME.to_csv(place / "table.csv", index=False)
    (place / "true.dot").write_text(graph_of(TRUE).to("dot"), "utf-8")
    (place / "wrong.dot").write_text(graph_of(Dag(lacking("bronc", "dysp"))).to("dot"), "utf-8")
    (place / "latent.dagitty").write_text("dag { U [latent] U -> lung U -> bronc lung -> either }", "utf-8")
    return place


def test_the_command_says_words_first(folder: Path) -> None:
    """Verdicts are no exit codes unless --strict is given; --json and --out have the rest."""
    plain = apsl_here("check", "wrong.dot", "table.csv", "--quiet", folder=folder)
    strict = apsl_here("check", "wrong.dot", "table.csv", "--strict", "--json", "-q", "--alone", folder=folder)
    right = apsl_here("check", "true.dot", "table.csv", "--strict", "--nats", "-q", folder=folder)
    drawn = apsl_here("check", "latent.dagitty", "table.csv", "--out", "latent.svg", folder=folder)

    assert (plain.code, plain.out.splitlines()[0][:13]) == (0, "contradicted:")
    assert (strict.code, json.loads(strict.out)["verdict"]) == (1, "contradicted")
    assert (right.code, right.out.splitlines()[0][:17]) == (0, "not contradicted:")
    assert "nats, the learned graph by" in right.out
    assert (folder / "latent.svg").read_text("utf-8").startswith("<svg")
    assert drawn.err == "wrote latent.svg: the graph, with what the rows say of it\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("no.dot", "table.csv"), "apsl: there is no file 'no.dot'\n"),
        (
            ("true.dot", "table.csv", "--out", "a.png"),
            "apsl: --out is 'a.png'; give a name that ends in .svg or .html\n",
        ),
        (("true.dot", "table.csv", "--hidden", "smok"), "apsl: unknown node in --hidden 'smok'"),
        (("true.dot", "table.csv", "--alpha", "0"), "apsl: --alpha is 0.0; give a small number"),
    ],
)
def test_mistakes_get_a_sentence(words: tuple[str, ...], sentence: str, folder: Path) -> None:
    """In the words of the command."""
    done = apsl_here("check", *words, folder=folder)

    assert done.code == 1
    assert done.err.startswith(sentence)


def test_an_opened_table_gives_the_same(found: Check) -> None:
    """A table that was read before, and rows of a file."""
    assert check(lacking("bronc", "dysp"), table(FRAME)).claims == found.claims
