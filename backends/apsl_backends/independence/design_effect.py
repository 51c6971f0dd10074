"""How much less a relation inside groups tells, if it differs from group to group: the design effect of a pair.

The test inside groups takes the rows there as independent. If slopes differ between groups, or categories vary together
in more than their means, the products of the two residuals vary between groups by more than rows that are independent
make them. The design effect is how many times as much, at least 1; evidence from inside the groups is divided by it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from apsl_backends.kernels.bindings.tables import tail
from apsl_rules.data.moments import KeptMoments
from apsl_rules.evidence import Evidence, Verdict
from apsl_rules.names import Node

#: The share of the variance below which a column counts as determined by those that are given.
_ROUNDING = 1e-9


def as_groups_vary(source: KeptMoments, verdict: Verdict, evidence: Evidence, alpha: float) -> Evidence:
    """Return the evidence for an edge, doubtful if the test finds nothing once the design effect is counted."""
    statistic, inside, dof = verdict.statistic, verdict.inside, verdict.dof
    if not verdict.dependent or not inside or statistic is None or not dof or evidence.is_given:
        return evidence
    effect = design_effect(source, verdict.x, verdict.y, verdict.given)
    p, _ = tail(statistic - inside + inside / effect, dof)
    if p <= alpha:
        return evidence
    told = f"doubtful, since it differs from group to group: with its design effect of {effect:.2g}, p = {p:.2g}"
    note = f"{evidence.note}; {told}" if evidence.note else told
    return attrs.evolve(evidence, note=note, nats=None if evidence.nats is None else min(evidence.nats, 0.0))


def design_effect(source: KeptMoments, x: Node, y: Node, given: Sequence[Node] = ()) -> float:
    """Return the design effect of two columns inside groups, given others; 1 where there is nothing to compare."""
    found = source.sums([x, y, *given], by=source.roles["groups"], each=True)
    if found.second is None or len(found.rows) < 3:  # noqa: PLR2004 - groups that can differ
        return 1.0
    inside = found.second - found.rows[:, None, None] * found.means[:, :, None] * found.means[:, None, :]
    inside[:, found.constant, :] = inside[:, :, found.constant] = 0.0
    varies = ~found.constant
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(found.widths)])
    ends = [
        [one for one in range(starts[at], starts[at] + _leading(source, name, int(found.widths[at]))) if varies[one]]
        for at, name in ((0, x), (1, y))
    ]
    held = [one for one in range(int(starts[2]), int(starts[-1])) if varies[one]]
    both = [*ends[0], *ends[1]]
    whole = inside.sum(axis=0)
    if held:
        slopes = np.linalg.lstsq(whole[np.ix_(held, held)], whole[np.ix_(held, both)], rcond=None)[0]
        take = np.zeros((len(whole), len(both)))
        take[both, range(len(both))] = 1.0
        take[held] -= slopes
        inside = np.einsum("ia,gij,jb->gab", take, inside, take)
    else:
        inside = inside[np.ix_(range(len(inside)), both, both)]
    left, width = inside.sum(axis=0), len(ends[0])
    if not ends[0] or not ends[1] or (np.diag(left) <= _ROUNDING * np.maximum(np.diag(whole)[both], _ROUNDING)).any():
        return 1.0
    products = inside[:, :width, width:].reshape(len(inside), -1)
    centred = products - products.mean(axis=0)
    count, rows = len(products), float(found.rows.sum()) - len(found.rows)
    expected = np.kron(left[:width, :width], left[width:, width:]) / max(rows, 1.0)
    seen = centred.T @ centred * count / (count - 1)
    return max(1.0, float(np.trace(np.linalg.pinv(expected) @ seen)) / products.shape[1])


def _leading(source: KeptMoments, name: Node, width: int) -> int:
    """Return how many columns stand for a column where it is tested."""
    return min(width, 1) if name in source.number_names else width
