"""Damaged documents: valid text and JSON, spoilt in the ways in which files get spoilt."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

#: Pieces that parsers stumble over: ends of things, numbers at the limits, names that mean something elsewhere.
PIECES = [
    "", " ", "\n", "\r", "\t", "\x00", "\ufeff", "\u2028", "\ud7ff", "\U0001f600", "é", "\\", "'", '"', '""', '"""',
    ",", ";", ":", "{", "}", "[", "]", "(", ")", "<", ">", "|", "=", "#", "//", "/*", "*/", "<script>", "0", "-1",
    "1e999", "-0.0", "nan", "inf", "Infinity", "9" * 30, "0x10", "1_000", "true", "null", "None", "a" * 300, "%s", "{}",
    "../..",    "variable", "probability", "network", "table", "default", "discrete", "property", "type",
]  # fmt: skip

JSON_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 50),
    st.sampled_from([2**31, 2**63, -(2**63) - 1, 10**40]),
    st.floats(),
    st.sampled_from(PIECES),
    st.just([]),
    st.just({}),
)


@st.composite
def spoilt_text(draw: st.DrawFn, documents: Sequence[str]) -> str:
    """Draw a valid document and cut, double, swap or insert pieces of it, up to four times."""
    text = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(text)))
        end = min(len(text), begin + draw(st.sampled_from([0, 1, 2, 5, 20, 200])))
        piece = draw(st.sampled_from([*PIECES, text[begin:end] * 2, text[: end - begin]]))
        text = text[:begin] + piece + text[end:]
    return text


@st.composite
def spoilt_json(draw: st.DrawFn, documents: Sequence[Any]) -> Any:
    """Draw a valid JSON document and replace, drop or move branches of it, up to three times."""
    data = copy.deepcopy(draw(st.sampled_from(documents)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(data))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["replace", "drop", "move"])):
            case "replace":
                holder[key] = draw(JSON_LEAVES)
            case "drop":
                del holder[key]
            case _:
                other, there = draw(st.sampled_from(places))
                holder[key] = copy.deepcopy(other[there]) if _has(other, there) else None
    return data


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Give every branch of a JSON document as (holder, key)."""
    keys = data.keys() if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ()
    for key in list(keys):
        yield data, key
        yield from _places(data[key])


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def as_text(data: Any) -> str:
    """Write a JSON document, also one that the standard forbids."""
    return json.dumps(data, ensure_ascii=False)
