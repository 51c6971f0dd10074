"""Systems without the modules of POSIX, such as Windows."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.release]

SCRIPT = """
import pkgutil, sys
from importlib import import_module

sys.modules["resource"] = sys.modules["fcntl"] = None  # to import them is an ImportError now
import apsl_backends, apsl_published, apsl_rules
from apsl_rules.cli.main import run
from apsl_rules.data.sources import example_table

# mcp asks for fcntl wherever Python says that this is no Windows, so what imports it is left out.
for package in (apsl_rules, apsl_backends, apsl_published):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if module.name != "apsl_rules.server.protocol":
            import_module(module.name)
print(sorted(apsl_rules.learn(example_table(), "either").neighbours_of("either")))
sys.argv = ["apsl", "--help"]
run()
"""


def test_everything_imports_and_a_table_is_learned_from_without_posix() -> None:
    """No module of ours needs those of POSIX; a table is learned from, and the command line prints its help."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['dysp', 'lung', 'tub', 'xray']\n")
    assert "apsl learn alarm" in done.stdout
