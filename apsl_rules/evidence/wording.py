"""Verdicts and evidence in words."""

from __future__ import annotations

from math import exp, log

from apsl_rules.evidence.evidence import Evidence
from apsl_rules.evidence.verdicts import Verdict
from apsl_rules.names import shown


def evidence_text(evidence: Evidence) -> str:
    """Describe in a line where a finding comes from."""
    parts = [evidence.note] if evidence.note else []
    parts += [verdict_text(verdict) for verdict in evidence.verdicts]
    return f"{evidence.source}: {'; '.join(parts)}" if parts else evidence.source


def verdict_text(verdict: Verdict) -> str:
    """Write a verdict in a line, such as ``A ⊥ B | C (G² = 1.2, dof 2, p = 0.55, n = 1000)``.

    >>> verdict_text(Verdict("A", "B", ("C",), "independent", "G²", 1.2, 0.5488, 2, 1000))
    'A ⊥ B | C (G² = 1.2, dof 2, p = 0.549, n = 1000)'
    """
    x, y = shown(verdict.x), shown(verdict.y)
    said = {
        "independent": f"{x} ⊥ {y}",
        "dependent": f"{x} not ⊥ {y}",
        "unreliable": f"too few rows to test {x} against {y}",
    }[verdict.decision]
    given = f" | {', '.join(map(shown, verdict.given))}" if verdict.given else ""
    measured = verdict.statistic is not None and verdict.n is not None
    figures = [f"{verdict.test} = {verdict.statistic:.4g}"] if measured else []
    figures += [] if verdict.dof is None else [f"dof {verdict.dof}"]
    figures += [] if verdict.rank is None or not verdict.given else [f"rank {verdict.rank}"]
    figures += [] if verdict.p is None else [f"p = {p_text(verdict)}"]
    figures += [] if verdict.n is None else [f"n = {verdict.n}"]
    return f"{said}{given}" + (f" ({', '.join(figures)})" if figures else "")


def p_text(verdict: Verdict) -> str:
    """Spell a p-value with three digits, also far below the smallest float."""
    if verdict.p == 0 and verdict.log_p is not None:
        exponent, rest = divmod(verdict.log_p / log(10), 1)
        digits, carry = f"{exp(rest * log(10)):.2e}".split("e")
        return f"{float(digits):g}e{int(exponent) + int(carry)}"
    return f"{verdict.p:.3g}"
