"""Graphs for other tools and from them, by kind of format; a tool's package is imported only when it is used."""

from __future__ import annotations

from apsl_rules.export.dot import from_dot, to_dot
from apsl_rules.export.formats import read_graph
from apsl_rules.export.frames import (
    from_adjacency,
    from_pandas,
    from_paper_matrix,
    from_pcalg,
    to_adjacency,
    to_pandas,
    to_paper_matrix,
    to_pcalg,
)
from apsl_rules.export.graph_formats import (
    from_graph_json,
    from_graphml,
    from_networkx,
    to_graph_json,
    to_graphml,
    to_networkx,
)
from apsl_rules.export.peers import (
    from_bnlearn,
    from_causallearn,
    from_pgmpy,
    from_tetrad,
    to_bnlearn,
    to_causallearn,
    to_dowhy,
    to_pgmpy,
    to_tetrad,
)
from apsl_rules.export.text_formats import (
    from_bif,
    from_dagitty,
    from_mermaid,
    known_from_dagitty,
    to_bif,
    to_dagitty,
    to_mermaid,
)
from apsl_rules.parts import MarkedGraph, graph_of

__all__ = [
    "MarkedGraph",
    "from_adjacency",
    "from_bif",
    "from_bnlearn",
    "from_causallearn",
    "from_dagitty",
    "from_dot",
    "from_graph_json",
    "from_graphml",
    "from_mermaid",
    "from_networkx",
    "from_pandas",
    "from_paper_matrix",
    "from_pcalg",
    "from_pgmpy",
    "from_tetrad",
    "graph_of",
    "known_from_dagitty",
    "read_graph",
    "to_adjacency",
    "to_bif",
    "to_bnlearn",
    "to_causallearn",
    "to_dagitty",
    "to_dot",
    "to_dowhy",
    "to_graph_json",
    "to_graphml",
    "to_mermaid",
    "to_networkx",
    "to_pandas",
    "to_paper_matrix",
    "to_pcalg",
    "to_pgmpy",
    "to_tetrad",
]
