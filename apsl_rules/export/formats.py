"""The formats by name, for ``part.export`` and the command line, and graph files by their ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from apsl_rules.errors import GraphFormatError
from apsl_rules.export.dot import from_dot, to_dot
from apsl_rules.export.frames import to_adjacency, to_paper_matrix, to_pcalg
from apsl_rules.export.graph_formats import from_graph_json, from_graphml, to_graph_json, to_graphml
from apsl_rules.export.peers import from_bnlearn, from_tetrad, to_bnlearn, to_causallearn, to_dowhy, to_pgmpy, to_tetrad
from apsl_rules.export.text_formats import from_dagitty, from_mermaid, to_bif, to_dagitty, to_mermaid
from apsl_rules.graphs import Dag
from apsl_rules.parts import MarkedGraph

#: The formats that every graph with marks can be written in: name, what it is for, and how to write it.
FORMATS: tuple[tuple[str, str, Callable[[object], str]], ...] = (
    ("dot", "the DOT language of Graphviz", to_dot),
    ("graphml", "GraphML, for Gephi, Cytoscape, yEd, igraph and networkx", to_graphml),
    ("mermaid", "a Mermaid flowchart, for web pages and wikis", to_mermaid),
    ("dagitty", "the language of dagitty", to_dagitty),
    ("tetrad", "Tetrad's text", to_tetrad),
    ("bnlearn", "a model string of the R package bnlearn; arrows only", to_bnlearn),
    ("bif", "a BIF file of the structure; arrows only, probabilities are placeholders", to_bif),
    ("graph-json", "nodes and marked edges as JSON, without proofs", to_graph_json),
)

#: What is no text: frames of marks, and graphs of other tools; and formats with options of their own.
OBJECTS: dict[str, Callable[..., Any]] = {
    "adjacency": to_adjacency,
    "bif": to_bif,
    "bnlearn": to_bnlearn,
    "causallearn": to_causallearn,
    "dowhy": to_dowhy,
    "paper-matrix": to_paper_matrix,
    "pcalg": to_pcalg,
    "pgmpy": to_pgmpy,
}

READERS: dict[str, Callable[[str], MarkedGraph]] = {
    ".dagitty": from_dagitty,
    ".dot": from_dot,
    ".gv": from_dot,
    ".graphml": from_graphml,
    ".mmd": from_mermaid,
    ".tetrad": from_tetrad,
    ".bnlearn": from_bnlearn,
    ".graph.json": from_graph_json,
}


def read_graph(path: str | Path) -> MarkedGraph:
    """Read a graph from a file, whose ending says the format: .dagitty, .dot, .gv, .graphml, .mmd, .tetrad, ..."""
    read = next((one for ending, one in READERS.items() if str(path).casefold().endswith(ending)), None)
    if read is None:
        message = f"{str(path)!r} has no ending of a graph file; endings are {', '.join(READERS)}"
        raise GraphFormatError(message)
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start + 1} is not UTF-8 text; save the file as UTF-8"
        raise GraphFormatError(message) from error
    except OSError as error:
        message = f"{path}: the file cannot be read: {error.strerror}"
        raise GraphFormatError(message) from error
    return read(text)


def read_known_graph(path: Path) -> Dag:
    """Read a graph from a file as a known one."""
    return Dag(read_graph(path))
