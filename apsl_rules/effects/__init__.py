"""What an intervention would do: effects, causes, and what each answer rests on, from a part and a table."""

from __future__ import annotations

from apsl_rules.effects.causes import Answer, Case, causes
from apsl_rules.effects.contrasts import Change, Estimates, Interval
from apsl_rules.effects.effect import Effect, PossibleEffect
from apsl_rules.effects.estimate import effect
from apsl_rules.effects.neighbourhood import Neighbourhood, Orientation, neighbourhood_of

__all__ = [
    "Answer",
    "Case",
    "Change",
    "Effect",
    "Estimates",
    "Interval",
    "Neighbourhood",
    "Orientation",
    "PossibleEffect",
    "causes",
    "effect",
    "neighbourhood_of",
]
