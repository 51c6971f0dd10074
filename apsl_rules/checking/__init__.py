"""Graphs that people bring, against a table: what they imply, what fails, and the least changes that would help."""

from __future__ import annotations

from apsl_rules.checking.changes import SuggestedChange
from apsl_rules.checking.claims import ImpliedIndependence, State
from apsl_rules.checking.edges import CheckedEdge, Standing
from apsl_rules.checking.given_graphs import GivenGraph, read_given
from apsl_rules.checking.result import Check
from apsl_rules.checking.run import check
from apsl_rules.checking.standing import GraphStanding

__all__ = [
    "Check",
    "CheckedEdge",
    "GivenGraph",
    "GraphStanding",
    "ImpliedIndependence",
    "Standing",
    "State",
    "SuggestedChange",
    "check",
    "read_given",
]
