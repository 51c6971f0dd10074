"""How wide a name is when written, and how a long one is shortened; no font is asked, so all machines agree."""

from __future__ import annotations

from unicodedata import category, east_asian_width

FONT_SIZE = 13
#: The longest that a name is always written out.
LONGEST = 168.0  # a name of some 20 letters
_NARROW = frozenset("iIjlft.,;:'|![]()`/\\ ")
_WIDE = frozenset("mwMW@%&—…")
_ELLIPSIS = "…"
_EMOJI = 0x10000  # and everything after them


def _em(letter: str) -> float:
    """Return a generous width in ems: that of the widest of the common sans-serif fonts."""
    if category(letter) in {"Mn", "Me", "Cf"}:
        return 0.0
    if east_asian_width(letter) in {"W", "F"} or ord(letter) >= _EMOJI:
        return 1.35
    if letter in _NARROW:
        return 0.4
    if letter in _WIDE:
        return 1.0
    return 0.75 if letter.isupper() else 0.65


def width_of(text: str, size: float = FONT_SIZE) -> float:
    """Estimate the width of a text in pixels, rather too wide than too narrow."""
    return size * sum(map(_em, text))


def shorten(text: str, longest: float = LONGEST) -> str:
    """Keep the beginning and the end of a name that is too long, since names that share one often differ in the other.

    >>> shorten("a_very_long_name_of_a_column_in_a_table_2024")
    'a_very_lon…able_2024'
    """
    if width_of(text) <= longest:
        return text
    available = longest - width_of(_ELLIPSIS)
    head, tail, used = 0, 0, 0.0
    while head + tail < len(text):
        from_head = head <= tail
        letter = text[head] if from_head else text[-1 - tail]
        used += width_of(letter)
        if used > available:
            break
        head, tail = head + from_head, tail + (not from_head)
    return f"{text[:head]}{_ELLIPSIS}{text[len(text) - tail :]}"
