"""Texts as other tools and people write them: what they say is read, and what cannot be read gets a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from apsl_rules import Dag, compare, export, learn, learn_graph, network
from apsl_rules.errors import ApslError, GraphError, GraphFormatError
from apsl_rules.evaluation.scoring import score
from apsl_rules.parts.graph import graph_of
from apsl_rules.parts.marked_graph import MarkedGraph

DAGITTY = """
dag {
bb="-5,-5,5,5"
"Lung cancer" [outcome,pos="0.5,1"]
Smoking [exposure, pos="-1.0,0.0"]
Tar.1 [latent]
Smoking -> Tar.1 -> "Lung cancer" [beta=0.3]
Smoking <- {Age Sex}
Age <-> Sex; lonely
}
"""

DOT = r"""
// what people write by hand
strict digraph "my graph" {
  rankdir=LR; node [shape=box, fontname="A"];
  a -> b -> c [color="red"];   /* a chain */
# a line of the preprocessor
  subgraph cluster_0 { edge [dir=none]; c -- "d \"e\""; }
  b:p:n -> {f, g};
  h -> a [dir=back];
  a -> "two" + " words" [dir=both];
  -1.5;
}
"""

TETRAD = """
Graph Nodes:
X1;X2;X3;(L1)

Graph Edges:
1. X1 --> X2 dd nl
2. X2 <-- X3
3. X1 --- X3
4. L1 <-> X1

Graph Attributes:
Score: -12.5
"""

MERMAID = """
graph LR;
  %% a comment
  A[Hard edge] -->|a label| B
  B --- C["say #quot;hi#quot;"]
  A <--> C;
  D --> A --> E
