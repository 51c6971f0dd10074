"""The tables of the tournament: drawn from networks, mixed, with holes, and real ones with known orders."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import attrs
import numpy as np
import pandas as pd

from apsl_rules import Dag, network
from apsl_rules.graphs.networks import sample

sys.path.append(str(Path(__file__).parents[1] / "bench"))  # the benchmarks are scripts, not a package

from mixed_networks import drawn

from directions import TABLES, Known

Kind: TypeAlias = Literal["categories", "numbers", "mixed"]
ROWS = 1000
#: From this seed on nothing was chosen.
FIRST_SEED = 9000
TARGETS = 5
HOLES = 0.1
#: Of real tables, at most so many rows, and of a number in few levels, so many.
MOST_ROWS, CUTS = 1000, 3


@attrs.frozen(eq=False)
class Contest:
    """A table of a group, and what is known of it: its true graph, or pairs of which the first comes first."""

    name: str
    group: str
    kind: Kind
    frame: pd.DataFrame
    truth: Dag | None = None
    order: frozenset[tuple[str, str]] = frozenset()

    @property
    def missing(self) -> bool:
        """Return whether values are missing."""
        return bool(self.frame.isna().any(axis=None))

    @property
    def targets(self) -> list[str]:
        """Return the nodes around which a part is learned, spread over the columns."""
        if self.truth is None:
            return []
        return list(self.frame.columns[:: max(1, len(self.frame.columns) // TARGETS)][:TARGETS])


def contests(*, full: bool) -> Iterator[Contest]:
    """Return all tables; in full there are more networks, more draws and all real tables."""
    for name in ("child", "insurance", "alarm", *(("hepar2", "win95pts", "hailfinder") if full else ())):
        for draw in range(3 if full else 1):
            yield of_network(name, FIRST_SEED + draw)
    for draw in range(6 if full else 2):
        for mixed in (False, True):
            one = drawn("linear", nodes=20, rows=ROWS, seed=FIRST_SEED + draw, mixed=mixed)
            kind: Kind = "mixed" if mixed else "numbers"
            yield Contest(f"{kind}-{draw}", kind, kind, one.frame, one.dag)
    for draw in range(3 if full else 1):
        whole = of_network("child", FIRST_SEED + 10 + draw)
        yield attrs.evolve(whole, name=f"child-holes-{draw}", group="missing", frame=holed(whole.frame, draw))
        numbers = drawn("linear", nodes=20, rows=ROWS, seed=FIRST_SEED + 10 + draw, mixed=False)
        frame = holed(numbers.frame, draw)
        yield Contest(f"numbers-holes-{draw}", "missing", "numbers", frame, numbers.dag)
    for known in TABLES if full else TABLES[:12]:
        if "weights" not in known.settings:
            yield from of_known(known)


def of_network(name: str, seed: int) -> Contest:
    """Draw rows from a network, in a random order of columns."""
    known = network(name)
    rows = sample(known, ROWS, seed=seed)
    frame = pd.DataFrame({str(node): rows.codes_of(node).astype(str) for node in rows.names})
    order = np.random.default_rng(seed).permutation(len(frame.columns))
    return Contest(f"{name}-{seed}", name, "categories", frame.iloc[:, order], known.dag)


def holed(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Take out one value in ten at random."""
    gone = np.random.default_rng(seed).random(frame.shape) < HOLES
    return frame.mask(gone)


def of_known(known: Known) -> Iterator[Contest]:
    """Return a real table three times: as it is, all numbers cut into levels, and all categories as codes."""
    frame = known.frame()
    order = frozenset(pair for pair in known.truth(list(frame.columns)) if set(pair) <= set(frame.columns))
    columns = [name for name in frame.columns if any(name in pair for pair in order)]
    frame = frame[columns].dropna()
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=1)
    typed = {
        name: column.astype(float)
        if pd.api.types.is_numeric_dtype(column) and column.nunique() > 4
        else column.astype(str).map("level {}".format)
        for name, column in frame.items()
    }
    mixed = pd.DataFrame(typed)
    numbers = mixed.apply(lambda one: one if one.dtype.kind == "f" else one.astype("category").cat.codes.astype(float))
    levels = mixed.apply(
        lambda one: one if one.dtype.kind != "f" else pd.qcut(one.rank(method="first"), CUTS, labels=False).astype(str)
    )
    forms: dict[Kind, pd.DataFrame] = {"mixed": mixed, "categories": levels.astype(str), "numbers": numbers}
    for kind, made in forms.items():
        yield Contest(f"{known.package}-{known.name}-{kind}", "real", kind, made, None, order)


def write(some: list[Contest], folder: Path) -> None:
    """Write tables and what contestants may know of them."""
    about = {}
    for one in some:
        one.frame.to_csv(folder / f"{one.name}.csv", index=False)
        about[one.name] = {"kind": one.kind, "missing": one.missing, "targets": one.targets}
    (folder / "tables.json").write_text(json.dumps(about), "utf-8")
