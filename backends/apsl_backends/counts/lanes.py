"""The sizes of what a scan of the rows works on."""

from __future__ import annotations

CHUNK = 1024
"""Rows whose cell codes are made at a time, so that the codes stay in the nearest cache."""

LANES = 4
CELLS_IN_LANES = 4096
"""The most cells that are counted in several histograms, each row's neighbours in another one.

Equal neighbours in one histogram would wait for each other.
"""
