"""The example table of the package."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def example_table() -> Path:
    """Return the path of a CSV file with 2,000 rows that were drawn from the network ``asia``.

    >>> example_table().name
    'clinic.csv'
    """
    return Path(str(files("apsl_specs") / "tables" / "clinic.csv"))
