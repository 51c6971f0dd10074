"""Sources of moments: tables with numbers in memory, DuckDB, a Dask cluster; and the choice between them."""

from __future__ import annotations

from apsl_backends.moments.choose import moments_of, open_moments, open_table
from apsl_backends.moments.memory import MOST_WIDTH, KeptMoments

__all__ = ["MOST_WIDTH", "KeptMoments", "moments_of", "open_moments", "open_table"]
