"""The support or probability of an edge, as the width of its stroke and a number."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apsl_rules.names import Node, Pair
from apsl_rules.parts import EdgeFigures

_THIN, _USUAL, _THICK = 1.0, 1.8, 3.4


def weights_of(rows: Iterable[Mapping[str, Any]]) -> dict[frozenset[Node], float]:
    """Return the support of each edge over resamples, or else its probability; edges without either are left out."""
    weights = {}
    for row in rows:
        figures = [row.get(name) for name in ("support", "probability")]
        known = [float(figure) for figure in figures if figure is not None]
        if known:
            weights[frozenset((row["source"], row["target"]))] = known[0]
    return weights


def texts_of(weights: Mapping[Pair, float], figures: EdgeFigures | None) -> Mapping[Pair, str]:
    """Return what stands at the edges: their weights, or where a table is known the effects along them."""
    if figures is not None:
        return figures.labels
    return {pair: weight_text(weight) for pair, weight in weights.items()}


def thickness(weight: float | None) -> float:
    """Return the width of a stroke."""
    return _USUAL if weight is None else _THIN + (_THICK - _THIN) * min(1.0, max(0.0, weight))


def weight_text(weight: float) -> str:
    """Write a weight in two digits.

    >>> weight_text(0.874), weight_text(1.0)
    ('.87', '1')
    """
    text = f"{weight:.2f}"
    return "1" if text == "1.00" else text.removeprefix("0")
