"""Oracles on tables by name: the data is encoded and the kernels are loaded only when one is made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from apsl_backends.counting.choose import ENCODING, SOURCING, is_too_large, open_counts
from apsl_rules._arguments import chosen, demand, spelt
from apsl_rules.data import FileTable, MixedTable, Table
from apsl_rules.data.counts import CountSource
from apsl_rules.data.moments import Embedding, MomentSource
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import Node, nearest
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import OracleOffer, OracleSettings

_TESTING = ("dof", "reliability")
_EMBEDDING = ("numbers", "degree")


def is_table(source: Any) -> bool:
    """Return whether a source looks like a table: encoded, a frame, an array, the path of a file, or counts."""
    return (
        isinstance(source, Table | MixedTable | FileTable | str | os.PathLike | CountSource)
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
            message = f"the oracle {oracle!r} has no option {name!r}{hint}"
            raise InvalidArgumentError(message)
    return {name: value for name, value in options.items() if value is not None}


def _open_counts(name: str, source: Any, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Open a table for counting; the options that are left are those of the tests."""
    known = _only(options, (*ENCODING, *SOURCING, *_TESTING, "cache"), name)
    return open_counts(source, known), {one: known[one] for one in (*_TESTING, "cache") if one in known}


def _count_test(name: str, counted: Any, settings: OracleSettings) -> Oracle:
    """Make a test on counts, behind a verdict cache if one is asked for."""
    from apsl_backends.independence.count_tests import ChiSquare, GSquare

    options = _only(settings.options, (*_TESTING, "cache"), name)
    testing = {one: options[one] for one in _TESTING if one in options}
    kind = GSquare if name == "gsquare" else ChiSquare
    oracle = kind(counted, alpha=settings.alpha, threads=settings.threads, **testing)
    if "cache" not in options:
        return oracle
    from apsl_backends.answers.cached_oracle import CachedOracle, EliminatingCachedOracle
    from apsl_backends.answers.verdict_file import VerdictCache

    if isinstance(counted, Table):
        cache = VerdictCache(options["cache"])
        return CachedOracle.over_table(oracle, cache, counted, alpha=settings.alpha, options=testing)
    key_of = getattr(counted.source, "fingerprint", None)
    if key_of is None:
        given = type(counted.source).__name__
        message = f"a cache needs a fingerprint of each column, and {given} gives none; leave the cache out"
        raise InvalidArgumentError(message)
    place = counted.heading.place
    cache = VerdictCache(options["cache"])
    return EliminatingCachedOracle(
        oracle, cache, alpha=settings.alpha, key_of=lambda node: bytes(key_of(place[node])), options=testing
    )


def _open_table(name: str, source: Any, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Open a table as what it is: categories alone for counting, a table with numbers for moments."""
    from apsl_backends.moments import open_table

    known = _only(options, (*ENCODING, *SOURCING, *_TESTING, *_EMBEDDING, "cache"), name)
    left = {one: known[one] for one in (*_TESTING, *_EMBEDDING, "cache") if one in known}
    return open_table(source, known, _embedding("moments", known)), left


def _open_moments(name: str, source: Any, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    """Open a table for moments, even if it has no numbers."""
    from apsl_backends.moments import open_moments

    testing = _moment_options(name)
    known = _only(options, (*ENCODING, *SOURCING, *testing), name)
    left = {one: known[one] for one in testing if one in known}
    return open_moments(source, known, _embedding(name, known)), left


def _moment_test(name: str, opened: Any, settings: OracleSettings) -> Oracle:
    """Make the test on moments. It needs no cache: a test takes less time than looking it up."""
    from apsl_backends.independence.moment_tests import MomentOracle
    from apsl_backends.moments import moments_of

    options = _only(settings.options, _moment_options(name), name)
    embedding = _embedding(name, options)
    source = moments_of(opened, embedding, settings.threads)
    answers = opened.answers.setdefault(embedding, {}) if isinstance(opened, MixedTable) else None
    return MomentOracle(source, alpha=settings.alpha, data=opened, answers=answers, name=name)


def _moment_options(name: str) -> tuple[str, ...]:
    return ("cache",) if name == "fisherz" else (*_EMBEDDING, "cache")


def _embedding(name: str, options: Mapping[str, Any]) -> Embedding:
    """Return how a test embeds numbers: as the options say, for Fisher's z as they are."""
    if name == "fisherz":
        return Embedding("values", 1)
    numbers, degree = options.get("numbers", "normal-scores"), options.get("degree", 3)
    chosen("numbers", numbers, ("normal-scores", "values"))
    demand(degree in (1, 2, 3), f"degree is {spelt(degree)}; give 1, 2 or 3", argument="degree")
    return Embedding(numbers, degree)


def _duplicates(opened: Any) -> Iterable[Sequence[Node]]:
    """Return the groups of duplicate columns."""
    from apsl_backends.learners.duplicate_columns import DuplicateColumns

    return dict.fromkeys(DuplicateColumns.among(opened).groups.values())


def _is_with_numbers(source: Any) -> bool:
    return isinstance(source, MixedTable | MomentSource)


def _is_natural_for_counts(source: Any) -> bool:
    return is_table(source) and not _is_with_numbers(source)


TABLE_ORACLES = (
    OracleOffer(
        "gsquare",
        "G² test on a table of discrete columns",
        partial(_count_test, "gsquare"),
        _is_natural_for_counts,
        partial(_open_counts, "gsquare"),
        partial(_open_table, "gsquare"),
        _duplicates,
    ),
    OracleOffer(
        "moments",
        "likelihood-ratio test on the moments of a table with numbers",
        partial(_moment_test, "moments"),
        _is_with_numbers,
        partial(_open_moments, "moments"),
        duplicates=_duplicates,
    ),
    OracleOffer(
        "chisquare",
        "Pearson's χ² test on a table of discrete columns",
        partial(_count_test, "chisquare"),
        open=partial(_open_counts, "chisquare"),
        duplicates=_duplicates,
    ),
    OracleOffer(
        "fisherz",
        "test of partial correlation: the moments of numbers as they are",
        partial(_moment_test, "fisherz"),
        open=partial(_open_moments, "fisherz"),
        duplicates=_duplicates,
    ),
)
