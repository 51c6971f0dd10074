"""The curves from evidence to probability, and the least probabilities that follow from them, as data.

A curve is logistic: its logit is a sum of terms of the evidence, each with a weight. The weights for categories
(``BDe``) were fitted by

    python tools/bench/calibration.py --files FILES

with asia, sachs, water, mildew, barley, survey, earthquake, cancer and pathfinder as files, and those for tables with
numbers (``BIC``) by

    python tools/bench/calibration.py --learner apsl-mixed --generator tools/bench/mixed_networks.py:of_seed --fit 150

Each command also prints how well the curves do on networks that were not used for the fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Literal, TypeAlias

import attrs

from apsl_rules._arguments import is_number, spelt
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.names import nearest

#: A least probability of a direction: a number, or one that has a name.
LeastDirection: TypeAlias = float | Literal["precise"]


@attrs.frozen
class Curve:
    """A logistic curve: the logit where all terms are 0, and its change with each term, by name."""

    first: float
    weights: Mapping[str, float]

    def at(self, terms: Mapping[str, float]) -> float:
        """Return the probability for the terms of some evidence."""
        return 1 / (1 + exp(-self.first - sum(weight * terms[name] for name, weight in self.weights.items())))


@attrs.frozen
class Curves:
    """The curves of one score: for the existence of an edge and for its direction."""

    edge: Curve
    direction: Curve


_CATEGORIES = Curves(
    edge=Curve(0.55, {"lead": 0.54, "tests": 1.86, "degree": -0.86}),
    direction=Curve(3.21, {"capped lead": 1.06, "reasons": 0.34, "untested": -2.01, "degree": -1.51}),
)
_WITH_NUMBERS = Curves(
    edge=Curve(-0.40, {"lead": 0.90}),
    direction=Curve(-0.06, {"lead": 1.85, "findings": -2.30}),
)

#: The curves by the source of the evidence, which is the name of a score.
CURVES: Mapping[str, Curves] = {"BDe": _CATEGORIES, "BDeu": _CATEGORIES, "BIC": _WITH_NUMBERS}

#: The least probability of a direction for it to be drawn as an arrow. On small samples of the benchmark sets a larger
#: value costs more arrows that are right than it saves wrong ones.
DEFAULT_DIRECTION = 0.1

#: The least probability of a direction for arrows of which nine in ten are right on small samples.
PRECISE_DIRECTION = 0.65

_NAMED: Mapping[str, float] = {"precise": PRECISE_DIRECTION}


def least_direction(given: object, name: str = "min_direction") -> float:
    """Return the least probability of a direction that a number or a word stands for.

    >>> least_direction(0.5), least_direction("precise") == PRECISE_DIRECTION
    (0.5, True)
    """
    if isinstance(given, str) and given in _NAMED:
        return _NAMED[given]
    if is_number(given) and 0 <= given <= 1:
        return float(given)
    hint = nearest(given, _NAMED) if isinstance(given, str) else ""
    hint = hint or "; give a probability from 0 (draw all arrows) to 1, or 'precise'"
    message = f"{name} is {spelt(given)}{hint}"
    raise InvalidArgumentError(message, argument=name)
