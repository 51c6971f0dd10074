"""Known graphs: DAGs, CPDAGs, graphs given by their marks, and extensions of them."""

from __future__ import annotations

from apsl_rules.graphs.cpdag import Arrow, Cpdag, Pdag, cpdag
from apsl_rules.graphs.dag import Dag, is_networkx, known_dag
from apsl_rules.graphs.degrees import Degrees, degrees
from apsl_rules.graphs.extension import extension

__all__ = [
    "Arrow",
    "Cpdag",
    "Dag",
    "Degrees",
    "Pdag",
    "cpdag",
    "degrees",
    "extension",
    "is_networkx",
    "known_dag",
]
