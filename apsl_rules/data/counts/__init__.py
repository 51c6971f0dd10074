"""Counts of columns from anywhere: the protocol, the cache that asks once, and collapsing of rows."""

from __future__ import annotations

from apsl_rules.data.counts.cache import MOST, CachedCounts
from apsl_rules.data.counts.source import (
    CountSource,
    Heading,
    Joint,
    Weights,
    collapse,
    heading_of,
    pack_codes,
    unpack_codes,
)

__all__ = [
    "MOST",
    "CachedCounts",
    "CountSource",
    "Heading",
    "Joint",
    "Weights",
    "collapse",
    "heading_of",
    "pack_codes",
    "unpack_codes",
]
