"""Arguments of a wrong kind, refused in a sentence before they reach anything that would only raise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from os import PathLike, fsencode, fspath
from typing import Any, TypeGuard

from apsl_rules.errors import InvalidArgumentError

_LONGEST = 60


def spelt(value: object) -> str:
    """Spell what was given on one line, whatever it is; a long or large thing is named by its kind.

    >>> spelt([1, 2]), spelt("x" * 100)
    ('[1, 2]', 'a str')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # too many digits, too deep
        text = ""
    if text and len(text) <= _LONGEST and "\n" not in text:
        return text
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def demand(holds: bool, message: str, argument: str | None = None) -> None:  # noqa: FBT001 - a condition, said first
    """Refuse with a sentence unless a condition holds."""
    if not holds:
        raise InvalidArgumentError(message, argument=argument)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is a whole number; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether something is a number that a float can be; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def whole_number(name: str, value: object, least: int, most: int = 2**63) -> int:
    """Take a whole number from a bound on, and up to one that no run could reach."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    kind = "" if is_whole(value) else "a whole number, "
    far = f" and at most {most:,}" if is_whole(value) and value > most else ""
    raise InvalidArgumentError(argument=name, value=value, advice=f"give {kind}{least} or more{far}")


def chosen(name: str, value: object, allowed: Collection[str]) -> None:
    """Refuse what is none of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidArgumentError(argument=name, value=value, advice=f"give {' or '.join(map(repr, allowed))}")


def path_text(value: object, what: str) -> str:
    """Take the path of a file as text."""
    if isinstance(value, str | PathLike):
        path = fspath(value)
        if isinstance(path, str) and path and "\0" not in path and _has_bytes(path):
            return path
    raise InvalidArgumentError(argument=what, value=value, advice="give the path of a file")


def _has_bytes(path: str) -> bool:
    """Whether the file system has bytes for a path; a lone surrogate may have none."""
    try:
        fsencode(path)
    except UnicodeEncodeError:
        return False
    return True


def listed(name: str, value: object, of: str, *, letters: bool = False) -> list[Any]:
    """Take a list of something, and no text, which would fall into its letters, unless these are meant."""
    if isinstance(value, bytes) or not isinstance(value, Iterable) or (isinstance(value, str) and not letters):
        raise InvalidArgumentError(argument=name, value=value, advice=f"give a list of {of}")
    return list(value)


def mapping(name: str, value: object, example: str) -> dict[Any, Any]:
    """Take a mapping, and an empty one for None."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(argument=name, value=value, advice=f"give a dict, such as {example}")
    return dict(value)
