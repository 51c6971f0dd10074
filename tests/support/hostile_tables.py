"""Tables as trouble has them, drawn by number, and what must hold of every part that is learned from one.

Few rows, missing values in every pattern, columns never seen in one row, copies, repeated rows, sizes at the ends of
floats, and names that look like options: ``faults(number)`` draws one table and says what does not hold.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules import learn, table
from apsl_rules.cli.output import printed_part
from apsl_rules.errors import ApslError
from apsl_rules.names import Node
from apsl_rules.parts import Part
from apsl_rules.parts.file import parse_part, part_json
from apsl_rules.rules import Mark

_NO_NAMES = str(Path(__file__).with_name("no_names.toml"))
#: The ways in which each table is learned from, without the shipped names: some of those below are among them.
WAYS: dict[str, dict[str, Any]] = {
    "default": {"roots": _NO_NAMES},
    "apsl": {"learner": "apsl", "roots": _NO_NAMES},
    "hidden": {"hidden": "allowed"},
}
#: From so few rows on no edge can be told.
FEW = 14
_SECONDS = 10.0
_NAMES = ("target", "depth is 3", "max_tests", "drop=['a']", "None", "=1+1", "a:b@c", "near", "x", "y", "z", "w")
_ROWS = (2, 3, 3, 5, 8, 20, 60, 150, 300)
_SIZES = (1e-310, 1e-165, 1e-3, 1e6, 1e154, 1e300)


@attrs.frozen
class Drawn:
    """A table, its target, and what was done to it."""

    frame: pd.DataFrame
    target: str
    story: str

    def never_together(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of columns that no row has both of."""
        there = self.frame.notna()
        for one, other in combinations(self.frame.columns, 2):
            if not (there[one] & there[other]).any():
                yield one, other


def draw_table(number: int) -> Drawn:
    """Draw a table; the same number gives the same one."""
    random = np.random.default_rng([number, 30])
    rows, width = int(random.choice(_ROWS)), int(random.integers(2, 7))
    names = [str(one) for one in random.choice(_NAMES, width, replace=False)]
    kind = str(random.choice(["numbers", "categories", "mixed"]))
    frame = pd.DataFrame(dict(zip(names, _values(random, rows, width, kind), strict=True)))
    story = [f"{rows} rows of {width} {kind}"]
    for change in _CHANGES:
        if random.random() < _SHARE:
            frame, told = change(frame, random)
            story.append(told)
    order = random.permutation(len(frame.columns))
    return Drawn(frame.iloc[:, order], str(random.choice(names)), ", ".join(story))


_SHARE = 0.3


def _values(random: np.random.Generator, rows: int, width: int, kind: str) -> list[Any]:
    """Return columns of which some depend on those before; none do in a table of noise."""
    strength = float(random.choice([0.0, 0.5, 2.0]))
    columns: list[Any] = []
    for place in range(width):
        before = columns[int(random.integers(place))] if place else np.zeros(rows)
        columns.append(strength * before + random.normal(size=rows))
    coded = {"numbers": set(), "categories": set(range(width)), "mixed": set(range(0, width, 2))}[kind]
    return [np.digitize(one, [-0.5, 0.5]).astype(float) if at in coded else one for at, one in enumerate(columns)]


