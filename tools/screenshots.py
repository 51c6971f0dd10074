"""Take the pictures of the report that the docs show, from parts learned on drawn rows, in a real Chromium.

    python tools/screenshots.py [folder]

Needs Debian's chromium and chromium-driver, and selenium and pillow from the development environment.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from apsl_rules import Knowledge, Part, learn, network
from apsl_rules.graphs.networks.sampling import sample

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
SIZE = (1360, 780)
LARGEST = 150_000

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
DARK = "document.documentElement.dataset.theme = 'dark';"
BOTTOM = "document.getElementById('panel').scrollTop = 9999;"
EDGES = "document.getElementById('tab-edges').click();"


def main() -> None:
    """Write the five pictures."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    folder.mkdir(parents=True, exist_ok=True)
    alarm = network("alarm")
    clear = learn(sample(alarm, 2000, seed=7), "VENTLUNG", depth=2)
    torn = learn(sample(alarm, 500, seed=4), "VENTLUNG", depth=2, learner="apsl")
    rows = patients()
    cost = learn(rows, "cost", depth=2, knowledge=Knowledge(tiers=[["sex", "age"], ["smoker", "bmi"], ["cost"]]))
    fired = [place for place, entry in enumerate(clear.history.entries, start=1) if entry in clear.trace]
    with tempfile.TemporaryDirectory() as scratch:
        browser = start(Path(scratch) / "profile")
        try:
            shots: list[tuple[str, Part, pd.DataFrame | None, list[tuple[str, object]]]] = [
                ("report-rest", clear, None, []),
                ("report-replay", clear, None, [(EDGES, None), (MOMENT, fired[-4])]),
                ("report-proof", clear, None, [(PROOF, ["VENTLUNG", "MINVOL"])]),
                ("report-dark", torn, None, [(DARK, None), (PROOF, ["DISCONNECT", "VENTTUBE"])]),
                ("report-effects", cost, rows, [(PROOF, ["age", "cost"]), (BOTTOM, None)]),
            ]
            for name, part, table, steps in shots:
                path = folder / f"{name}.png"
                part.report(Path(scratch) / "report.html", data=table)
                path.write_bytes(picture(browser, steps, Path(scratch) / "report.html"))
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
    browser = Chrome(options=options, service=Service(driver))
    size = {"width": SIZE[0], "height": SIZE[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    return browser


def patients() -> pd.DataFrame:
    """Draw a table of patients with numbers and categories."""
    random = np.random.default_rng(3)
    n = 1200
    age, sex = random.integers(18, 80, n), random.choice(["f", "m"], n)
    smoker = np.where(random.random(n) < np.where(sex == "m", 0.35, 0.2), "yes", "no")
    bmi = np.round(22 + 0.08 * age + random.normal(0, 3, n), 1)
    cost = np.exp(6 + 0.02 * age + 0.9 * (smoker == "yes") + 0.04 * bmi + random.normal(0, 0.4, n)).round()
    return pd.DataFrame({"sex": sex, "age": age, "smoker": smoker, "bmi": bmi, "cost": cost})


def picture(browser: Chrome, steps: list[tuple[str, object]], page: Path) -> bytes:
    """Open a report, do something to it, and give a small PNG of what is seen."""
    browser.get(page.as_uri())
    for script, argument in steps:
        browser.execute_script(script, argument)
    browser.execute_async_script("setTimeout(arguments[0], 400)")  # until what fades has faded
    seen = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    small = BytesIO()
    seen.quantize(palette=commonest(seen), dither=Image.Dither.NONE).save(small, "PNG", optimize=True)
    if len(small.getvalue()) > LARGEST:
        sys.exit(f"a picture has {len(small.getvalue()):,} bytes; at most {LARGEST:,} are allowed")
    return small.getvalue()


def commonest(seen: Image.Image) -> Image.Image:
    """Return a palette of the 256 commonest colours, which keeps the inks of the drawing as they are."""
    colours, counts = np.unique(np.asarray(seen).reshape(-1, 3), axis=0, return_counts=True)
    palette = Image.new("P", (1, 1))
    palette.putpalette(colours[np.argsort(-counts, kind="stable")[:256]].tobytes())
    return palette


if __name__ == "__main__":
    main()
