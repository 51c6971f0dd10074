"""Write docs/wrong-inputs.md: mistakes on the command line, and the message for each."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

from recorded import ROOT, run, written

PAGE = ROOT / "docs" / "wrong-inputs.md"

ABOUT = """\
Each mistake gets one sentence on standard error: what is wrong and what to do. The exit code is 1, nothing is printed
on standard output, and no file is left behind."""
ROWS = "smoker,cough\n" + "yes,yes\nno,no\nyes,no\n" * 20
FILES = {
    "rows.csv": ROWS,
    "holes.csv": "smoker,cough\nyes,yes\nno,\nyes,no\n",
    "ragged.csv": "smoker,cough\nyes,yes\nno,no,maybe\n",
    "semicolons.csv": ROWS.replace(",", ";"),
    "measured.csv": "weight,cough\n" + "".join(f"{60 + at * 0.37:.2f},{at % 2}\n" for at in range(60)),
    "flat.csv": "smoker,cough\n" + "yes,yes\nyes,no\n" * 20,
    "asia.csv": "smoke,bronc,dysp\n" + "yes,yes,no\nno,no,yes\nyes,no,no\nno,yes,yes\n" * 9,
    "spoilt.json": '{"format":"apsl_rules part","version":1',
    "broken.jsonl": '{"smoker": "yes"}\n{"smoker": "no"\n',
    "knowledge.toml": 'required = [["smoker", "cough"], ["cough", "smoker"]]\n',
    "run.toml": "depht = 2\n",
    "cycle.dagitty": "dag { a -> b b -> c c -> a }",
}
MISTAKES = (
    ("A network or a file that does not exist", "apsl learn alrm --target HR"),
    ("", "apsl learn row.csv --target smoker"),
    ("A misspelt or missing target", "apsl learn rows.csv --target smokr"),
    ("", "apsl learn rows.csv"),
    ("A value out of range, or of the wrong kind", "apsl learn rows.csv --target smoker --alpha 5"),
    ("", "apsl learn rows.csv --target smoker --depth deep"),
    ("", "apsl learn rows.csv --target smoker --learner nobody"),
    ("", "apsl learn rows.csv --target smoker --missing drop"),
    ("", "apsl learn rows.csv --target smoker --missing levl"),
    ("An option or a command that does not exist", "apsl learn rows.csv --targt smoker"),
    ("", "apsl lern rows.csv"),
    ("A missing command or option", "apsl rows.csv"),
    ("", "apsl learn rows.csv smoker"),
    ("Missing values that are refused", "apsl learn holes.csv --target smoker --missing refuse"),
    ("A table whose lines differ in length", "apsl learn ragged.csv --target smoker"),
    ("A line that is not JSON", "apsl learn broken.jsonl --target smoker"),
    ("A table with another separator", "apsl learn semicolons.csv --target smoker --counts duckdb"),
    ("Numbers that are not cut", "apsl learn measured.csv --target cough --oracle gsquare --discretize none"),
    ("A test that does not fit the source", "apsl learn asia --target lung --oracle gsquare"),
    ("Knowledge that contradicts itself", "apsl learn rows.csv --target smoker --knowledge knowledge.toml"),
    ("", "apsl learn rows.csv --target smoker --require smoker cough --forbid smoker cough"),
    ("A learner or a format without hidden causes", "apsl learn asia --target lung --hidden --learner apsl"),
    ("", "apsl learn asia --target lung --hidden --format bnlearn"),
    ("", "apsl verify asia --hide smok"),
    ("", "apsl compare rows.csv --target smoker --hidden"),
    ("An unknown key in a config file", "apsl learn rows.csv --config run.toml"),
    ("A known graph with a cycle", "apsl learn cycle.dagitty --target a"),
    ("A damaged part file, or another file", "apsl show spoilt.json"),
    ("", "apsl why rows.csv smoker cough"),
    ("A question about one node, or about nodes not visited", "apsl why asia lung lung --target lung"),
    ("", "apsl why alarm PAP FIO2 --target HR"),
    ("An effect of a node on itself, of a constant, or without rows", "apsl effect rows.csv smoker smoker"),
    ("", "apsl effect flat.csv smoker cough"),
    ("", "apsl effect asia smoke lung"),
    ("An adjustment that would remove the effect", "apsl effect asia smoke dysp --data asia.csv --adjust bronc"),
    ("A path that cannot be written", "apsl learn asia --target lung --out nowhere/part.json"),
    ("", "apsl learn asia --target lung --out lung.jpg"),
    ("", "apsl learn asia --target lung --out /dev/null"),
    ("Answers without a file to keep them", "apsl learn rows.csv --target smoker --resume"),
    ("A folder that cannot be served", "apsl serve --folder nowhere"),
    ("A plugin that is not there", "apsl --plugin nobodys_plugin oracles"),
    ("A size that is impossible", "apsl simulate asia --rows 0 --out drawn.csv"),
    ("", "apsl random 10 --mean-parents 9"),
)


def main(words: list[str]) -> int:
    """Make every mistake and write the page."""
    pieces = [
        "# Wrong inputs",
        "<!-- Written by tools/wrong_inputs.py, which makes every mistake; do not edit. -->",
        ABOUT,
    ]
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        for file, text in FILES.items():
            Path(file).write_text(text, "utf-8")
        for title, line in MISTAKES:
            done = run(line)
            sentence = done.err.startswith("apsl: ") and len(done.err.splitlines()) == 1
            if done.code != 1 or done.out or not sentence or {one.name for one in Path().iterdir()} != set(FILES):
                print(f"{line} ended with {done.code}: {done.out}{done.err}")
                return 1
            if title:
                pieces.append(f"## {title}")
            pieces.append(done.block())
    return written(PAGE, "\n\n".join(pieces) + "\n", words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
