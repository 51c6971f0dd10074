"""Counts of columns from anywhere: the protocol, the cache that asks once, and collapsing of rows."""

from __future__ import annotations

from apsl_rules.data.counts.cache import MOST, KeptCounts
from apsl_rules.data.counts.collapse import collapse, unpacked
from apsl_rules.data.counts.source import CountSource, Heading, Joint, Weights, heading_of

__all__ = [
    "MOST",
    "CountSource",
    "Heading",
    "Joint",
    "KeptCounts",
    "Weights",
    "collapse",
    "heading_of",
    "unpacked",
]
