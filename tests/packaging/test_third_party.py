"""The worked third-party plugin: really installed with pip, really used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.release]

PLUGIN = Path(__file__).parents[1] / "third_party"

USE_IT = """
import apsl_rules
part = apsl_rules.learn(None, "bell", oracle="coin")
print(sorted(part.arrows))
print(part.why("coin 1", "bell"))
"""


def test_an_installed_plugin_offers_its_oracle(tmp_path: Path) -> None:
    """A plugin installed by pip is found by its entry point, listed by the command line and used by learn()."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--disable-pip-version-check", "--target", str(tmp_path), str(PLUGIN)], check=True)
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    used = subprocess.run([sys.executable, "-c", USE_IT], env=environment, capture_output=True, text=True, check=True)
    listed = subprocess.run(
        [sys.executable, "-c", "from apsl_rules.cli.entry import main; main()", "oracles"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    assert used.stdout.splitlines()[0] == "[('coin 1', 'bell'), ('coin 2', 'bell')]"
    assert "bell is a collider between coin 1 and coin 2   [coin: coin 1 ⊥ coin 2; coin 1 not ⊥ coin 2 | bell]" in (
        used.stdout
    )
    assert ["coin", "two", "coins", "and", "a", "bell"] in [line.split() for line in listed.stdout.splitlines()]
