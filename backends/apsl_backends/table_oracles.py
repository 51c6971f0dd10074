"""Oracles on tables by name: the data is encoded and the kernels are loaded only when one is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from apsl_backends.counting.choose import ENCODING, SOURCING, is_too_large, open_counts
from apsl_rules.data import FileTable, Table
from apsl_rules.data.counts import CountSource
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import nearest
from apsl_rules.oracles import Oracle
from apsl_rules.plugins import OracleOffer, OracleSettings

TABLE_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".txt", ".txt.gz")

_TESTING = ("dof", "reliability")


def is_table(source: Any) -> bool:
    """Return whether a source looks like a table: encoded, a frame, an array, the path of a file, or counts."""
    return (
        isinstance(source, Table | FileTable | str | os.PathLike | CountSource)
        or hasattr(source, "columns")
        or hasattr(source, "ndim")
    )


def read_table(path: Path) -> Any:
    """Read a table from a file, as a frame whose columns each oracle encodes as it needs.

    One that does not fit into memory is left in its file.
    """
    from apsl_rules.data import table
    from apsl_rules.data.readers import file_kind, read_csv, read_parquet

    if is_too_large(path):
        return FileTable(path)
    match file_kind(path):
        case "txt":
            return table(path)
        case "parquet":
            return read_parquet(path)
        case _:
            return read_csv(path)


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
    from apsl_backends.independence.chi_square import ChiSquare
    from apsl_backends.independence.g_square import GSquare

    options = settings.options
    testing = {one: options[one] for one in _TESTING if one in options}
    kind = GSquare if name == "gsquare" else ChiSquare
    oracle = kind(counted, alpha=settings.alpha, threads=settings.threads, **testing)
    if "cache" not in options:
        return oracle
    from apsl_backends.answers.cache_file import VerdictCache
    from apsl_backends.answers.cached_oracle import CachedOracle, EliminatingCachedOracle

    cache = VerdictCache(options["cache"])
    if isinstance(counted, Table):
        return CachedOracle.over_table(oracle, cache, counted, alpha=settings.alpha, options=testing)
    key_of = getattr(counted.source, "fingerprint", None)
    if key_of is None:
        given = type(counted.source).__name__
        message = f"a cache needs a fingerprint of each column, and {given} gives none; leave the cache out"
        raise InvalidArgumentError(message)
    place = counted.heading.place
    return EliminatingCachedOracle(
        oracle, cache, alpha=settings.alpha, key_of=lambda node: bytes(key_of(place[node])), options=testing
    )


def _open_numbers(source: Any, options: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
    from apsl_rules.data import numeric_matrix

    return numeric_matrix(source, **_only(options, ("names",), "fisherz")), {}


def _fisherz(numbers: Any, settings: OracleSettings) -> Oracle:
    from apsl_backends.independence.fisher_z import FisherZ

    matrix, names = numbers
    return FisherZ(matrix, names, alpha=settings.alpha)


def _counting(name: str, summary: str, natural_for: Callable[[Any], bool] = lambda _source: False) -> OracleOffer:
    return OracleOffer(name, summary, partial(_count_test, name), natural_for, partial(_open_counts, name))


TABLE_ORACLES = (
    _counting("gsquare", "G² test on a table of discrete columns", is_table),
    _counting("chisquare", "Pearson's χ² test on a table of discrete columns"),
    OracleOffer(
        "fisherz", "Fisher's z test of partial correlation on a table of numbers", _fisherz, open=_open_numbers
    ),
)
