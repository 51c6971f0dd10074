"""Honest marks: an arrow is drawn only where its direction is probable enough, else it is a line with a suggestion."""

from __future__ import annotations

import json
import pickle
from functools import cache
from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest

from apsl_rules import blanket, learn, learn_graph, learn_many, network, score
from apsl_rules.errors import GraphError, InvalidArgumentError
from apsl_rules.export import from_dot, from_graph_json, from_graphml, to_dot, to_graph_json, to_graphml, to_networkx
from apsl_rules.graphs import extension
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.learning.many import stability
from apsl_rules.parts import MarkedGraph, Part, edges_csv, graph_of
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.parts.probability import DEFAULT_DIRECTION, PRECISE_DIRECTION
from apsl_rules.rules import Mark
from apsl_rules.views.labels import weights_of


@cache
def learned(least: float) -> Part:
    """Learn a part with some directions that are hardly supported."""
    return learn(
        sample(network("insurance"), 300, seed=1), "MakeModel", depth=2, min_direction=least, hidden="excluded"
    )


def test_a_weak_direction_is_a_line() -> None:
    """The threshold moves arrows to lines, and nothing else changes."""
    every, drawn = learned(0.0), learned(0.9)
    assert every.suggested == {}
    assert drawn.suggested
    unlikely = (drawn.store.arrows - drawn.all_arrows - drawn.suggested.keys()) & every.arrows
    assert unlikely
    assert drawn.arrows | drawn.suggested.keys() | unlikely == every.arrows == every.store.arrows & every.arrows
    assert drawn.lines == every.lines.union(map(frozenset, (*drawn.suggested, *unlikely)))
    assert drawn.edges == every.edges
    assert drawn.outside[0] <= every.outside[0]
    assert all(share < 0.9 for share in drawn.suggested.values())
    for x, y in drawn.suggested:
        assert drawn.mark(x, y) is drawn.mark(y, x) is Mark.SUGGESTED
        assert x not in drawn.parents_of(y)
        assert y not in drawn.children_of(x)
        assert y in drawn.neighbours_of(x)
    shares = {(row["source"], row["target"]): row["direction"] for row in every.rows()}
    assert all(shares[pair] >= 0.9 for pair in drawn.arrows)


def test_nothing_points_that_is_likelier_wrong_than_right() -> None:
    """Neither an arrow nor a suggestion, in rows, drawings and formats; its proof says why it is a line."""
    part = learned(DEFAULT_DIRECTION)
    shares = {one: part.direction_probability(*one) or 0.0 for one in part.store.arrows - part.all_arrows}
    (x, y), share = min(shares.items(), key=lambda one: one[1])
    assert share < DEFAULT_DIRECTION
    assert part.mark(x, y) is Mark.LINE
    assert "likelier wrong than right, so the edge is drawn as a line" in str(part.why(x, y))
    for row in (*part.rows(), *part.graph().rows()):
        points = row["mark"] == "arrow" or row["suggested"]
        assert (row["direction"] is not None) is bool(points)
        if points:
            assert row["probability"] * row["direction"] >= DEFAULT_DIRECTION
    assert (x, y) not in part.graph().directions


def test_the_number_on_an_arrow_is_that_of_the_arrow() -> None:
    """A drawing writes the edge and its direction together on what points, and the edge alone on a line."""
    part = learned(DEFAULT_DIRECTION)
    weights = weights_of(part.rows())
    for x, y in part.arrows:
        edge, direction = part.edge_probability(x, y), part.direction_probability(x, y)
        assert edge is not None
        assert direction is not None
        assert weights[frozenset((x, y))] == edge * direction
    for pair in part.lines - {*map(frozenset, part.suggested)}:
        assert weights[pair] == min(part.edge_probability(*pair) or 0.0, 0.99)


def test_a_suggestion_is_proved() -> None:
    """The proof is that of the arrow, and says that it is only suggested."""
    part = learned(0.9)
    x, y = next(iter(part.suggested))
    proof = part.why(y, x)
    assert proof.fact.nodes == (x, y)
    assert proof.direction_probability == part.suggested[x, y]
    assert proof.suggested
    assert str(proof).endswith("the direction is only suggested, so the edge is drawn as a line")
    assert proof.to_dict()["suggested"] is True
    assert "suggested" not in learned(0.0).why(x, y).to_dict()
    row = next(row for row in part.rows() if (row["source"], row["target"]) == (x, y))
    assert (row["mark"], row["suggested"]) == ("line", True)
    assert f"{x},{y},line" in edges_csv(part)


