"""The built-in plugin: every oracle, finder, blanket finder, learner and rulebook that comes with the package."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from apsl_backends.finders.by_tests import Hiton, Mmpc, PcSimple
from apsl_backends.finders.fcbf import Fcbf
from apsl_backends.independence.d_separation import DSeparation
from apsl_backends.independence.recording import ReplayOracle
from apsl_backends.learners import BLANKETS, offer_of
from apsl_backends.learners.grow_shrink import PATHS, GrowShrink
from apsl_backends.table_oracles import TABLE_ORACLES, read_table
from apsl_rules.data.readers import TABLE_ENDINGS
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.export.formats import FORMATS, READERS, read_known_graph
from apsl_rules.graphs import Dag, DagWithHidden, is_networkx, known_dag
from apsl_rules.graphs.networks import Network, read_bif
from apsl_rules.neighbours import BlanketFinder, Neighbours, SpousesByChild
from apsl_rules.oracles import Oracle
from apsl_rules.parts import MarkedGraph, Part, draw, edges_csv, part_json
from apsl_rules.plugins import (
    BlanketOffer,
    CheckOffer,
    ExporterOffer,
    FinderOffer,
    FinderSettings,
    LearnerOffer,
    OracleOffer,
    OracleSettings,
    ReaderOffer,
    hookimpl,
    parse_spec,
)
from apsl_rules.rules import KNOWING, PAG, PAPER, SOUND, Rulebook


def _is_graph(source: Any) -> bool:
    return isinstance(source, Dag | DagWithHidden | Network | MarkedGraph) or is_networkx(source)


def _dsep(source: Any, settings: OracleSettings) -> Oracle:
    if settings.options:
        message = f"the oracle 'dsep' knows its graph and has no option {next(iter(settings.options))!r}; leave it out"
        raise InvalidArgumentError(message)
    if isinstance(source, DagWithHidden):
        return DSeparation(source)
    return DSeparation(source.dag if isinstance(source, Network) else known_dag(source))


@hookimpl
def apsl_oracles() -> Iterable[OracleOffer]:
    """Offer d-separation on known graphs and the tests on tables."""
    return [OracleOffer("dsep", "d-separation in a known graph: always right", _dsep, _is_graph), *TABLE_ORACLES]


@hookimpl
def apsl_finders() -> Iterable[FinderOffer]:
    """Offer the finders of parents and children."""
    return [
        FinderOffer("hiton", "HITON-PC: entry by association, each entry re-tries the others", Hiton),
        FinderOffer("mmpc", "MMPC: max-min association, then a backward phase", Mmpc),
        FinderOffer("fcbf", "FCBF: a filter by symmetrical uncertainty, for tables only", Fcbf, heeds_bound=False),
        FinderOffer("pcsimple", "PC-simple: level by level from all candidates", PcSimple),
    ]


def _hiton_mb(oracle: Oracle, settings: FinderSettings) -> BlanketFinder:
    return SpousesByChild(
        oracle, Neighbours(Hiton(oracle, settings), symmetric=bool(settings.options.get("symmetric")))
    )


def _mmmb(oracle: Oracle, settings: FinderSettings) -> BlanketFinder:
    return SpousesByChild(oracle, Neighbours(Mmpc(oracle, settings), symmetric=bool(settings.options.get("symmetric"))))


@hookimpl
def apsl_blankets() -> Iterable[BlanketOffer]:
    """Offer the finders of Markov blankets."""
    return [
        BlanketOffer("hiton-mb", "HITON-MB: spouses among the neighbours of HITON-PC neighbours", _hiton_mb),
        BlanketOffer("mmmb", "MMMB: spouses among the neighbours of MMPC neighbours", _mmmb),
        BlanketOffer("gs", "GSMB: grow by dependence, shrink by independence", GrowShrink),
        *BLANKETS,
    ]


@hookimpl
def apsl_rulebooks() -> Iterable[Rulebook]:
    """Offer the rulebooks."""
    return [SOUND, KNOWING, PAPER, PATHS, PAG]


@hookimpl
def apsl_readers() -> Iterable[ReaderOffer]:
    """Offer the readers of files."""
    return [
        ReaderOffer("bif", "a Bayesian network in the BIF format", (".bif", ".bif.gz"), read_bif),
        ReaderOffer("table", "a table of columns", TABLE_ENDINGS, read_table),
        ReaderOffer("recording", "the recorded answers of an oracle", (".recording",), ReplayOracle),
        ReaderOffer("graph", "a known graph, written by another tool", tuple(READERS), read_known_graph),
    ]


def _svg(part: Part) -> str:
    from apsl_rules.report.svg import svg

    return svg(part)


def _report(part: Part) -> str:
    from apsl_rules.report.page import report_html

    return report_html(part)


@hookimpl
def apsl_exporters() -> Iterable[ExporterOffer]:
    """Offer formats in which a part is written as text."""
    return [
        ExporterOffer("json", "the saved part, which why, trace and show read", part_json),
        ExporterOffer("text", "a picture as a tree of layers", draw),
        ExporterOffer("csv", "one row for each edge: source, target, mark, rule, p, distance", edges_csv),
        ExporterOffer("svg", "the drawing, for any browser or document", _svg),
        ExporterOffer("html", "the report: drawing, proofs and replay in one page", _report),
        *(ExporterOffer(name, summary, write, write) for name, summary, write in FORMATS),
    ]


@hookimpl
def apsl_learners() -> Iterable[LearnerOffer]:
    """Offer a learner for each spec file."""
    folder = files("apsl_specs") / "learners"
    specs = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [offer_of(parse_spec(file.read_text("utf-8"), f"spec {file.name}")) for file in specs]


def _kernels() -> str:
    from apsl_backends.kernels.library import description

    return description()


@hookimpl
def apsl_checks() -> Iterable[CheckOffer]:
    """Offer a check of the compiled code."""
    return [CheckOffer("kernels", "the compiled code for this processor", _kernels)]
