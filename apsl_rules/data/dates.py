"""Dates and times as numbers, or as one of their parts, for who asks for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from apsl_rules.data.columns import Column, Labels, Numbers, is_date_text, numbers
from apsl_rules.data.kinds import DatePart
from apsl_rules.errors import DataError
from apsl_rules.names import Node

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - days apart
_DAY = timedelta(days=1)
_MIXED = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(.*)", re.DOTALL)
_MONTHS = 12


def date_part(column: Column, name: Node, part: DatePart) -> Numbers:
    """Return a part of each date of a column: a weekday from 1, Monday, to 7."""
    found = None if isinstance(column, Numbers) else moments_of(column.levels, name)
    if found is None or isinstance(column, Numbers) or any(isinstance(one, time | timedelta) for one in found):
        message = f"column {name!r} holds no dates, so there is no {part} in it; give dates such as 2024-05-31"
        raise DataError(message)
    values = [_part(one, part) for one in found if isinstance(one, datetime)]
    return numbers(np.append(np.array(values, np.float64), np.nan)[column.codes])


def as_days(column: Labels, name: Node) -> Numbers | None:
    """Return dates, or texts of dates, as days since 1970, times as parts of a day; None for other labels."""
    found = moments_of(column.levels, name)
    if found is None:
        return None
    values = np.array([_days(one) for one in found], np.float64)
    return numbers(np.append(values, np.nan)[column.codes])


def _part(one: datetime, part: DatePart) -> int:
    if part == "quarter":
        return (one.month + 2) // 3
    return one.isoweekday() if part == "weekday" else int(getattr(one, part))


def _days(one: datetime | time | timedelta) -> float:
    if isinstance(one, timedelta):
        return one / _DAY
    if isinstance(one, time):
        return timedelta(hours=one.hour, minutes=one.minute, seconds=one.second, microseconds=one.microsecond) / _DAY
    return (one - _EPOCH) / _DAY


def moments_of(levels: Sequence[Any], name: Node) -> list[datetime | time | timedelta] | None:
    """Return levels as points in time without a zone, or as durations; None if one of them is neither."""
    texts = [one for one in levels if isinstance(one, str)]
    if texts and len(texts) == len(levels) and all(map(is_date_text, texts)):
        return _of_texts([one.strip() for one in texts], name)
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


def _of_texts(texts: Sequence[str], name: Node) -> list[datetime | time | timedelta]:
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
