"""Random tables that keep a marginal: iterative proportional fitting."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from apsl_rules._arguments import is_number, spelt
from apsl_rules.errors import InvalidArgumentError
from apsl_rules.graphs.networks.network import Probabilities

#: How far the marginal of a fitted table may be from the wanted one.
RESIDUAL = 1e-12
_SWEEPS = 20_000
_DRAWS = 10
_FLOOR = 1e-3


def check_strength(strength: object) -> None:
    """Refuse a strength that no table has."""
    if not is_number(strength) or not 0 < strength <= 100:  # noqa: PLR2004 - more leaves nothing but zeros and ones
        message = f"the strength is {spelt(strength)}; give a number above 0 and up to 100"
        raise InvalidArgumentError(message, argument="strength")


def random_rows(shape: tuple[int, ...], *, strength: float, random: np.random.Generator) -> Probabilities:
    """Draw rows of positive weights: of strength 1 as if all distributions were equally likely, above it sharper."""
    check_strength(strength)
    weights = random.standard_gamma(1 / strength, shape) * strength + _FLOOR
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def fit_table(
    marginal: npt.NDArray[np.float64], settings: Probabilities, *, strength: float, random: np.random.Generator
) -> Probabilities:
    """Draw a table for a node whose parents have a known joint distribution, such that the node keeps a marginal.

    ``settings`` is the joint distribution of the parents; the table has its axes and one more. A random positive table
    is scaled in turn so that the marginal is right and that all rows sum to 1, until both hold.
    """
    weights = settings.ravel()
    for _ in range(_DRAWS):
        table = random_rows((weights.size, marginal.size), strength=strength, random=random)
        for _ in range(_SWEEPS):
            reached = weights @ table
            if np.abs(reached - marginal).max() <= RESIDUAL:
                return table.reshape(*settings.shape, marginal.size)
            table *= np.divide(marginal, reached, out=np.zeros_like(marginal), where=reached > 0)
            table /= table.sum(axis=1, keepdims=True)
    message = f"no table of strength {strength} keeps the marginal {marginal.tolist()}; give a smaller strength"
    raise InvalidArgumentError(message)
