"""The rulebooks that come with the library, a chapter each."""

from __future__ import annotations

from apsl_rules.rules.rulebooks.cpdag import (
    KNOWING,
    POSSIBLE,
    R1,
    R2,
    R3,
    R4,
    SOUND,
    STEP_1,
    STEP_2,
    W,
    X,
    Y,
    Z,
    knowing,
)
from apsl_rules.rules.rulebooks.pag import PAG, discriminates

__all__ = [
    "KNOWING",
    "PAG",
    "POSSIBLE",
    "R1",
    "R2",
    "R3",
    "R4",
    "SOUND",
    "STEP_1",
    "STEP_2",
    "W",
    "X",
    "Y",
    "Z",
    "discriminates",
    "knowing",
]
