"""The hooks of apsl_rules: what a plugin can offer and what it can watch.

A plugin is a module or object with functions of these names marked by ``apsl_rules.hookimpl``. It comes by an entry
point of the group ``apsl_rules``, by ``--plugin MODULE`` on the command line, or by ``apsl_rules.register(plugin)``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from apsl_rules.plugins.manager import Progress
    from apsl_rules.plugins.offers import (
        BlanketOffer,
        CheckOffer,
        DatasetOffer,
        EngineOffer,
        ExporterOffer,
        FinderOffer,
        LearnerOffer,
        OracleOffer,
        ReaderOffer,
        ScoreOffer,
    )
    from apsl_rules.rules import Finding, Firing, Rulebook

PROJECT = "apsl_rules"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Mark a function of a plugin as the implementation of the hook of that name."""


@hookspec
def apsl_oracles() -> Iterable[OracleOffer]:
    """Offer oracles: what answers independence questions."""
    return ()


@hookspec
def apsl_datasets() -> Iterable[DatasetOffer]:
    """Offer ways to open tables."""
    return ()


@hookspec
def apsl_finders() -> Iterable[FinderOffer]:
    """Offer finders of parents and children."""
    return ()


@hookspec
def apsl_blankets() -> Iterable[BlanketOffer]:
    """Offer finders of Markov blankets."""
    return ()


@hookspec
def apsl_scores() -> Iterable[ScoreOffer]:
    """Offer scores of graphs, which learners that search by score name in their option ``score``."""
    return ()


@hookspec
def apsl_learners() -> Iterable[LearnerOffer]:
    """Offer whole learners: specs, with code of their own where a spec is not enough."""
    return ()


@hookspec
def apsl_rulebooks() -> Iterable[Rulebook]:
    """Offer rulebooks that specs can name."""
    return ()


@hookspec
def apsl_readers() -> Iterable[ReaderOffer]:
    """Offer readers of files."""
    return ()


@hookspec
def apsl_engines() -> Iterable[EngineOffer]:
    """Offer engines: what holds the rows of tables and works on them where they are."""
    return ()


@hookspec
def apsl_exporters() -> Iterable[ExporterOffer]:
    """Offer ways to write a part as text."""
    return ()


@hookspec
def apsl_checks() -> Iterable[CheckOffer]:
    """Offer checks of the installation, for ``apsl doctor``."""
    return ()


@hookspec
def apsl_finding(finding: Finding) -> None:
    """Watch: a finding was told to the rules."""


@hookspec
def apsl_firing(firing: Firing) -> None:
    """Watch: a rule fired."""


@hookspec
def apsl_progress(progress: Progress) -> None:
    """Watch: a node was visited."""
