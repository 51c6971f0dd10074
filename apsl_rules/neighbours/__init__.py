"""Adjacency by an oracle: candidates, symmetric neighbours, Markov blankets."""

from __future__ import annotations

from apsl_rules.neighbours.symmetric import Blanket, BlanketFinder, Candidates, Finder, Neighbours, SpousesByChild

__all__ = [
    "Blanket",
    "BlanketFinder",
    "Candidates",
    "Finder",
    "Neighbours",
    "SpousesByChild",
]
