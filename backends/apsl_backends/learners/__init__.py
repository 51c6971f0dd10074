"""Learners with code of their own beside their specs, and the blanket finders that come with them.

Nothing here loads a compiler; that is left until something is scored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from apsl_backends.learners.apsl_score import learn_refined
from apsl_backends.learners.ggsl import learn_ggsl
from apsl_backends.learners.mmhc import learn_mmhc
from apsl_backends.learners.s2tmb import S2tmb
from apsl_backends.learners.sll import learn_sll
from apsl_rules.parts import Part
from apsl_rules.plugins import BlanketOffer, Task

#: What runs the specs of each kind.
CODE: dict[str, Callable[[Task], Part]] = {
    "mmhc": learn_mmhc,
    "sll": learn_sll,
    "ggsl": learn_ggsl,
    "score": learn_refined,
}

BLANKETS = (
    BlanketOffer("s2tmb", "S²TMB: best graphs over small sets, for tables only", S2tmb),
    BlanketOffer("s2tmb+", "S²TMB+: the same, spouses gathered first", partial(S2tmb, spouses="afterwards")),
)
