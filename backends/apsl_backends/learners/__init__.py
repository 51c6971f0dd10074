"""Learners that need code besides their specs, and their blanket finders.

Importing this package does not load the kernels; the first score does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from apsl_backends.learners.apsl_score import findings_by_counts, findings_by_moments
from apsl_backends.learners.climbing import MmhcFindings
from apsl_backends.learners.ggsl import GgslFindings, S2tmb, SllFindings
from apsl_backends.learners.grow_shrink import GrowShrinkFindings
from apsl_backends.learners.hidden.surroundings import findings_with_hidden
from apsl_rules.plugins import BlanketOffer, Context, Findings, LearnerOffer, Spec

_BY_KIND: dict[str, Callable[[Context], Findings]] = {
    "gs": GrowShrinkFindings,
    "mmhc": MmhcFindings,
    "sll": SllFindings,
    "ggsl": GgslFindings,
    "score": findings_by_counts,
    "mixed": findings_by_moments,
    "hidden": findings_with_hidden,
}


def offer_of(spec: Spec) -> LearnerOffer:
    """Return the learner that a spec describes, with the code of its kind."""
    needs = {"local": (), "gs": (), "hidden": (), "mixed": ("moments",)}.get(spec.kind, ("counts",))
    honours = spec.kind in ("score", "mixed", "hidden")
    return LearnerOffer(spec, _BY_KIND.get(spec.kind), honours_knowledge=honours, needs=frozenset(needs))


BLANKETS = (
    BlanketOffer("s2tmb", "S²TMB: best graphs over small sets, for tables only", S2tmb),
    BlanketOffer("s2tmb+", "S²TMB+: the same, spouses gathered first", partial(S2tmb, spouses="afterwards")),
)
