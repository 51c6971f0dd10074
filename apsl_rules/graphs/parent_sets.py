"""How probable each set of parents of a node is: the exact sum over all graphs on a few nodes.

A graph weighs the product of the weights of its families, a node with its parents. A recursion over sets of nodes adds
all graphs up (Tian and He 2009), in 3^k steps for k nodes:

    f(S) = sum over T, not empty and within S, of (-1)^(|T|+1) f(S - T) prod over v in T of A_v(S - T)
    A_v(U) = sum over P within U of w(v, P)

T are the nodes without children. f of all nodes is linear in every weight, so one pass backwards has the share of each.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from apsl_rules.errors import GraphError

Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

#: Sums over the graphs of more nodes than this take too long.
MOST_SUMMED = 12


def members_of(mask: int) -> list[int]:
    """Return the nodes of a set, given as bits.

    >>> members_of(0b1101)
    [0, 2, 3]
    """
    return [node for node in range(int(mask).bit_length()) if mask >> node & 1]


def sizes(nodes: int) -> Integers:
    """Return how many nodes each set has, sets being bits."""
    found = np.zeros(1 << nodes, np.int64)
    for node in range(nodes):
        found[1 << node : 2 << node] = found[: 1 << node] + 1
    return found


def parent_probabilities(log_weights: Floats, node: int) -> Floats:
    """Return the probability of each set of parents of a node, sets being bits.

    ``log_weights[v, P]`` is the logarithm of the weight of v with the parents P, -inf where that is excluded.

    >>> log_weights = np.full((2, 4), -np.inf)
    >>> log_weights[0, [0b00, 0b10]], log_weights[1, [0b00, 0b01]] = 0.0, 0.0
    >>> parent_probabilities(log_weights, 0).round(3).tolist()
    [0.667, 0.0, 0.333, 0.0]
    """
    nodes = len(log_weights)
    if nodes > MOST_SUMMED:
        message = f"there are too many graphs on {nodes} nodes to sum over; take at most {MOST_SUMMED}"
        raise GraphError(message)
    within = _over_subsets(log_weights)
    size = sizes(nodes)
    has = (np.arange(1 << nodes) >> np.arange(nodes)[:, None] & 1).astype(bool)
    total = np.full(1 << nodes, -np.inf)
    total[0] = 0.0
    subsets: list[Integers] = [np.zeros(1, np.int64)]
    shares: list[Floats | None] = [None]
    for whole in range(1, 1 << nodes):
        inside = members_of(whole)
        below = subsets[whole ^ (1 << inside[-1])]
        subsets.append(np.concatenate([below, below | (1 << inside[-1])]))
        rest = subsets[whole][:-1]
        ends = whole ^ rest
        among = has[inside][:, ends]
        terms = total[rest] + np.where(among, within[inside][:, rest], 0.0).sum(axis=0)
        top = terms.max()
        if not np.isfinite(top):
            shares.append(None)
            continue
        signed = np.where(size[ends] & 1, 1.0, -1.0) * np.exp(terms - top)
        summed = float(signed.sum())
        total[whole] = top + np.log(summed)
        shares.append(signed / summed)
    if not np.isfinite(total[-1]):
        message = "no graph is left: what is excluded leaves every order of the nodes without one"
        raise GraphError(message)
    return _families(log_weights[node], within[node], _flow(shares, subsets, node))


def _over_subsets(log_weights: Floats) -> Floats:
    """Return the logarithm of the sum of weights over all subsets of each set."""
    found = log_weights.copy()
    for node in range(len(log_weights)):
        halves = found.reshape(len(log_weights), -1, 2, 1 << node)
        halves[:, :, 1] = np.logaddexp(halves[:, :, 1], halves[:, :, 0])
    return found


def _flow(shares: list[Floats | None], subsets: list[Integers], node: int) -> Floats:
    """Return, for each set, the signed share of the sum in which a node takes its parents from that set."""
    reached = np.zeros(len(shares))
    reached[-1] = 1.0
    taken = np.zeros(len(shares))
    for whole in range(len(shares) - 1, 0, -1):
        share = shares[whole]
        if share is None or reached[whole] == 0:
            continue
        rest = subsets[whole][:-1]
        part = reached[whole] * share
        reached[rest] += part
        has = ((whole ^ rest) >> node & 1).astype(bool)
        taken[rest[has]] += part[has]
    return taken


def _families(log_weights: Floats, within: Floats, taken: Floats) -> Floats:
    """Return the share of each family: its weight times the sum of taken / within over the sets that have its parents.

    Signs are summed apart, in logarithms, since weights may differ by hundreds of nats.
    """
    found = np.zeros(len(taken))
    is_possible = np.isfinite(within)
    for sign in (1.0, -1.0):
        with np.errstate(divide="ignore"):
            logs = np.log(np.maximum(sign * np.where(is_possible, taken, 0.0), 0.0))
        logs = logs - np.where(is_possible, within, 0.0)
        node = 0
        while 1 << node < len(taken):
            halves = logs.reshape(-1, 2, 1 << node)
            halves[:, 0] = np.logaddexp(halves[:, 0], halves[:, 1])
            node += 1
        found += sign * np.exp(np.minimum(log_weights + logs, 50.0))
    found = np.maximum(found, 0.0)
    shares: Floats = found / found.sum()
    return shares
