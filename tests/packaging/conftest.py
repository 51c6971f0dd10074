"""What is published, built once for all tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.packaged import build_both


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the archive of sources, and the wheel that was built from it."""
    return build_both(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="session")
def archive(published: tuple[Path, Path]) -> Path:
    """Return the archive of sources."""
    return published[0]


@pytest.fixture(scope="session")
def wheel(published: tuple[Path, Path]) -> Path:
    """Return the wheel."""
    return published[1]
