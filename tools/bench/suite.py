"""Run every benchmark once and write one table of all results, build/bench.md.

Usage: python tools/bench/suite.py [NAME ...] [--full] [--shared FOLDER] [--out FILE]. Names are those of the scripts,
such as ``engine``; all are run unless some are given. Each is run in its quick form, or with --full in the sizes that
README and docs report. The benchmark sets and networks are in FOLDER/data and FOLDER/networks, ../shared unless given.
The peers are those of .venv-peers, and Spark is that of .venv-spark, which --full makes on first use. What needs
something that is missing is not run, and the table says so; what fails is told, and the others are run all the same.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import attrs

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tools" / "bench"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
#: An environment with DoWhy, which wants other versions of what the peers need.
DOWHY = ROOT / ".venv-dowhy" / "bin" / "python"
SPARK = ROOT / ".venv-spark"
#: What benchmarks make themselves on first use.
MADE = ("peers", "spark")
#: What other scripts import or start, and this one.
HELPERS = (
    "check_peer",
    "direction_peer",
    "effect_peer",
    "effect_tables",
    "folder_peer",
    "graph_sets",
    "mixed_networks",
    "peer",
    "peer_figures",
    "reliability",
    "series_peer",
    "suite",
    "tetrad",
    "yardstick",
)


@attrs.frozen
class Benchmark:
    """A script, what it measures, and its arguments; {sets}, {shared}, {peers}, {dowhy}, {scratch} are paths."""

    name: str
    title: str
    quick: str = "--quick"
    full: str = ""
    needs: tuple[str, ...] = ()


BENCHMARKS = (
    Benchmark("engine", "The rules: fixpoints fed visit by visit"),
    Benchmark("visits", "Nodes visited on a sparse graph of 1,000 nodes"),
    Benchmark("filter_exact", "Parts by the filter FCBF on known networks, perfect tests, against the CPDAG"),
    Benchmark("hidden_exact", "Parts with hidden causes against the PAG, all small graphs"),
    Benchmark("hidden_visits", "Nodes visited with hidden causes, against a global FCI"),
    Benchmark("kernel_gains", "Each kernel against the same work in numpy", quick=""),
    Benchmark("exact", "Figures of a large table against exact arithmetic", "200000"),
    Benchmark("reading", "Reading a table, against pandas alone", "--rows 100000"),
    Benchmark("wide", "Wide tables"),
    Benchmark("million", "A million columns", "--quick --folder {scratch}", "--folder {scratch}"),
    Benchmark(
        "many",
        "Many targets",
        "--quick",
        "{shared}/networks/pigs.bif.gz {shared}/networks/munin.bif.gz --columns 1000,3000,10000 --python {peers}",
    ),
    Benchmark("hubs", "Near-copies, hubs and many levels"),
    Benchmark(
        "neighbours",
        "Neighbours one can rely on: left-out columns, noise, parts, levels",
        full="stable --half odd",
    ),
    Benchmark("missing_edges", "Edges that missing values invent and hide"),
    Benchmark("rows_groups", "Rows in groups, told and noticed"),
    Benchmark("stability", "Resamples"),
    Benchmark("startup", "Start-up"),
    Benchmark(
        "speed",
        "What users wait for, beside peers",
        "--quick --repeats 2 --shared {shared}",
        "--shared {shared}",
        ("peers",),
    ),
    Benchmark("renaming", "Other names of the columns"),
    Benchmark("convergence", "Distance to the truth as rows grow", "--networks child --rows 500,2000 --targets 5"),
    Benchmark("calibration", "What a probability means"),
    Benchmark("number_parts", "Parts of many columns and of many rows of numbers"),
    Benchmark("checking", "Graphs that people bring, against rows"),
    Benchmark("page", "The page in the browser, beside the command"),
    Benchmark("moved", "Why a number moved between two tables"),
    Benchmark("series", "Earlier steps and one step of series, beside PCMCI+"),
    Benchmark("asking", "Answers of people laid over parts"),
    Benchmark(
        "check_peers",
        "Graphs that people bring, beside DoWhy and pgmpy",
        "--quick --python {dowhy}",
        "--python {dowhy}",
        ("dowhy",),
    ),
    Benchmark(
        "directions",
        "Directions that a person knows, on real tables, and those of peers",
        "--quick",
        "--peers {peers}",
    ),
    Benchmark(
        "bigdata",
        "A table larger than memory",
        "--rows 400000 --small 200000 --folder {scratch}",
        "--folder {scratch}",
    ),
    Benchmark(
        "engines",
        "The same part from every engine",
        "--quick --folder {scratch}",
        "--rows 100000 1000000 10000000 --folder {scratch}",
    ),
    Benchmark("cluster", "A cluster of two workers", "--rows 100000"),
    Benchmark("rows", "What a row costs", "--rows 20000,100000 --folder {scratch}", "--folder {scratch}"),
    Benchmark("spark", "Spark through ibis", "--rows 20000 --folder {scratch}", "--folder {scratch}", ("spark",)),
    Benchmark("accuracy", "Accuracy on small samples", "{sets} --quick", "{sets}", ("sets",)),
    Benchmark(
        "smallsamples",
        "Accuracy with permuted columns",
        "--data {sets} --base --versions 4 --learners apsl,apsl-score",
        "--data {sets}",
        ("sets",),
    ),
    Benchmark(
        "conditions",
        "The default learner under extras",
        "--data {sets} --networks child --versions 4",
        "--data {sets} --networks alarm,child,insurance",
        ("sets",),
    ),
    Benchmark("learners", "Every learner", "{sets} --quick", "{sets}", ("sets",)),
    Benchmark("peers", "Whole graphs and parts against peers", "{shared} --quick", "{shared}", ("peers",)),
    Benchmark(
        "wholegraphs",
        "Accuracy of whole graphs against peers",
        "--data {sets} --python {peers} --versions 4 --sampled hailfinder --learners apsl,apsl-score,pyagrum-bdeu",
        "--data {sets} --python {peers} --networks {shared}/networks",
        ("sets", "peers"),
    ),
    Benchmark("mixed", "Tables with numbers against peers", "--quick", "--networks {shared}/networks"),
    Benchmark("hidden_causes", "Tables with hidden causes against peers", "--quick", "--python {peers}"),
    Benchmark("missing_numbers", "What missing values cost"),
    Benchmark(
        "effects",
        "Effects: how often stated intervals hold the truth",
        "all --quick --folder {shared}/benchmarks --python {dowhy}",
        "all --folder {shared}/benchmarks --python {dowhy}",
    ),
    Benchmark("many_rows_effects", "Effects from many rows", "--quick --folder {scratch}", "--folder {scratch}"),
    Benchmark("test_size", "Size and power of the test for numbers"),
)


@attrs.frozen
class Outcome:
    """What became of a benchmark: what it printed, or why it printed nothing."""

    benchmark: Benchmark
    words: str
    seconds: float
    printed: str
    trouble: str = ""


def run(benchmark: Benchmark, places: dict[str, Path], *, full: bool) -> Outcome:
    """Run a benchmark, unless something that it needs is missing; the full form makes the environments itself."""
    words = benchmark.full if full else benchmark.quick
    needs = [need for need in benchmark.needs if need not in MADE or not full]
    missing = [f"no {places[need]}" for need in needs if not places[need].exists()]
    if missing:
        return Outcome(benchmark, words, 0.0, "", f"not run: {', '.join(missing)}")
    command = [sys.executable, str(SCRIPTS / f"{benchmark.name}.py")]
    command += [word.format_map(places) for word in words.split()]
    paths = [str(ROOT), str(ROOT / "backends"), str(ROOT / "specs")]
    begun = perf_counter()
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=places["scratch"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )
    last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    trouble = f"failed: {last}" if done.returncode else ""
    return Outcome(benchmark, words, perf_counter() - begun, done.stdout.strip(), trouble)


def figures(printed: str) -> Iterator[tuple[str, str]]:
    """Return what was measured and how it came out, for each row of a table and each line of the form "what: how"."""
    head: list[str] = []
    for line in printed.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            head = []
            what, colon, how = line.partition(": ")
            if colon and how.strip():
                yield what, how.strip()
        elif not head:
            head = cells
        elif set("".join(cells)) != {"-"}:
            measured = (f"{name} {cell}" for name, cell in zip(head[1:], cells[1:], strict=False))
            yield f"{head[0]} {cells[0]}", "; ".join(measured)


def row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def page(outcomes: list[Outcome]) -> str:
    """Return the table of all results, and below it what each benchmark printed."""
    lines = [
        "# Benchmarks",
        "",
        f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "",
        row("benchmark", "what", "measured"),
        "|---|---|---|",
    ]
    for one in outcomes:
        lines += [row(one.benchmark.name, what, how) for what, how in figures(one.printed)]
        if one.trouble:
            lines.append(row(one.benchmark.name, one.benchmark.title, one.trouble))
    for one in outcomes:
        command = f"python tools/bench/{one.benchmark.name}.py {one.words}".strip()
        lines += ["", f"## {one.benchmark.title}", "", f"`{command}`, {one.seconds:.0f} s", ""]
        lines.append("\n\n".join(filter(None, (one.printed, one.trouble))))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmarks in turn; end with 1 if one of them failed."""
    known = {one.name: one for one in BENCHMARKS}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}")
    parser.add_argument("--full", action="store_true", help="in the sizes that README and docs report, for hours")
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="has the sets and networks")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench.md", help="the page to write")
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(known)):
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    shared, out = given.shared.resolve(), given.out.resolve()
    outcomes = []
    with TemporaryDirectory() as scratch:
        places = {"sets": shared / "data", "shared": shared, "peers": PEERS, "dowhy": DOWHY, "spark": SPARK}
        places["scratch"] = Path(scratch)
        for name in given.names or known:
            outcome = run(known[name], places, full=given.full)
            outcomes.append(outcome)
            print(f"{name}: {outcome.trouble or f'{outcome.seconds:.0f} s'}", flush=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(outcomes), "utf-8")
    print(f"written: {out}")
    sys.exit(any(one.trouble.startswith("failed") for one in outcomes))


if __name__ == "__main__":
    main()
