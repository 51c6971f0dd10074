"""Write the report from stored results, without running anything: python tools/reproduce/report.py [FOLDER].

From a folder of results it writes ``report.md``, ``report.html`` and the summary that both are made from. With --keep
its experiments take the place of those of the same name in docs/reproduce, and docs/reproducing.md is written from all
that is there. Without a folder the page is written again from the kept summary, and --check only says whether it is up
to date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click
from costs import cost_blocks
from deeper import deeper_blocks
from document import Block, Code, Heading, Picture, Points, Table, Text, as_html, as_markdown, write_markdown
from orders import RIVALS, leak_blocks, ours_in, permuted_blocks
from stored import PUBLISHED, Stored, gathered, kept, one, rows_in_order, sets_of, short
from table3 import Beside, beside, table3_blocks

from apsl_rules._files import write_text
from apsl_rules.errors import ApslError

ROOT = Path(__file__).parents[2]
TITLE = "The paper, reproduced"
PAGE = ROOT / "docs" / "reproducing.md"
KEPT = ROOT / "docs" / "reproduce"
_COMMANDS = """\
make reproduce-quick         # minutes, from samples that are drawn
make reproduce               # all experiments, hours
make reproduce DATA=folder   # on sets in a folder: child.npz, or Child_graph.txt and Child_s500_v1.txt
python tools/reproduce/run.py table3-short leak growth permuted depths --data folder   # what is shown here
python tools/reproduce/run.py table3-drawn                                             # and this\
"""
_EXAMPLE = """\
name = "mine"
summary = "Two learners on five samples, whatever the order of columns"
seed = 1

