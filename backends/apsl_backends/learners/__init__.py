"""Learners that need code besides their specs.

Importing this package does not load the kernels; the first score does.
"""

from __future__ import annotations

from collections.abc import Callable

from apsl_backends.learners.apsl_mixed import findings_by_moments
from apsl_backends.learners.apsl_score import findings_by_counts
from apsl_backends.learners.hidden.surroundings import findings_with_hidden
from apsl_rules.plugins import Context, Findings, LearnerOffer, Spec

_BY_KIND: dict[str, Callable[[Context], Findings]] = {
    "score": findings_by_counts,
    "mixed": findings_by_moments,
    "hidden": findings_with_hidden,
}


def offer_of(spec: Spec) -> LearnerOffer:
    """Return the learner that a spec describes, with the code of its kind."""
    needs = {"score": ("counts",), "mixed": ("moments",)}.get(spec.kind, ())
    return LearnerOffer(spec, _BY_KIND.get(spec.kind), honours_knowledge=spec.kind in _BY_KIND, needs=frozenset(needs))
