"""Scores of joint columns in plain numpy: counts of mixed-radix codes, and terms by the definition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from apsl_backends.kernels.bindings.scores import LogPriors, ScoreHandle, Weights
from apsl_backends.kernels.library import Codes

SCALE = 2.0**30


class PlainScore:
    """The score of a block of rows, in nats: each row counts as often as its weight says."""

    def __init__(
        self, codes: Codes, cards: Sequence[int], weights: Weights | None, ess: float, log_priors: Sequence[LogPriors]
    ) -> None:
        self._codes = codes.astype(np.int64)
        self._cards = cards
        self._weights = np.ones(codes.shape[1], np.int64) if weights is None else weights.astype(np.int64)
        self._ess = ess
        self._log_priors = log_priors

    def joint(self, members: Sequence[int]) -> float:
        """Score some columns as one joint column."""
        keys = np.zeros(self._codes.shape[1], np.int64)
        for member in members:
            keys = np.unique(keys * self._cards[member] + self._codes[member], return_inverse=True)[1]
        counts = np.bincount(keys, self._weights)
        seen = counts > 0
        return float((gammaln(self._prior(members, keys) + counts) - gammaln(self._prior(members, keys)))[seen].sum())

    def _prior(self, members: Sequence[int], keys: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the prior weight of each combination that occurs."""
        if not self._log_priors:
            return np.full(keys.max() + 1, self._ess / np.prod([float(self._cards[one]) for one in members]))
        steps = sum((self._log_priors[one][self._codes[one]] for one in members), np.zeros(len(keys), np.int64))
        prior = np.empty(keys.max() + 1)
        prior[keys] = self._ess * 2.0 ** (-steps / 32)
        return prior

    def local(self, node: int, parents: Sequence[int]) -> float:
        """Score a node given its parents."""
        return self.joint([*parents, node]) - self.joint(parents)


def handle_for(
    codes: Codes, cards: Sequence[int], weights: Weights | None, ess: float, log_priors: Sequence[LogPriors]
) -> ScoreHandle:
    """Open a score of all columns of a block of rows, with a penalty of a nat."""
    handle = ScoreHandle(len(cards), ess=ess, scale=SCALE, penalty=int(SCALE), empirical=bool(log_priors))
    handle.set_rows(codes, weights)
    for node, card in enumerate(cards):
        handle.add_node(node, node, card, log_priors[node] if log_priors else None)
    return handle


def best_parents(joints: npt.NDArray[np.int64], width: int, penalty: int, most: int) -> int:
    """Return the best score of a graph over some nodes: over all orders of subsets, the last node takes its best."""
    best = {0: 0}
    for size in range(1, width + 1):
        for chosen in combinations(range(width), size):
            subset = sum(1 << one for one in chosen)
            best[subset] = max(
                best[subset ^ 1 << node] + _best_local(joints, subset ^ 1 << node, node, penalty, most)
                for node in chosen
            )
    return best[(1 << width) - 1]


def _best_local(joints: npt.NDArray[np.int64], pool: int, node: int, penalty: int, most: int) -> int:
    subsets = [one for one in range(pool + 1) if one & ~pool == 0 and one.bit_count() <= most]
    return max(int(joints[one | 1 << node] - joints[one]) - penalty * one.bit_count() for one in subsets)
