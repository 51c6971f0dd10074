"""A whole graph as a file and as a report: nothing is lost, and what is damaged is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from apsl_rules import Dag, learn_graph, learn_many, network
from apsl_rules.errors import GraphError, PartFileError, UnknownNodeError
from apsl_rules.graphs.networks import sample
from apsl_rules.parts import LearnedGraph, load_graph
from support.drawn import HOSTILE, hostile_dag


@cache
def graphs() -> dict[str, LearnedGraph]:
    """Return graphs of one run and of several, of a union, with hidden causes, and with odd names."""
    pieces = Dag({"a": [], "b": [], "c": ["a", "b"], "d": ["e"], "e": [], "alone": []})
    return {
        "scores": learn_graph(sample(network("asia"), 1000, seed=3)),
        "pieces": learn_graph(pieces),
        "union": learn_many(network("asia"), ["dysp", "lung"]).union,
        "hidden": learn_graph(network("asia").hiding("smoke"), hidden="allowed"),
        "hostile": learn_graph(hostile_dag()),
    }


@pytest.mark.parametrize("kind", ["scores", "pieces", "hidden", "hostile"])
def test_a_graph_comes_back_from_its_file(kind: str, tmp_path: Path) -> None:
    """The graph that is read equals the one that was saved and proves the same; saved again it has the same bytes."""
    graph = graphs()[kind]
    graph.save(tmp_path / "graph.json")
    back = load_graph(tmp_path / "graph.json")
    back.save(tmp_path / "again.json")

    assert back == graph
    assert back.graph() == graph.graph()
    assert [str(back.why(x, y)) for x, y in sorted(graph.arrows, key=str)] == [
        str(graph.why(x, y)) for x, y in sorted(graph.arrows, key=str)
    ]
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "graph.json").read_bytes()


@pytest.mark.parametrize("kind", ["scores", "pieces", "union", "hidden", "hostile"])
def test_a_graph_has_a_report(kind: str, tmp_path: Path) -> None:
    """The report is that of a connected piece, around the node with the most edges or one that is named."""
    graph = graphs()[kind]
    graph.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")

    assert page.startswith("<!doctype html>")
    assert "<img" not in page
    assert "<script>window" not in page


def test_a_union_is_saved_part_by_part(tmp_path: Path) -> None:
    """It is made of other runs, so it is refused, and the sentence says what to save."""
    with pytest.raises(GraphError, match="union of parts; save these instead"):
        graphs()["union"].save(tmp_path / "graph.json")


def test_a_piece_is_a_part_around_its_node() -> None:
    """It has the edges of the piece, and none of the others; a node without an edge is a part of its own."""
    graph = graphs()["pieces"]

    assert graph.part_around("c").arrows == {("a", "c"), ("b", "c")}
    assert graph.part_around("d").lines == {frozenset("de")}
    assert graph.part_around("alone").members == ("alone",)
    assert graph.part_around("a").distances == {"a": 0, "c": 1, "b": 2}


def test_one_piece_has_all_edges() -> None:
    """Around any node of one connected graph all edges are there, with the same marks."""
    graph = graphs()["hostile"]
    for node in HOSTILE:
        assert graph.part_around(node).graph() == graph.graph()


def test_the_named_node_is_the_target(tmp_path: Path) -> None:
    """``target`` says around which node, and an unknown one is refused."""
    graphs()["pieces"].report(tmp_path / "report.html", target="d")
    assert "<title>d " in (tmp_path / "report.html").read_text("utf-8")

    with pytest.raises(UnknownNodeError, match="did you mean 'alone'"):
        graphs()["pieces"].report(tmp_path / "report.html", target="alon")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"format": "apsl_rules part"}, "is no file of a learned graph; save one with graph.save"),
        ({"version": 7}, "graph format version 7; this program reads version 1"),
        ({"parts": []}, "it has no parts"),
        ({"parts": [{}]}, "is no part file"),
        ({"nodes": ["a"]}, "other nodes than it"),
        ({"nodes": 3}, "cannot be read"),
        ({"learner": 3}, "no text"),
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    """One sentence says what is wrong."""
    path = tmp_path / "graph.json"
    graphs()["pieces"].save(path)
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | change), "utf-8")

    with pytest.raises(PartFileError, match=words):
        load_graph(path)


def test_no_file_and_no_json_are_refused(tmp_path: Path) -> None:
    """A path without a file, and a file without JSON."""
    with pytest.raises(PartFileError, match="cannot read the graph file"):
        load_graph(tmp_path / "nothing.json")
    (tmp_path / "text.json").write_text("graph", "utf-8")
    with pytest.raises(PartFileError, match="is no graph file: not valid JSON"):
        load_graph(tmp_path / "text.json")