"""


def test_dagitty_as_its_web_page_writes_it() -> None:
    """Roles, positions, chains and groups are read; a double arrow is an edge without a direction."""
    graph = export.from_dagitty(DAGITTY)

    assert graph.nodes == ("Lung cancer", "Smoking", "Tar.1", "Age", "Sex", "lonely")
    assert graph.arrows == {
        ("Smoking", "Tar.1"),
        ("Tar.1", "Lung cancer"),
        ("Age", "Smoking"),
        ("Sex", "Smoking"),
    }
    assert graph.conflicts == {frozenset(("Age", "Sex"))}
    with pytest.raises(GraphError, match="the direction between 'Age' and 'Sex' is open, so this is no known graph"):
        Dag(graph)


def test_dot_as_people_write_it() -> None:
    """Chains, groups, ports, defaults, comments, joined strings and backward edges are read."""
    graph = export.from_dot(DOT)

    assert graph.arrows == {("a", "b"), ("b", "c"), ("b", "f"), ("b", "g"), ("a", "h")}
    assert graph.lines == {frozenset(("c", 'd "e"'))}
    assert graph.conflicts == {frozenset(("a", "two words"))}
    assert "-1.5" in graph.nodes
    assert export.from_dot("graph { a -- b }") == MarkedGraph("ab", lines=["ab"])


def test_tetrad_as_it_saves() -> None:
    """Nodes, edges in either direction, notes behind edges and further sections are read."""
    graph = export.from_tetrad(TETRAD)

    assert graph.nodes == ("X1", "X2", "X3", "L1")
    assert graph.arrows == {("X1", "X2"), ("X3", "X2")}
    assert graph.lines == {frozenset(("X1", "X3"))}
    assert graph.conflicts == {frozenset(("X1", "L1"))}


def test_bnlearn_as_its_manual_shows() -> None:
    """The model string of the manual of bnlearn is read."""
    graph = export.from_bnlearn("[A][C][F][B|A][D|A:C][E|B:F]\n")

    assert graph == MarkedGraph("ABCDEF", arrows=["AB", "AD", "CD", "BE", "FE"])


def test_mermaid_as_people_write_it() -> None:
    """Names in brackets, labels on edges, comments and chains are read."""
    graph = export.from_mermaid(MERMAID)

    assert graph.arrows == {("Hard edge", "B"), ("D", "Hard edge"), ("Hard edge", "E")}
    assert graph.lines == {frozenset(("B", 'say "hi"'))}
    assert graph.conflicts == {frozenset(("Hard edge", 'say "hi"'))}


FRAME = pd.DataFrame([["none", "line"], ["arrow to", "none"]], index=["a", "b"], columns=["a", "b"])


@pytest.mark.parametrize(
    ("read", "given", "sentence"),
    [
        (export.from_dagitty, "pag { a -- b }", "has the sign '--'; signs that can be read in a pag are ->, <-, <->"),
        (export.from_dot, "digraph { a -> b [arrowtail=tee, arrowhead=odot] }", "is 'tee'; give normal, none, odot"),
        (export.from_dot, "digraph { a -> b [arrowtail=odot, arrowhead=none] }", "a tail and a circle; such edges say"),
        (
            export.from_mermaid,
            "flowchart TD\n  a o--o b",
            "'a' and 'b' are joined by 'o--o'; signs that can be read here",
        ),
        (export.from_pcalg, pd.DataFrame([[0, 2], [4, 0]], index=["a", "b"], columns=["a", "b"]), "ends are 1, 2 or 3"),
        (export.from_pcalg, pd.DataFrame([[0, 3], [3, 0]], index=["a", "b"], columns=["a", "b"]), "another tail; such"),
        (export.from_dagitty, "dag { a @-> b }", "has the sign '@->'; signs that can be read are ->, --, <-> and <-"),
        (export.from_dagitty, "tree { a }", "at line 1: expected one of dag, pdag, mag, pag, digraph, graph, found"),
        (export.from_dagitty, "dag {\n a -> \n}", "at line 3: expected a node, found '}'"),
        (export.from_dagitty, "dag { a", "at line 1: expected a node, found the end"),
        (export.from_dagitty, "dag { a -> b b -> a }", "'a' and 'b' have both an arrow from 'a' and an arrow from 'b'"),
        (export.from_dagitty, "dag { a -> a }", "the node 'a' is joined to itself"),
        (export.from_dot, "digraph { a -> <b>b</b> }", "at line 1: expected a name or a sign"),
        (export.from_dot, "digraph { a -> b [dir=up] }", "has dir='up'; give forward, none, both or back"),
        (export.from_dot, "digraph { a } b", "at line 1: expected the end of the text, found 'b'"),
        (export.from_graphml, "<graphml", "this is no GraphML text"),
        (export.from_graphml, "<svg/>", "this XML has no graph in it, only <svg>"),
        (export.from_graphml, "<graphml><graph><node/></graph></graphml>", "a <node> of this GraphML text has no 'id'"),
        (export.from_mermaid, "sequenceDiagram", "this is no Mermaid flowchart"),
        (export.from_mermaid, "graph TD\n a -.-> b", "line 2 of the flowchart cannot be read from ' -.-> b' on"),
        (export.from_mermaid, "graph TD\n a[x] --> b[x]", "two nodes of this flowchart have the same name"),
        (export.from_tetrad, "X1 --> X2", "this text has no line after 'Graph Nodes:'"),
        (
            export.from_tetrad,
            "Graph Nodes:\na;b\n\nGraph Edges:\n1. a o-x b",
            "line 5 of the Tetrad text has the edge 'o-x'",
        ),
        (export.from_tetrad, "Graph Nodes:\na;b\n\nGraph Edges:\na b", "line 5 of the Tetrad text is no edge"),
        (export.from_bnlearn, "A -> B", "'A -> B' is no bnlearn model string"),
        (export.from_bnlearn, "[A][A]", "names a node twice"),
        (export.from_bnlearn, "[A|B]", "the parent 'B' of 'A' is not a node of the graph"),
        (export.from_graph_json, "{", "this is no graph in JSON"),
        (export.from_graph_json, "{}", "this JSON is no graph of ours"),
        (
            export.from_graph_json,
            '{"format": "apsl_rules graph", "version": 1, "nodes": ["a"]}',
            "this graph in JSON is damaged: KeyError: 'edges'",
        ),
        (
            export.from_graph_json,
            export.to_graph_json(MarkedGraph("ab", arrows=["ab"])).replace("arrow", "?"),
            "has the mark '?'; marks are arrow, partial, bidirected, line, conflict",
        ),
        (export.from_adjacency, FRAME, "so the one across must be 'line', not 'arrow to'"),
        (export.from_paper_matrix, pd.DataFrame([[0, 1], [0, 0]]), "1 and 0 have 0 and 1; a pair has 0 and 0"),
        (export.from_adjacency, pd.DataFrame([["none"]], index=["a"]), "are not the same nodes in the same order"),
        (export.from_pandas, pd.DataFrame({"source": []}), "the edge table has no column 'target'"),
        (export.from_networkx, {"a": []}, "dict is no networkx graph"),
        (export.from_causallearn, 3, "int is no graph of causal-learn"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(read: Callable[[Any], MarkedGraph], given: Any, sentence: str) -> None:
    """Each fault is named, with the place where a text has one."""
    with pytest.raises(ApslError) as caught:
        read(given)

    assert sentence in str(caught.value)


def test_an_imported_graph_is_a_source_and_a_truth() -> None:
    """A graph from another tool can be learned from, compared on, scored and scored against."""
    graph = export.from_dagitty("dag { Rain -> Wet <- Sprinkler Wet -> Slip }")
    part = learn(graph, "Wet")

    assert part.arrows == {("Rain", "Wet"), ("Sprinkler", "Wet"), ("Wet", "Slip")}
    assert learn(Dag(graph), "Wet").arrows == part.arrows
    assert compare(graph, "Wet", learners=["apsl", "gs"]).rows()[0]["arrows"] == 3
    assert score(part, graph).f1 == score(graph, graph).f1 == 1.0
    turned = export.from_dagitty("dag { Rain -> Wet -> Sprinkler Wet -> Slip }")
    assert score(turned, graph).f1 < 1


def test_marks_are_taken_from_everything_that_has_some() -> None:
    """A learned graph, a CPDAG, a network and a networkx graph have marks; a number has none."""
    asia = network("asia")
    learned = learn_graph(asia)

    assert graph_of(learned) == graph_of(asia.cpdag)
    assert learned.graph().arrows == learned.arrows
    assert graph_of(asia).arrows == asia.dag.edges
    assert graph_of(graph_of(asia).to_networkx()) == graph_of(asia)
    with pytest.raises(GraphError, match="a int has no marks to write"):
        graph_of(3)


@pytest.mark.parametrize(
    ("marks", "sentence"),
    [
        ({"nodes": "aa"}, "the node 'a' is given twice"),
        ({"nodes": "a", "arrows": ["ab"]}, "the edge of 'a' and 'b' names 'b', which is not among the nodes"),
        ({"nodes": "ab", "arrows": ["ab"], "lines": ["ab"]}, "have both an arrow from 'a' and a line"),
        ({"nodes": "ab", "lines": ["a"]}, "'a' is no edge; give two different nodes"),
        ({"nodes": "ab", "arrows": ["abc"]}, r"\('a', 'b', 'c'\) is no arrow"),
    ],
)
def test_marks_that_cannot_be_are_refused(marks: dict[str, Any], sentence: str) -> None:
    """A pair has one mark at most, between two nodes of the graph."""
    with pytest.raises(GraphError, match=sentence):
        MarkedGraph(**marks)


def test_a_graph_file_is_read_by_its_ending(tmp_path: Path) -> None:
    """The ending of a file says its format; other endings and other bytes are refused."""
    file = tmp_path / "model.dagitty"
    file.write_text("\ufeffdag { a -> b }", "utf-8")

    assert export.read_graph(file).arrows == {("a", "b")}
    with pytest.raises(GraphFormatError, match=r"has no ending of a graph file; endings are \.dagitty"):
        export.read_graph("model.txt")
    with pytest.raises(GraphFormatError, match="the file cannot be read: No such file"):
        export.read_graph(tmp_path / "missing.dot")
    file.write_bytes(b"dag { \xff }")
    with pytest.raises(GraphFormatError, match="byte 7 is not UTF-8 text"):
        export.read_graph(file)


def test_an_open_edge_is_directed_where_the_advice_says_so() -> None:
    """What ``part.export`` advises, it takes; a format that shows the part as it is takes none of it."""
    part = learn(Dag({"a": [], "b": ["a"]}), "a")
    with pytest.raises(GraphError, match="give open_edges='direct'"):
        part.to("bnlearn")
    assert part.to("bnlearn", open_edges="direct") == part.to("bnlearn", open_edges="direct")
    with pytest.raises(ApslError, match="leave out open_edges="):
        part.to("svg", open_edges="direct")


def test_a_spreadsheet_carries_out_no_name() -> None:
    """A name that begins like a formula is text in a table of edges."""
    part = learn(Dag({"=1+1": [], "@b": ["=1+1"], "-c": ["@b"], "d": ["-c"]}), "@b", depth=3)
    fields = [field for line in part.to("csv").splitlines() for field in line.split(",")]
    assert "'=1+1" in fields
    assert not any(field.startswith(("=", "+", "-", "@")) for field in fields)
