"""Adjacency by an oracle: candidates, symmetric neighbours, Markov blankets."""

from __future__ import annotations

from apsl_rules.neighbours.blanket import Blanket, BlanketFinder, SpousesByChild
from apsl_rules.neighbours.symmetric import Candidates, Finder, Neighbours

__all__ = [
    "Blanket",
    "BlanketFinder",
    "Candidates",
    "Finder",
    "Neighbours",
    "SpousesByChild",
]
