"""What an intervention would do: effects, causes, and what each answer rests on, from a part and a table."""

from __future__ import annotations

from apsl_rules.effects.causes import Answer, Case, causes
from apsl_rules.effects.contrasts import Change, Estimates, Interval
from apsl_rules.effects.edge_charts import edge_figures
from apsl_rules.effects.effect import Effect, PossibleEffect
from apsl_rules.effects.estimate import effect
from apsl_rules.effects.fit import Fitted, fit
from apsl_rules.effects.grounds import Grounds
from apsl_rules.effects.neighbourhood import Neighbourhood, Orientation, neighbourhood_of
from apsl_rules.effects.neighbours import Effects, effects_at_target

__all__ = [
    "Answer",
    "Case",
    "Change",
    "Effect",
    "Effects",
    "Estimates",
    "Fitted",
    "Grounds",
    "Interval",
    "Neighbourhood",
    "Orientation",
    "PossibleEffect",
    "causes",
    "edge_figures",
    "effect",
    "effects_at_target",
    "fit",
    "neighbourhood_of",
]
