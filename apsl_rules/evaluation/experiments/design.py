"""Experiments as TOML files, read and checked: networks, samples, targets, depths, learners, orders and scoring."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal, TypeAlias

import attrs

from apsl_rules._documents import DocumentError, file_text, toml_data
from apsl_rules.errors import InvalidArgumentError, SpecError, UnknownNameError
from apsl_rules.evaluation.scoring import Against, Scored
from apsl_rules.names import nearest
from apsl_rules.plugins import build

Order: TypeAlias = Literal["file", "reversed", "permuted"]
Scoring: TypeAlias = Literal["dag marks", "dag extension", "cpdag marks", "cpdag extension"]
Learned: TypeAlias = Literal["each part", "each target", "once"]

#: What each scoring compares, and with what.
SCORINGS: Mapping[Scoring, tuple[Against, Scored]] = {
    "dag marks": ("dag", "marks"),
    "dag extension": ("dag", "extension"),
    "cpdag marks": ("cpdag", "marks"),
    "cpdag extension": ("cpdag", "extension"),
}

_ENDING = ".toml"


@attrs.frozen
class Grid:
    """Every combination of the listed settings.

    ``sets`` are the numbers of the samples of each size. ``targets`` are "all" nodes, the five of the paper's Table IV
    (in samples of our own the five with most neighbours), or ``count`` nodes drawn at "random" once for each network.
    ``orders`` say how columns stand: as in the "file", "reversed", or "permuted" anew for each sample.

    ``learned`` says how often a learner runs on a sample: for "each part", for "each target" to the largest depth with
    the smaller ones cut out, or "once", with all parts cut out of the whole graph; the last two are for learners that
    learn the whole graph anyway.
    """

    networks: tuple[str, ...]
    sizes: tuple[int, ...]
    sets: tuple[int, ...]
    learners: tuple[str, ...]
    targets: Literal["all", "table4", "random"] = "all"
    count: int | None = None
    depths: tuple[int | Literal["max"], ...] = (1,)
    orders: tuple[Order, ...] = ("file",)
    scoring: tuple[Scoring, ...] = ("dag marks", "dag extension", "cpdag marks", "cpdag extension")
    learned: Learned = "each part"


@attrs.frozen
class Experiment:
    """A name, what it shows, the seed of all that is drawn, and the grids of settings."""

    name: str
    summary: str
    grids: tuple[Grid, ...]
    seed: int = 1


def parse_experiment(text: str, origin: str) -> Experiment:
    """Read an experiment from TOML text; ``origin`` names it in errors."""
    try:
        data = toml_data(text)
    except DocumentError as error:
        message = f"{origin} is not valid TOML: {error}"
        raise SpecError(message) from error
    found = build(Experiment, data, origin)
    if found.seed < 0:
        message = f"{origin}, seed is {found.seed}; give 0 or more"
        raise SpecError(message)
    if not found.grids:
        message = f"{origin} has no grids; add a [[grids]] table"
        raise SpecError(message)
    for number, grid in enumerate(found.grids, 1):
        _check(grid, f"{origin}, grids, item {number}")
    return found


def experiment(name: str | Path) -> Experiment:
    """Return an experiment by its name, or read it from a file whose name ends in .toml."""
    if str(name).endswith(_ENDING):
        try:
            text = file_text(name)
        except DocumentError as error:
            message = f"the experiment {str(name)!r} cannot be read: {error}"
            raise InvalidArgumentError(message) from error
        return parse_experiment(text, f"experiment file {str(name)!r}")
    shipped = _shipped()
    if name not in shipped:
        hint = nearest(str(name), shipped) or f"; there are {', '.join(shipped)}, or give the path of a .toml file"
        message = f"unknown experiment {str(name)!r}{hint}"
        raise UnknownNameError(message)
    return parse_experiment(shipped[str(name)].read_text("utf-8"), f"experiment {str(name)!r}")


def experiment_names() -> tuple[str, ...]:
    """Return the names of all experiments that come with the package, sorted."""
    return tuple(_shipped())


def _shipped() -> dict[str, Traversable]:
    folder = files("apsl_specs") / "experiments"
    found = {file.name.removesuffix(_ENDING): file for file in folder.iterdir() if file.name.endswith(_ENDING)}
    return dict(sorted(found.items()))


def _check(grid: Grid, origin: str) -> None:
    """Refuse lists that are empty or repeat themselves, numbers below 1, and settings that exclude each other."""
    for field in attrs.fields(Grid):
        values = getattr(grid, field.name)
        if not isinstance(values, tuple):
            continue
        if not values:
            message = f"{origin}, {field.name} is empty; name at least one"
            raise SpecError(message)
        twice = next((one for at, one in enumerate(values) if one in values[:at]), None)
        if twice is not None:
            message = f"{origin}, {field.name} has {twice!r} twice; name each once"
            raise SpecError(message)
        small = next((one for one in values if isinstance(one, int) and one < 1), None)
        if small is not None:
            message = f"{origin}, {field.name} has {small}; give whole numbers from 1 on"
            raise SpecError(message)
    if (grid.targets == "random") != (grid.count is not None):
        needed = "needs a count" if grid.count is None else f"has a count, {grid.count}, but targets = {grid.targets!r}"
        message = f"{origin} {needed}; give targets = 'random' together with count"
        raise SpecError(message)
    if grid.count is not None and grid.count < 1:
        message = f"{origin}, count is {grid.count}; give 1 or more"
        raise SpecError(message)
