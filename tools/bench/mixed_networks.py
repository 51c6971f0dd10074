"""Random networks of numbers and categories, for the benchmarks of tables with numbers.

A network is drawn from a family, a number of nodes and a seed; its rows are drawn with a seed of their own, so that
tables of several sizes share one network. Half of the nodes of a mixed network are categories of two to five levels.
Families: "linear" (linear effects on numbers, logistic ones on categories), "curved" (bent and interacting effects),
"skewed" (skewed and heavy-tailed noise, monotone transforms of what is seen), and two that no setting was chosen on:
"nets" (small networks of tanh units) and "uneven" (sines, absolute values and steps, with noise that depends on a
parent). "gaussian" has linear effects and normal noise at any degree; "strong", "exponential", "heavy", "laplace" and
"uniform" have stronger ones, and the noise of their name or a normal one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import Dag
from apsl_rules.names import Node

Floats: TypeAlias = npt.NDArray[np.float64]
Family: TypeAlias = Literal[
    "linear",
    "curved",
    "skewed",
    "nets",
    "uneven",
    "gaussian",
    "strong",
    "exponential",
    "heavy",
    "laplace",
    "uniform",
    "registry",
]
Holes: TypeAlias = Literal["at random", "given a column"]

#: Linear effects of numbers, stronger than those of "gaussian", with noise that need not be normal.
NOISY: tuple[Family, ...] = ("strong", "exponential", "heavy", "laplace", "uniform")
FAMILIES: tuple[Family, ...] = ("linear", "curved", "skewed", "nets", "uneven", "gaussian", *NOISY, "registry")
_UNITS = 8
#: The share of short scales among the numbers of a registry; children are linear in their values.
_SCALES = 2 / 3


@attrs.frozen
class Drawn:
    """A table and the graph that its rows were drawn from."""

    frame: pd.DataFrame
    dag: Dag


def of_seed(seed: int) -> tuple[pd.DataFrame, Dag]:
    """Draw a table of any family and size for a seed, to fit and to check probabilities on."""
    family = FAMILIES[seed % 5]
    rows = (200, 500, 1000, 2000, 5000)[seed // 10 % 5]
    one = drawn(family, nodes=20, rows=rows, seed=10_000 + seed, mixed=seed // 5 % 2 == 0)
    return one.frame, one.dag


def drawn(family: Family, *, nodes: int, rows: int, seed: int, mixed: bool, degree: float = 3.0) -> Drawn:
    """Draw a network by its seed, and rows of it; numbers are floats, categories are strings."""
    random = np.random.default_rng([FAMILIES.index(family), nodes, int(mixed), round(10 * degree), seed])
    order = random.permutation(nodes)
    joined = np.triu(random.random((nodes, nodes)) < degree / (nodes - 1), 1)
    levels = np.zeros(nodes, np.int64)
    if mixed:
        levels[random.permutation(nodes)[: nodes // 2]] = random.integers(2, 6, nodes // 2)
    names: list[Node] = [f"x{number:02d}" for number in range(nodes)]
    seen: dict[Node, Floats] = {}
    inner: dict[Node, Floats] = {}
    parents: dict[Node, list[Node]] = {}
    noise = np.random.default_rng([rows, seed])
    for place, number in enumerate(order.tolist()):
        name = names[number]
        parents[name] = [names[order[at]] for at in np.flatnonzero(joined[:, place])]
        above = [inner[parent] for parent in parents[name]]
        child = _Child(family, int(levels[number]), rows, random.spawn(1)[0], noise)
        inner[name], seen[name] = child.category(above) if levels[number] else child.number(above)
    frame = pd.DataFrame({name: _column(seen[name], int(levels[at])) for at, name in enumerate(names)})
    return Drawn(frame, Dag({name: parents[name] for name in names}))


def _column(values: Floats, levels: int) -> pd.Series[float] | pd.Series[str]:
    return pd.Series([f"level {code}" for code in values.astype(int).tolist()]) if levels else pd.Series(values)


def _scaled(values: Floats) -> Floats:
    spread = values.std(axis=0)
    return np.asarray((values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


@attrs.frozen
class _Child:
    """Draws the values of one node from those of its parents.

    A parent is a row of values if it is a number, and a matrix of indicators if it is a category. ``random`` draws the
    mechanism, ``noise`` the rows.
    """

    family: Family
    levels: int
    rows: int
    random: np.random.Generator
    noise: np.random.Generator

    def number(self, above: list[Floats]) -> tuple[Floats, Floats]:
        """Return the values of a number as its children take them, and as they are seen."""
        signal = self._signal(above, 1)[:, 0]
        spread = np.full(self.rows, self.random.uniform(0.8, 1.2))
        if self.family == "uneven" and above:
            spread *= 0.6 + 0.6 * np.abs(np.tanh(_as_number(above[0], self.random)))
        values = signal + spread * self._noise()
        if self.family == "gaussian" or self.family in NOISY:
            return values, values
        values = _scaled(values)
        if self.family == "registry" and self.random.random() < _SCALES:
            top = int(self.random.integers(3, 10))  # a scale of 4 to 10 values
            codes = np.clip(np.rint(values * top / 4 + top / 2), 0, top)
            return _scaled(codes), codes + 1
        if self.family == "skewed":
            shown: tuple[Callable[[Floats], Floats], ...] = (
                lambda z: z,
                lambda z: np.exp(0.8 * z),
                lambda z: np.sign(z) * np.abs(z) ** 1.7,
            )
            return values, np.asarray(shown[self.random.integers(3)](values))
        return values, np.asarray(values * self.random.uniform(0.5, 20.0) + 5.0 * self.random.normal())

    def category(self, above: list[Floats]) -> tuple[Floats, Floats]:
        """Return the indicators of a category, and its codes: the level with the highest utility."""
        utility = self._signal(above, self.levels) + 0.4 * self.random.normal(size=self.levels)
        codes = (utility + self.noise.gumbel(size=(self.rows, self.levels))).argmax(axis=1)
        return np.eye(self.levels)[codes], codes.astype(np.float64)

    def _noise(self) -> Floats:
        drawn: Mapping[str, Callable[[], Floats]] = {
            "exponential": lambda: self.noise.exponential(size=self.rows) - 1.0,
            "heavy": lambda: np.asarray(self.noise.standard_t(3, self.rows) / np.sqrt(3.0)),
            "laplace": lambda: np.asarray(self.noise.laplace(size=self.rows) / np.sqrt(2.0)),
            "uniform": lambda: self.noise.uniform(-np.sqrt(3.0), np.sqrt(3.0), self.rows),
        }
        if self.family in drawn:
            return drawn[self.family]()
        kind = self.random.integers(3) if self.family == "skewed" else 0
        if kind == 1:
            return np.asarray(self.noise.standard_t(3, self.rows) / np.sqrt(3.0))
        if kind == 2:
            return _scaled(np.exp(0.8 * self.noise.normal(size=self.rows)))
        return self.noise.normal(size=self.rows)

    def _signal(self, above: list[Floats], width: int) -> Floats:
        """Return what the parents contribute to each of some outcomes."""
        if not above:
            return np.zeros((self.rows, width))
        if self.family == "nets":
            return self._by_net(above, width)
        effects = [self._effect(parent, width) for parent in above]
        total = np.sum(effects, axis=0)
        if self.family == "curved" and len(above) > 1 and self.random.random() < 0.6:
            one, other = self.random.permutation(len(above))[:2]
            total += 0.4 * _scaled(effects[one]) * _scaled(effects[other])
        return np.asarray(total)

    def _effect(self, parent: Floats, width: int) -> Floats:
        random = self.random
        if self.family == "gaussian":
            return np.asarray(random.choice([-1.0, 1.0]) * random.uniform(0.25, 1.0) * parent[:, None])
        if self.family in NOISY:
            return np.asarray(random.choice([-1.0, 1.0]) * random.uniform(0.5, 1.5) * parent[:, None])
        if self.family == "uneven":
            bent = np.stack([self._bent(_as_number(parent, random)) for _ in range(width)], axis=1)
            return np.asarray(_scaled(bent) * random.uniform(0.6, 1.2, width) * random.choice([-1.0, 1.0], width))
        if parent.ndim > 1:
            shifts = random.normal(size=(parent.shape[1], width))
            shifts -= shifts.mean(axis=0)
            if width == 1:
                shifts *= random.uniform(0.5, 1.1) / np.sqrt((shifts**2).mean() + 1e-9)
            return np.asarray(parent @ shifts)
        if self.family == "curved":
            square = parent**2 - 1.0
            shapes = (parent, parent + 0.5 * square, 1.2 * np.tanh(1.5 * parent), 0.5 * parent + 0.6 * square)
            parent = shapes[random.integers(4)]
        slopes = random.uniform(0.4, 1.1, width) * random.choice([-1.0, 1.0], width) * (1.3 if width > 1 else 1.0)
        return np.asarray(parent[:, None] * slopes)

    def _bent(self, z: Floats) -> Floats:
        kind, shift = self.random.integers(3), self.random.uniform(-0.5, 0.5)
        if kind == 0:
            return np.sin(2.0 * z + 2.0 * shift)
        return np.abs(z - shift) if kind == 1 else (z > shift).astype(np.float64)

    def _by_net(self, above: list[Floats], width: int) -> Floats:
        inputs = np.stack([_as_number(parent, self.random) for parent in above], axis=1)
        weights = 1.2 * self.random.normal(size=(len(above), _UNITS))
        hidden = np.tanh(inputs @ weights + self.random.normal(size=_UNITS))
        return 1.5 * _scaled(hidden @ self.random.normal(size=(_UNITS, width)))


def _as_number(parent: Floats, random: np.random.Generator) -> Floats:
    """Return a parent as one scaled number: a category by a random value for each level."""
    return _scaled(parent @ random.normal(size=parent.shape[1]) if parent.ndim > 1 else parent)


def published(path: Path, rows: int, seed: int) -> Drawn:
    """Draw rows from a published Gaussian network, its columns in a random order."""
    network = json.loads(path.read_text("utf-8"))
    laws: Mapping[str, Mapping[str, Mapping[str, list[float]]]] = network["cpds"]
    parents: dict[Node, list[Node]] = {name: [] for name in network["nodes"]}
    for tail, head in network["arcs"]:
        parents[head].append(tail)
    dag = Dag(parents)
    random = np.random.default_rng([rows, seed])
    columns: dict[Node, Floats] = {}
    for node in dag.topological_order:
        law = laws[str(node)]
        (variance,) = law["variance"]
        values = random.normal(scale=np.sqrt(variance), size=rows)
        for name, (weight,) in law["coefficients"].items():
            values += weight * columns.get(name, np.ones(rows))
        columns[node] = values
    names = [network["nodes"][at] for at in random.permutation(len(columns))]
    return Drawn(pd.DataFrame({name: columns[name] for name in names}), dag)


def with_holes(frame: pd.DataFrame, share: float, holes: Holes, seed: int) -> pd.DataFrame:
    """Return a table in which a share of the values is missing.

    "at random": every value with the same chance. "given a column": the first column is complete, and values of the
    others are missing three times as often where it is above its median, or not its most frequent level.
    """
    random = np.random.default_rng([7, round(1000 * share), seed])
    chance = np.full(frame.shape, share)
    if holes == "given a column":
        first = frame.iloc[:, 0]
        above = first.gt(first.median()) if pd.api.types.is_numeric_dtype(first) else first.ne(first.mode()[0])
        weight = np.where(above.to_numpy(), 3.0, 1.0)
        chance = np.outer(share * weight / weight.mean(), np.r_[0.0, np.ones(frame.shape[1] - 1)])
    return frame.mask(random.random(frame.shape) < chance)