[[grids]]
networks = ["alarm"]        # networks of the package, or files in the folder given by --data
sizes = [500]
sets = [1, 2, 3, 4, 5]
learners = ["apsl", "cmb"]
targets = "random"          # or "all", or "table4"
count = 10
depths = [1, 2, "max"]
orders = ["permuted"]       # or "file", or "reversed"
scoring = ["cpdag marks"]   # or "cpdag extension", "dag marks", "dag extension"\
"""


def write_report(folder: Path) -> tuple[Path, ...]:
    """Write summary, Markdown and HTML from the results in a folder; return the paths of the two pages."""
    stored = gathered(folder)
    stored.save(folder)
    blocks = list(report_blocks(stored))
    page = folder / "report.html"
    write_markdown(blocks, folder / "report.md", folder / "pictures")
    write_text(page, as_html(blocks, TITLE))
    return folder / "report.md", page


def report_blocks(stored: Stored) -> Iterator[Block]:
    """Return the whole report."""
    yield Heading(TITLE, 1)
    yield Text(
        "This page has every table and figure of *Any Part of Bayesian Network Structure Learning* (Ling et al.) "
        "again. Published figures stand beside ours where there are any. The page adds what the paper lacks: other "
        "orders of columns, scores against what data can tell, visits and tests. It is written from stored results by "
        "`tools/reproduce/report.py`."
    )
    yield Heading("In short")
    yield from short_blocks(stored)
    yield from table3_blocks(stored)
    yield from leak_blocks(stored)
    yield from permuted_blocks(stored)
    yield from deeper_blocks(stored)
    yield from cost_blocks(stored)
    yield from _circumstances(stored)


def _circumstances(stored: Stored) -> Iterator[Block]:
    yield Heading("How this was made")
    rows = []
    for name, about in stored.about.items():
        mine = stored.summary[stored.summary["experiment"] == name]
        parts = int(mine.drop_duplicates(["network", "size", "order", "learner", "depth"])["runs"].sum())
        rows.append((f"`{name}`", about["summary"], f"{parts:,}", str(about["seed"]), about["samples"], sets_of(about)))
    yield Table(("experiment", "what", "parts", "seed", "samples", "sets"), tuple(rows))
    names = ("python", "apsl_rules", "numpy", "scipy")
    made: dict[str, list[str]] = {}
    for name, about in stored.about.items():
        told = [f"{tool} {about[tool]}" for tool in names if tool in about]
        told += [f"on {about[one]}" for one in ("machine", "date") if one in about]
        made.setdefault(", ".join(told), []).append(f"`{name}`")
    several = len(made) > 1
    yield Points(
        (
            *(f"Made with {tools}{': ' + ', '.join(of) if several else ''}." for tools, of in made.items()),
            "Experiments are TOML files in `specs/apsl_specs/experiments`.",
            "Results are the same, byte for byte, for any number of processes, and also after a kill and a restart.",
            "Random targets, orders and samples follow from the seed of the experiment.",
        )
    )
    yield Code(_COMMANDS, "sh")
    yield Text(
        "An experiment of your own is a TOML file, run by `python tools/reproduce/run.py mine.toml`; `experiment`, "
        "`run` and `read_results` in the modules `design` and `results` beside it do the same in Python. All that a "
        "grid can say is in `tools/reproduce/design.py`:"
    )
    yield Code(_EXAMPLE, "toml")


def short_blocks(stored: Stored) -> Iterator[Block]:
    """Return what the whole report comes to."""
    yield from _default_line(stored)
    pairs = beside(stored)
    if pairs:
        far = [pair for pair in pairs if pair.far]
        better = sum(pair.differences["distance"] < 0 for pair in far)
        yield Text(
            "Scored as the paper scored, distance, precision and recall of the published learners are within .08 of "
            f"Table III: {_near(pairs)}. Of the {len(far)} other rows {better} have a smaller distance than published; "
            "[the likely reasons](#table-iii-parts-of-depth-1) stand below the table. For example:"
        )
        shown = {("Child", 500, "APSL-FS"), ("Alarm", 500, "APSL"), ("Alarm", 1000, "APSL")}
        told = [pair for pair in pairs if (pair.paper.network, pair.paper.size, pair.paper.algorithm) in shown]
        rows = [(pair.name, *pair.cells()[2:5]) for pair in told]
        yield Table(("distance/precision/recall", "paper", "here", "difference"), tuple(rows))
    yield from _leak_line(stored)


def _near(pairs: list[Beside]) -> str:
    """Say for each algorithm how many rows are near those of the paper."""
    told = []
    for name in PUBLISHED:
        mine = [pair for pair in pairs if pair.paper.algorithm == name]
        told.append(f"{name} in {sum(not pair.far for pair in mine)} of {len(mine)} rows")
    return ", ".join(told)


def _leak_line(stored: Stored) -> Iterator[Block]:
    found = stored.of("leak", learner="apsl-fs-paper", network="child", scoring="dag extension")
    figures = [one(found, order=order) for order in ("file", "permuted", "reversed")]
    if all(figures):
        spelt = ", ".join(f"{short(row['distance'])} {row['order']}" for row in figures if row)
        yield Text(
            f"But that scoring depends on the order of columns (APSL-FS on Child, 500 rows, distance: {spelt}). So the "
            "fair comparison is the first one: random order, against what data can tell."
        )


def _default_line(stored: Stored) -> Iterator[Block]:
    found = stored.of("permuted", order="permuted", depth="1", scoring="cpdag marks")
    if found.empty:
        return
    tasks = rows_in_order(found)
    ours = ours_in(found)
    learners = (*ours, *RIVALS)
    best = 0
    for network, size in tasks:
        asked = {name: one(found, network=network, size=size, learner=name) for name in learners}
        errors = {name: round(row["shd"], 2) for name, row in asked.items() if row is not None}
        best += errors.get(ours[0]) == min(errors.values())
    means = {name: found[found["learner"] == name][["shd", "arrow_precision"]].mean() for name in learners}
    told = "; ".join(
        f"{RIVALS.get(name, f'`{name}`')} {row['shd']:.2f} and {short(row['arrow_precision'])}"
        for name, row in means.items()
    )
    least = min(row["shd"] for name, row in means.items() if name in RIVALS)
    times = f"{means[ours[0]]['shd'] / least:.2f} times the wrong edges of the best of the paper's four"
    yield Text(
        f"**Against what data can tell, `{ours[0]}`, our default, has {times}**, and the fewest in {best} of "
        f"{len(tasks)} sets. Wrong edges for each part and arrow precision, means over them in random order: {told}."
    )


def pages(stored: Stored) -> dict[Path, str]:
    """Return the text of every file that is kept in the repository and follows from the kept summary."""
    blocks = list(report_blocks(stored))
    return {
        PAGE: as_markdown(blocks, KEPT.relative_to(PAGE.parent).as_posix()),
        **{KEPT / f"{block.name}.svg": block.svg for block in blocks if isinstance(block, Picture)},
    }


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--keep", is_flag=True, help="Keep the summary of FOLDER in docs, and write the page.")
@click.option("--check", is_flag=True, help="Write nothing; fail if the page is out of date.")
def main(folder: Path | None, *, keep: bool, check: bool) -> None:
    """Write the report from the results in FOLDER, or the pages of the repository from the kept summary."""
    if folder is not None:
        for page in write_report(folder):
            click.echo(f"written: {page}")
        if not keep:
            return
        kept(KEPT).updated(kept(folder)).save(KEPT)
    for path, text in pages(kept(KEPT)).items():
        if check:
            if not path.exists() or path.read_text("utf-8") != text:
                sys.exit(f"{path.relative_to(ROOT)} is out of date; run python tools/reproduce/report.py")
        else:
            write_text(path, text)
            click.echo(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    try:
        main.main(standalone_mode=False)
    except ApslError as error:
        sys.exit(f"report: {error}")
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