def test_a_saved_part_has_the_same_marks() -> None:
    """Files and copies keep the threshold; a file from before it draws all arrows."""
    part = learned(0.9)
    saved = parse_part(part_json(part), "saved")
    assert (saved.arrows, saved.lines, saved.suggested) == (part.arrows, part.lines, part.suggested)
    assert pickle.loads(pickle.dumps(part)).suggested == part.suggested  # noqa: S301 - our own bytes
    data = json.loads(part_json(learned(0.0)))
    del data["settings"]["min_direction"]
    assert parse_part(json.dumps(data), "old").arrows == learned(0.0).arrows


def test_the_picture_marks_suggestions() -> None:
    """They have a sign of their own, which the legend explains only where it is used."""
    assert "─?▶" in learned(0.9).picture()
    assert "this one suggested" in learned(0.9).picture()
    assert "?" not in learned(0.0).picture()


def test_exports_write_lines_with_a_hint() -> None:
    """Formats with attributes carry the suggestion, and all read back as the same marks."""
    part = learned(0.9)
    graph = graph_of(part)
    (x, y), share = next(iter(part.suggested.items()))
    assert graph.lines == part.lines
    assert from_dot(to_dot(part)) == from_graphml(to_graphml(part)) == from_graph_json(to_graph_json(part)) == graph
    edge = part.edge_probability(x, y)
    figures = f"probability={edge:.4f}, direction={share:.4f}, suggested={share:.4f}"
    assert f'"{x}" -> "{y}" [dir=none, {figures}]' in to_dot(part)
    assert f'<data key="suggested">{share!r}</data>' in to_graphml(part)
    edges = json.loads(to_graph_json(part))["edges"]
    known = {"probability": edge, "direction": share, "suggested": share}
    assert {"source": x, "target": y, "mark": "line", **known} in edges
    made = to_networkx(part)
    assert made.edges[x, y] == {"mark": "line", **known}
    assert made.edges[y, x] == {"mark": "line", "probability": edge}
    row = next(row for row in graph.rows() if (row["source"], row["target"]) == (x, y))
    assert row["suggested"] == share
    assert (x, y) in graph.directed().edges


def test_arrows_may_meet_between_nodes_whose_edge_lies_further_out() -> None:
    """The edge of two nodes at the border is not inside the part, and does not keep its lines from being directed."""
    part = learn(sample(network("insurance"), 1000, seed=2), "DrivHist", depth=2, hidden="excluded")
    graph = part.graph()
    pair = frozenset(("Age", "SeniorTrain"))
    assert pair in graph.open_pairs
    assert pair not in {frozenset((edge.source, edge.target)) for edge in graph.edges}
    assert graph.directed().edges >= graph.arrows
    assert all(pair.isdisjoint({x, y}) or frozenset((x, y)) in part.edges for x, y in graph.directed().edges)


def test_a_circle_of_lines_gets_directions() -> None:
    """Lines that close a circle of four have no directions without a new V-structure, and get some all the same."""
    graph = learn(sample(network("insurance"), 500, seed=2), "SocioEcon", depth=2, hidden="excluded").graph()
    with pytest.raises(GraphError, match="they clash at"):
        extension(graph.nodes, graph.arrows, graph.lines, graph.open_pairs)
    directed = graph.directed()
    assert directed.edges >= graph.arrows
    assert {frozenset(way) for way in directed.edges} == {frozenset((one.source, one.target)) for one in graph.edges}


