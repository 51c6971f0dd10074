"""Known graphs: DAGs, with hidden nodes or without, their CPDAGs, MAGs and PAGs, and extensions."""

from __future__ import annotations

from apsl_rules.graphs.ancestral import AncestralGraph, DagWithHidden, EndMark, Mag, Pag, hide
from apsl_rules.graphs.cpdag import Arrow, Cpdag, Pdag, cpdag
from apsl_rules.graphs.dag import Dag, is_networkx, known_dag
from apsl_rules.graphs.degrees import Degrees, degrees
from apsl_rules.graphs.extension import extension
from apsl_rules.graphs.pag import is_ancestral, mag, pag, pag_by_enumeration

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
    "known_dag",
    "mag",
    "pag",
    "pag_by_enumeration",
]
