"""Write docs/walk.md: a tour of the command line from a CSV file to a report; every command is run."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from textwrap import fill

from recorded import ROOT, run, written

PAGE = ROOT / "docs" / "walk.md"

ROWS = """\
These rows are simulated from a known network, so that the result can be checked at the end. Your own file needs a
header with the column names, and one row for each case."""
LEARN = """\
Learn the part around one column, two steps deep, and save it. Every node of the network is a column, so no
common cause is missing. `--hidden excluded` says so, and then all arrows that follow are drawn."""
WALK = (
    (
        ROWS,
        "apsl simulate asia --rows 3000 --seed 5 --out visits.csv",
    ),
    (
        LEARN,
        "apsl learn visits.csv --target either --depth 2 --hidden excluded --out part.json",
    ),
    (
        "Show the proof of an arrow. It ends in leads over the best rival graph, and in tests with their results.",
        "apsl why part.json tub either",
    ),
    ("Show the run: which nodes were visited, and which rules fired.", "apsl trace part.json"),
    (
        "Add background knowledge: a visit to Asia comes before the disease.",
        "apsl learn visits.csv --target either --depth 2 --require asia tub --hidden excluded --out known.json",
    ),
    (
        "The edge that the data could not direct is now an arrow, and the proof says where it comes from.",
        "apsl why known.json asia tub",
    ),
    (
        "Measure how often each mark comes back on resampled rows.",
        "apsl stability visits.csv --target either --resamples 20 --seed 1 --hidden excluded",
    ),
    (
        "Ask how much: the effect of smoking on bronchitis, for every graph that is left open.",
        "apsl effect visits.csv smoke bronc --hidden excluded --quiet",
    ),
    (
        "Ask what caused a contradiction. This part has none; small samples and hidden causes can lead to some.",
        "apsl why part.json --repairs",
    ),
    ("Export the part for another tool.", "apsl show part.json --format mermaid"),
    (
        "Write a report for a browser: one file, with every proof and a replay of the run.",
        "apsl report part.json --data visits.csv --out part.html",
    ),
    ("Score the part against the true network, which is known here.", "apsl score part.json --truth asia"),
)


SHARED = """\
## What all commands share

- **A file or a pipe.** `-` instead of a file reads standard input, as in
  `cat visits.csv | apsl learn - --target either`. Tables may be `.csv`, `.tsv`, `.parquet`, `.feather`, `.xlsx` or
  `.jsonl` (text files may be gzipped). For a workbook with several sheets, name one: `book.xlsx#May`. A saved part can
  come from a pipe as well: `apsl learn visits.csv --target either --out - | apsl show -`.
- **`--json`** prints the result as one JSON document on standard output instead of the text. For a part it is the
  [part file](part-file.md). Notes in JSON name the arguments of Python, those in text the options of the command line.
- **`--out`** writes a file, and a line on standard error says what was written. `--out -` prints it. `--quiet`
  suppresses that line and the progress on a terminal.
- **Standard output** has only results. Progress, questions and errors go to standard error.
- **Exit codes**: 0 done; 1 a mistake that you can correct, explained in one sentence (`apsl verify` and `apsl doctor`
  also exit with 1 if something differs or is broken); 2 ended early by a limit or an interrupt, with what was learned
  so far."""


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
            if done.code or any(not one.startswith("wrote ") for one in done.err.splitlines()):
                print(f"{line} ended with {done.code}: {done.err}")
                return 1
            pieces += [fill(text, 120), done.block()]
    pieces.append(SHARED)
    return written(PAGE, "\n\n".join(pieces) + "\n", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
