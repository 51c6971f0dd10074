"""The networks that come with the package, by name: those in files, and the tiled ones that are made when asked for."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from apsl_rules._arguments import demand, spelt
from apsl_rules.errors import UnknownNameError
from apsl_rules.graphs.networks.bif import parse_bif, read_bif
from apsl_rules.graphs.networks.network import Network
from apsl_rules.graphs.networks.tilings import make_tiled, tiling_names
from apsl_rules.names import nearest

_ENDING = ".bif"


def network(name: str | Path) -> Network:
    """Return a network by its name, or read it from a file whose name ends in .bif or .bif.gz.

    A tiled network such as child10 is made anew each time, always the same.

    >>> network("asia")
    <Network asia: 8 nodes and 8 arrows>
    """
    known = isinstance(name, str | Path)
    demand(known, f"the network is {spelt(name)}; give the name of one, or the path of a .bif file", argument="network")
    if str(name).endswith((_ENDING, f"{_ENDING}.gz")):
        return read_bif(name)
    shipped = _shipped()
    if name in tiling_names():
        return make_tiled(str(name)).network
    if name not in shipped:
        names = network_names()
        hint = nearest(str(name), names) or f"; there are {', '.join(names)}, or give the path of a .bif file"
        message = f"unknown network {str(name)!r}{hint}"
        raise UnknownNameError(message)
    file = shipped[str(name)]
    return parse_bif(file.read_text(encoding="utf-8"), origin=file.name)


def network_names() -> tuple[str, ...]:
    """Return the names of all networks that come with the package, sorted."""
    return tuple(sorted((*_shipped(), *tiling_names())))


def _shipped() -> dict[str, Traversable]:
    folder = files("apsl_specs") / "networks"
    found = {file.name.removesuffix(_ENDING): file for file in folder.iterdir() if file.name.endswith(_ENDING)}
    return dict(sorted(found.items()))