def _missing_at_random(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    share = float(random.choice([0.2, 0.5, 0.8]))
    return frame.mask(random.random(frame.shape) < share), f"{share:.0%} missing"


def _apart(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    """Observe two columns in disjoint rows, but for a few perhaps."""
    one, other = random.choice(len(frame.columns), 2, replace=False)
    half, common = len(frame) // 2, int(random.choice([0, 0, 1, 8]))
    frame = frame.copy()
    frame.iloc[: max(half - common, 0), one] = np.nan
    frame.iloc[half:, other] = np.nan
    return frame, f"{frame.columns[one]!r} and {frame.columns[other]!r} apart"


def _copied(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    one = frame.columns[int(random.integers(len(frame.columns)))]
    factor = float(random.choice([1.0, -1.0, 2.0]))
    return frame.assign(copy=frame[one] * factor), f"{factor:g} times {one!r} as a copy"


def _repeated(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    times = int(random.choice([2, 3]))
    return pd.concat([frame] * times, ignore_index=True), f"rows {times} times"


def _sized(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    one, size = frame.columns[int(random.integers(len(frame.columns)))], float(random.choice(_SIZES))
    return frame.assign(**{one: frame[one] * size}), f"{one!r} of size {size:g}"


def _constant(frame: pd.DataFrame, random: np.random.Generator) -> tuple[pd.DataFrame, str]:
    one = frame.columns[int(random.integers(len(frame.columns)))]
    return frame.assign(**{one: frame[one].where(frame[one].isna(), 1.0)}), f"{one!r} constant"


_CHANGES: tuple[Callable[[pd.DataFrame, np.random.Generator], tuple[pd.DataFrame, str]], ...] = (
    _missing_at_random,
    _apart,
    _copied,
    _sized,
    _constant,
    _repeated,
)


def faults(number: int, ways: tuple[str, ...] = tuple(WAYS)) -> Iterator[tuple[str, str]]:
    """Draw a table, learn from it in some ways, and yield what does not hold: the promise, and what was seen."""
    drawn = draw_table(number)
    for way in ways:
        again = way == ways[number % len(ways)]
        for promise, seen in _faults_of(drawn, way, again=again):
            yield promise, f"table {number} ({drawn.story}; target {drawn.target!r}), {way}: {seen}"


def _faults_of(drawn: Drawn, way: str, *, again: bool) -> Iterator[tuple[str, str]]:
    """Yield what does not hold of one part; ``again`` learns it with other names and another order too."""
    began = perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            part = _learned(drawn.frame, drawn.target, way)
    except Exception as error:  # noqa: BLE001 - that there is none is the promise
        yield "only sentences are raised", f"{type(error).__name__}: {error}"
        return
    took = perf_counter() - began
    if took > _SECONDS:
        yield "a small table takes seconds", f"{took:.0f} s"
    if not isinstance(part, str):
        yield from _faults_of_part(drawn, part)
        if again:
            yield from _faults_of_names(drawn, way, part)
    elif len(part.splitlines()) != 1:
        yield "a refusal is one sentence", part


def _faults_of_part(drawn: Drawn, part: Part) -> Iterator[tuple[str, str]]:
    if part.edges and len(drawn.frame) <= FEW:
        yield "few rows show no edge", f"{sorted(sorted(map(str, edge)) for edge in part.edges)}"
    for x, y in drawn.never_together():
        if x in part.nodes and y in part.nodes and (mark := part.mark(x, y)) is not Mark.UNKNOWN:
            yield "columns never seen in one row are unknown", f"{x!r} and {y!r} are {mark}"
    if parse_part(part_json(part), "part.json").edges != part.edges:
        yield "a part is saved whole", "another part was read"
    if f"--{drawn.target}" in printed_part(part, every_note=True, verbose=True):
        yield "names stay as they are", f"--{drawn.target} in the summary"


def _faults_of_names(drawn: Drawn, way: str, part: Part) -> Iterator[tuple[str, str]]:
    frame = drawn.frame
    renamed = {name: f"c{place}" for place, name in enumerate(sorted(frame.columns))}
    for what, other in (("order", frame[sorted(frame.columns)]), ("names", frame.rename(columns=renamed))):
        again = _learned(other, drawn.target if what == "order" else renamed[drawn.target], way)
        names: dict[Node, str] = {name: new for name, new in renamed.items() if what == "names"}
        if isinstance(again, str) or _marks(again, {}) != _marks(part, names):
            yield f"the {what} of columns do not matter", "another part"


def _learned(frame: pd.DataFrame, target: str, way: str) -> Part | str:
    """Learn a part, or return the sentence that refuses to."""
    try:
        return learn(table(frame), target, **WAYS[way])
    except ApslError as error:
        return str(error)


def _marks(part: Part, names: Mapping[Node, str]) -> set[tuple[tuple[Any, str], ...]]:
    """Return the edges with the marks from each end, under new names for some nodes."""
    ends = [((x, y), (y, x)) for x, y in part.edges]
    return {tuple(sorted((str(names.get(x, x)), str(part.mark(x, y))) for x, y in both)) for both in ends}
