"""How a learned part is graded: against what independences alone can tell."""

from __future__ import annotations

from apsl_rules.graphs.equivalence import Cpdag
from apsl_rules.parts.part import Part


def is_exact(part: Part, truth: Cpdag) -> bool:
    """Return whether a part has every arrow and every line of the asked region, and nothing else."""
    return (part.arrows, part.lines) == truth.region(part.target, part.depth)


def contradicts(part: Part, truth: Cpdag) -> bool:
    """Return whether anything learned, in the asked region or beyond it, is not so."""
    edges = part.store.lines | {frozenset(pair) for pair in part.store.arrows}
    return not (part.store.arrows <= truth.arrows and edges <= truth.skeleton)
