"""What an intervention would do: effects, causes, and what each answer rests on, from a part and a table."""

from __future__ import annotations

from apsl_rules.effects.cause_tables import Answer, Case, causes
from apsl_rules.effects.charts import chart_given
from apsl_rules.effects.contrasts import Change, Estimates, Interval, figure
from apsl_rules.effects.controls import ByInstrument, Control
from apsl_rules.effects.estimate import effect
from apsl_rules.effects.fitted import Fitted, fit
from apsl_rules.effects.grounds import Grounds
from apsl_rules.effects.neighbours import Effects, edge_figures, effects_at_target
from apsl_rules.effects.orientations import Neighbourhood, Orientation, neighbourhood_of
from apsl_rules.effects.queries import Effect, PossibleEffect, Subgroup, Subgroups
from apsl_rules.effects.sensitivity import Sensitivity, e_value

__all__ = [
    "Answer",
    "ByInstrument",
    "Case",
    "Change",
    "Control",
    "Effect",
    "Effects",
    "Estimates",
    "Fitted",
    "Grounds",
    "Interval",
    "Neighbourhood",
    "Orientation",
    "PossibleEffect",
    "Sensitivity",
    "Subgroup",
    "Subgroups",
    "causes",
    "chart_given",
    "e_value",
    "edge_figures",
    "effect",
    "effects_at_target",
    "figure",
    "fit",
    "neighbourhood_of",
]
