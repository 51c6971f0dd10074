"""Times: what columns say of when each row was, how far apart times are, parts of dates, and untold series."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import permutations
from typing import Any, Literal, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from apsl_rules.data.columns import Column, Labels, Numbers, as_numbers, is_date_text, numbers
from apsl_rules.data.kinds import DatePart, is_id_name
from apsl_rules.errors import DataError
from apsl_rules.names import Node, count_of, listing
from apsl_rules.notes import Note, argument

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - days apart
_DAY = timedelta(days=1)
_MIXED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(.*)", re.DOTALL)
_MONTHS = 12


def date_part(column: Column, name: Node, part: DatePart) -> Numbers:
    """Return a part of each date of a column: a weekday from 1, Monday, to 7."""
    found = None if not column.is_label else moments_of(column.levels, name)
    if found is None or not column.is_label or any(isinstance(one, time | timedelta) for one in found):
        message = f"column {name!r} holds no dates, so there is no {part} in it; give dates such as 2024-05-31"
        raise DataError(message)
    values = [_part(one, part) for one in found if isinstance(one, datetime)]
    return numbers(np.append(np.array(values, np.float64), np.nan)[column.codes])


def as_days(column: Labels, name: Node) -> Numbers | None:
    """Return dates, or texts of dates, as days since 1970, times as parts of a day; None for other labels."""
    found = moments_of(column.levels, name)
    if found is None:
        return None
    values = np.array([_since_1970(one) for one in found], np.float64)
    return numbers(np.append(values, np.nan)[column.codes])


def _part(one: datetime, part: DatePart) -> int:
    if part == "quarter":
        return (one.month + 2) // 3
    return one.isoweekday() if part == "weekday" else int(getattr(one, part))


def _since_1970(one: datetime | time | timedelta) -> float:
    if isinstance(one, timedelta):
        return one / _DAY
    if isinstance(one, time):
        return timedelta(hours=one.hour, minutes=one.minute, seconds=one.second, microseconds=one.microsecond) / _DAY
    return (one - _EPOCH) / _DAY


def moments_of(levels: Sequence[Any], name: Node) -> list[datetime | time | timedelta] | None:
    """Return levels as points in time without a zone, or as durations; None if one of them is neither."""
    texts = [one for one in levels if isinstance(one, str)]
    if texts and len(texts) == len(levels) and all(map(is_date_text, texts)):
        return _parsed([one.strip() for one in texts], name)
    found: list[datetime | time | timedelta] = []
    for one in levels:
        if isinstance(one, np.datetime64 | np.timedelta64):
            one = one.astype("M8[us]" if isinstance(one, np.datetime64) else "m8[us]").item()  # noqa: PLW2901
        if isinstance(one, datetime):
            found.append(one.replace(tzinfo=None))
        elif isinstance(one, date):
            found.append(datetime(one.year, one.month, one.day))  # noqa: DTZ001 - a day has no zone
        elif isinstance(one, time | timedelta):
            found.append(one)
        else:
            return None
    return found or None


def _parsed(texts: Sequence[str], name: Node) -> list[datetime | time | timedelta]:
    split = [_MIXED.fullmatch(one) for one in texts]
    pairs = [(int(one[1]), int(one[3])) for one in split if one is not None]
    day_first = any(first > _MONTHS for first, _ in pairs) or all(one is None or one[2] == "." for one in split)
    if pairs and not day_first and not any(second > _MONTHS for _, second in pairs):
        example = next(one for one in texts if _MIXED.fullmatch(one))
        message = (
            f"column {name!r} holds dates such as {example!r}, of which nobody knows whether the day or the month "
            "comes first; write them as 2024-05-31"
        )
        raise DataError(message)
    try:
        return [
            _of_text(text if one is None else _turned(one, day_first=day_first))
            for text, one in zip(texts, split, strict=True)
        ]
    except ValueError as error:
        message = f"column {name!r} holds dates that cannot be read ({error}); write them as 2024-05-31"
        raise DataError(message) from error


def _turned(one: re.Match[str], *, day_first: bool) -> str:
    day, month = (one[1], one[3]) if day_first else (one[3], one[1])
    return f"{one[4]}-{month:0>2}-{day:0>2}{one[5]}"


def _of_text(text: str) -> datetime | time:
    """Return a date, a date with a time, or a time alone."""
    if re.match(r"\d{1,2}:", text):
        return time.fromisoformat(text if text[2] == ":" else f"0{text}").replace(tzinfo=None)
    whole = re.sub(r"^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})", lambda one: f"{one[1]}-{one[2]:0>2}-{one[3]:0>2}", text)
    return datetime.fromisoformat(whole.replace(" Z", "Z")).replace(tzinfo=None)


Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]
#: What times are counted in: numbers as they are, days, months, or the places of levels that have an order.
Unit: TypeAlias = Literal["", "day", "month", "place"]

_YEAR_FIRST = re.compile(r"(\d{4})[-/. ]?(?:[Qq]([1-4])|[-/.Mm](\d{1,2}))")
_YEAR_LAST = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})")
#: The sizes of parts of a year, a month, a week or a day that follow a larger part in a column of their own.
_PARTS = (2, 4, 7, 12, 24, 31, 53, 60, 366)
#: So far apart, in days, times are counted in months; months have different lengths.
_MONTH = 27
#: How far a step may be from a whole number of steps, and the share of steps that may be longer than one.
_EXACT, _GAPS = 0.01, 0.1
_UNITS = ((1.0, "day"), (1 / 24, "hour"), (1 / 1440, "minute"), (0.0, "second"))
_SECONDS = {"day": 86_400.0, "hour": 3_600.0, "minute": 60.0, "second": 1.0}


#: Names of times, which need not be regular.
_TIME_NAME = re.compile(
    r"^(?:year|yr|date|datetime|timestamp|time|month|quarter|qtr|week|day|hour|t|period|obs_date)$", re.IGNORECASE
)
#: How much steps may vary where no name says that a column of numbers is a time.
_REGULAR = 0.15
#: How alike a column is to itself a row before, how sure that is, and the share of columns that are so.
_ALIKE, _SURE, _SHARE = 0.2, 2.5, 0.3
_FEWEST_ROWS, _FEWEST_VALUES, _THERE, _LEAST = 15, 5, 0.8, 1e-9


@attrs.frozen(eq=False)
class Times:
    """When each row was, NaN where nobody knows, in some unit."""

    values: Floats
    unit: Unit = ""

    @property
    def there(self) -> npt.NDArray[np.bool_]:
        """Return which rows have a time."""
        return ~np.isnan(self.values)

    def take(self, rows: npt.NDArray[np.intp]) -> Times:
        """Return some rows."""
        return attrs.evolve(self, values=self.values[rows])

    def in_months(self, groups: Integers) -> Times:
        """Return days that are a month or more apart as months; rows are sorted by group and time."""
        steps = self.steps(groups)
        if self.unit != "day" or not len(steps) or steps.min() < _MONTH:
            return self
        months = np.floor(self.values).astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(float)
        found = Times(months, "month")
        return found if found.steps(groups).min() > 0 else self

    def steps(self, groups: Integers) -> Floats:
        """Return how far each row is from the one before, within groups; rows are sorted by group and time."""
        found: Floats = np.diff(self.values)[groups[1:] == groups[:-1]]
        return found

    def spell(self, step: float) -> str:
        """Spell how far apart two times are.

        >>> Times(np.empty(0), "month").spell(12), Times(np.empty(0), "day").spell(0.5), Times(np.empty(0)).spell(1)
        ('1 year', '12 hours', '1')
        """
        if self.unit == "month":
            years = step / 12
            return count_of(round(years), "year") if years == round(years) else count_of(round(step), "month")
        if self.unit == "place":
            return count_of(round(step), "level")
        if self.unit == "":
            return f"{step:g}"
        name = next(name for least, name in _UNITS if step >= least * (1 - 1e-9))
        number = step * _SECONDS["day"] / _SECONDS[name]
        return count_of(round(number), name) if abs(number - round(number)) < _EXACT else f"{number:.3g} {name}s"


@attrs.frozen
class Steps:
    """How far apart rows are: the usual step, and the shortest and longest one.

    Where all are whole numbers of steps, and few are longer than one, times are ``regular``; ``gaps`` counts those.
    """

    usual: float
    least: float
    most: float
    regular: bool
    gaps: int

    @classmethod
    def of(cls, steps: Floats) -> Steps:
        """Look at steps, none of which is 0."""
        if not len(steps):
            return cls(1.0, 1.0, 1.0, regular=True, gaps=0)
        rounded, counts = np.unique(np.round(steps, 9), return_counts=True)
        usual = float(rounded[counts.argmax()])
        whole = steps / usual
        gaps = int(np.count_nonzero(whole > 1 + _EXACT))
        is_whole = bool((np.abs(whole - np.rint(whole)) <= _EXACT).all() and (whole > 1 - _EXACT).all())
        return cls(usual, float(steps.min()), float(steps.max()), is_whole and gaps <= _GAPS * len(steps), gaps)


def times_of(names: Sequence[Node], columns: Sequence[Column]) -> Times:
    """Return what one column or several together say of when each row was, the largest part first."""
    read = [_times_of(one) for one in columns]
    for name, column, one in zip(names, columns, read, strict=True):
        if one is None:
            _, levels = _levels_there(cast("Labels", column))
            odd = next((level for level in levels if _of_levels([level]) is None), levels[0] if levels else None)
            message = (
                f"column {name!r} does not say when rows were: {odd!r} is no date; write dates as 2024-01-31, 2024-01 "
                f"or 2024Q1, or give numbers"
            )
            raise DataError(message)
    return _joined([one for one in read if one is not None])


def _joined(times: Sequence[Times]) -> Times:
    """Return what several columns say together, the largest part first."""
    if len(times) == 1:
        return times[0]
    values = times[0].values
    for part in (one.values for one in times[1:]):
        low, high = np.nanmin(part, initial=np.inf), np.nanmax(part, initial=-np.inf)
        span = high - min(low, 1) + 1
        size = next((one for one in _PARTS if span <= one), span)
        values = values * size + (part - min(low, 1))
    return Times(values)


def _times_of(column: Column) -> Times | None:
    """Return what a column says of when each row was, None if it is no time."""
    if not column.is_label:
        return Times(np.where(column.missing, np.nan, column.values.astype(np.float64)))
    seen, levels = _levels_there(column)
    spelt = _of_levels(levels)
    if spelt is None and column.declared and not all(isinstance(one, bool) for one in levels):
        spelt = [float(one) for one in seen.tolist()], "place"
    if spelt is None:
        return None
    found, unit = spelt
    by_level = np.full(len(column.levels) + 1, np.nan)
    by_level[seen] = found
    return Times(by_level[column.codes], unit)


def _levels_there(column: Labels) -> tuple[Integers, list[Any]]:
    """Return the codes that occur, and their levels."""
    seen = np.unique(column.codes[column.codes >= 0])
    return seen, [column.levels[one] for one in seen.tolist()]


def _of_levels(levels: Sequence[Any]) -> tuple[list[float], Unit] | None:
    """Return levels as times, or None if they are none."""
    texts = [one.strip() for one in levels if isinstance(one, str)]
    if len(texts) == len(levels):
        return _of_texts(texts)
    by_text = _of_texts([str(one) for one in levels])  # periods of pandas, and dates
    if by_text is not None:
        return by_text
    values = as_numbers(Labels(np.arange(len(levels)), tuple(levels)))
    return None if values is None else ([float(one) for one in values.values], "day")


def _of_texts(texts: Sequence[str]) -> tuple[list[float], Unit] | None:
    months = [_YEAR_FIRST.fullmatch(one) for one in texts]
    if texts and all(months):
        return [_month_of(one) for one in months if one is not None], "month"
    try:
        return [_days(datetime.fromisoformat(one)) for one in texts], "day"
    except ValueError:
        pass
    parts = [_YEAR_LAST.fullmatch(one) for one in texts]
    if not texts or not all(parts):
        return None
    numbers = np.array([[int(part) for part in one.groups()] for one in parts if one is not None])
    orders = [order for order in ((1, 0), (0, 1)) if numbers[:, order[0]].max() <= 12]  # noqa: PLR2004 - months
    if len(orders) != 1 and (numbers[:, 0] != numbers[:, 1]).any():
        return None  # day or month first: nobody can tell
    try:
        dates = [datetime(row[2], row[orders[0][0]], row[orders[0][1]]) for row in numbers.tolist()]  # noqa: DTZ001
    except ValueError:
        return None
    return [_days(one) for one in dates], "day"


def _month_of(found: re.Match[str]) -> float:
    year, quarter, month = found.groups()
    return 12.0 * (int(year) - 1970) + (3 * (int(quarter) - 1) if quarter else int(month) - 1)


def _days(moment: datetime) -> float:
    plain = moment.replace(tzinfo=None) - (moment.utcoffset() or moment.min - moment.min)
    return (plain - datetime(1970, 1, 1)).total_seconds() / _SECONDS["day"]  # noqa: DTZ001


def collisions(groups: Integers, times: Times) -> Iterator[int]:
    """Yield the rows that share their group and time with the row before; rows are sorted by group and time."""
    same = (groups[1:] == groups[:-1]) & (np.diff(times.values) == 0)
    yield from (np.flatnonzero(same) + 1).tolist()


# --- series that nobody told ------------------------------------------------------------------------------------------


def notice_series(
    names: Sequence[Node], columns: Sequence[Column], scores: Sequence[Floats | None], rows: int
) -> Note | None:
    """Return a note if the rows of a table follow one another in time; ``scores`` are normal scores of its numbers."""
    time = next(_times(names, columns), None)
    if time is None:
        return None
    alike = [
        found
        for name, column, values in zip(names, columns, scores, strict=True)
        if name not in time and not column.is_label and values is not None
        if (found := _lag_one(values)) is not None
    ]
    seen = max((len(values) for values in scores if values is not None), default=0)
    limit = max(_ALIKE, _SURE / np.sqrt(max(seen, 1)))
    if not alike or np.mean([one > limit for one in alike]) < _SHARE:
        return None
    middle = float(np.clip(np.median(alike), 0, 0.999))
    worth = max(1, round(rows * (1 - middle**2) / (1 + middle**2)))
    asked = argument("time", time[0] if len(time) == 1 else [*time])
    words = (
        f"rows follow one another by {listing(time)}, and columns resemble themselves a row before (correlation "
        f"{middle:.2f}): worth about {worth:,} independent rows; {asked} adds the columns of the step before"
    )
    return Note(words, "series", "warning", columns=[*time], rows=rows, worth=worth)


def _times(names: Sequence[Node], columns: Sequence[Column]) -> Iterator[tuple[Node, ...]]:
    """Yield the columns that say when rows were, in whose order the rows are."""
    if not columns or _length(columns[0]) < _FEWEST_ROWS:
        return
    named = [place for place, name in enumerate(names) if _TIME_NAME.match(str(name))]
    numbers = [place for place, one in enumerate(columns) if not one.is_label]
    alone = [place for place in range(len(names)) if place in named or place not in numbers]
    for places in (*((one,) for one in alone), *permutations(named, 2)):
        steps = _steps([columns[one] for one in places])
        if steps is not None and (steps > 0).all():
            yield tuple(names[one] for one in places)
    for place in (one for one in numbers if not is_id_name(names[one])):
        steps = _steps([columns[place]])
        if steps is not None and (steps > 0).all() and steps.std() <= _REGULAR * steps.mean():
            yield (names[place],)


def _steps(columns: Sequence[Column]) -> Floats | None:
    """Return the steps between rows by some columns, None if these say no time in some row."""
    read = [one for one in map(_times_of, columns) if one is not None]
    if len(read) < len(columns) or any(one.unit == "place" for one in read):  # levels may be in the order of the rows
        return None
    times = _joined(read)
    return None if np.isnan(times.values).any() else np.diff(times.values)


def _length(column: Column) -> int:
    return len(column.codes if column.is_label else column.values)


def _lag_one(values: Floats) -> float | None:
    """Return how alike a column is to itself a row before, after a straight line; None where little is known."""
    there = ~np.isnan(values)
    if there.sum() < max(_FEWEST_ROWS, _THERE * len(values)) or len(np.unique(values[there])) < _FEWEST_VALUES:
        return None
    place = np.flatnonzero(there).astype(np.float64)
    slope, start = np.polyfit(place, values[there], 1)
    rest = values[there] - slope * place - start
    total = float((rest**2).sum())
    return None if total < _LEAST else float((rest[1:] * rest[:-1]).sum()) / total + 2 / len(rest)
