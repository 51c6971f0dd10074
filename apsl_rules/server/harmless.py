"""Answers as plain data in which names from a file can do no harm: nothing invisible, nothing endless, no NaN."""

from __future__ import annotations

from math import isfinite
from typing import Any

#: The most characters of one text; a longer one is cut.
LONGEST = 2000


def plain_text(text: str) -> str:
    r"""Spell a text so that all of it can be seen: what is not printed is escaped, and a long one is cut.

    >>> plain_text("a\u202eb\n")
    'a\\u202eb\\n'
    """
    seen = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"


def plain_data(data: Any) -> Any:
    """Return data for JSON: every text plain, numbers that JSON does not have as null."""
    if isinstance(data, str):
        return plain_text(data)
    if isinstance(data, bool | int | None):
        return data
    if isinstance(data, float):
        return data if isfinite(data) else None
    if isinstance(data, dict):
        return {plain_text(str(key)): plain_data(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain_data(one) for one in data]
    return plain_text(str(data))
