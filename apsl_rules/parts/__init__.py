"""Results as values: parts, graphs, stability and comparison; how they are saved, loaded and printed."""

from __future__ import annotations

from apsl_rules.parts.answered import said_of, votes_on, with_answers, without_answers
from apsl_rules.parts.doubt import Fragility, Repair
from apsl_rules.parts.file import Frame, load_part, part_json, read_document, read_part, save_part
from apsl_rules.parts.graph import LearnedGraph, graph_of, load_graph, save_graph
from apsl_rules.parts.many_parts import Parts, PartsFile, PartsJournal, load, load_parts
from apsl_rules.parts.marked_graph import (
    ENDS,
    MARKS,
    MARKS_WITH_HIDDEN,
    Edge,
    MarkedGraph,
    arrows_only,
    edge_with_ends,
    mark_named,
)
from apsl_rules.parts.part import Part, Visit
from apsl_rules.parts.picture import draw
from apsl_rules.parts.print_out import printed, summarize
from apsl_rules.parts.probability import DEFAULT_DIRECTION, Grounds, LeastDirection, least_direction
from apsl_rules.parts.shortcuts import FIGURE_ENDINGS, TABLE_FORMATS, EdgeFigures, OpenEdges
from apsl_rules.parts.stability_result import Stability, Tally, TallyJournal, count_support, tally
from apsl_rules.parts.statements import Statement, basis_of, statements_on
from apsl_rules.parts.tables import Comparison, arrow_share, edge_table, edges_csv, latex_text

__all__ = [
    "DEFAULT_DIRECTION",
    "ENDS",
    "FIGURE_ENDINGS",
    "MARKS",
    "MARKS_WITH_HIDDEN",
    "TABLE_FORMATS",
    "Comparison",
    "Edge",
    "EdgeFigures",
    "Fragility",
    "Frame",
    "Grounds",
    "LearnedGraph",
    "LeastDirection",
    "MarkedGraph",
    "OpenEdges",
    "Part",
    "Parts",
    "PartsFile",
    "PartsJournal",
    "Repair",
    "Stability",
    "Statement",
    "Tally",
    "TallyJournal",
    "Visit",
    "arrow_share",
    "arrows_only",
    "basis_of",
    "count_support",
    "draw",
    "edge_table",
    "edge_with_ends",
    "edges_csv",
    "graph_of",
    "latex_text",
    "least_direction",
    "load",
    "load_graph",
    "load_part",
    "load_parts",
    "mark_named",
    "part_json",
    "printed",
    "read_document",
    "read_part",
    "said_of",
    "save_graph",
    "save_part",
    "statements_on",
    "summarize",
    "tally",
    "votes_on",
    "with_answers",
    "without_answers",
]
