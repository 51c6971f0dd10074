"""Marks learned from tables with hidden causes, against the true PAG and against other packages.

Tables are drawn from alarm, child, insurance and random networks, 12 to 20 % of whose nodes are then hidden, or none. A
mark is right if the PAG has it there: marks on edges that do not exist, or where the PAG has a circle, are wrong. For
each method: F1 of the skeleton, precision and recall of arrowheads and of tails, true and false hidden common causes
(true: the nodes share one in the MAG), and CPU seconds. causal-learn's FCI is run with G² at alpha 0.01, and Tetrad's
GFCI and BFCI with --python, an environment that has what tools/bench/peers.txt names (and Java 17 or newer).
Most settings were chosen on --sets 1; the others have other hidden nodes, random networks and rows. What supports a
hidden common cause was chosen with a look at --sets 2 as well.
Usage: python tools/bench/hidden_causes.py [--quick] [--rows 1000,5000,20000] [--sets 2] [--python PATH] [--no-fci]
"""

from __future__ import annotations

import argparse
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from time import process_time
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import learn_graph, network
from apsl_rules.graphs import Dag, DagWithHidden, EndMark, Mag, Pag, mag, pag
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.sampling import sample
from apsl_rules.names import Node
from apsl_rules.rules.vocabulary import adjacent

Ends: TypeAlias = dict[tuple[Node, Node], str]

SHIPPED = ("alarm", "child", "insurance")
DRAWS, SHARE = 40, 0.12
RANDOM = 6
PEERS = ("tetrad-gfci", "tetrad-bfci")


@attrs.frozen
class Case:
    """A table, and what is true of its columns."""

    name: str
    frame: pd.DataFrame
    mag: Mag
    pag: Pag
    hidden: int


def random_network(seed: int) -> Network:
    """Draw a network of 18 to 25 nodes with 2 to 4 levels each."""
    random = np.random.default_rng(seed)
    size = int(random.integers(18, 26))
    order = [f"v{place:02d}" for place in random.permutation(size)]
    parents: dict[Node, list[str]] = {}
    for late, node in enumerate(order):
        chosen = [early for early in order[:late] if random.random() < 3 / (size - 1)]
        parents[node] = chosen[:4]
    levels: dict[Node, tuple[str, ...]] = {
        node: tuple(map(str, range(random.integers(2, 5)))) for node in sorted(order)
    }
    tables: dict[Node, npt.NDArray[np.float64]] = {}
    for node in sorted(order):
        shape = [len(levels[one]) for one in parents[node]]
        tables[node] = random.dirichlet(np.full(len(levels[node]), 0.7), size=shape or None)
    return Network(f"random {seed}", Dag({node: parents[node] for node in sorted(order)}), levels, tables)


