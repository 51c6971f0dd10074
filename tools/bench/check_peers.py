"""Graphs that people bring against rows, beside DoWhy's falsify_graph and pgmpy's ImpliedCIs: same graphs, same rows.

Usage: python tools/bench/check_peers.py --python PEERS [--quick]. PEERS is the Python of an environment with DoWhy and
pgmpy. A true graph should meet no objection, a changed one should; for an edge that was removed, whether the pair is
named counts as well. Costs are CPU seconds of the checks alone, in processes of their own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import pandas as pd

from apsl_rules import Dag, check
from checking import changed, named, source_of

_KINDS = ("true", "removed", "turned")


def frame_of(data: Any) -> pd.DataFrame:
    """Return a table as numbers or codes."""
    columns = {
        str(node): data.codes_of(node) if data.is_category(node) and not data.number_names else data.values(node)
        for node in data.names
    }
    return pd.DataFrame(columns)


def cases_of(folder: Path, names: list[str], sizes: list[int], seeds: range) -> list[dict[str, Any]]:
    """Write the tables and graphs, and check each graph."""
    cases = []
    for name in names:
        for rows in sizes:
            for seed in seeds:
                data, dag = source_of(name, rows, seed)
                file = f"{name}-{rows}-{seed}.csv"
                frame_of(data).to_csv(folder / file, index=False)
                for kind in _KINDS:
                    made = (dag, None) if kind == "true" else changed(dag, kind, seed)
                    if made is not None:
                        cases.append(case_of(data, made, (name, rows, kind), file))
    (folder / "cases.json").write_text(json.dumps(cases), "utf-8")
    return cases


def case_of(data: Any, made: tuple[Dag, Any], about: tuple[str, int, str], file: str) -> dict[str, Any]:
    """Check a graph, and return all that the peers need and what came out."""
    graph, arrow = made
    name, rows, kind = about
    check(graph, data, compare=False, shuffles=0)  # kernels are loaded
    fresh, _ = source_of(name, rows, int(file.rsplit("-", 1)[1].removesuffix(".csv")))
    begun = process_time()
    found = check(graph, fresh, compare=False, shuffles=0)
    seconds = process_time() - begun
    return {
        "name": name,
        "rows": rows,
        "kind": kind,
        "table": file,
        "numbers": name == "linear",
        "arrows": sorted([str(one) for one in way] for way in graph.edges),
        "arrow": None if arrow is None else [*map(str, arrow)],
        "objects": found.is_contradicted,
        "names": arrow is not None and named(found, kind, arrow)[1],
        "seconds": seconds,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", type=Path, help="the Python of the peers")
    parser.add_argument("--quick", action="store_true", help="one network, two tables")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--networks", default="asia,child,linear,alarm")
    given = parser.parse_args()
    names, sizes = (["asia"], [1000]) if given.quick else (given.networks.split(","), [500, 2000])
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        cases = cases_of(folder, names, sizes, range(8000, 8000 + (2 if given.quick else given.draws)))
        script = Path(__file__).with_name("check_peer.py")
        done = subprocess.run([str(given.python), str(script), scratch], check=True, capture_output=True, text=True)
    peers = json.loads(done.stdout.splitlines()[-1])
    counts: dict[tuple[str, int, str], Counter[str]] = {}
    for case, peer in zip(cases, peers, strict=True):
        own = counts.setdefault((case["name"], case["rows"], case["kind"]), Counter())
        is_pair = case["arrow"] is not None and set(peer["worst"]) == set(case["arrow"])
        own.update(cases=1, ours=case["objects"], names=case["names"], dowhy=peer["dowhy"], pgmpy=peer["pgmpy"])
        own["worst"] += is_pair and peer["pgmpy"]
        for who, seconds in (
            ("ours s", case["seconds"]),
            *((f"{one} s", peer["seconds"][one]) for one in ("dowhy", "pgmpy")),
        ):
            own[who] += seconds
    print(
        "| graph | cases | objects | named | DoWhy objects | pgmpy objects | worst pair | CPU / DoWhy | CPU / pgmpy |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for (name, rows, kind), own in counts.items():
        cells = [own[one] for one in ("cases", "ours", "names", "dowhy", "pgmpy", "worst")]
        ratios = [f"{own['ours s'] / own[f'{one} s']:.3f}" for one in ("dowhy", "pgmpy")]
        print(f"| {name} {rows:,} {kind} | {' | '.join(map(str, cells))} | {' | '.join(ratios)} |")


if __name__ == "__main__":
    main()
