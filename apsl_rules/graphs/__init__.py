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

__all__ = [
    "AncestralGraph",
    "Arrow",
    "Cpdag",
    "Dag",
    "DagWithHidden",
    "Degrees",
    "EndMark",
    "Mag",
    "Pag",
    "Pdag",
    "cpdag",
    "degrees",
    "extension",
    "hide",
    "is_ancestral",
    "is_networkx",
    "mag",
    "pag",
    "pag_by_enumeration",
]
