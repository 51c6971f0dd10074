"""The contract of an engine: every question that is asked of one, with the answers of the same rows in memory.

Authors of engines call ``check_engine`` with a function that puts an Arrow table into their engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, permutations
from typing import Any

import numpy as np

from apsl_backends.engines.engine import Engine
from apsl_backends.engines.moments import MemoryMoments
from apsl_backends.engines.opening import counted, moments
from apsl_rules.data import SECTION, GroupFigures, count_levels, table
from apsl_rules.data.counts import collapse
from apsl_rules.errors import ApslError

_MANY = 1 << 20
#: How the columns of each table are read.
_READINGS: tuple[dict[str, Any], ...] = (
    {},
    {"missing": "level", "levels": "declared"},
    {"discretize": {"x": "width:4"}, "only": ["a", "x", "y"]},
)


def check_engine(
    engine_of: Callable[[Any], Engine], *, rows: int = 2 * SECTION + 1000, keeps_order: bool = True
) -> None:
    """Ask an engine every question about some tables, and raise AssertionError where memory answers otherwise.

    ``engine_of`` puts an Arrow table into an engine. One table has so many ``rows``, three sections of them, so that
    the order in which sums are made shows in their last bits; the others are small and odd. A database that stores
    rows in another order than they came in has sums that are equal but for those bits; say so by ``keeps_order``.
    """
    for name, made in _tables(rows):
        for reading in (
            {},
            {"missing": "level", "levels": "declared"},
            {"discretize": {"x": "width:4"}, "only": ["a", "x", "y"]},
        ):
            engine = engine_of(made)
            _require(tuple(engine.names) == tuple(made.column_names), name, f"the names are {engine.names}")
            _check_moments(engine, made, reading, f"{name}, {reading}", _same_bits if keeps_order else _are_close)
            _check_counts(engine, made, reading, f"{name}, {reading}")
        _check_identity(engine_of, made, name)


def draw_table(rows: int, seed: int, gaps: float = 0.0) -> Any:
    """Draw an Arrow table of numbers and categories that depend on each other, some values of which are missing."""
    import pyarrow as pa

    random = np.random.default_rng(seed)
    a, b = random.integers(0, 3, rows), random.integers(0, 40, rows)
    x = random.normal(size=rows) + a
    columns: dict[str, Any] = {
        "a": np.array(["low", 'mid "quoted"', "hïgh; --"])[a],
        "b": b,
        "x": x,
        "y": np.round(np.exp(x / 3) + random.normal(size=rows), 2),
        "select": random.random(rows) < (a + 1) / 4,
        "Group By": np.array(["", "u", "ünï🎉", "U"])[(a + random.integers(0, 2, rows)) % 4],
        "twin": np.array([7, 5, 9])[a],
        "mirror": -x,
    }
    return pa.table({name: pa.array(values, mask=random.random(rows) < gaps) for name, values in columns.items()})


def _tables(rows: int) -> Iterator[tuple[str, Any]]:
    """Yield tables by name."""
    import pyarrow as pa

    yield "many rows", draw_table(rows, 1).select(["a", "x", "y", "twin", "select"])
    yield "missing values", draw_table(900, 2, 0.1)
    odd = draw_table(600, 3)
    zeros = np.array([-0.0, 0.0, 1.5] * 200)
    zeros[::7] = np.nan
    zeros[::14] = -np.nan
    for name, values in (
        ("zeros", pa.array(zeros, from_pandas=False)),
        ("single", pa.array(zeros.astype(np.float32)[::-1].copy(), from_pandas=False)),
        ("large", pa.array(2**60 + np.arange(600) % 5)),
        ("same", pa.array(["s"] * 600)),
        ("empty", pa.nulls(600, pa.string())),
        ("customer_id", pa.array(np.arange(600) * 3 + 1)),
        ("person", pa.array([f"person {number}" for number in range(600)])),
    ):
        odd = odd.append_column(name, values)
    yield "odd columns", odd
    yield "two rows", draw_table(2, 4)
    yield "few rows", draw_table(30, 5, 0.3)


def _same(here: Callable[[], Any], there: Callable[[], Any], name: str) -> tuple[Any, Any] | None:
    """Return both answers, or None where both refuse in the same words."""
    answers = []
    for ask in (here, there):
        try:
            answers.append(ask())
        except ApslError as error:
            answers.append(str(error))
    if isinstance(answers[0], str) or isinstance(answers[1], str):
        _require(answers[0] == answers[1], name, f"memory says {answers[0]!r}, the engine {answers[1]!r}")
        return None
    return answers[0], answers[1]


def _check_counts(engine: Engine, made: Any, reading: dict[str, Any], name: str) -> None:
    cut = reading.get("discretize")
    both = _same(lambda: count_levels(table(made, **reading), cut), lambda: counted(engine, **reading), name)
    if both is None:
        return
    here, there = both
    known, told = here.heading, there.heading
    for field in ("names", "levels", "rows", "notes", "columns"):
        one, other = getattr(known, field), getattr(told, field)
        _require(one == other, name, f"the {field} of counts are {_but(other, one)}, not {_but(one, other)}")
    for field in ("cards", "incomplete", "spans", "varied"):
        _require(_bits(getattr(known, field)) == _bits(getattr(told, field)), name, f"the {field} of counts differ")
    places = range(len(known.names))
    sets = [*((place,) for place in places), *combinations(places, 2), *combinations(places[:4], 3)]
    for one, joint in zip(sets, there.joints(sets, _MANY), strict=True):
        columns = [known.names[place] for place in one]
        codes, weights = collapse(here.codes[list(one)], known.spans[list(one)].tolist())
        found = None if joint is None else (joint.codes.tolist(), joint.weights.tolist())
        _require(
            found == (codes.tolist(), weights.tolist()),
            name,
            f"the combinations of {columns} differ",
        )
        if one == (0, 1):
            few = there.joints([one], len(weights) - 1)[0]
            _require(few is None, name, f"{columns} have more combinations than allowed")
    complete = [int((here.codes[list(one)] < known.cards[list(one), None]).all(axis=0).sum()) for one in sets]
    _require(list(there.complete(sets)) == complete, name, "the numbers of complete rows differ")
    sample = there.sample()
    is_coded = sample.shape[0] == len(places) and (sample < known.spans[:, None]).all() and sample.shape[1] > 0
    _require(bool(is_coded), name, "the sample has other codes than the columns")


def _check_moments(
    engine: Engine, made: Any, reading: dict[str, Any], name: str, alike: Callable[[Any, Any], bool]
) -> None:
    both = _same(lambda: table(made, **reading), lambda: moments(engine, **reading), name)
    if both is None:
        return
    here, there = both
    if "moments" not in here.can:
        _require(not there.heading.is_number.any(), name, "the table has no numbers")
        return
    memory = MemoryMoments(here)
    for field in ("names", "rows", "columns", "notes", "units"):
        one, other = getattr(memory.heading, field), getattr(there.heading, field)
        _require(one == other, name, f"the {field} of moments are {_but(other, one)}, not {_but(one, other)}")
    for field in ("is_number", "widths", "missing"):
        one, other = getattr(memory.heading, field), getattr(there.heading, field)
        _require(_bits(one) == _bits(other), name, f"the {field} of moments differ")
    places = list(range(len(memory.heading.names)))
    for asked in (places, places[::-1], places[:1], places[1:3], []):
        answers = _same(lambda: memory.covariance(asked), lambda: there.covariance(asked), name)  # noqa: B023 - at once
        if answers is not None:
            _require(alike(answers[0], answers[1]), name, f"the covariances of {asked} differ")
    categories = np.flatnonzero(~memory.heading.is_number).tolist()
    for by in (categories[:1], categories[:2]) if categories else ():
        given = [place for place in places if place not in by][:4], by, places[-1:]
        groups = memory.group_sums(*given, each=True), there.group_sums(*given, each=True)
        for field, one, other in zip(GroupFigures._fields, *groups, strict=True):
            same = one is other is None or alike(one, other)
            _require(same, name, f"the {field} of groups by {by} differ")
    queries = [(x, y, *z) for x, y in permutations(places[:4], 2) for z in ((), tuple(places[4:6]))]
    for field, one, other in zip(
        memory.test_rows([])._fields, memory.test_rows(queries), there.test_rows(queries), strict=True
    ):
        _require(alike(one, other), name, f"the {field} of tests differ")


def _check_identity(engine_of: Callable[[Any], Engine], made: Any, name: str) -> None:
    """Require that bytes which name the contents stay the same and change with these."""
    engine = engine_of(made)
    if engine.is_identified:
        _require(engine.identity() == engine.identity(), name, "the identity of the rows is not always the same")


def _but(one: Any, other: Any) -> Any:
    """Return what of a tuple is not in another one."""
    if not isinstance(one, tuple) or not isinstance(other, tuple) or len(one) != len(other):
        return one
    return tuple(left for left, right in zip(one, other, strict=True) if left != right)


def _bits(values: Any) -> tuple[tuple[int, ...], bytes]:
    array = np.asarray(values)
    return array.shape, array.tobytes()


def _same_bits(one: Any, other: Any) -> bool:
    return _bits(one) == _bits(other)


def _are_close(one: Any, other: Any) -> bool:
    return bool(np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-3, atol=1e-3))


def _require(is_kept: bool, name: str, what: str) -> None:  # noqa: FBT001 - a condition
    if not is_kept:
        message = f"{name}: {what}"
        raise AssertionError(message)
