"""Graphs that people bring against rows, beside DoWhy's falsify_graph and pgmpy's ImpliedCIs: same graphs, same rows.

Usage: python tools/bench/check_peers.py --python PEERS [--quick] [--networks A,B] [--dowhy A,B] [--limit SECONDS].
PEERS is the Python of an environment with DoWhy and pgmpy. A true graph should meet no objection, a changed one should;
for an edge that was removed, whether the pair is named counts as well. Costs are CPU seconds of the checks alone, on
frames of pandas, in processes of their own; peers are asked twice for the first graph, so that loading modules does not
count. A peer that takes more than the limit for a graph is not counted there; after two such it is not asked again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import pandas as pd

from apsl_rules import Dag, check
from checking import NETWORKS, changed, named, source_of

_KINDS = ("true", "removed", "turned")
_COSTS = ("seconds", "shuffled")
HEAD = (
    "| graph | cases | objects | named | DoWhy objects | pgmpy objects | worst pair | CPU / DoWhy | with shuffles "
    f"| CPU / pgmpy | with shuffles |\n{11 * '|---'}|"
)


def frame_of(data: Any) -> tuple[pd.DataFrame, list[str]]:
    """Return a table as numbers and codes, and the columns of codes."""
    levels = [str(node) for node in data.names if data.is_category(node)]
    codes = data.categories if data.number_names else data
    columns = {str(node): codes.codes_of(node) if data.is_category(node) else data.values(node) for node in data.names}
    return pd.DataFrame(columns), levels


def cases_of(folder: Path, name: str, rows: int, seeds: range) -> list[dict[str, Any]]:
    """Write the tables and graphs, and check each graph."""
    cases = []
    for seed in seeds:
        data, dag = source_of(name, rows, seed)
        frame, levels = frame_of(data)
        frame.to_csv(folder / f"{seed}.csv", index=False)
        frame = frame.astype(dict.fromkeys(levels, "category"))
        about = {"table": f"{seed}.csv", "levels": levels}
        about["columns"] = "categories" if len(levels) == frame.shape[1] else "mixed" if levels else "numbers"
        for kind in _KINDS:
            made = (dag, None) if kind == "true" else changed(dag, kind, seed)
            if made is not None:
                cases.append({**about, "kind": kind, **checked(frame, made, kind)})
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")
    return cases


def checked(frame: pd.DataFrame, made: tuple[Dag, Any], kind: str) -> dict[str, Any]:
    """Check a graph, and return its arrows, what came out and what it cost without and with shuffled names."""
    graph, arrow = made
    check(graph, frame, compare=False)  # kernels are loaded
    begun = process_time()
    found = check(graph, frame, compare=False, shuffles=0)
    middle = process_time()
    check(graph, frame, compare=False)
    return {
        "arrows": sorted([str(one) for one in way] for way in graph.edges),
        "arrow": None if arrow is None else [*map(str, arrow)],
        "objects": found.is_contradicted,
        "names": arrow is not None and named(found, kind, arrow)[1],
        "seconds": middle - begun,
        "shuffled": process_time() - middle,
    }


def rows_of(title: str, cases: list[dict[str, Any]], peers: list[dict[str, Any]]) -> Iterator[str]:
    """Give the rows of one network."""
    for kind in _KINDS:
        both = [(ours, theirs) for ours, theirs in zip(cases, peers, strict=True) if ours["kind"] == kind]
        cells = [len(both), *(sum(ours[one] for ours, _ in both) for one in ("objects", "names"))]
        objects, ratios = [], []
        for peer in ("dowhy", "pgmpy"):
            ended = [(ours, theirs[peer]) for ours, theirs in both if theirs.get(peer)]
            objects.append(f"{sum(one['objects'] for _, one in ended)} of {len(ended)}" if ended else "-")
            spent = sum(one["seconds"] for _, one in ended)
            ratios += [f"{sum(ours[one] for ours, _ in ended) / spent:.4f}" if ended else "-" for one in _COSTS]
        worst = sum(
            bool(told["objects"]) and set(told["pair"]) == set(ours["arrow"] or ())
            for ours, theirs in both
            if (told := theirs["pgmpy"])
        )
        yield f"| {title} {kind} | {' | '.join(map(str, [*cells, *objects, worst, *ratios]))} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", type=Path, help="the Python of the peers")
    parser.add_argument("--quick", action="store_true", help="one network, two tables")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--first-seed", type=int, default=8000)
    parser.add_argument("--limit", type=float, default=20, help="the most CPU seconds of a peer for one graph")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--dowhy", default="asia,sachs,child,linear", help="the networks that DoWhy is asked about")
    given = parser.parse_args()
    names, draws, rows = given.networks.split(","), given.draws, given.rows
    if given.quick:
        names, draws, rows = ["asia"], 2, 1000
    print(HEAD)
    script = str(Path(__file__).with_name("check_peer.py"))
    for name in names:
        with TemporaryDirectory() as scratch:
            cases = cases_of(Path(scratch), name, rows, range(given.first_seed, given.first_seed + draws))
            wanted = ["dowhy", "pgmpy"] if name in given.dowhy.split(",") else ["pgmpy"]
            command = [str(given.python), script, scratch, str(given.limit), *wanted]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        peers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        for line in rows_of(f"{name} {rows:,}", cases, peers):
            print(line, flush=True)


if __name__ == "__main__":
    main()
