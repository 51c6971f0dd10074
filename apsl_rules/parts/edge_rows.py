"""The edges of a part as plain rows, one for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from apsl_rules.evidence import GIVEN
from apsl_rules.names import in_order, order_key
from apsl_rules.rules import Firing, Mark, Proof, Reason

if TYPE_CHECKING:
    from apsl_rules.parts.part import Part

_TWO_ENDS = (Mark.PARTIAL, Mark.BIDIRECTED)

#: The columns of the table of edges that ``Part.rows`` gives.
ROW = (
    "source",
    "target",
    "mark",
    "rule",
    "p",
    "distance",
    "support",
    "probability",
    "direction",
    "suggested",
)


def edge_rows(part: Part) -> list[dict[str, Any]]:
    """Return the edges of a part by the names of their ends; ``Part.rows`` says what each value means."""
    rows = []
    for pair in sorted(part.edges, key=lambda one: tuple(order_key(node) for node in in_order(one))):
        x, y = in_order(pair)
        if (y, x) in part.arrows or (y, x) in part.suggested or (y, x) in part.partial:
            x, y = y, x
        proof = part.why(x, y)
        proofs = [proof, part.why(y, x)] if part.mark(x, y) in _TWO_ENDS else [proof]
        verdicts = [verdict for one in proofs for finding in one.findings for verdict in finding.evidence.verdicts]
        p_values = [verdict.p for verdict in verdicts if verdict.p is not None and verdict.dependent]
        figures = (
            x,
            y,
            str(part.mark(x, y)),
            _bases(proofs),
            max(p_values, default=None),
            min(part.distances[node] for node in pair),
            part.support.get(pair),
            proof.edge_probability,
            proof.direction_probability,
            proof.suggested,
        )
        rows.append(dict(zip(ROW, figures, strict=True)))
    return rows


def _bases(proofs: Sequence[Proof]) -> str:
    """Name what an edge rests on: with marks at both ends, the rule of each end that has one."""
    reasons = [proof.steps[-1].reason for proof in proofs]
    derived = [reason for reason in reasons if isinstance(reason, Firing)]
    return ", ".join(dict.fromkeys(map(_basis, derived or reasons[:1])))


def _basis(reason: Reason) -> str:
    """Name what an edge rests on: the rule that oriented it, or that it was found or given."""
    if isinstance(reason, Firing):
        return reason.rule
    return GIVEN if reason.evidence.is_given else "found"
