"""Which way an edge points on a table whose hidden causes nobody knows: names, shapes of columns, V-structures."""

from __future__ import annotations

from apsl_rules.directions.hints import (
    DRAWN,
    PRECISE,
    SUGGESTED,
    WEIGHTS,
    Arrow,
    Drawing,
    NameList,
    Shapes,
    Support,
    draw,
    read_names,
    shipped_names,
    stages,
    words_of,
)

__all__ = [
    "DRAWN",
    "PRECISE",
    "SUGGESTED",
    "WEIGHTS",
    "Arrow",
    "Drawing",
    "NameList",
    "Shapes",
    "Support",
    "draw",
    "read_names",
    "shipped_names",
    "stages",
    "words_of",
]
