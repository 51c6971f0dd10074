"""The networks that come with the package."""

from __future__ import annotations

import gzip
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from apsl_rules.errors import UnknownNameError
from apsl_rules.graphs.networks.bayesian_network import Network
from apsl_rules.graphs.networks.bif import parse_bif, read_bif
from apsl_rules.names import demand, nearest, spelt
from apsl_rules.notes import named

_ENDINGS = (".bif", ".bif.gz")


def network(name: str | Path) -> Network:
    """Return a network by its name, or read it from a file whose name ends in .bif or .bif.gz.

    >>> network("asia")
    <Network asia: 8 nodes and 8 arrows>
    """
    known = isinstance(name, str | Path)
    demand(
        known,
        f"{named('network')} is {spelt(name)}; give the name of one, or the path of a .bif file",
        argument="network",
    )
    if str(name).endswith(_ENDINGS):
        return read_bif(name)
    shipped = _shipped()
    if name not in shipped:
        hint = nearest(str(name), shipped) or f"; there are {', '.join(shipped)}, or give the path of a .bif file"
        message = f"unknown network {str(name)!r}{hint}"
        raise UnknownNameError(message)
    file = shipped[str(name)]
    content = file.read_bytes()
    return parse_bif((gzip.decompress(content) if file.name.endswith(".gz") else content).decode(), origin=file.name)


def network_names() -> tuple[str, ...]:
    """Return the names of all networks that come with the package, sorted."""
    return tuple(_shipped())


def _shipped() -> dict[str, Traversable]:
    folder = files("apsl_specs") / "networks"
    found = {file.name.partition(".")[0]: file for file in folder.iterdir() if file.name.endswith(_ENDINGS)}
    return dict(sorted(found.items()))