def test_duplicates_share_the_probability_of_an_edge() -> None:
    """No data can tell which of two copies has the edge, so each has half of it."""
    random = np.random.default_rng(3)
    a = random.integers(0, 3, 1500)
    b, c = (np.where(random.random(1500) < 0.8, a, random.integers(0, 3, 1500)) for _ in "bc")
    rows = pd.DataFrame({"a": a, "b": b, "c": c}).astype(str)
    alone = learn(rows, "a", hidden="excluded")
    shared = learn(rows.assign(copy=rows["b"].map({"0": "x", "1": "y", "2": "z"})), "a", hidden="excluded")
    probability = shared.edge_probability("a", "b")
    assert probability is not None
    assert probability == pytest.approx((alone.edge_probability("a", "b") or 0.0) / 2)
    assert shared.edge_probability("a", "c") == pytest.approx(alone.edge_probability("a", "c"), abs=0.01)


def test_a_graph_refuses_a_suggestion_without_a_line() -> None:
    """A suggested direction belongs to a line."""
    with pytest.raises(GraphError, match="suggested, but they are not joined by a line"):
        MarkedGraph("ab", arrows=["ab"], suggested={("a", "b"): 0.4})


def test_the_setting_is_checked() -> None:
    """It is a probability, or a word for one."""
    wrong: Any
    sentence = r"min_direction is .*; give a probability from 0 \(draw all arrows\) to 1, or 'precise'"
    for wrong in (-0.1, 1.5, "half", True, float("nan")):
        with pytest.raises(InvalidArgumentError, match=sentence):
            learn(network("cancer"), "Cancer", min_direction=wrong)
    wrong = "precice"
    with pytest.raises(InvalidArgumentError, match="min_direction is 'precice'; did you mean 'precise'"):
        learn(network("cancer"), "Cancer", min_direction=wrong)


def test_precise_arrows_have_a_name() -> None:
    """The word stands for a number, which the settings of the part tell."""
    rows = sample(network("insurance"), 500, seed=4)
    precise = learn(rows, "MakeModel", depth=2, min_direction="precise", hidden="excluded")
    assert precise.settings["min_direction"] == PRECISE_DIRECTION
    assert precise == learn(rows, "MakeModel", depth=2, min_direction=PRECISE_DIRECTION, hidden="excluded")
    assert precise.arrows < learn(rows, "MakeModel", depth=2, min_direction=DEFAULT_DIRECTION, hidden="excluded").arrows
    assert all(share < PRECISE_DIRECTION for share in precise.suggested.values())


@pytest.mark.slow
def test_all_results_agree() -> None:
    """Graphs of all nodes, unions of parts, stability, scores and blankets have the marks of the parts."""
    rows = sample(network("child"), 300, seed=3)
    graph = learn_graph(rows, min_direction=0.9, hidden="excluded")
    assert graph.suggested
    marks = graph_of(graph)
    assert (marks.arrows, marks.lines, dict(marks.suggested)) == (graph.arrows, graph.lines, dict(graph.suggested))
    assert graph.arrows == {one for part in graph.parts for one in part.arrows}
    assert all(graph.mark(x, y) is Mark.SUGGESTED for x, y in graph.suggested)
    every = learn_graph(rows, min_direction=0.0, hidden="excluded")
    assert graph.dag() == every.dag()
    union = learn_many(rows, ["Disease", "Age"], min_direction=0.9, hidden="excluded").union
    assert union.suggested
    assert graph_of(union).arrows == union.arrows
    part = learn(rows, "Disease", min_direction=0.9, hidden="excluded")
    found = stability(rows, "Disease", resamples=3, min_direction=0.9, hidden="excluded")
    told = {frozenset((row["source"], row["target"])): row["mark"] for row in found.rows()}
    assert {pair for pair, mark in told.items() if mark == "line"} >= part.lines
    assert score(part, network("child")).arrows == len(part.arrows)
    spouses = blanket(rows, "Disease").spouses
    strict = learn(rows, "Disease", hidden="excluded")
    assert all((strict.target, child) in strict.all_arrows for child in spouses)


def test_the_least_probability_is_part_of_the_settings() -> None:
    """It is told with the part; perfect answers need none."""
    assert learned(0.9).settings["min_direction"] == 0.9
    assert learn(network("cancer"), "Cancer").settings["min_direction"] is None
    changed = attrs.evolve(learned(0.9), settings={**learned(0.9).settings, "min_direction": 0.0})
    assert changed.arrows == learned(0.0).arrows
