"""The supplement of a publication: for each network a text file of its graph, and some of samples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.readers import AnyPath, existing_file, is_folder, read_integers
from apsl_rules.errors import DataError
from apsl_rules.names import count_of, listing

_FILE = re.compile(r"(?P<network>.+)_(?P<part>graph|s\d+_v\d+)\.txt")


@attrs.frozen(eq=False)
class Supplement:
    """The files of one network: its graph, where there is one, and the path of each sample.

    ``graph[i, j]`` is 1 where there is an arrow from node i to node j. ``samples`` has keys such as ``s500_v1``; a
    path in it can be given wherever a table can.
    """

    network: str
    graph: npt.NDArray[np.uint8] | None
    samples: Mapping[str, Path]


def read_supplement(place: AnyPath, *, network: str | None = None) -> Supplement:
    """Gather the files of one network: those beside a given file, or in a folder those of the only or named network."""
    path = Path(place)
    if is_folder(path):
        folder = path
    else:
        folder = existing_file(path).parent
        named = _FILE.fullmatch(path.name)
        if named is None:
            message = (
                f"{path.name!r} is no file of a supplement; its name must be like Child_graph.txt or Child_s500_v1.txt"
            )
            raise DataError(message)
        network = named["network"]
    found = [(match, file) for file in sorted(folder.iterdir()) if (match := _FILE.fullmatch(file.name))]
    networks = sorted({match["network"] for match, _ in found})
    if network is None and len(networks) == 1:
        network = networks[0]
    if network not in networks:
        held = "several networks" if networks else "no network"
        if network is not None:
            held = f"no network {network!r}"
        message = f"the folder {str(folder)!r} holds {held}; it has the files of {listing(networks)}, so give network="
        raise DataError(message)
    files = {match["part"]: file for match, file in found if match["network"] == network}
    graph = files.pop("graph", None)
    return Supplement(str(network), None if graph is None else read_graph(graph), files)


def read_graph(path: AnyPath) -> npt.NDArray[np.uint8]:
    """Read a square matrix of 0 and 1 whose entry [i, j] says whether there is an arrow from i to j."""
    matrix = read_integers(path)
    rows, columns = matrix.shape
    if rows != columns:
        size = f"{count_of(rows, 'row')} and {count_of(columns, 'column')}"
        message = f"the graph in {str(path)!r} has {size}; it must be square"
        raise DataError(message)
    if ((matrix != 0) & (matrix != 1)).any():
        message = f"the graph in {str(path)!r} has entries other than 0 and 1; 1 at [i, j] means an arrow from i to j"
        raise DataError(message)
    return matrix.astype(np.uint8)
