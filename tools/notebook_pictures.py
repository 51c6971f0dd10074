"""Run a notebook with a part, a proof, stability and a comparison, and take its picture in light and in dark.

The notebook is run in a real kernel, written as a page as JupyterLab shows it, and looked at with Chromium, which has
to be installed. The pictures go to docs/pictures; ``--keep FOLDER`` keeps notebook and pages as well.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from PIL import Image

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
BEGIN = """\
from apsl_rules import compare, learn, stability
from apsl_rules.data.sources import example_table

clinic = example_table()
part = learn(clinic, "dysp", depth=2)
part"""
CELLS = (
    BEGIN,
    'part.why("either", "xray")',
    'stability(clinic, "dysp", resamples=50)',
    'compare(clinic, "dysp", depth=2, learners=["auto", "apsl", "mmhc"])',
)
THEMES = ("light", "dark")
_WIDTH, _HEIGHT = 1000, 1600
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
#: What a notebook page of its own would load: nothing here needs it.
_PLAIN = {"mathjax_url": "", "require_js_url": "", "jquery_url": "", "mermaid_js_url": ""}


def main(words: Sequence[str]) -> int:
    """Run the notebook and take its pictures."""
    browser = next((path for name in ("chromium", "chromium-browser") if (path := shutil.which(name))), None)
    if browser is None:
        print("no chromium on this machine; install it to take pictures")
        return 1
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(words[1]) if words[:1] == ["--keep"] else Path(scratch)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
        nbformat.write(notebook, folder / "notebook.ipynb")
        for theme in THEMES:
            page = folder / f"notebook-{theme}.html"
            exporter = HTMLExporter(template_name="lab", theme=theme, **_PLAIN)
            page.write_text(exporter.from_notebook_node(notebook)[0], "utf-8")
            profile = Path(scratch) / f"profile-{theme}"
            picture = PICTURES / f"notebook-{theme}.png"
            place = (f"--user-data-dir={profile}", f"--screenshot={picture}", f"--window-size={_WIDTH},{_HEIGHT}")
            subprocess.run([browser, *_FLAGS, *place, page.as_uri()], check=True, capture_output=True)
            Image.open(picture).convert("RGB").quantize(128).save(picture, optimize=True)
            print(f"{picture.relative_to(PICTURES.parents[1])}: {picture.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
