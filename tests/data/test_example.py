"""The table that comes with the package."""

from __future__ import annotations

from pathlib import Path

from apsl_rules import network
from apsl_rules.data.sources import example_table
from apsl_rules.graphs.networks.sampling import simulate


def test_the_example_table_is_what_its_page_says(tmp_path: Path) -> None:
    """It has the bytes that `apsl simulate asia --rows 2000 --seed 5` writes, and not many of them."""
    simulate(network("asia"), 2000, tmp_path / "clinic.csv", seed=5)

    assert example_table().read_bytes() == (tmp_path / "clinic.csv").read_bytes()
    assert example_table().stat().st_size < 60_000
