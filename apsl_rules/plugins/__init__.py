"""Plugins: the hooks, what a plugin can offer, the manager, and the specs of learners."""

from __future__ import annotations

from apsl_rules.plugins.hookspecs import hookimpl
from apsl_rules.plugins.learner_spec import FindingSpec, Separators, Spec, TestSpec, build, parse_spec, read_specs
from apsl_rules.plugins.manager import (
    Context,
    Findings,
    Marks,
    Plugins,
    Progress,
    Run,
    Searched,
    State,
    Visited,
    installed,
    pick,
    register,
)
from apsl_rules.plugins.offers import (
    BlanketOffer,
    CheckOffer,
    DatasetOffer,
    EngineOffer,
    ExporterOffer,
    FinderOffer,
    FinderSettings,
    LearnerOffer,
    OracleOffer,
    OracleSettings,
    ReaderOffer,
    ScoreOffer,
)

__all__ = [
    "BlanketOffer",
    "CheckOffer",
    "Context",
    "DatasetOffer",
    "EngineOffer",
    "ExporterOffer",
    "FinderOffer",
    "FinderSettings",
    "FindingSpec",
    "Findings",
    "LearnerOffer",
    "Marks",
    "OracleOffer",
    "OracleSettings",
    "Plugins",
    "Progress",
    "ReaderOffer",
    "Run",
    "ScoreOffer",
    "Searched",
    "Separators",
    "Spec",
    "State",
    "TestSpec",
    "Visited",
    "build",
    "hookimpl",
    "installed",
    "parse_spec",
    "pick",
    "read_specs",
    "register",
]
