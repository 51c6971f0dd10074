"""Counts of columns from anywhere: the protocol, the cache that asks once, and collapsing of rows."""

from __future__ import annotations

from apsl_rules.data.counts.cache import MOST, CachedCounts, CountSource
from apsl_rules.data.counts.distinct_rows import collapse, pack_codes, unpack_codes
from apsl_rules.data.dataset import Heading, Joint, Weights

__all__ = [
    "MOST",
    "CachedCounts",
    "CountSource",
    "Heading",
    "Joint",
    "Weights",
    "collapse",
    "pack_codes",
    "unpack_codes",
]
