"""GFCI or BFCI of Tetrad on all tables of a folder, run in the peers' own environment.

Usage: python hidden_peer.py NAME FOLDER

For each table, by name, a line of JSON: the "ends" of all edges, each as two nodes and the mark at the first, and the
CPU "seconds" of learning. The first table is learned once more before. Columns are categories. Tetrad needs Java 17.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

import pandas as pd
from mixed_peer import data_set, tetrad

ALPHA = 0.01
ENDS = {"ARROW": "arrow", "TAIL": "tail", "CIRCLE": "circle"}


def search(package: Any, name: str, frame: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Learn the PAG of a table, with G² and BDeu at Tetrad's defaults."""
    data = data_set(package, frame.astype(str))
    test = package.search.test.IndTestGSquare(data, ALPHA)
    score = package.search.score.BdeuScore(data)
    kinds = {"tetrad-gfci": package.search.GFci, "tetrad-bfci": package.search.BFci}
    graph = kinds[name](test, score).search()
    found = []
    for edge in graph.getEdges():
        one, other = str(edge.getNode1().getName()), str(edge.getNode2().getName())
        found.append((one, other, ENDS[str(edge.getEndpoint1().name())]))
        found.append((other, one, ENDS[str(edge.getEndpoint2().name())]))
    return found


def main() -> None:
    """Learn from each table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=("tetrad-gfci", "tetrad-bfci"))
    parser.add_argument("folder", type=Path)
    words = parser.parse_args()
    package = tetrad()
    frames = [pd.read_csv(path) for path in sorted(words.folder.glob("*.csv"))]
    search(package, words.name, frames[0])
    for frame in frames:
        begun = process_time()
        ends = search(package, words.name, frame)
        print(json.dumps({"ends": ends, "seconds": process_time() - begun}), flush=True)


if __name__ == "__main__":
    main()