def hidings(source: Network, sets: int) -> Iterator[tuple[Node, ...]]:
    """Choose nodes to hide among those with two children: a middling draw, and that which shows the most causes."""
    dag = source.dag
    able = [node for node in dag.nodes if len(dag.children_of(node)) > 1]
    count = min(len(able), max(1, round(SHARE * len(dag.nodes))))
    drawn = []
    for seed in range(DRAWS):
        chosen = tuple(able[at] for at in np.random.default_rng([seed, 76 + sets]).permutation(len(able))[:count])
        drawn.append((len(pag(DagWithHidden(dag, chosen)).bidirected), seed, chosen))
    drawn.sort()
    yield drawn[DRAWS * 7 // 10][2]
    yield drawn[-1][2]


def cases(rows: int, *, sets: int, hidden: bool, few: bool) -> Iterator[Case]:
    """Draw the tables of one size."""
    named = [(name, network(name)) for name in (SHIPPED[1:2] if few else SHIPPED)]
    for name, source in named:
        for place, chosen in enumerate(hidings(source, sets) if hidden else [()]):
            yield case(f"{name} {place}", source, chosen, rows, seed=9000 * sets + 10 * place)
    for seed in range(1 if few else RANDOM):
        source = random_network(600 + 100 * sets + seed)
        able = [node for node in source.dag.nodes if len(source.dag.children_of(node)) > 1]
        count = max(1, round((0.12, 0.2)[seed % 2] * len(source.dag.nodes))) if hidden else 0
        chosen = tuple(able[at] for at in np.random.default_rng(seed).permutation(len(able))[:count])
        yield case(source.name, source, chosen, rows, seed=1000 * (sets - 1) + seed)


def case(name: str, source: Network, hidden: tuple[Node, ...], rows: int, *, seed: int) -> Case:
    """Draw a table without the hidden columns and without constant ones."""
    drawn = sample(source, rows, seed=seed + rows)
    frame = pd.DataFrame({node: drawn.codes[at] for at, node in enumerate(drawn.names)})
    constant = [node for node in frame if frame[node].min() == frame[node].max()]
    unseen = (*hidden, *(node for node in constant if node not in hidden))
    graph = DagWithHidden(source.dag, unseen)
    true = mag(graph)
    return Case(name, frame.drop(columns=list(unseen)), true, pag(true), len(hidden))


def ours(frame: pd.DataFrame) -> Ends:
    """Learn the whole graph with hidden causes allowed."""
    found = learn_graph(frame, hidden="allowed", kinds=dict.fromkeys(frame.columns, "category"))
    return {
        (x, y): str(part.store.end(x, y))
        for part in found.parts
        for fact in part.store.facts(adjacent)
        for x, y in (fact.nodes, fact.nodes[::-1])
    }


def without_hidden(frame: pd.DataFrame) -> Ends:
    """Learn the whole graph by the default, which assumes that nothing is hidden; a line has two circles."""
    found = learn_graph(frame, kinds=dict.fromkeys(frame.columns, "category"), hidden="excluded")
    ends: Ends = {}
    for x, y in found.arrows:
        ends[x, y], ends[y, x] = "tail", "arrow"
    for x, y in found.lines:
        ends[x, y] = ends[y, x] = "circle"
    return ends


def fci(frame: pd.DataFrame) -> Ends:
    """Run FCI of causal-learn."""
    from causallearn.search.ConstraintBased.FCI import fci as search

    names = list(map(str, frame.columns))
    with redirect_stdout(io.StringIO()):  # it prints what its rules do
        found, _ = search(frame.to_numpy(), "gsq", 0.01, node_names=names, show_progress=False, verbose=False)
    ends: Ends = {}
    for edge in found.get_graph_edges():
        x, y = edge.get_node1().get_name(), edge.get_node2().get_name()
        ends[x, y], ends[y, x] = edge.get_endpoint1().name.lower(), edge.get_endpoint2().name.lower()
    return ends


def by_peer(python: str, name: str, tables: list[Case]) -> Iterator[tuple[Ends, float]]:
    """Run a peer on all tables in its own environment."""
    script = Path(__file__).with_name("folder_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        for number, one in enumerate(tables):
            one.frame.to_csv(Path(folder) / f"{number:03d}.csv", index=False)
        done = subprocess.run([python, str(script), name, folder], capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        print(f"{name} was not run: {last}", file=sys.stderr)
        return
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            data = json.loads(line)
            yield {(x, y): end for x, y, end in data["ends"]}, data["seconds"]


def tally(found: Ends, true: Case) -> dict[str, int]:
    """Count marks that are right, drawn and wanted."""
    ends, whole = true.pag.ends, true.mag
    pairs, edges = {frozenset(pair) for pair in found}, true.pag.skeleton
    counts = {"edges right": len(pairs & edges), "edges drawn": len(pairs), "edges wanted": len(edges)}
    kinds: tuple[EndMark, ...] = ("arrow", "tail")
    for kind in kinds:
        drawn = [pair for pair, end in found.items() if end == kind]
        counts |= {
            f"{kind} right": sum(ends.get(pair) == kind for pair in drawn),
            f"{kind} drawn": len(drawn),
            f"{kind} wanted": sum(end == kind for end in ends.values()),
        }
    both = {frozenset(pair) for pair, end in found.items() if end == "arrow" == found[pair[1], pair[0]]}
    return counts | {"hidden true": len(both & whole.bidirected), "hidden false": len(both - whole.bidirected)}


def row(rows: int, method: str, tables: list[Case], results: Iterable[tuple[Ends, float]]) -> str:
    """Return the row of a method."""
    found = list(results)
    counts = [tally(ends, one) for (ends, _), one in zip(found, tables, strict=True)]
    total = {name: sum(one[name] for one in counts) for name in counts[0]}

    def share(part: str, whole: str) -> str:
        return f"{total[part] / total[whole]:.2f}".removeprefix("0") if total[whole] else "–"

    f1 = 2 * total["edges right"] / (total["edges drawn"] + total["edges wanted"])
    figures = [
        f"{f1:.2f}".removeprefix("0"),
        *(
            f"{share(f'{kind} right', f'{kind} drawn')} / {share(f'{kind} right', f'{kind} wanted')}"
            for kind in ("arrow", "tail")
        ),
        f"{total['hidden true']} / {total['hidden false']}",
        f"{sum(seconds for _, seconds in found) / len(found):.2f}",
    ]
    return f"| {rows:,} | {method} | {len(tables)} | {' | '.join(figures)} |"


def timed(learner: Callable[[pd.DataFrame], Ends], tables: list[Case]) -> Iterator[tuple[Ends, float]]:
    """Run a learner on all tables."""
    for one in tables:
        begun = process_time()
        found = learner(one.frame)
        yield found, process_time() - begun


def main() -> None:
    """Print a table for hidden nodes and one for none."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="child and one random network, 1,000 rows")
    parser.add_argument("--rows", default="1000,5000,20000", help="numbers of rows")
    parser.add_argument("--sets", type=int, default=2, help="which sets to draw, from 1 on")
    parser.add_argument("--python", help="of an environment with the peers")
    parser.add_argument("--no-fci", action="store_true", help="without causal-learn's FCI, which is slow")
    words = parser.parse_args()
    methods: dict[str, Callable[[pd.DataFrame], Ends]] = {"apsl-hidden": ours, "default, none hidden": without_hidden}
    if not words.no_fci:
        methods["causal-learn FCI"] = fci
    for hidden in (True, False):
        print(f"\n{'Some' if hidden else 'No'} nodes hidden\n")
        print("| rows | method | sets | skeleton F1 | heads P / R | tails P / R | hidden causes true / false | CPU s |")
        print("|---|---|---|---|---|---|---|---|")
        for rows in [1000] if words.quick else map(int, words.rows.split(",")):
            tables = list(cases(rows, sets=words.sets, hidden=hidden, few=words.quick))
            for name, learner in methods.items():
                print(row(rows, name, tables, timed(learner, tables)), flush=True)
            for name in PEERS if words.python else ():
                found = list(by_peer(words.python, name, tables))
                if found:
                    print(row(rows, name, tables, found), flush=True)


if __name__ == "__main__":
    main()
