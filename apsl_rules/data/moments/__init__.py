"""Moments of tables with numbers: the protocol of what computes covariances and tests from rows."""

from __future__ import annotations

from apsl_rules.data.moments.source import (
    ColumnUnit,
    ComparesColumns,
    Embedding,
    MomentHeading,
    MomentSource,
    RowTests,
)

__all__ = ["ColumnUnit", "ComparesColumns", "Embedding", "MomentHeading", "MomentSource", "RowTests"]
