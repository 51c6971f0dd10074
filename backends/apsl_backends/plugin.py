"""The built-in plugin: every oracle, finder, blanket finder, learner and rulebook that comes with the package.

The data is encoded and the kernels are loaded only when an oracle is made.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from apsl_backends.answers.cached_oracle import ReplayOracle
from apsl_backends.engines.engine import Engine
from apsl_backends.engines.opener import READING, SOURCING, Need, is_too_large, open_dataset
from apsl_backends.finders.by_tests import Hiton, Mmpc, PcSimple
from apsl_backends.finders.fcbf import Fcbf
from apsl_backends.independence.d_separation import DSeparation
from apsl_backends.learners import offer_of
from apsl_rules.data import CountedDataset, Dataset, FileTable
from apsl_rules.data.counts import CountSource
from apsl_rules.data.moments import Embedding, MomentSource
from apsl_rules.data.readers import TABLE_ENDINGS
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.export.formats import FORMATS, READERS, read_known_graph
from apsl_rules.graphs import Dag, DagWithHidden, is_networkx
from apsl_rules.graphs.networks import Network, read_bif
from apsl_rules.names import chosen, demand, nearest, spelt
from apsl_rules.neighbours import BlanketFinder, Neighbours, SpousesByChild
from apsl_rules.notes import argument, named
from apsl_rules.oracles import Oracle
from apsl_rules.parts import TABLE_FORMATS, MarkedGraph, Part, edge_table, edges_csv, part_json, printed
from apsl_rules.plugins import (
    BlanketOffer,
    CheckOffer,
    DatasetOffer,
    ExporterOffer,
    FinderOffer,
    FinderSettings,
    LearnerOffer,
    OracleOffer,
    OracleSettings,
    ReaderOffer,
    ScoreOffer,
    hookimpl,
    read_specs,
)
from apsl_rules.rules import KNOWING, PAG, SOUND, Rulebook

#: The options of the tests that count, and of those on moments.
_TESTING = ("dof", "reliability")
_EMBEDDING = ("numbers", "degree")
_COUNT_OPTIONS = (*_TESTING, "cache")
_MOMENT_OPTIONS = {"moments": (*_EMBEDDING, "cache"), "fisherz": ("cache",)}


def is_table(source: Any) -> bool:
    """Return whether a source looks like a table: a dataset, a frame, an array, the path of a file, or an engine."""
    return (
        isinstance(source, Dataset | FileTable | str | os.PathLike | CountSource | MomentSource | Engine)
        or hasattr(type(source), "columns")  # asking a lazy frame itself would work out its schema
        or hasattr(source, "columns")
        or hasattr(source, "ndim")
    )


def read_table(path: Path) -> Any:
    """Read a table from a file, as a frame whose columns each oracle encodes as it needs.

    One that does not fit into memory is left in its file.
    """
    from apsl_rules.data import open_source
    from apsl_rules.data.readers import file_kind, read_columns

    if is_too_large(path):
        return FileTable(path)
    return open_source(path) if file_kind(path) == "txt" else read_columns(path)


def _only(options: Mapping[str, Any], known: tuple[str, ...], oracle: str) -> dict[str, Any]:
    """Take the options that are given, and refuse those that the oracle does not know."""
    for name in options:
        if name not in known:
            hint = nearest(name, known) or f"; it knows {', '.join(known)}"
            message = f"the oracle {oracle!r} has no option {argument(name, python=repr(name))}{hint}"
            raise InvalidArgumentError(message)
    return {name: value for name, value in options.items() if value is not None}


def _open(source: Any, options: Mapping[str, Any], need: Need) -> Dataset:
    """Open a table; how numbers are embedded is said by the options of the oracle."""
    reading = {name: options[name] for name in (*READING, *SOURCING) if options.get(name) is not None}
    return open_dataset(source, reading, need=need, embedding=_embedding(options))


def _count_test(name: str, counted: CountedDataset, settings: OracleSettings) -> Oracle:
    """Make a test on counts, behind a verdict cache if one is asked for."""
    from apsl_backends.independence.count_tests import ChiSquare, GSquare

    options = _only(settings.options, _COUNT_OPTIONS, name)
    testing = {one: options[one] for one in _TESTING if one in options}
    kind = GSquare if name == "gsquare" else ChiSquare
    oracle = kind(counted, alpha=settings.alpha, threads=settings.threads, **testing)
    if "cache" not in options:
        return oracle
    from apsl_backends.answers.cached_oracle import CachedOracle
    from apsl_backends.answers.verdict_file import VerdictCache

    counted.fingerprint_of(counted.names[0])  # refuses at once what has none
    cache = VerdictCache(options["cache"])
    return CachedOracle(oracle, cache, alpha=settings.alpha, key_of=counted.fingerprint_of, options=testing)


def _moment_test(name: str, opened: Any, settings: OracleSettings) -> Oracle:
    """Make the test on moments. It needs no cache: a test takes less time than looking it up."""
    from apsl_backends.engines.opener import moments_of
    from apsl_backends.independence.moment_tests import MomentOracle

    options = _only(settings.options, _MOMENT_OPTIONS[name], name)
    embedding = _embedding(_AS_THEY_ARE if name == "fisherz" else options)
    source = moments_of(opened, embedding, settings.threads)
    return MomentOracle(source, alpha=settings.alpha, data=opened, name=name)


def _embedding(options: Mapping[str, Any]) -> Embedding:
    """Return how a test embeds numbers."""
    numbers, degree = options.get("numbers", "normal-scores"), options.get("degree", 3)
    chosen("numbers", numbers, ("normal-scores", "values"))
    demand(degree in (1, 2, 3), f"{named('degree')} is {spelt(degree)}; give 1, 2 or 3", argument="degree")
    return Embedding(numbers, degree)


#: Fisher's z takes numbers as they are.
_AS_THEY_ARE = {"numbers": "values", "degree": 1}
TABLE_ORACLES = (
    OracleOffer(
        "gsquare",
        "G² test on a table of discrete columns",
        partial(_count_test, "gsquare"),
        needs={"counts"},
        options=_COUNT_OPTIONS,
    ),
    OracleOffer(
        "moments",
        "likelihood-ratio test on the moments of a table with numbers",
        partial(_moment_test, "moments"),
        needs={"moments"},
        options=_MOMENT_OPTIONS["moments"],
    ),
    OracleOffer(
        "chisquare",
        "Pearson's χ² test on a table of discrete columns",
        partial(_count_test, "chisquare"),
        needs={"counts"},
        options=_COUNT_OPTIONS,
    ),
    OracleOffer(
        "fisherz",
        "test of partial correlation: the moments of numbers as they are",
        partial(_moment_test, "fisherz"),
        needs={"moments"},
        options=_MOMENT_OPTIONS["fisherz"],
        preset=_AS_THEY_ARE,
    ),
)


@hookimpl
def apsl_datasets() -> Iterable[DatasetOffer]:
    """Offer the way to open tables."""
    told = "tables in memory, in files, in databases and on clusters"
    return [DatasetOffer("tables", told, is_table, _open, (*READING, *SOURCING))]


def _is_graph(source: Any) -> bool:
    if isinstance(source, Dag | DagWithHidden | Network | MarkedGraph):
        return True
    return "networkx" in sys.modules and is_networkx(source)


def _dsep(source: Any, settings: OracleSettings) -> Oracle:
    if settings.options:
        name = next(iter(settings.options))
        option = argument(name, python=repr(name))
        message = f"the oracle 'dsep' knows its graph and has no option {option}; leave it out"
        raise InvalidArgumentError(message)
    if isinstance(source, DagWithHidden):
        return DSeparation(source)
    if isinstance(source, Network):
        return DSeparation(source.dag, data=source)
    return DSeparation(Dag(source))


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
        FinderOffer(
            "fcbf", "FCBF: a filter by symmetrical uncertainty, for tables and networks", Fcbf, heeds_bound=False
        ),
        FinderOffer("pcsimple", "PC-simple: level by level from all candidates", PcSimple),
    ]


@hookimpl
def apsl_scores() -> Iterable[ScoreOffer]:
    """Offer the scores of the default learners."""
    from apsl_backends.learners.apsl_mixed import SCORES

    return SCORES


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
    ]


@hookimpl
def apsl_rulebooks() -> Iterable[Rulebook]:
    """Offer the rulebooks."""
    return [SOUND, KNOWING, PAG]


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
    from apsl_rules.views.svg import svg

    return svg(part)


def _table(style: Any, part: Part) -> str:
    return edge_table(part, style)


def _report(part: Part) -> str:
    from apsl_rules.views.page import report_html

    return report_html(part)


@hookimpl
def apsl_exporters() -> Iterable[ExporterOffer]:
    """Offer formats in which a part is written as text."""
    return [
        ExporterOffer("json", "the saved part, which why, trace and show read", part_json),
        ExporterOffer("text", "the answer in words, and a picture as a tree of layers", printed),
        *(
            ExporterOffer(name, "a table of the edges with their probabilities, for a paper", partial(_table, style))
            for name, style in TABLE_FORMATS.items()
        ),
        ExporterOffer("csv", "one row for each edge: source, target, mark, rule, p, distance", edges_csv),
        ExporterOffer("svg", "the drawing, for any browser or document", _svg),
        ExporterOffer("html", "the report: drawing, proofs and replay in one page", _report),
        *(ExporterOffer(name, summary, write, write) for name, summary, write in FORMATS),
    ]


@hookimpl
def apsl_learners() -> Iterable[LearnerOffer]:
    """Offer a learner for each spec file."""
    return [offer_of(spec) for spec in read_specs(files("apsl_specs") / "learners")]


def _kernels() -> str:
    from apsl_backends.kernels.library import description

    return description()


@hookimpl
def apsl_checks() -> Iterable[CheckOffer]:
    """Offer a check of the compiled code."""
    return [CheckOffer("kernels", "the compiled code for this processor", _kernels)]
