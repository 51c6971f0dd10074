"""The edges of a part as plain rows, one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from apsl_rules.evidence import GIVEN
from apsl_rules.names import in_order, order_key
from apsl_rules.rules import Firing, Reason

if TYPE_CHECKING:
    from apsl_rules.parts.part import Part

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
        if (y, x) in part.arrows or (y, x) in part.suggested:
            x, y = y, x
        proof = part.why(x, y)
        verdicts = [verdict for finding in proof.findings for verdict in finding.evidence.verdicts]
        p_values = [verdict.p for verdict in verdicts if verdict.p is not None and verdict.dependent]
        figures = (
            x,
            y,
            str(part.mark(x, y)),
            _basis(proof.steps[-1].reason),
            max(p_values, default=None),
            min(part.distances[node] for node in pair),
            part.support.get(pair),
            proof.edge_probability,
            proof.direction_probability,
            proof.suggested,
        )
        rows.append(dict(zip(ROW, figures, strict=True)))
    return rows


def _basis(reason: Reason) -> str:
    """Name what an edge rests on: the rule that oriented it, or that it was found or given."""
    if isinstance(reason, Firing):
        return reason.rule
    return GIVEN if reason.evidence.is_given else "found"
