"""Learn any part of a Bayesian-network structure, every arrow with its proof."""

from __future__ import annotations

from apsl_rules.blanket_finding import find_blanket
from apsl_rules.comparing import compare
from apsl_rules.dag import known_dag
from apsl_rules.data import table
from apsl_rules.graph_learning import learn_graph
from apsl_rules.hookspecs import hookimpl
from apsl_rules.knowledge import Knowledge
from apsl_rules.learning import learn
from apsl_rules.many import learn_many
from apsl_rules.metrics import score
from apsl_rules.networks import network
from apsl_rules.part import Part
from apsl_rules.partfile import load_part
from apsl_rules.plugins import register
from apsl_rules.repeated_learning import stability

__all__ = [
    "Knowledge",
    "Part",
    "compare",
    "find_blanket",
    "hookimpl",
    "known_dag",
    "learn",
    "learn_graph",
    "learn_many",
    "load_part",
    "network",
    "register",
    "score",
    "stability",
    "table",
]
