"""A real Chromium for the tests of the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from apsl_rules import Part
from support.viewing import Page

_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,900",
)


def _program(*names: str) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        message = f"no {names[0]} on this machine; install Debian's chromium and chromium-driver"
        if os.environ.get("APSL_REQUIRE_BROWSER") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return found


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Start Chromium once, with a profile of its own; without one the tests are skipped, or fail if it is required."""
    options = Options()
    options.binary_location = _program("chromium", "chromium-browser", "google-chrome")
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = Chrome(options=options, service=Service(_program("chromedriver")))
    started.get("about:blank")
    started.get_log("performance")  # what the browser's own first page asked for
    yield started
    started.quit()


@pytest.fixture
def opened(browser: Chrome, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Return a way to open the report of a part; afterwards no error was logged and nothing was asked of a network."""
    pages: list[Page] = []
    browser.get("about:blank")
    browser.get_log("performance")  # what pages of other tests asked for

    def open_report(part: Part, **figures: Any) -> Page:
        path = tmp_path / f"report {len(pages)}.html"
        part.report(path, **figures)
        pages.append(Page(browser, path))
        return pages[-1]

    yield open_report
    for page in pages:
        assert page.complaints() == []
        assert page.addresses() <= {one.path.as_uri() for one in pages}
