"""Networks as text in the Bayesian Interchange Format (BIF): a strict reader and a writer that it reads back.

A file has a ``network`` block, a ``variable`` block for each node and a ``probability`` block for each node::

    variable tub { type discrete [ 2 ] { yes, no }; }
    probability ( tub | asia ) { (yes) 0.05, 0.95; default 0.01, 0.99; }

A ``table`` entry lists the probabilities of the first level of the node for all levels of its parents (the last
parent changing fastest), then those of its second level, and so on.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import numpy as np

from apsl_rules._atomic import atomic_file, encode_text
from apsl_rules.errors import InvalidArgumentError, NetworkFileError
from apsl_rules.graphs.networks._bif_reader import BifReader
from apsl_rules.graphs.networks._bif_scanner import quote_name
from apsl_rules.graphs.networks.network import Network
from apsl_rules.names import Node


def read_bif(path: str | Path) -> Network:
    """Read a network from a ``.bif`` file, or from a compressed ``.bif.gz`` file."""
    try:
        content = Path(path).read_bytes()
        text = (gzip.decompress(content) if str(path).endswith(".gz") else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start + 1} is not UTF-8 text; save the file as UTF-8"
        raise NetworkFileError(message) from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        message = f"{path}: the file cannot be read: {reason}"
        raise NetworkFileError(message) from error
    return parse_bif(text.replace("\r\n", "\n"), origin=str(path))


def parse_bif(text: str, *, origin: str = "<text>") -> Network:
    """Read a network from text; ``origin`` names the text in messages."""
    return BifReader(text, origin).network()


def write_bif(network: Network) -> str:
    """Write a network as text, such that reading it gives the same network."""
    for node in network.dag.nodes:
        if not isinstance(node, str):
            message = f"the node {node!r} is not text; BIF files can only name nodes by text"
            raise InvalidArgumentError(message)
    lines = [f"// {line}" if line else "//" for line in network.source.split("\n")] if network.source else []
    lines += [f"network {quote_name(network.name)} {{", "}"]
    for node in network.dag.nodes:
        levels = ", ".join(quote_name(level) for level in network.levels[node])
        lines += [
            f"variable {quote_name(str(node))} {{",
            f"  type discrete [ {len(network.levels[node])} ] {{ {levels} }};",
            "}",
        ]
    for node in network.dag.nodes:
        lines += _probability_lines(network, node)
    return "\n".join(lines) + "\n"


def save_bif(network: Network, path: str | Path) -> None:
    """Write a network into a ``.bif`` file, or into a compressed ``.bif.gz`` file, whole or not at all."""
    if not str(path).endswith((".bif", ".bif.gz")):
        message = f"cannot write a network to {str(path)!r}; end its name in .bif or .bif.gz"
        raise InvalidArgumentError(message)
    content = encode_text(write_bif(network), path)
    with atomic_file(path) as draft:
        draft.write_bytes(gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)


def _probability_lines(network: Network, node: Node) -> list[str]:
    parents = network.dag.parents_of(node)
    table = network.tables[node]
    given = " | " + ", ".join(quote_name(str(parent)) for parent in parents) if parents else ""
    lines = [f"probability ( {quote_name(str(node))}{given} ) {{"]
    for places in np.ndindex(table.shape[:-1]):
        row = ", ".join(repr(value) for value in table[places].tolist())
        levels = ", ".join(
            quote_name(network.levels[parent][place]) for parent, place in zip(parents, places, strict=True)
        )
        lines.append(f"  ({levels}) {row};" if parents else f"  table {row};")
    return [*lines, "}"]
