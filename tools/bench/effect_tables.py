"""Tables whose true effect is known: random networks, confounded tables, and those that make errors wrong."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pandas as pd

from apsl_rules import Knowledge

Random = np.random.Generator
Floats = npt.NDArray[np.float64]
KINDS = ("numbers", "mixed", "categories")
#: How strong arrows are, by kind of table.
_STRENGTH = {"numbers": (0.2, 1.0), "mixed": (0.3, 1.2), "categories": (0.5, 1.8)}
#: The rows from which the true effect between categories is worked out.
_MANY = 200_000


@attrs.frozen
class Asked:
    """A table, the effect that is asked for, its true value, and the true order of the columns."""

    frame: pd.DataFrame
    cause: str
    target: str
    truth: float
    order: tuple[str, ...]

    @property
    def scale(self) -> float:
        """Return what lengths of intervals are divided by: so much of the target for so much of the cause."""
        spread = [
            float(one.std()) if one.dtype.kind == "f" else 1.0
            for one in (self.frame[self.target], self.frame[self.cause])
        ]
        return spread[0] / spread[1]

    @property
    def is_backwards(self) -> bool:
        """Return whether the target comes first."""
        return self.order.index(self.target) < self.order.index(self.cause)

    @property
    def given(self) -> Knowledge:
        """Return what people know of an order: what comes before the cause, and what after it."""
        at = self.order.index(self.cause)
        tiers = (self.order[:at], (self.cause,), self.order[at + 1 :])
        return Knowledge(tiers=[tier for tier in tiers if tier])


def words(flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.str_]:
    """Return truth values as levels of a category."""
    return np.where(flags, "yes", "no")


def confounded(kind: str, rows: int, random: Random, strength: float = 1.0) -> Asked:
    """Draw a table in which a and b cause x and t, x causes t, and t causes m; without strength they do not cause t."""
    a: Any = random.normal(size=rows)
    b: Any = random.normal(size=rows)
    x: Any
    t: Any
    if kind == "categories":
        a, b = random.random(rows) < 0.4, random.integers(0, 3, rows)
        x = random.random(rows) < 0.2 + 0.25 * a + 0.15 * b
        t = random.random(rows) < 0.1 + 0.25 * x + strength * (0.2 * a + 0.1 * b)
        m = random.random(rows) < 0.2 + 0.5 * t
        frame = pd.DataFrame({"a": words(a), "b": b.astype(str), "x": words(x), "t": words(t), "m": words(m)})
        return Asked(frame, "x", "t", 0.25, ("a", "b", "x", "t", "m"))
    if kind == "numbers":
        x = 0.6 * a - 0.5 * b + random.normal(size=rows)
        t = 0.5 * x + strength * (0.7 * a + 0.4 * b) + random.normal(size=rows)
        frame = pd.DataFrame({"a": a, "b": b, "x": x, "t": t, "m": 0.8 * t + random.normal(size=rows)})
        return Asked(frame, "x", "t", 0.5, ("a", "b", "x", "t", "m"))
    high = b > 0
    cause = random.random(rows) < 1 / (1 + np.exp(-(0.8 * a + 1.0 * high - 0.5)))
    t = 1.0 * cause + strength * (0.6 * a + 0.5 * high) + random.normal(size=rows)
    frame = pd.DataFrame({"a": a, "b": words(high), "x": words(cause), "t": t, "m": 0.7 * t + random.normal(size=rows)})
    return Asked(frame, "x", "t", 1.0, ("a", "b", "x", "t", "m"))


@attrs.frozen(eq=False)
class _Network:
    """A random network: linear numbers, logistic categories; the diagonal of the coefficients has intercepts."""

    order: list[int]
    parents: list[list[int]]
    coefficients: Floats
    is_category: npt.NDArray[np.bool_]

    def draw(self, rows: int, random: Random, held: tuple[int, float] | None = None) -> Floats:
        """Draw rows, one column held at a value if that is asked for."""
        found = np.zeros((rows, len(self.order)))
        for node in self.order:
            parents, weights = self.parents[node], self.coefficients[:, node]
            mean = found[:, parents] @ weights[parents]
            if held is not None and held[0] == node:
                found[:, node] = held[1]
            elif self.is_category[node]:
                centre = float(weights[parents] @ (0.5 * self.is_category[parents]))
                found[:, node] = random.random(rows) < 1 / (1 + np.exp(-(mean - centre + weights[node])))
            else:
                found[:, node] = mean + random.normal(size=rows)
        return found

    def related(self, below: list[set[int]]) -> list[tuple[int, int]]:
        """Return the ordered pairs of which one follows from the other, or both from a third."""
        nodes = range(len(self.order))
        found = []
        for x in nodes:
            others = [t for t in nodes if t != x]
            found += [(x, t) for t in others if t in below[x] or x in below[t] or any({x, t} <= one for one in below)]
        return found

    def descendants(self) -> list[set[int]]:
        """Return what follows from each node."""
        found: list[set[int]] = [set() for _ in self.order]
        for node in reversed(self.order):
            for parent in self.parents[node]:
                found[parent] |= {node} | found[node]
        return found


def _drawn(kind: str, random: Random) -> _Network:
    """Draw a network of 8 to 15 columns."""
    count = int(random.integers(8, 16))
    order = random.permutation(count).tolist()
    share = min(1.0, random.uniform(1.5, 3.5) / (count - 1))
    parents: list[list[int]] = [[] for _ in order]
    for at, node in enumerate(order):
        parents[node] = [other for other in order[:at] if random.random() < share]
    flags = {"numbers": np.zeros(count, bool), "categories": np.ones(count, bool)}
    is_category = flags.get(kind, random.random(count) < 0.5)
    coefficients = random.uniform(*_STRENGTH[kind], (count, count)) * random.choice([-1, 1], (count, count))
    coefficients[np.diag_indices(count)] = random.uniform(-0.7, 0.7, count)
    return _Network(order, parents, coefficients, is_category)


def network(kind: str, rows: int, random: Random) -> Asked:
    """Draw a network of 8 to 15 columns, a pair that is related, seven times in ten by an effect, and its rows."""
    pairs: list[tuple[int, int]] = []
    while not pairs:
        drawn = _drawn(kind, random)
        below, wants_effect = drawn.descendants(), random.random() < 0.7
        pairs = [pair for pair in drawn.related(below) if (pair[1] in below[pair[0]]) == wants_effect]
        if kind == "mixed":
            pairs = [(x, t) for x, t in pairs if drawn.is_category[x] and not drawn.is_category[t]]
    x, t = pairs[random.integers(len(pairs))]
    count, order, parents = len(drawn.order), drawn.order, drawn.parents
    coefficients, is_category = drawn.coefficients, drawn.is_category
    names = [f"v{node:02d}" for node in range(count)]
    truth = 0.0
    if kind == "numbers":
        arrows = np.zeros((count, count))
        for node in range(count):
            arrows[node, parents[node]] = coefficients[parents[node], node]
        truth = float(np.linalg.inv(np.eye(count) - arrows)[t, x])
    elif t in below[x]:
        ends = [drawn.draw(_MANY, np.random.default_rng(5), (x, level))[:, t].mean() for level in (0.0, 1.0)]
        truth = float(ends[1] - ends[0])
    values = drawn.draw(rows, random)
    columns = {
        name: words(one > 0.5) if flag else one for name, one, flag in zip(names, values.T, is_category, strict=True)
    }
    return Asked(pd.DataFrame(columns), names[x], names[t], truth, tuple(names[node] for node in order))


#: Tables that make errors wrong: what they are called, and their rows (of groups: how many, and how large).
ERRORS = (
    ("equal spread", 300),
    ("equal spread", 40),
    ("unequal spread", 300),
    ("unequal spread", 40),
    ("rare cause", 300),
    ("8 groups", 96),
    ("15 groups", 300),
    ("50 groups", 500),
    ("categories", 300),
    ("rare category", 300),
    ("rare category", 1000),
)


def awkward(name: str, rows: int, random: Random) -> Asked | None:
    """Draw a table with one measured cause c of x and t; None if x does not vary."""
    c: Any
    x: Any
    t: Any
    if name.endswith(("categories", "category")):
        c = random.random(rows) < 0.5
        rates = np.where(c, 0.1, 0.03) if name.startswith("rare") else np.where(c, 0.7, 0.3)
        x = random.random(rows) < rates
        t = random.random(rows) < 0.2 + 0.3 * x + 0.3 * c
        if x.all() or not x.any():
            return None
        return Asked(pd.DataFrame({"c": words(c), "x": words(x), "t": words(t)}), "x", "t", 0.3, ("c", "x", "t"))
    c, noise = random.normal(size=rows), random.normal(size=rows)
    frame = {}
    if name.endswith("groups"):
        count = int(name.partition(" ")[0])
        at = np.repeat(np.arange(count), rows // count)
        shared = random.normal(size=(3, count))[:, at]
        c, noise = c + shared[0], noise + 0.8 * shared[2]
        x = c + shared[1] + random.normal(size=rows)
        frame = {"g": np.char.add("g", at.astype(str))}
    elif name == "rare cause":
        x = (random.random(rows) < np.where(c > 0, 0.06, 0.02)).astype(float)
        noise = noise * np.where(x == 1, 2.0, 1.0)
        if x.sum() < 3:
            return None
    else:
        x = c + random.normal(size=rows)
        noise = noise * (np.abs(x) + 0.2) if name == "unequal spread" else noise
    t = 0.5 * x + c + noise
    columns = {"c": c, "x": words(x > 0) if name == "rare cause" else x, "t": t, **frame}
    return Asked(pd.DataFrame(columns), "x", "t", 0.5, ("c", "x", "t"))
