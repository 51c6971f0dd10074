"""How results are shown: text in lines and columns of a terminal, and what notebooks call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from unicodedata import category, east_asian_width

#: The width of what is printed where no terminal tells another.
WIDTH = 80
#: The spaces at which no line is broken.
_TOGETHER = re.compile(r" (?=%)| (?==)|(?<= =) |(?<=\bdof) (?=\d)")
_HANGING = " " * 4
_BETWEEN = 2  # so many spaces stand between columns
_NARROWEST = 12  # no column of words is made narrower, so that names can be read


def wide(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> wide("age"), wide("年齢")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(0 if category(one) in {"Mn", "Me", "Cf"} else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def cut(text: str, room: int) -> str:
    """Return a text that fits, the middle of a long one left out, since names that begin alike often end otherwise."""
    if wide(text) <= room:
        return text
    head, tail = "", ""
    for at in range(len(text)):
        longer = (head + text[at // 2], tail) if at % 2 == 0 else (head, text[-1 - at // 2] + tail)
        if wide("".join(longer)) + 1 > room:
            break
        head, tail = longer
    return f"{head}…{tail}"


def wrapped(text: str, width: int, indent: str = "") -> str:
    r"""Return a text in lines of at most ``width`` columns of a terminal; only a word that is longer is cut.

    >>> wrapped("likely caused by age (99 %), bmi (91 %)", 26, indent="  ")
    'likely caused by age\n  (99 %), bmi (91 %)'
    """
    lines, line = [], ""
    for word in _TOGETHER.sub("\xa0", text).split(" "):
        rest = word.replace("\xa0", " ")
        if line.strip() and wide(line) + 1 + wide(rest) > width:
            lines.append(line.rstrip())
            line = indent
        elif line:
            line += " "
        while wide(line) + wide(rest) > width:
            fits = next(at for at in range(len(rest), 0, -1) if wide(line) + wide(rest[:at]) <= width or at == 1)
            lines.append(line + rest[:fits])
            line, rest = indent, rest[fits:]
        line += rest
    return "\n".join([*lines, line])


def wrapped_lines(text: str, width: int) -> Iterator[str]:
    r"""Give each line of a text, one that is too wide in several; what goes on stands further right than it began.

    >>> list(wrapped_lines("  between 1 and 2 (95 %)", 16))
    ['  between 1 and\n      2 (95 %)']
    """
    for line in text.split("\n"):
        if wide(line) <= width:
            yield line
            continue
        begun = line[: len(line) - len(line.lstrip(" "))][: width // 2]
        inner = wrapped(line.lstrip(" "), width - len(begun), _HANGING)
        yield "\n".join(begun + one for one in inner.split("\n"))


def in_columns(rows: Sequence[Sequence[str]], right: Collection[int] = (), width: int | None = None) -> str:
    r"""Set rows of cells in columns, those of figures to the right; none is wider than ``width``.

    Words are broken within their columns. Columns that do not fit nevertheless follow below, the first one repeated.

    >>> print(in_columns([["edge", "mark", "p"], ["a b", "line", "0.5"]], right=[2]))
    edge  mark    p
    a b   line  0.5
    """
    sizes = [max(map(wide, column)) for column in zip(*rows, strict=True)]
    if width is None:
        return "\n".join(_set(rows, range(len(sizes)), sizes, right))
    for size in range(max(sizes, default=0), _NARROWEST - 1, -1):
        if sum(sizes) + _BETWEEN * (len(sizes) - 1) <= width:
            break
        sizes = [one if at in right else min(one, size) for at, one in enumerate(sizes)]
    sizes = [min(one, width) for one in sizes]
    return "\n\n".join("\n".join(_set(rows, places, sizes, right)) for places in _beside(sizes, width))


def _beside(sizes: Sequence[int], width: int) -> Iterator[list[int]]:
    """Give the columns that stand beside each other: as many as fit, each time after the first."""
    places = [0]
    for place in range(1, len(sizes)):
        if len(places) > 1 and sum(sizes[one] + _BETWEEN for one in places) + sizes[place] > width:
            yield places
            places = [0]
        places.append(place)
    yield places


def _broken(cell: str, size: int) -> list[str]:
    return [cell] if wide(cell) <= size else wrapped(cell, size).split("\n")


def _set(
    rows: Sequence[Sequence[str]], places: Sequence[int], sizes: Sequence[int], right: Collection[int]
) -> Iterator[str]:
    for row in rows:
        cells = [_broken(row[place], sizes[place]) for place in places]
        for number in range(max(map(len, cells))):
            parts = []
            for place, cell in zip(places, cells, strict=True):
                text = cell[number] if number < len(cell) else ""
                blank = " " * (sizes[place] - wide(text))
                parts.append(blank + text if place in right else text + blank)
            yield (" " * _BETWEEN).join(parts).rstrip()


class NotebookView:
    """A result that notebooks show as HTML; the room ``views`` has the views and is loaded when one is wanted."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from apsl_rules.views.notebook import html_of

        return html_of(self)
