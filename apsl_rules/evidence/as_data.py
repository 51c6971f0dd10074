"""Verdicts and evidence as plain data and back, for JSON files."""

from __future__ import annotations

from typing import Any

from apsl_rules._documents import label, node_of
from apsl_rules.evidence.evidence import Evidence
from apsl_rules.evidence.verdicts import Verdict

_FIGURES = ("statistic", "p", "log_p", "dof", "n", "rank")


def verdict_data(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data, without the figures that it does not have."""
    figures = {name: getattr(verdict, name) for name in _FIGURES}
    return {
        "x": label(verdict.x),
        "y": label(verdict.y),
        "given": [label(node) for node in verdict.given],
        "decision": verdict.decision,
        "test": verdict.test,
    } | {name: figure for name, figure in figures.items() if figure is not None}


def verdict_of(data: dict[str, Any]) -> Verdict:
    """Return the verdict that plain data stands for."""
    figures = {name: data.get(name) for name in _FIGURES}
    given = tuple(node_of(one) for one in data["given"])
    return Verdict(node_of(data["x"]), node_of(data["y"]), given, data["decision"], data["test"], **figures)


def evidence_data(evidence: Evidence) -> dict[str, Any]:
    """Return evidence as plain data."""
    data: dict[str, Any] = {
        "source": evidence.source,
        "note": evidence.note,
        "verdicts": [verdict_data(verdict) for verdict in evidence.verdicts],
    }
    figures = {"nats": evidence.nats, "strength": evidence.strength}
    return data | {name: figure for name, figure in figures.items() if figure is not None}


def evidence_of(data: dict[str, Any]) -> Evidence:
    """Return the evidence that plain data stands for."""
    verdicts = tuple(verdict_of(one) for one in data["verdicts"])
    return Evidence(data["source"], verdicts, data["note"], data.get("nats"), data.get("strength"))
