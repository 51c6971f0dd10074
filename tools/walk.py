"""Write docs/walk.md: a walk on the command line from a CSV file to a report, every command really run."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from textwrap import fill

from recorded import ROOT, run, written

PAGE = ROOT / "docs" / "walk.md"

ROWS = """\
Here the rows are drawn from a known network, so that the result can be checked at the end. Take your own file instead:
a header with the names of the columns, one row for each case."""
WALK = (
    (
        ROWS,
        "apsl simulate asia --rows 3000 --seed 5 --out visits.csv",
    ),
    (
        "Learn what lies around one column, two steps deep, and keep the part.",
        "apsl learn visits.csv --target either --depth 2 --out part.json",
    ),
    (
        "Ask why. The leaves are leads over the best rival, and the tests made on the way, with their figures.",
        "apsl why part.json tub either",
    ),
    ("See the run: which node was visited, which rule fired.", "apsl trace part.json"),
    (
        "Tell it what you know: nothing that happens later causes the journey to Asia.",
        "apsl learn visits.csv --target either --depth 2 --require asia tub --out known.json",
    ),
    (
        "What the data could not direct is now directed, and the proof says where it comes from.",
        "apsl why known.json asia tub",
    ),
    (
        "How often does each mark come back on other draws of the rows?",
        "apsl stability visits.csv --target either --resamples 20 --seed 1",
    ),
    ("Take it to another tool.", "apsl show part.json --format mermaid"),
    (
        "Look at it in a browser: one file, with every proof and a replay of the run.",
        "apsl report part.json --out part.html",
    ),
    ("And since the truth is known here: how right is it?", "apsl score part.json --truth asia"),
)


def main(words: list[str]) -> int:
    """Run the walk and write its page."""
    pieces = [
        "# From a CSV file to a report",
        "<!-- Written by tools/walk.py, which runs every command; do not edit. -->",
        "Each block is a command and what it printed.",
    ]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for text, line in WALK:
            done = run(line)
            if done.code or done.err:
                print(f"{line} ended with {done.code}: {done.err}")
                return 1
            pieces += [fill(text, 120), done.block()]
    return written(PAGE, "\n\n".join(pieces) + "\n", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
