"""The tiled networks that are known by name: TOML files that say how to make each, and the figures it must reach."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import attrs

from apsl_rules.errors import UnknownNameError
from apsl_rules.graphs.dag import Degrees
from apsl_rules.graphs.networks.bif import parse_bif
from apsl_rules.graphs.networks.tile_arcs import ArcRules
from apsl_rules.graphs.networks.tiling import Tiling, make_tiling
from apsl_rules.names import nearest

_ENDING = ".toml"


@attrs.frozen
class TilingSpec:
    """How to make a tiled network, and the published figures of the network it is made after."""

    base: str
    times: int
    rules: ArcRules
    strength: float
    seed: int
    published: Degrees


def tiling_names() -> tuple[str, ...]:
    """Return the names of all tiled networks that come with the package, sorted."""
    found = (file.name for file in (files("apsl_specs") / "tilings").iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING)))


def tiling_spec(name: str) -> TilingSpec:
    """Read how a tiled network is made."""
    known = tiling_names()
    if name not in known:
        hint = nearest(name, known) or f"; there are {', '.join(known)}"
        message = f"unknown tiled network {name!r}{hint}"
        raise UnknownNameError(message)
    content = tomllib.loads((files("apsl_specs") / "tilings" / f"{name}{_ENDING}").read_text(encoding="utf-8"))
    limits = {key: content[key] for key in ("arcs", "max_parents", "max_children", "max_neighbours")}
    return TilingSpec(
        base=content["base"],
        times=content["times"],
        rules=ArcRules(**limits),
        strength=content["strength"],
        seed=content["seed"],
        published=Degrees(**content["published"]),
    )


def make_tiled(name: str) -> Tiling:
    """Make a tiled network by name.

    >>> make_tiled("child10").network
    <Network child10: 200 nodes and 257 arrows>
    """
    spec = tiling_spec(name)
    base = files("apsl_specs") / "networks" / f"{spec.base}.bif"
    known = parse_bif(base.read_text(encoding="utf-8"), origin=base.name)
    return make_tiling(known, spec.times, spec.rules, strength=spec.strength, seed=spec.seed)
