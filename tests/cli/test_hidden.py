"""Hidden causes on the command line: learning, proofs of both ends, and checks with hidden nodes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.terminal import apsl_here

pytestmark = pytest.mark.slow


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Write a table in which A and B share a cause that is no column."""
    random = np.random.default_rng(1)
    h, c, d = random.random((3, 8000)) < 0.5
    a = random.random(8000) < 0.1 + 0.4 * h + 0.4 * c
    b = random.random(8000) < 0.1 + 0.4 * h + 0.4 * d
    path = tmp_path / "rows.csv"
    pd.DataFrame({"A": a, "B": b, "C": c, "D": d}).to_csv(path, index=False)
    return path


def test_a_run_warns_and_the_option_answers(rows: Path, tmp_path: Path) -> None:
    """The note names the option; with it the picture shows the hidden cause, and ``why`` proves both ends."""
    plain = apsl_here("learn", str(rows), "-t", "A")
    part = tmp_path / "part.json"
    learned = apsl_here("learn", str(rows), "-t", "A", "--hidden", "--out", str(part))
    why = apsl_here("why", str(part), "A", "B")

    assert "note: A and B may share a hidden cause: " in plain.out
    assert "learn with --hidden " in " ".join(plain.out.split()) + " "
    assert "├◀─▶ B" in learned.out
    assert learned.out.startswith("A: ")
    assert "sharing a hidden cause with B" in " ".join(learned.out.split())
    assert "B *-> A   [FCI-R0]" in why.out
    assert "A *-> B   [FCI-R0]" in why.out
    assert "A <-> B" in apsl_here("show", str(part), "--format", "tetrad").out


def test_a_config_file_allows_hidden_causes(rows: Path, tmp_path: Path) -> None:
    """As the option does."""
    config = tmp_path / "run.toml"
    config.write_text("hidden = true\n", "utf-8")

    assert "◀─▶ B" in apsl_here("learn", str(rows), "-t", "A", "--config", str(config)).out


def test_parts_with_hidden_nodes_are_verified() -> None:
    """``apsl verify --hide`` compares with the PAG."""
    done = apsl_here("verify", "cancer", "--hide", "Smoker")

    assert done.code == 0
    assert "exact: every part equals the PAG" in done.out
