"""Known graphs: DAGs, with hidden nodes or without, their CPDAGs, MAGs and PAGs, and extensions."""

from __future__ import annotations

from apsl_rules.graphs.ancestral import (
    AncestralGraph,
    DagWithHidden,
    EndMark,
    Mag,
    Pag,
    hide,
    is_ancestral,
    mag,
    pag,
    pag_by_enumeration,
)
from apsl_rules.graphs.dag import Dag, Degrees, degrees, is_networkx
from apsl_rules.graphs.equivalence import Arrow, Cpdag, Pdag, cpdag, extension
from apsl_rules.graphs.hidden_causes import HiddenAdjustment, hidden_adjustment
from apsl_rules.graphs.parent_sets import MOST_SUMMED, members_of, parent_probabilities, sizes

__all__ = [
    "MOST_SUMMED",
    "AncestralGraph",
    "Arrow",
    "Cpdag",
    "Dag",
    "DagWithHidden",
    "Degrees",
    "EndMark",
    "HiddenAdjustment",
    "Mag",
    "Pag",
    "Pdag",
    "cpdag",
    "degrees",
    "extension",
    "hidden_adjustment",
    "hide",
    "is_ancestral",
    "is_networkx",
    "mag",
    "members_of",
    "pag",
    "pag_by_enumeration",
    "parent_probabilities",
    "sizes",
]
