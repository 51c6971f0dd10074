"""Results as values: parts, graphs, stability and comparison; how they are saved, loaded and printed."""

from __future__ import annotations

from apsl_rules.parts.comparison import Comparison
from apsl_rules.parts.edge_figures import EdgeFigures
from apsl_rules.parts.edge_list import edges_csv
from apsl_rules.parts.file import Frame, load_part, part_json, save_part
from apsl_rules.parts.fragility import Fragility
from apsl_rules.parts.graph_file import load_graph, save_graph
from apsl_rules.parts.learned_graph import LearnedGraph
from apsl_rules.parts.marked_graph import (
    ENDS,
    MARKS,
    MARKS_WITH_HIDDEN,
    Edge,
    MarkedGraph,
    edge_with_ends,
    mark_named,
)
from apsl_rules.parts.marks_of import graph_of
from apsl_rules.parts.open_edges import arrows_only
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.parts import Parts
from apsl_rules.parts.parts_file import PartsFile, PartsJournal, load_parts
from apsl_rules.parts.probability_curves import DEFAULT_DIRECTION, LeastDirection, least_direction
from apsl_rules.parts.reach import Distances, inside
from apsl_rules.parts.shortcuts import OpenEdges
from apsl_rules.parts.stability_result import Stability, Tally, count_support, tally
from apsl_rules.parts.summary import Statement, assumption_note, statements_on, summarize
from apsl_rules.parts.tally_journal import TallyJournal
from apsl_rules.parts.text import draw

__all__ = [
    "DEFAULT_DIRECTION",
    "ENDS",
    "MARKS",
    "MARKS_WITH_HIDDEN",
    "Comparison",
    "Distances",
    "Edge",
    "EdgeFigures",
    "Fragility",
    "Frame",
    "LearnedGraph",
    "LeastDirection",
    "MarkedGraph",
    "OpenEdges",
    "Part",
    "Parts",
    "PartsFile",
    "PartsJournal",
    "Stability",
    "Statement",
    "Tally",
    "TallyJournal",
    "Visit",
    "arrows_only",
    "assumption_note",
    "count_support",
    "draw",
    "edge_with_ends",
    "edges_csv",
    "graph_of",
    "inside",
    "least_direction",
    "load_graph",
    "load_part",
    "load_parts",
    "mark_named",
    "part_json",
    "save_graph",
    "save_part",
    "statements_on",
    "summarize",
    "tally",
]
